package jobs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

// The bounds of --limit.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// List is the newest runs first. Truncated says that there are more.
type List struct {
	Jobs      machine.Value[[]Entry] `json:"jobs"`
	Limit     int                    `json:"limit"` // as it was used
	Truncated bool                   `json:"truncated"`
}

// Entry is one run of a list or of a wait: its lifecycle, or why it could not be
// observed.
type Entry struct {
	Lifecycle
	Error *machine.Error `json:"error"`
}

// List returns the newest runs, or only those with a status.
func (s *Store) List(limit int, status Status) (*List, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)
	out := &List{Limit: limit}
	ids, err := s.ids()
	if err != nil {
		code, detail := unavailable(err)
		out.Jobs = machine.Missing[[]Entry](code, "the folder of runs: "+detail)
		return out, nil
	}
	jobs := []Entry{}
	if status != "" && outcomes[status] == "" {
		ids = s.unended(ids)
	}
	for _, id := range ids {
		e, seen := s.entry(id)
		if !seen || status != "" && e.Status != status {
			continue
		}
		if len(jobs) == limit {
			out.Truncated = true
			break
		}
		jobs = append(jobs, e)
	}
	out.Jobs = machine.Got(jobs)
	return out, nil
}

// ids returns the ids of all runs, the newest first.
func (s *Store) ids() ([]string, error) {
	d, err := os.Open(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !contract.ValidRunID(n) })
	slices.Sort(names)
	slices.Reverse(names)
	return names, nil
}

// unended leaves out the runs that have an end, without reading it: these are
// most. A look into a folder is a wait for the system, so all processors look.
func (s *Store) unended(ids []string) []string {
	part := (len(ids) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	var lookers sync.WaitGroup
	ended := make([]bool, len(ids))
	for from := 0; from < len(ids); from += part {
		lookers.Go(func() {
			for i := from; i < min(from+part, len(ids)); i++ {
				ended[i] = exists(s.dir + string(filepath.Separator) + ids[i] + string(filepath.Separator) + endFile)
			}
		})
	}
	lookers.Wait()
	out := ids[:0]
	for i, id := range ids {
		if !ended[i] {
			out = append(out, id)
		}
	}
	return out
}

// entry observes one run of a list; seen is false when it was pruned meanwhile.
func (s *Store) entry(id string) (e Entry, seen bool) {
	o, err := s.observe(id)
	if err == nil {
		return Entry{Lifecycle: o.view}, true
	}
	var none *NotFoundError
	if errors.As(err, &none) {
		return e, false
	}
	e.RunID, e.Status = id, StatusUnknown
	e.Error = refusal(err)
	return e, true
}

// refusal is the error of one run inside an answer about several.
func refusal(err error) *machine.Error {
	var id *IDError
	var none *NotFoundError
	var broken *BrokenError
	switch {
	case errors.As(err, &id):
		return machine.Errorf(machine.InvalidInput, "%v", err)
	case errors.As(err, &none):
		e := machine.Errorf(machine.NotFound, "%v", err)
		if none.PrunedAt != "" {
			e.Detail = map[string]any{"pruned_at": none.PrunedAt}
		}
		return e
	case errors.As(err, &broken):
		_, detail := unavailable(broken.Err)
		return machine.Errorf(machine.Unavailable, "%s of run %s: %s", broken.File, broken.RunID, detail)
	}
	var busy *BusyError
	if errors.As(err, &busy) {
		return machine.Errorf(machine.Unavailable, "%v", busy)
	}
	_, detail := unavailable(err)
	return machine.Errorf(machine.Unavailable, "%s", detail)
}

// Refusal is the refusal of a command about one run.
func Refusal(err error) *machine.Error {
	var conflict *ConflictError
	var invalid *InvalidError
	var spawn *SpawnError
	switch {
	case errors.As(err, &conflict):
		e := machine.Errorf(machine.Conflict, "%v", err)
		e.Detail = map[string]any{"run_id": conflict.RunID}
		return e
	case errors.As(err, &invalid):
		return machine.Errorf(machine.InvalidInput, "%v", err)
	case errors.As(err, &spawn):
		e := machine.Errorf(machine.Unavailable, "%v", err)
		e.Detail = map[string]any{"run_id": spawn.RunID, "reason_code": ReasonSpawnFailed}
		return e
	case errors.Is(err, ErrEnded), errors.Is(err, ErrSuperseded), errors.Is(err, ErrNotSuspended):
		return machine.Errorf(machine.Conflict, "%v", err)
	}
	return refusal(err)
}
