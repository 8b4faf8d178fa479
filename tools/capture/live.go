package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// The hard limits on live captures, which cost real money (FINE-PRINT 27).
const (
	// MaxLiveRuns bounds the runs of one capture, and those of a day (UTC).
	MaxLiveRuns = 24
	// MaxLiveTokens bounds what the runs of a day may report before no further one
	// begins.
	MaxLiveTokens = 2_000_000
	// unreportedTokens is what a run counts for until it reports its usage, and for
	// good if it reports none: it was killed, failed, or could not be read.
	unreportedTokens = 100_000
)

// liveDay is what the live runs of a day came to, in the private state folder.
// Every capture of the machine's user adds to it, so that starting another one
// is no way around the limits.
type liveDay struct {
	Runs   int   `json:"runs"`
	Tokens int64 `json:"tokens"`
}

// spend takes one run out of the day's budget, before it begins. The function
// that it returns settles the run's tokens once they are known; without it the
// run counts for unreportedTokens. Errors: *CannotKnowError when a limit is
// reached.
func spend(stateDir string, now time.Time) (settle func(tokens int64) error, err error) {
	file := filepath.Join(stateDir, "live", now.UTC().Format(time.DateOnly)+".json")
	err = changeLiveDay(file, func(d *liveDay) error {
		switch {
		case d.Runs >= MaxLiveRuns:
			return &CannotKnowError{What: fmt.Sprintf("no further live run today: there were %d, which is the limit", d.Runs)}
		case d.Tokens >= MaxLiveTokens:
			return &CannotKnowError{What: fmt.Sprintf("no further live run today: %d tokens are used, the limit is %d", d.Tokens, MaxLiveTokens)}
		}
		d.Runs++
		d.Tokens += unreportedTokens
		return nil
	})
	return func(tokens int64) error {
		if tokens <= 0 {
			return nil
		}
		return changeLiveDay(file, func(d *liveDay) error { d.Tokens += tokens - unreportedTokens; return nil })
	}, err
}

// changeLiveDay changes a day while no other capture does.
func changeLiveDay(file string, change func(*liveDay) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("keeping the budget of live captures: %w", err)
	}
	lock := flock.New(file + ".lock")
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("keeping the budget of live captures: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	d := &liveDay{}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, d)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the budget of live captures: %w", err) // what is unknown is not free
	}
	if err := change(d); err != nil {
		return err
	}
	if b, err = json.Marshal(d); err != nil {
		return err
	}
	return store.WritePrivate(file, append(b, '\n'))
}

// tokensOf sums what a reading says of the tokens of a run. Parts that are
// counted in another count too are counted twice: the limit errs on that side.
func tokensOf(usage map[string]int64) (sum int64) {
	for name, n := range usage {
		if strings.HasSuffix(name, "tokens") && n > 0 {
			sum += n
		}
	}
	return sum
}
