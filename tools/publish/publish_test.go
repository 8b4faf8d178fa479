package publish

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

var update = flag.Bool("update", false, "write testdata/signed.json with new keys")

const signedPath = "testdata/signed.json"

// signed is a manifest that both languages read.
type signed struct {
	Note  string `json:"note"`
	Key   string `json:"verifier"` // the verifier key that signed it
	Other string `json:"other"`    // one that did not
}

func small() *Manifest {
	return &Manifest{Package: "@open-design/agent-cli-contracts 0.1.0", Sequence: 42, Records: "2026-01-01T00:00:00Z",
		Files: map[string]string{"a.txt": sum([]byte("a\n")), "b.txt": sum([]byte("b\n"))}}
}

func readSigned(t *testing.T) signed {
	t.Helper()
	if *update {
		signer, key, err := NewKey("test")
		if err != nil {
			t.Fatal(err)
		}
		_, other, err := NewKey("other")
		if err != nil {
			t.Fatal(err)
		}
		note, err := small().Sign(signer)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.MarshalIndent(signed{string(note), key, other}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.FromSlash(signedPath), append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.FromSlash(signedPath))
	if err != nil {
		t.Fatal(err)
	}
	var s signed
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestManifest(t *testing.T) {
	s := readSigned(t)
	m, err := ReadManifest([]byte(s.Note), s.Other, s.Key)
	if err != nil || m.Text() != small().Text() {
		t.Fatalf("%v\n%+v", err, m)
	}
	for name, note := range map[string]string{
		"another sequence":  strings.Replace(s.Note, "sequence: 42", "sequence: 43", 1),
		"another file":      strings.Replace(s.Note, "a.txt", "c.txt", 1),
		"without signature": small().Text(),
	} {
		if _, err := ReadManifest([]byte(note), s.Key); err == nil {
			t.Errorf("%s: it verifies", name)
		}
	}
	if _, err := ReadManifest([]byte(s.Note), s.Other); err == nil {
		t.Error("another key verifies it")
	}
	if _, err := ReadManifest([]byte(strings.Replace(small().Text(), "files: 2", "files: 3", 1))); err == nil {
		t.Error("a manifest that is cut short is whole")
	}
	if _, err := small().Sign("no key"); err == nil || strings.Contains(err.Error(), "no key") {
		t.Errorf("a text that is no key: %v", err)
	}
}

func TestCheck(t *testing.T) {
	got := small().Check(map[string][]byte{"a.txt": []byte("x\n"), "c.txt": nil, ManifestFile: nil})
	want := []string{"a.txt: it has other bytes than the manifest says", "b.txt: it is not there", "c.txt: the manifest does not name it"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %v", got)
	}
}

// The data folder holds the records, and neither how agents are started nor
// anything else of the registry; a folder of somebody's is left alone.
func TestData(t *testing.T) {
	reg, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := Data(t.Context(), reg, dir); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{ContractsFile, AnswersFile, "registry/support-matrix.json", "schemas/shape.schema.json"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(place))); err != nil {
			t.Errorf("%s is not there", place)
		}
	}
	for _, place := range []string{"schemas/schemas.go", "registry/requests", ".git", "go.mod"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(place))); err == nil {
			t.Errorf("%s was published", place)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "registry", "agents.json"))
	if err != nil || bytes.Contains(b, []byte("launches")) || bytes.Contains(b, []byte("home_files")) {
		t.Errorf("registry/agents.json says how agents are started: %v", err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "mine.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Data(t.Context(), reg, other); err == nil {
		t.Error("a folder of somebody's was emptied")
	}
}

// The gate over what would leave names places and never what is there.
func TestScanFindsSecrets(t *testing.T) {
	dir := t.TempDir()
	secret := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(`{"token": "`+secret+`"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var leak *LeakError
	if err := scan(t.Context(), dir); !errors.As(err, &leak) || strings.Contains(err.Error(), secret) {
		t.Errorf("the scan says %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(small().Text()))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ReadManifest(b)
		if err == nil && m.Sequence < 1 {
			t.Errorf("sequence %d", m.Sequence)
		}
	})
}
