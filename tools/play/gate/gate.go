// Package gate is the third depth of replay (DESIGN D8; specification, "Daemon
// Run Harness Gate"): each fixture is played as a real process, the harness
// drives it as the consumer's daemon does, and what comes of it is held against
// the fixture, its shape and its goldens.
//
// What a parser cannot see is what counts here: when stdin is closed, which
// frames the client sends and in which order, how the child ends, and what the
// daemon makes of that.
package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Options are one run of the gate.
type Options struct {
	Registry *store.Registry
	// Program plays a fixture: a command whose last argument will be the
	// fixture's file.
	Program []string
	// Dir is a private folder for bundles and for the children to run in.
	Dir string
	// Silence is how long a child that stalls in its recording is given before
	// the harness ends it. It bounds the slowness of this machine, not of a CLI.
	Silence time.Duration
	// Parallel is how many children run at once.
	Parallel int
	// Progress is told the number of rows that are done; nil tells nobody.
	Progress func(done, of int)
}

// The statuses of a row.
const (
	StatusOK        = "ok"
	StatusDiffers   = "differs"
	StatusNotPlayed = "not_played" // the recording has no child that could be played
)

// Row is what became of one fixture, as one agent's.
type Row struct {
	Fixture string                  `json:"fixture"`
	Agent   string                  `json:"agent"`
	Family  contract.ProtocolFamily `json:"protocol_family"`
	Probe   string                  `json:"probe,omitempty"`
	Status  string                  `json:"status"`
	// Stdin says when the host closed stdin: "none", "at once", "line N" of
	// stdout, or "never" (the child's end closed it).
	Stdin string `json:"stdin_closed"`
	// Exit is the exit code or signal, Ended what brought it about.
	Exit  string `json:"exit"`
	Ended string `json:"ended"`
	// Daemon is the daemon's status and reason of close; "" where the consumer
	// does not start the agent so.
	Daemon string `json:"daemon,omitempty"`
	// Findings say what is not as recorded.
	Findings []string `json:"findings,omitempty"`
}

// Report is the gate's result.
type Report struct {
	Rows []Row `json:"rows"`
	// Covered and Missing are the protocol families with and without a fixture.
	Covered []contract.ProtocolFamily `json:"families"`
	Missing []contract.ProtocolFamily `json:"families_without_a_fixture"`
}

// Count counts the rows of a status.
func (r *Report) Count(status string) int {
	n := 0
	for _, row := range r.Rows {
		if row.Status == status {
			n++
		}
	}
	return n
}

// Run plays the fixtures of the records, each once for each agent. The error
// is about the gate itself; what a run came to is in its row.
func Run(ctx context.Context, o Options, records []store.Observed) (*Report, error) {
	families, err := o.Registry.Families()
	if err != nil {
		return nil, err
	}
	jobs := once(records)
	rows := make([]Row, len(jobs))
	next, errs := make(chan int), make(chan error, o.Parallel)
	var workers sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for w := range max(o.Parallel, 1) {
		workers.Go(func() {
			if err := worker(ctx, o, w, families, jobs, rows, next); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	for i := range jobs {
		select {
		case next <- i:
			if o.Progress != nil {
				o.Progress(i, len(jobs))
			}
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	select {
	case err := <-errs:
		return nil, err
	default:
	}
	return report(rows), ctx.Err()
}

// once drops records of a fixture that was played for the agent already.
func once(records []store.Observed) []*store.Observed {
	var out []*store.Observed
	seen := map[[3]string]bool{}
	for i := range records {
		o := &records[i]
		key := [3]string{o.Extensions.Fixture, o.Agent, o.Extensions.Dialect}
		if o.Extensions.Fixture != "" && !seen[key] {
			seen[key] = true
			out = append(out, o)
		}
	}
	return out
}

// worker plays fixtures one after the other in a sandbox of its own.
func worker(ctx context.Context, o Options, n int, families *contract.Families, jobs []*store.Observed, rows []Row, next <-chan int) (err error) {
	sandbox, err := harness.NewSandbox(ctx, harness.Options{HostNetwork: true})
	if err != nil {
		return fmt.Errorf("making a sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, sandbox.Close()) }()
	dir := filepath.Join(o.Dir, fmt.Sprintf("worker%d", n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i := range next {
		one := &fixture{opts: o, record: jobs[i], sandbox: sandbox, dir: dir}
		if rows[i], err = one.run(ctx, families); err != nil {
			return fmt.Errorf("playing %s: %w", jobs[i].Extensions.Fixture, err)
		}
	}
	return nil
}

func report(rows []Row) *Report {
	r := &Report{Rows: rows, Covered: []contract.ProtocolFamily{}, Missing: []contract.ProtocolFamily{}}
	for _, f := range contract.ProtocolFamilies {
		if slices.ContainsFunc(rows, func(row Row) bool { return row.Family == f && row.Status != StatusNotPlayed }) {
			r.Covered = append(r.Covered, f)
		} else {
			r.Missing = append(r.Missing, f)
		}
	}
	slices.SortStableFunc(r.Rows, func(a, b Row) int { return cmp.Compare(a.Fixture, b.Fixture) })
	return r
}
