package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// folder is where a registry has its diff reports.
const folder = "reports/diffs"

// Files spells diff reports as they lie in a registry: place → content, a
// record and its Markdown for each.
func Files(reports []*contract.DriftReport) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, r := range reports {
		b, err := contract.Encode(r)
		if err != nil {
			return nil, err
		}
		var md bytes.Buffer
		if err := Markdown(&md, r); err != nil {
			return nil, err
		}
		out[r.Path()] = b
		out[strings.TrimSuffix(r.Path(), ".diff.json")+".md"] = md.Bytes()
	}
	return out, nil
}

// Difference is what tells the committed reports from the derived ones, each
// list sorted.
type Difference struct{ Missing, Changed, Surplus []string }

// None reports whether the registry has just what it should.
func (d *Difference) None() bool { return len(d.Missing)+len(d.Changed)+len(d.Surplus) == 0 }

// Check compares the committed reports with the derived files.
func Check(reg *store.Registry, files map[string][]byte) (*Difference, error) {
	have, err := reg.Walk(folder, "")
	if err != nil {
		return nil, err
	}
	d := &Difference{}
	for _, f := range have {
		if _, ok := files[f]; !ok {
			d.Surplus = append(d.Surplus, f)
		}
	}
	for f, want := range files {
		if !slices.Contains(have, f) {
			d.Missing = append(d.Missing, f)
			continue
		}
		b, err := reg.ReadFile(f)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(b, want) {
			d.Changed = append(d.Changed, f)
		}
	}
	slices.Sort(d.Missing)
	slices.Sort(d.Changed)
	return d, nil
}

// Write brings the committed reports up to the derived files, in one
// transaction, and then removes what no change gives any more.
func Write(ctx context.Context, reg *store.Registry, files map[string][]byte, d *Difference) error {
	if d.None() {
		return nil
	}
	t, err := reg.Begin(ctx)
	if err != nil {
		return err
	}
	defer t.Discard()
	for _, f := range slices.Concat(d.Missing, d.Changed) {
		if err := t.Write(f, files[f]); err != nil {
			return err
		}
	}
	if err := t.Commit(); err != nil {
		return err
	}
	for _, f := range d.Surplus {
		if err := os.Remove(filepath.Join(reg.Dir(), filepath.FromSlash(f))); err != nil {
			return fmt.Errorf("removing a report that nothing gives any more: %w", err)
		}
	}
	return nil
}

// Lines says each difference in a line.
func (d *Difference) Lines() []string {
	var out []string
	for _, l := range []struct {
		list []string
		what string
	}{{d.Missing, "is missing"}, {d.Changed, "is not what the records give"}, {d.Surplus, "is about no change of the registry"}} {
		for _, f := range l.list {
			out = append(out, f+" "+l.what)
		}
	}
	return out
}
