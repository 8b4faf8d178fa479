package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/plan"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/acpschema"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Every code that the program ever prints about a record, a drift or a run can
// be explained, and says what it means.
func TestEveryCodeIsExplained(t *testing.T) {
	known := map[string]bool{}
	for _, code := range codes() {
		if known[strings.ToLower(code)] {
			t.Errorf("%s is explained twice", code)
		}
		known[strings.ToLower(code)] = true
		var out, talk bytes.Buffer
		if exit := Main(context.Background(), Env{Args: []string{"explain", code}, Stdout: &out, Stderr: &talk, Getenv: func(string) string { return "" }, Now: time.Now}); exit != 0 {
			t.Errorf("explain %s: exit %d: %s", code, exit, &talk)
		}
		if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); !strings.HasPrefix(lines[0], code+" (") || len(lines) < 3 || len(lines[2]) < 10 {
			t.Errorf("explain %s says %q", code, &out)
		}
	}
	for _, k := range contract.ConstraintKinds {
		if !known[string(k)] {
			t.Errorf("a violation of %s is not explained", k)
		}
	}
	var words []string
	for _, s := range contract.SupportStatuses {
		words = append(words, string(s))
	}
	for _, v := range contract.Verdicts {
		words = append(words, string(v))
	}
	for _, c := range plan.Codes {
		words = append(words, string(c))
	}
	for _, w := range append(words, acpschema.Kinds...) {
		if !known[w] {
			t.Errorf("%s is not explained", w)
		}
	}
	reg, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	// What the committed records name: violations of observations, signals of reports.
	err = fs.WalkDir(reg.FS(), "reports", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".json") {
			return err
		}
		var report struct{ Signals []struct{ ID string } }
		if b, err := reg.ReadFile(p); err != nil || json.Unmarshal(b, &report) != nil {
			return err
		}
		for _, s := range report.Signals {
			if !known[s.ID] {
				t.Errorf("%s names %s, which is not explained", p, s.ID)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	obs, err := reg.Observations("")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range obs {
		for _, v := range o.Extensions.Violations {
			if !known[v.Kind] {
				t.Errorf("%s names %s, which is not explained", o.Path, v.Kind)
			}
		}
	}
}
