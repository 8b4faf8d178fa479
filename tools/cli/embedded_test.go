package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The records that the Go package embeds for tests of consumers are not in the
// program, which never asks for them (docs/decisions/0017). This test's own
// binary imports what the program imports.
func TestRecordsAreNotLinked(t *testing.T) {
	records, err := filepath.Glob(filepath.Join("..", "..", "errors", "codex", "*", "*", "*.error.json"))
	if err != nil || len(records) == 0 {
		t.Fatalf("no error case to look for: %v", err)
	}
	record, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(program, record) {
		t.Error("the binary holds the records: something that it links reaches EmbeddedContracts")
	}
}
