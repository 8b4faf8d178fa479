// Package vectortest runs foreign test vectors: inputs with the outputs that
// OpenDesign v0.19.2 gave. Only tests import it. The vectors are not part of
// this repository.
package vectortest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

var passed, failed atomic.Int64

// Main runs the tests of a package and ends with a line that counts the
// vectors. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if passed.Load()+failed.Load() > 0 {
		fmt.Printf("vectors: %d passed, %d failed\n", passed.Load(), failed.Load())
	}
	os.Exit(code)
}

// Folder returns a folder of shared test data: the value of the environment
// variable, else ../shared/<name>; relative paths start at the repository's
// root. The test is skipped if there is none.
func Folder(t testing.TB, variable, name string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		dir = filepath.Join("..", "shared", name)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(repository(t), dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Skipf("no folder %s: set %s to run this test", name, variable)
	}
	return dir
}

func repository(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = parent
	}
}

// Load reads a vector file into into; a missing file skips the test.
func Load(t testing.TB, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(Folder(t, "AGENT_CONTRACTS_VECTORS", "vectors"), file))
	if os.IsNotExist(err) {
		t.Skipf("the vectors folder has no %s", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
}

// Run runs one vector as a subtest and counts it.
func Run(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	if t.Run(name, f) {
		passed.Add(1)
	} else {
		failed.Add(1)
	}
}
