package capture

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only what today's readers read otherwise is written: nothing without a place
// or a reader, and nothing at all when one place would have to hold two
// readings.
func TestWriteGoldens(t *testing.T) {
	const a, b, c = "goldens/reference/plain/a.events.json", "goldens/reference/plain/b.events.json", "goldens/reference/plain/c.events.json"
	rows := func() []GoldenRow {
		return []GoldenRow{
			{Agent: "one", Golden: a, now: []byte("new"), Status: GoldenDiffers},
			{Agent: "two", Golden: a, now: []byte("new"), Status: GoldenDiffers},
			{Agent: "one", Golden: b, now: []byte("new"), Status: GoldenMissing},
			{Agent: "one", Golden: c, Status: GoldenDiffers},
			{Agent: "one", now: []byte("new"), Status: GoldenMissing},
		}
	}
	for _, test := range []struct {
		name     string
		change   func(rows []GoldenRow)
		statuses string
		a, b     string // what the first two places hold then
		err      string
	}{
		{name: "all at once", statuses: "written written written differs missing", a: "new", b: "new"},
		{name: "two readings of one place", change: func(r []GoldenRow) { r[1].now = []byte("other") }, statuses: "differs differs missing differs missing", a: "old", err: "two readings"},
	} {
		t.Run(strings.ReplaceAll(test.name, " ", "_"), func(t *testing.T) {
			reg := newRegistry(t)
			for _, place := range []string{a, c} {
				p := filepath.Join(reg.Dir(), place)
				must(t, errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte("old"), 0o644)))
			}
			got := rows()
			if test.change != nil {
				test.change(got)
			}
			err := WriteGoldens(context.Background(), reg, got)
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			var statuses []string
			for _, r := range got {
				statuses = append(statuses, r.Status)
			}
			if s := strings.Join(statuses, " "); s != test.statuses {
				t.Errorf("rows %s, want %s", s, test.statuses)
			}
			for place, want := range map[string]string{a: test.a, b: test.b, c: "old"} {
				if have, _ := os.ReadFile(filepath.Join(reg.Dir(), place)); string(have) != want {
					t.Errorf("%s holds %q, want %q", place, have, want)
				}
			}
		})
	}
}
