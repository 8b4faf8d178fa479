package agentcontracts_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/bisect"
	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// compareRow is what compare says of two committed shapes.
type compareRow struct {
	A       string           `json:"a"` // the place of a shape
	B       string           `json:"b"`
	Verdict contract.Verdict `json:"verdict"`
	Signals int              `json:"signals"`
	// SHA256 is over the signals, each a line of its members with tabs between.
	SHA256 string `json:"sha256"`
}

const comparePath = "testdata/compare-table.json"

// comparePairs are pairs of shapes of one family near each other by hash, and
// some of two families: every kind of change that shapes can show.
func comparePairs(places []string) [][2]string {
	var out [][2]string
	byFamily := map[string][]string{}
	for _, p := range places {
		dir := filepath.Dir(p)
		byFamily[dir] = append(byFamily[dir], p)
	}
	for _, list := range byFamily {
		for i := range list {
			for _, step := range []int{1, 3} {
				if i+step < len(list) && (i*step)%2 == 0 {
					out = append(out, [2]string{list[i], list[i+step]}, [2]string{list[i+step], list[i]})
				}
			}
		}
	}
	for i := 0; i+200 < len(places); i += 40 {
		out = append(out, [2]string{places[i], places[i+200]})
	}
	out = append(out, [2]string{places[0], places[0]})
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	return out
}

// committed is the registry of this repository and its protocol families.
func committed(t *testing.T) (*store.Registry, *contract.Families) {
	t.Helper()
	reg, err := store.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	families, err := reg.Families()
	if err != nil {
		t.Fatal(err)
	}
	return reg, families
}

// comparedRows are the rows that -update writes: those that are there, so that only
// what the code says differently changes, and the pair of each incident. Without a
// table it picks pairs anew. New shapes ask for no new rows.
func comparedRows(t *testing.T, reg *store.Registry) []compareRow {
	t.Helper()
	var rows []compareRow
	b, err := os.ReadFile(filepath.FromSlash(comparePath))
	if err == nil {
		err = json.Unmarshal(b, &rows)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	rows = slices.DeleteFunc(rows, func(r compareRow) bool { return !reg.Exists(r.A) || !reg.Exists(r.B) })
	if len(rows) == 0 {
		places, err := reg.Walk("shapes", ".shape.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range comparePairs(places) {
			rows = append(rows, compareRow{A: p[0], B: p[1]})
		}
	}
	incidents, err := bisect.CheckIncidents(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range incidents {
		if f.Change == nil {
			continue
		}
		var pair [2]string
		for i, place := range f.Change.Evidence {
			var o contract.Observation
			if err := reg.ReadJSON(place, &o); err != nil {
				t.Fatal(err)
			}
			pair[i] = o.Shape.Path
		}
		if !slices.ContainsFunc(rows, func(r compareRow) bool { return r.A == pair[0] && r.B == pair[1] }) {
			rows = append(rows, compareRow{A: pair[0], B: pair[1]})
		}
	}
	slices.SortFunc(rows, func(x, y compareRow) int { return strings.Compare(x.A+x.B, y.A+y.B) })
	return rows
}

// The committed table is what this code says of committed shapes.
// npm/test/compare.test.mjs holds the package's compare against it.
func TestCompareTable(t *testing.T) {
	reg, families := committed(t)
	var rows []compareRow
	if *update {
		rows = comparedRows(t, reg)
	} else {
		b, err := os.ReadFile(filepath.FromSlash(comparePath))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &rows); err != nil {
			t.Fatal(err)
		}
	}
	side := func(place string) (compare.Side, *contract.Dialect) {
		var s contract.Shape
		if err := reg.ReadJSON(place, &s); err != nil {
			t.Fatal(err)
		}
		d := families.Dialect(s.Extensions.Dialect)
		return compare.Side{Shape: &s, Dialect: d}, d
	}
	seen := map[string]bool{}
	for i, want := range rows {
		a, da := side(want.A)
		b, d := side(want.B)
		if d == nil {
			d = da
		}
		r := compare.Runs(a, b, d)
		have := compareRow{A: want.A, B: want.B, Verdict: r.Judge(compare.Evidence{}), Signals: len(r.Signals)}
		h := sha256.New()
		for _, s := range r.Signals {
			seen[s.ID] = true
			line := []string{string(s.Severity), s.String(), s.EventType, strings.Join(s.Kinds, ","), s.Path, s.From, s.To, s.Renamed, string(s.Fingerprint)}
			h.Write([]byte(strings.Join(line, "\t") + "\n"))
		}
		have.SHA256 = hex.EncodeToString(h.Sum(nil))
		if *update {
			rows[i] = have
		} else if have != want {
			t.Errorf("%s → %s: %+v, the table has %+v; go test . -run TestCompareTable -update writes it", want.A, want.B, have, want)
		}
	}
	for _, id := range []string{compare.EventRemoved, compare.FieldRemoved, compare.FieldRenamed, compare.TypeChanged, compare.EnumChanged, compare.ExitChanged,
		compare.EventAdded, compare.EnumAdded, compare.FieldAdded, compare.OrderChanged, compare.CardinalityChanged, compare.RequirednessChanged, compare.StderrClassChanged, compare.EnvelopeChanged, compare.MissingTerminalEvent} {
		if !seen[id] {
			t.Errorf("no row has the signal %s", id)
		}
	}
	if len(rows) < 500 {
		t.Errorf("the table has %d rows", len(rows))
	}
	if *update {
		var b bytes.Buffer
		b.WriteString("[\n")
		for i, r := range rows {
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(line)
			if i < len(rows)-1 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
		}
		b.WriteString("]\n")
		if err := os.WriteFile(filepath.FromSlash(comparePath), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// -update leaves no row out: captures that were merged since cannot hide what the
// code says differently of older ones.
func TestCompareTableKeepsItsRows(t *testing.T) {
	reg, _ := committed(t)
	var rows []compareRow
	if err := reg.ReadJSON(comparePath, &rows); err != nil {
		t.Fatal(err)
	}
	kept := map[[2]string]bool{}
	for _, r := range comparedRows(t, reg) {
		kept[[2]string{r.A, r.B}] = true
	}
	for _, r := range rows {
		if !kept[[2]string{r.A, r.B}] {
			t.Errorf("%s → %s would go", r.A, r.B)
		}
	}
}
