package machine

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Ending is what a consumer does with a run: a total branch over outcome (D4).
type Ending int

// The endings. An outcome outside the vocabulary is NotEstablished: never a
// success and never a failure.
const (
	NotEnded Ending = iota
	DidSucceed
	DidFail
	WasCancelled
	NotEstablished
)

// EndingOf branches on an outcome, which is nil while a run has not ended.
func EndingOf(outcome *string) Ending {
	if outcome == nil {
		return NotEnded
	}
	switch *outcome {
	case "succeeded":
		return DidSucceed
	case "failed":
		return DidFail
	case "cancelled":
		return WasCancelled
	}
	return NotEstablished
}

// Seen is what a consumer reads of a run. Status is for showing only.
type Seen struct {
	RunID      string  `json:"run_id"`
	Status     string  `json:"status"`
	Terminal   bool    `json:"terminal"`
	Outcome    *string `json:"outcome"`
	ReasonCode *string `json:"reason_code"`
	Error      *Error  `json:"error"` // of a wait: why the id could not be observed
}

// waited is what a consumer reads of a bounded wait.
type waited struct {
	Entries           []Seen   `json:"entries"`
	Pending           []string `json:"pending"`
	StoppedWithoutEnd []string `json:"stopped_without_end"`
	UnresolvedSpawn   []string `json:"unresolved_spawn"`
}

// Policy is what becomes of runs that no bounded wait resolves (obligation 8).
type Policy struct {
	Window   time.Duration // of one wait
	Poll     time.Duration
	Attempts int           // waits in which a run may be unresolved before it is given up
	Backoff  time.Duration // before the next wait, doubled each time
	// Leave says of a run that is pending that it is not waited for, such as one
	// that needs a person first; nil waits for all.
	Leave func(*Seen) bool
}

// Resolution is where the waiting for one run ended.
type Resolution struct {
	Seen
	// Abandoned says that the policy gave the run up: nobody will ever end it.
	// It is this consumer's own decision, and the run's record does not change.
	Abandoned bool
}

// Await waits for runs as the policy says. A run that is pending is waited for
// until ctx ends or the policy leaves it; one that stopped without an end, or never got a process, is
// given up after the policy's attempts. The answer has one entry an id, in the
// order of ids.
func (c *Client) Await(ctx context.Context, ids []string, p Policy) ([]Resolution, error) {
	known := map[string]Resolution{}
	open := slices.Clone(ids)
	pause := p.Backoff
	for attempt := 1; len(open) > 0; {
		var w waited
		args := append([]string{"job", "wait", "--max-wait", seconds(p.Window), "--poll-interval", seconds(p.Poll)}, open...)
		if err := c.Call(ctx, &w, args...); err != nil {
			return nil, err
		}
		unresolved := append(slices.Clone(w.StoppedWithoutEnd), w.UnresolvedSpawn...)
		for _, e := range w.Entries {
			known[e.RunID] = Resolution{Seen: e, Abandoned: attempt >= p.Attempts && slices.Contains(unresolved, e.RunID)}
		}
		for _, id := range open {
			if _, found := known[id]; !found { // asking again would never end
				return nil, &MalformedError{fmt.Sprintf("the wait has no entry for %q", id)}
			}
		}
		open = slices.DeleteFunc(open, func(id string) bool {
			r := known[id]
			return r.Terminal || r.Error != nil || r.Abandoned || p.Leave != nil && p.Leave(&r.Seen)
		})
		if len(unresolved) == 0 {
			continue // the window itself was the pause
		}
		attempt++
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	out := make([]Resolution, len(ids))
	for i, id := range ids {
		out[i] = known[id]
	}
	return out, nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
