package capture

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// patience is how many times longer a run is given the second time, and
// secondTry the finding that says so.
const (
	patience  = 3
	secondTry = "a first run was ended by the clock; this one had three times the time"
)

// run runs the job's probe and derives the result. A run that the clock of the
// capture ended, that is like nothing on record, and that is not what the probe
// wanted, is run once more with more time, and only that run counts: on a loaded
// machine a CLI may not even have started by then, and a silence of our own
// making would pass for a change of protocol.
func (c *capturer) run(ctx context.Context, job *cellJob, dir string, asker *requests.Asker) (*recorded, *CellResult, error) {
	rec, res, err := c.attempt(ctx, job, dir, asker)
	if err != nil || c.opts.Live || asker.Asked() || !impatient(rec, res) {
		return rec, res, err
	}
	c.tell("the clock ended it; again with three times the time")
	job.patience = patience
	if err := rec.ws.remove(); err != nil {
		return nil, nil, err
	}
	return c.attempt(ctx, job, dir, asker)
}

func impatient(rec *recorded, res *CellResult) bool {
	clock := rec.result.Reason == transcript.ReasonIdleTimeout || rec.result.Reason == transcript.ReasonWallTimeout
	return clock && !res.Known && res.Observation != nil && len(res.Observation.Extensions.Violations) > 0
}

// attempt runs the probe once, in an empty folder. The caller removes the
// workspace of what it returns.
func (c *capturer) attempt(ctx context.Context, job *cellJob, dir string, asker *requests.Asker) (*recorded, *CellResult, error) {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, nil, fmt.Errorf("keeping the state of the run: %w", err)
	}
	rec, err := c.child(ctx, job, dir)
	if err != nil {
		return nil, nil, err
	}
	res, err := c.conclusion(ctx, job, rec, asker)
	if err != nil {
		return nil, nil, errors.Join(err, rec.ws.remove(), os.RemoveAll(dir))
	}
	return rec, res, nil
}

func (c *capturer) conclusion(ctx context.Context, job *cellJob, rec *recorded, asker *requests.Asker) (*CellResult, error) {
	if err := asker.Err(); err != nil { // it stopped in the middle: what it recorded is no run
		return nil, err
	}
	if err := job.version.unchanged(); err != nil {
		return nil, err
	}
	c.tell("redacting")
	res, err := c.derive(ctx, job, rec)
	if err == nil {
		err = asker.Err()
	}
	return res, err
}
