// Package conformance judges any executable that claims the machine-result
// contract (specification 000): a table of numbered requirements, one for each
// normative sentence that can be seen from outside, each checked with fresh
// processes. It knows nothing of how the executable works; a Profile says which
// of its commands submit, read, wait and so on (FINE-PRINT 25).
package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Verdict is what became of one requirement.
type Verdict string

// The verdicts. A mandatory requirement that was not tested counts as a failure:
// what nobody checked is not kept.
const (
	Passed    Verdict = "passed"
	Failed    Verdict = "failed"
	NotTested Verdict = "not_tested" // the profile has no entry for it
	Blocked   Verdict = "blocked"    // this machine cannot make the situation
)

// Requirement is one normative sentence.
type Requirement struct {
	ID       string `json:"id"`       // decision and number, such as D3.1
	Sentence string `json:"sentence"` // what is required, in our words
	Cites    string `json:"cites"`    // where the specification says it
	needs    []need
	check    func(*bench) error
}

// Result is the verdict on one requirement.
type Result struct {
	Requirement
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"` // "" when it passed
}

// Report is the judgement of an executable.
type Report struct {
	SchemaVersion int      `json:"schema_version"`
	Profile       string   `json:"profile"`
	Results       []Result `json:"results"`
	Passed        int      `json:"passed"`
	Failed        int      `json:"failed"`
	NotTested     int      `json:"not_tested"`
	Blocked       int      `json:"blocked"`
}

// Conforms reports that every requirement passed; blocked ones are somebody
// else's machine to decide.
func (r *Report) Conforms() bool { return r.Failed == 0 && r.NotTested == 0 }

// Target is the executable under judgement and what can be seen around it.
type Target interface {
	// Run runs the executable once, in a fresh process.
	Run(ctx context.Context, c Call) Answer
	// Damaged runs a copy of the executable that the profile's damage was done
	// to.
	Damaged(ctx context.Context, c Call) (Answer, error)
	// SpawnRefused submits while the executable cannot be started any more.
	SpawnRefused(ctx context.Context, c Call) (Answer, error)
	// Process tells of a process; nil when there is none.
	Process(pid int) (*Process, error)
	// Kill kills a process that the executable started.
	Kill(pid int) error
	// Prepared runs the executable and stops it whenever it makes a process, that
	// process with it. Where stopped says that this is the moment, both are killed
	// there; found is false when there was none.
	Prepared(ctx context.Context, c Call, stopped func() bool) (found bool, err error)
	// Held runs the executable while the program that it starts is held at its
	// first instruction, and lets that go on after meanwhile.
	Held(ctx context.Context, c Call, meanwhile func()) (Answer, error)
	// Group returns the processes of a group that have not ended.
	Group(leader int) ([]int, error)
	// Age makes the records of the executable older: whatever says stamp says an
	// hour earlier. It is no error that nothing does.
	Age(stamp string) error
	// Trapped reports that a program of this name was looked for on PATH and run.
	Trapped(name string) bool
	// Write writes a file into the folder of this requirement.
	Write(name, content string) error
	// There reports whether a file exists.
	There(path string) bool
	// Obstruct makes a file that the executable named unreadable.
	Obstruct(path string) error
	// Wait returns when a file exists.
	Wait(ctx context.Context, path string) error
	// Dir is a folder of this requirement's own.
	Dir() string
}

// Call is one run of the executable.
type Call struct {
	Args  []string
	Stdin []byte
	// Elsewhere runs it where the processes of the others cannot be judged.
	Elsewhere bool
	// Interrupt, INT or KILL, ends the run once it has begun to wait.
	Interrupt string
	// Terminal runs it on a terminal, stdout too, where nobody types.
	Terminal bool
}

// Answer is what a run said.
type Answer struct {
	Stdout []byte
	Code   int // -1 when it ended by a signal or never started
	Took   time.Duration
	Err    error // it could not be run at all
}

// Process is what the system tells of a process.
type Process struct{ Session, Group int }

// BlockedError says that this machine cannot make a situation.
type BlockedError struct{ What string }

// Error implements error.
func (e *BlockedError) Error() string { return e.What }

// Run judges an executable. targets makes a fresh target for each requirement;
// progress is told of each verdict.
func Run(ctx context.Context, p *Profile, targets func(Requirement) (Target, func(), error), progress func(Result)) (*Report, error) {
	r := &Report{SchemaVersion: 1, Profile: p.Name, Results: []Result{}}
	for _, req := range Requirements() {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		res, err := judge(ctx, p, req, targets)
		if err != nil {
			return r, err
		}
		r.add(res)
		if progress != nil {
			progress(res)
		}
	}
	return r, nil
}

func judge(ctx context.Context, p *Profile, req Requirement, targets func(Requirement) (Target, func(), error)) (Result, error) {
	res := Result{Requirement: req, Verdict: Passed}
	if i := slices.IndexFunc(req.needs, func(n need) bool { return !n.in(p) }); i >= 0 {
		res.Verdict, res.Why = NotTested, "the profile has no entry "+req.needs[i].name
		return res, nil
	}
	target, done, err := targets(req)
	if err != nil {
		return res, fmt.Errorf("preparing requirement %s: %w", req.ID, err)
	}
	defer done()
	b := &bench{ctx: ctx, profile: p, target: target}
	defer b.cleanUp()
	err = req.check(b)
	var blocked *BlockedError
	switch {
	case errors.As(err, &blocked):
		res.Verdict, res.Why = Blocked, err.Error()
	case err != nil:
		res.Verdict, res.Why = Failed, err.Error()
	}
	return res, ctx.Err()
}

func (r *Report) add(res Result) {
	r.Results = append(r.Results, res)
	switch res.Verdict {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	case NotTested:
		r.NotTested++
	case Blocked:
		r.Blocked++
	}
}

// Requirements returns the whole table, in the order of the specification.
func Requirements() []Requirement {
	return slices.Concat(envelopeTable(), callTable(), lifecycleTable(), reasonTable(), submitTable(), preparingTable(), controlTable(), noticeTable(),
		availabilityTable(), waitTable(), windowTable(), unresolvedTable())
}
