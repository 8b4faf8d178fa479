package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Redacting a committed fixture again changes no byte of it: what today's rules
// replace is in none. A fixture whose every observation was withdrawn because
// another took its place is history.
func TestCommittedFixturesStay(t *testing.T) {
	f, v := registry(t)
	r, err := redact.New(f, v)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..")
	done, gone := map[string]bool{}, superseded(t, root)
	var changed []string
	err = filepath.WalkDir(filepath.Join(root, "observations"), func(p string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".observation.json") {
			return err
		}
		var o struct {
			Extensions struct{ Dialect, Fixture, Provider string }
		}
		if err := json.Unmarshal(read(t, p), &o); err != nil {
			return err
		}
		if rel, err := filepath.Rel(root, p); err != nil || gone[filepath.ToSlash(rel)] {
			return err
		}
		x := o.Extensions
		if done[x.Dialect+x.Fixture] {
			return nil
		}
		done[x.Dialect+x.Fixture] = true
		if redact.Raced && len(done)%32 != 0 {
			return nil
		}
		b, err := os.ReadFile(filepath.Join(root, x.Fixture))
		if err != nil {
			return err
		}
		raw, err := transcript.ReadSanitized(bytes.NewReader(b))
		if err != nil {
			return err
		}
		clean, _, err := r.Redact(raw, redact.Input{Dialect: x.Dialect, Hermetic: x.Provider == string(contract.ProviderEmulated)})
		if err != nil {
			return err
		}
		var again bytes.Buffer
		if err := clean.WriteSanitized(&again); err != nil {
			return err
		}
		if !bytes.Equal(again.Bytes(), b) {
			n := 0
			for n < len(b) && n < again.Len() && b[n] == again.Bytes()[n] {
				n++
			}
			changed = append(changed, fmt.Sprintf("%s changes at byte %d: %.60q becomes %.60q", x.Fixture, n, b[n:], again.Bytes()[n:]))
		}
		return nil
	})
	if len(changed) > 0 {
		t.Errorf("%d fixtures change:\n%s", len(changed), strings.Join(changed, "\n"))
	}
	if err != nil || len(done) < 100 {
		t.Fatalf("%d fixtures: %v", len(done), err)
	}
}

// superseded are the places of observations that were withdrawn for another one.
func superseded(t *testing.T, root string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "evidence"), func(p string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".evidence.json") {
			return err
		}
		s := contract.Evidence{}
		if err := json.Unmarshal(read(t, p), &s); err != nil {
			return err
		}
		if w := s.Withdrawal; w != nil && w.Record == nil && w.SupersededBy != nil {
			out[s.Observation.Path] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
