//go:build unix

package main

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

var update = flag.Bool("update", false, "rewrite the golden files in the scripts")

// TestMain makes the test binary play three parts: the tests, the command
// agent-contracts, and the CLIs that captures start.
func TestMain(m *testing.M) {
	if harness.SuperviseMain() {
		os.Exit(0)
	}
	testscript.Main(tests{m}, commands)
}

// commands are the programs that this binary is under their names.
var commands = map[string]func(){
	"agent-contracts": main,
	"fake-codex":      fakeCodex,
	// The same as a user who may not write everywhere.
	"agent-contracts-unprivileged": func() {
		if err := dropPrivileges(); err != nil {
			os.Exit(1)
		}
		main()
	},
}

// TestScripts runs testdata/*.txtar, named by category and detail. A script
// starts in a minimal registry: the repository's agents, families, vocabulary
// and probes, without any record.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"fake":   installFake,
			"onpath": putOnPath,
			"secret": writeSecret,
			"edit":   edit,
		},
	})
}

// bare is a registry with the repository's agents, families, vocabulary and
// probes, and no record. It is made once, beside the program, and copied.
var bare = sync.OnceValues(func() (string, error) {
	installed, err := exec.LookPath("agent-contracts")
	if err != nil {
		return "", err
	}
	root, dir := filepath.Join("..", ".."), filepath.Join(filepath.Dir(installed), "registry")
	for _, rel := range []string{"registry/agents.json", "registry/families.json", "registry/vocabulary.json"} {
		if err := copyFile(filepath.Join(root, rel), filepath.Join(dir, rel)); err != nil {
			return "", err
		}
	}
	if err := copyTree(filepath.Join(root, "probes"), filepath.Join(dir, "probes")); err != nil {
		return "", err
	}
	// A registry without records has captured nothing.
	if err := replaceIn(filepath.Join(dir, "registry", "agents.json"), `"status": "captured"`, `"status": "missing", "reason": "not yet"`); err != nil {
		return "", err
	}
	return dir, writeMatrix(dir)
})

func setup(e *testscript.Env) error {
	from, err := bare()
	if err != nil {
		return err
	}
	if err := copyTree(from, e.WorkDir); err != nil {
		return err
	}
	// An unprivileged child must be able to walk into the work folder.
	for _, dir := range []string{filepath.Dir(e.WorkDir), e.WorkDir} {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	e.Setenv("REPOSITORY", repository)
	e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
	e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, ".data"))
	e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
	return nil
}

func writeMatrix(dir string) error {
	reg, err := store.Open(dir)
	if err != nil {
		return err
	}
	want, _, err := matrix.Check(reg)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, matrix.Path), want, 0o644)
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		return copyFile(p, filepath.Join(to, rel))
	})
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

func replaceIn(file, from, to string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.ReplaceAll(string(b), from, to)), 0o644)
}
