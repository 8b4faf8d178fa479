package cli

import (
	"bytes"
	"testing"
	"time"
)

// A log of CI says how far long work is, but not at every step.
func TestCountedInALog(t *testing.T) {
	var errs bytes.Buffer
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	a := &app{env: Env{Stderr: &errs, Now: func() time.Time { return now }}}
	progress := a.counted("cuts")
	for i := range 8 {
		progress(i, 7)
		now = now.Add(4 * time.Second)
	}
	if got, want := errs.String(), "3/7 cuts\n6/7 cuts\n"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	a.quiet = true
	if a.counted("cuts") != nil {
		t.Error("--quiet counts too")
	}
}
