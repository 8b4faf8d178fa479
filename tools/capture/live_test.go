package capture

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func refusedRun(t *testing.T, state string, at time.Time) {
	t.Helper()
	var limit *CannotKnowError
	if _, err := spend(state, at); !errors.As(err, &limit) {
		t.Errorf("a run beyond the limit: %v", err)
	}
}

// The runs of a day are bounded however they are spread over captures, also when
// these run side by side.
func TestLiveRunsAreBounded(t *testing.T) {
	state := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range MaxLiveRuns / 4 {
				settle, err := spend(state, now)
				if err != nil {
					t.Error(err)
					return
				}
				if err := settle(10); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	refusedRun(t, state, now)
	if _, err := spend(state, now.AddDate(0, 0, 1)); err != nil {
		t.Errorf("the next day: %v", err)
	}
}

// Cost is bounded by what the runs report; one that reports nothing, because it
// was killed or has no usage, is not free.
func TestLiveTokensAreBounded(t *testing.T) {
	state := t.TempDir()
	for range 2 {
		settle, err := spend(state, now)
		must(t, err)
		must(t, settle(tokensOf(map[string]int64{"input_tokens": MaxLiveTokens / 2, "output_tokens": 5, "cost": 7, "reasoning_tokens": -1})))
	}
	refusedRun(t, state, now)

	state = t.TempDir()
	for range MaxLiveTokens / unreportedTokens {
		settle, err := spend(state, now)
		must(t, err)
		must(t, settle(tokensOf(nil)))
	}
	refusedRun(t, state, now)
}

// A budget that cannot be read is not an empty one.
func TestDamagedBudgetLetsNothingRun(t *testing.T) {
	state := t.TempDir()
	_, err := spend(state, now)
	must(t, err)
	files, err := filepath.Glob(filepath.Join(state, "live", "*.json"))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	must(t, os.WriteFile(files[0], []byte("{"), 0o600))
	if _, err := spend(state, now); err == nil {
		t.Error("a run began")
	}
}
