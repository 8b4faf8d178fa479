// Package campaign captures what a plan asks for, one job a version. It is a
// consumer of the machine-result contract (specification 000) as any program
// outside is: it calls the executable, keeps no state of its own, and what it
// says of a job is what job wait said.
package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
	"github.com/nexu-io/open-design-agent-contracts/tools/plan"
)

// Caller makes the calls; machine.Client is one.
type Caller interface {
	Call(ctx context.Context, data any, args ...string) error
	Await(ctx context.Context, ids []string, p machine.Policy) ([]machine.Resolution, error)
}

// Options say how a campaign calls the program.
type Options struct {
	Program Caller
	// Arguments are those that every submission gets, such as --registry=DIR.
	Arguments []string
	// Key names the campaign: under the same key it finds its jobs again.
	Key string
	// Again says that another campaign may have had the key: a job of it that goes
	// on is waited for, and one that has ended is followed by another.
	Again bool
	// Policy is what becomes of jobs that waiting does not resolve.
	Policy machine.Policy
	// Tell is told how far the campaign is.
	Tell func(done, total int, what string)
}

// Report is what a campaign came to.
type Report struct {
	Captures []Capture `json:"captures"` // in the order of the plan
}

// Capture is one version of an agent, and its job.
type Capture struct {
	Agent   string   `json:"agent"`
	Version string   `json:"version"` // as the plan asks for it
	Probes  []string `json:"probes"`
	// Job is what was last seen of the job, nil where none could be submitted.
	Job *machine.Seen `json:"job"`
	// Abandoned says that nobody will end the job, and the campaign went on.
	Abandoned bool `json:"abandoned"`
	// Problem says why there is no job, or why it could not be observed.
	Problem *machine.Error `json:"problem"`
}

// attempts bounds how often a call is made that brings no answer.
const attempts = 3

// Run submits a job for each item and waits for it before it submits the next:
// captures that share a processor disturb each other's times. A job goes on when
// the campaign does not. The error is ctx's, or says that the program cannot be
// trusted any more: another contract version (*machine.VersionError), a damaged
// installation (*machine.InstallationError), or no answer again and again. Then
// the report has what was learned before.
func Run(ctx context.Context, items []plan.Item, agents *contract.AgentsFile, o Options) (*Report, error) {
	report := &Report{Captures: []Capture{}}
	for i := range items {
		it := &items[i]
		o.Tell(i, len(items), it.Agent+"@"+it.Version)
		c := Capture{Agent: it.Agent, Version: it.Version, Probes: it.Probes}
		inputs, err := plan.Inputs([]*plan.Item{it}, agents)
		if err == nil {
			err = o.capture(ctx, &c, inputs)
		}
		report.Captures = append(report.Captures, c)
		if err != nil {
			return report, fmt.Errorf("capturing %s@%s: %w", it.Agent, it.Version, err)
		}
	}
	o.Tell(len(items), len(items), "done")
	return report, nil
}

// Waits reports that a job needs a person.
func (c *Capture) Waits() bool { return c.Job != nil && !c.Job.Terminal && awaits(c.Job) }

func awaits(s *machine.Seen) bool {
	return !s.Terminal && s.ReasonCode != nil && *s.ReasonCode == "awaiting_answer"
}

// capture submits the job of one item and waits for it.
func (o *Options) capture(ctx context.Context, c *Capture, inputs string) error {
	job, err := o.submit(ctx, c, inputs)
	if refusal(err, &c.Problem) || err != nil {
		return notRefused(err)
	}
	c.Job = job
	if awaits(job) { // of an earlier attempt at this campaign; somebody may have answered
		if err := o.again(ctx, &struct{}{}, "job", "resume", job.RunID); notRefused(err) != nil {
			return err
		}
	}
	policy := o.Policy
	policy.Leave = awaits
	var found []machine.Resolution
	err = o.insist(func() (err error) {
		found, err = o.Program.Await(ctx, []string{job.RunID}, policy)
		return err
	})
	if refusal(err, &c.Problem) || err != nil {
		return notRefused(err)
	}
	c.Job, c.Abandoned, c.Problem = &found[0].Seen, found[0].Abandoned, found[0].Error
	return nil
}

// submit hands the inputs over in a file: the program copies it before the work
// starts. A submission that brings no answer may have started a job all the
// same; its key finds it.
func (o *Options) submit(ctx context.Context, c *Capture, inputs string) (*machine.Seen, error) {
	f, err := os.CreateTemp("", "campaign-*.json")
	if err != nil {
		return nil, fmt.Errorf("handing over the inputs: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(inputs)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("handing over the inputs: %w", err)
	}
	sum := sha256.Sum256([]byte(inputs))
	name := c.Agent + "@" + c.Version
	base := o.Key + "/" + name + "/" + hex.EncodeToString(sum[:8])
	for key := base; ; {
		var job struct {
			machine.Seen
			Reused bool `json:"reused"`
		}
		err := o.again(ctx, &job, append(slices.Clone(o.Arguments), "capture", "--detach", "--input="+f.Name(),
			"--label="+name, "--idempotency-key="+key)...)
		next := base + "/after/" + job.RunID
		if err != nil || !o.Again || !job.Reused || !job.Terminal || next == key {
			return &job.Seen, err
		}
		key = next // whoever comes next finds the same one
	}
}

func (o *Options) again(ctx context.Context, data any, args ...string) error {
	return o.insist(func() error { return o.Program.Call(ctx, data, args...) })
}

// insist makes a call again that brought no answer: that says nothing about the
// work.
func (o *Options) insist(call func() error) error {
	var err error
	for range attempts {
		var transport *machine.TransportError
		var malformed *machine.MalformedError
		if err = call(); !errors.As(err, &transport) && !errors.As(err, &malformed) {
			return err
		}
	}
	return err
}

// refusal keeps a refusal as a capture's problem: the next may be taken.
func refusal(err error, problem **machine.Error) bool { return errors.As(err, problem) }

func notRefused(err error) error {
	var refused *machine.Error
	if errors.As(err, &refused) {
		return nil
	}
	return err
}
