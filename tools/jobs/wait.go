package jobs

import (
	"context"
	"errors"
	"time"
)

// The bounds of a wait. A maximum of 0 is a snapshot.
const (
	MaxWait         = time.Hour
	MinPoll         = 100 * time.Millisecond
	MaxPoll         = time.Minute
	DefaultPoll     = time.Second
	DefaultMaxWait  = 30 * time.Second
	maxIDsOfOneWait = 10_000
)

// Waited is what a bounded observation learned (D10). The four lists are
// disjoint and together hold every id that was observed; an id that could not
// be observed has its error in its entry and is in none of them.
type Waited struct {
	Entries           []Entry  `json:"entries"` // one for each requested id, in the order of the request
	Terminal          []string `json:"terminal"`
	Pending           []string `json:"pending"`
	StoppedWithoutEnd []string `json:"stopped_without_end"`
	UnresolvedSpawn   []string `json:"unresolved_spawn"`
	AllTerminal       bool     `json:"all_terminal"` // every requested id is
	TimedOut          bool     `json:"timed_out"`    // the window closed with ids pending
	// The bounds as they were used, in seconds.
	MaxWait            float64 `json:"max_wait_seconds"`
	PollInterval       float64 `json:"poll_interval_seconds"`
	PreparingThreshold float64 `json:"preparing_threshold_seconds"`
}

// Wait observes runs until none is pending or the window closes, and changes
// nothing but to record the end of those that are conclusively gone. A caller
// who goes away ends the observation, never the work: its error is ctx's.
func (s *Store) Wait(ctx context.Context, ids []string, maxWait, poll time.Duration) (*Waited, error) {
	if len(ids) == 0 {
		return nil, &InvalidError{"no run id was given"}
	}
	if len(ids) > maxIDsOfOneWait {
		return nil, &InvalidError{"more than 10000 run ids were given"}
	}
	maxWait, poll = min(max(maxWait, 0), MaxWait), min(max(poll, MinPoll), MaxPoll)
	w := waiting{store: s, ids: ids, known: map[string]*look{}}
	began := time.Now() // and not the store's clock: a wall clock that is set does not move the window
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for waited := false; ; waited = true {
		w.look()
		out := w.result()
		// A caller who asks again and again about what waiting cannot resolve
		// pays one interval a call.
		floor := !waited && len(out.StoppedWithoutEnd)+len(out.UnresolvedSpawn) > 0
		left := maxWait - time.Since(began)
		if len(out.Pending) == 0 && !floor || left <= 0 {
			out.TimedOut = len(out.Pending) > 0
			out.MaxWait, out.PollInterval, out.PreparingThreshold = maxWait.Seconds(), poll.Seconds(), PreparingThreshold.Seconds()
			return out, nil
		}
		timer.Reset(min(poll, left))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// look is the last observation of an id.
type look struct {
	entry Entry
	place place
	final bool // terminal, or not observable: looking again tells nothing new
}

type waiting struct {
	store *Store
	ids   []string
	known map[string]*look
}

func (w *waiting) look() {
	for _, id := range w.ids {
		if k := w.known[id]; k != nil && k.final {
			continue
		}
		o, err := w.store.observe(id)
		if err != nil {
			e := Entry{Error: refusal(err)}
			e.RunID, e.Status = id, StatusUnknown
			var broken *BrokenError
			w.known[id] = &look{entry: e, final: !errors.As(err, &broken)}
			continue
		}
		w.known[id] = &look{entry: Entry{Lifecycle: o.view}, place: o.place, final: o.place == placeTerminal}
	}
}

func (w *waiting) result() *Waited {
	out := &Waited{Entries: []Entry{}, Terminal: []string{}, Pending: []string{}, StoppedWithoutEnd: []string{}, UnresolvedSpawn: []string{}, AllTerminal: true}
	listed := map[string]bool{}
	for _, id := range w.ids {
		k := w.known[id]
		out.Entries = append(out.Entries, k.entry)
		if k.entry.Error != nil {
			out.AllTerminal = false
			continue
		}
		list := &out.Terminal
		switch k.place {
		case placePending:
			list = &out.Pending
		case placeStopped:
			list = &out.StoppedWithoutEnd
		case placeUnresolved:
			list = &out.UnresolvedSpawn
		}
		out.AllTerminal = out.AllTerminal && k.place == placeTerminal
		if !listed[id] {
			listed[id] = true
			*list = append(*list, id)
		}
	}
	return out
}
