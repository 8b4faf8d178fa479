package normalize_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares whole shapes. A difference means another signature for
// every shape of the registry: raise normalize.Version and say why.
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/*.transcript.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	for _, name := range names {
		// The file's name starts with its dialect.
		id := strings.TrimSuffix(filepath.Base(name), ".transcript.jsonl")
		t.Run(id, func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tr, err := transcript.ReadSanitized(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			kind, _, _ := strings.Cut(id, "_")
			s, _, err := normalize.Shape(tr, dialect(t, kind), contract.LevelSyntheticMock)
			if err != nil {
				t.Fatal(err)
			}
			got, err := contract.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", id+".shape.json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v; run the test with -update", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("the shape differs (-golden +now):\n%s", diff)
			}
		})
	}
}
