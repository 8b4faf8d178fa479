package matrix_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// An index of one agent gives the answers of the whole one, of an agent that has
// no entry too.
func TestLoadIndexOf(t *testing.T) {
	reg, err := store.Open("../..")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := matrix.LoadIndex(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range whole.Agents() {
		one, err := matrix.LoadIndexOf(reg, a.ID)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(one.Agents()); n != 1 || one.GeneratedAt != whole.GeneratedAt {
			t.Errorf("%s: %d agents of %s, want this one of %s", a.ID, n, one.GeneratedAt, whole.GeneratedAt)
		}
		for _, version := range append(whole.Versions(a.ID), "0.0.1", "999.0.0", "1.0.128-beta.1", "none") {
			for _, p := range []contract.Platform{"linux-x64", "darwin-arm64"} {
				want, wantErr := whole.Find(a.ID, version, p)
				got, gotErr := one.Find(a.ID, version, p)
				if d := cmp.Diff(want, got); d != "" || (wantErr == nil) != (gotErr == nil) {
					t.Fatalf("%s %s on %s: %v, want %v\n%s", a.ID, version, p, gotErr, wantErr, d)
				}
			}
		}
	}
}

// What cannot be answered of one agent alone is answered as LoadIndex does: an
// unknown agent has its suggestion, a broken file its line.
func TestLoadIndexOfWhole(t *testing.T) {
	reg, err := store.Open("../..")
	if err != nil {
		t.Fatal(err)
	}
	x, err := matrix.LoadIndexOf(reg, "codx")
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := matrix.LoadIndex(reg)
	_, want := whole.Find("codx", "1.0.0", "linux-x64")
	if _, got := x.Find("codx", "1.0.0", "linux-x64"); got == nil || got.Error() != want.Error() {
		t.Errorf("got %v, want %v", got, want)
	}
	broken := store.Embedded(fstest.MapFS{
		store.AgentsFile: {Data: []byte("{\"schema_version\": 1, \"agents\": [\n{\"id\": \"codex\", \"name\": 7}]}")},
	})
	_, want = matrix.LoadIndex(broken)
	if _, got := matrix.LoadIndexOf(broken, "codex"); got == nil || got.Error() != want.Error() {
		t.Errorf("got %v, want %v", got, want)
	}
}
