package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// detachFlags are the flags of a command that can be a job.
type detachFlags struct {
	on                 bool
	label, notify, key string
}

// ownFlags are the flags that are about the job and not about its work.
var ownFlags = []string{"detach", "label", "notify-cmd", "idempotency-key", "machine", "format", "json"}

// detachable lets a command run as a job with --detach. check refuses bad input
// while the request has no trace yet.
func (a *app) detachable(c *cobra.Command, kind string, check func(c *cobra.Command, args []string) error) *cobra.Command {
	f := &detachFlags{}
	fl := c.Flags()
	fl.BoolVar(&f.on, "detach", false, "run as a job that outlives this command (see job)")
	fl.StringVar(&f.label, "label", "", "with --detach: a name for the job")
	fl.StringVar(&f.notify, "notify-cmd", "", "with --detach: a shell command to run when the job has ended")
	fl.StringVar(&f.key, "idempotency-key", "", "with --detach: submitting the same again returns the first job")
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !f.on {
			if f.label != "" || f.notify != "" || f.key != "" {
				return usage("--label, --notify-cmd and --idempotency-key need --detach")
			}
			return run(c, args)
		}
		input, work, err := a.jobInput(a.workArgs(c))
		if err != nil {
			return err
		}
		if input != nil {
			a.env.Stdin = bytes.NewReader(input) // check reads it, too
		}
		if err := check(c, args); err != nil {
			return err
		}
		return a.detach(c.Context(), jobs.Submission{Kind: kind, Label: f.label, Args: work, Dir: a.env.Dir, Input: input, Notify: f.notify, Key: f.key})
	}
	return c
}

// knownAgents refuses arguments that name no agent of the registry.
func (a *app) knownAgents(f format, args []string) error {
	if err := f.check("text", "json"); err != nil {
		return err
	}
	reg, err := a.open()
	if err != nil {
		return err
	}
	targets := make([]capture.Target, len(args))
	for i, id := range args {
		targets[i].Agent = id
	}
	return capture.Check(reg, targets, nil)
}

// workArgs are the arguments without those that are about the job, in their
// order.
func (a *app) workArgs(c *cobra.Command) []string {
	var out []string
	args := a.env.Args
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		name, isFlag := strings.CutPrefix(args[i], "--")
		name, _, whole := strings.Cut(name, "=")
		if !isFlag || !slices.Contains(ownFlags, name) {
			out = append(out, args[i])
		} else if flag := c.Flags().Lookup(name); !whole && flag != nil && flag.NoOptDefVal == "" {
			i++ // its value
		}
	}
	return out
}

func (a *app) jobStore() (*jobs.Store, error) {
	state, err := store.StateDir(a.env.Getenv)
	if err != nil {
		return nil, &Exit{Code: ExitUsage, Err: err, Hint: "set XDG_STATE_HOME to a folder that nobody else may read"}
	}
	sys := a.env.System
	if sys == nil {
		sys = jobs.ThisSystem()
	}
	return jobs.Open(state, sys).DeliverBy(thisProgram()), nil
}

// submitted is the answer to --detach. It says nothing about the work: that is
// what job status is for, and a second place for it would be one too many (D5).
type submitted struct {
	RunID      string          `json:"run_id"`
	Kind       string          `json:"kind"`
	PID        *int            `json:"pid"`
	Status     jobs.Status     `json:"status"`
	Terminal   bool            `json:"terminal"`
	Outcome    *jobs.Outcome   `json:"outcome"`
	ReasonCode *string         `json:"reason_code"`
	SpawnState jobs.SpawnState `json:"spawn_state"`
	Log        string          `json:"log"`
	Reused     bool            `json:"reused"` // of the idempotency key
}

// detach submits the work and says how to find it again.
func (a *app) detach(ctx context.Context, sub jobs.Submission) error {
	s, err := a.jobStore()
	if err != nil {
		return err
	}
	job, reused, err := s.Submit(ctx, sub, thisProgram())
	if err != nil {
		return jobError(err)
	}
	if a.machine != nil {
		said := submitted{RunID: job.RunID, Kind: job.Kind, PID: job.PID, Status: jobs.StatusRunning, SpawnState: jobs.Started, Log: job.Log}
		if reused {
			said = submitted{job.RunID, job.Kind, job.PID, job.Status, job.Terminal, job.Outcome, job.ReasonCode, job.SpawnState, job.Log, true}
		}
		a.machine.say(said)
		return nil
	}
	if reused {
		a.talk("the job of this key was submitted before")
	} else {
		a.talk("the job goes on by itself; `agent-contracts job wait %s` waits for it", job.RunID)
	}
	_, err = fmt.Fprintln(a.env.Stdout, job.RunID)
	return err
}

// jobInput copies what the work would read later, so that an edit after the
// submission changes nothing: --input FILE, and FILE arguments that are "-".
func (a *app) jobInput(args []string) ([]byte, []string, error) {
	out := append([]string(nil), args...)
	for i, arg := range out {
		name, is := strings.CutPrefix(arg, "--input=")
		switch {
		case is:
			out[i] = "--input=-"
		case arg == "--input" && i+1 < len(out):
			name, out[i+1] = out[i+1], "-"
		case arg == "-":
			name = "-"
		default:
			continue
		}
		b, err := a.readInput(name)
		if err != nil {
			return nil, nil, usage("reading --input: %v", err)
		}
		return b, out, nil
	}
	return nil, out, nil
}

// jobExecCommand is the child's side of --detach.
func (a *app) jobExecCommand() *cobra.Command {
	var generation int
	c := &cobra.Command{
		Use:    "exec RUN_ID",
		Short:  "Do the work of a job (the program starts this itself)",
		Hidden: true,
		Args:   argsError(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.jobStore()
			if err != nil {
				return err
			}
			return jobError(s.Exec(c.Context(), args[0], generation, a.work))
		},
	}
	c.Flags().IntVar(&generation, "generation", 1, "which incarnation of the run this is")
	return c
}

// jobDeliverCommand sends the notice of a job for a reader that found its end.
func (a *app) jobDeliverCommand() *cobra.Command {
	var by string
	c := &cobra.Command{
		Use:    "deliver RUN_ID",
		Short:  "Send the notice of a job (the program starts this itself)",
		Hidden: true,
		Args:   argsError(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.jobStore()
			if err != nil {
				return err
			}
			return jobError(s.Deliver(args[0], by))
		},
	}
	c.Flags().StringVar(&by, "by", "", "who found the end")
	return c
}

// work runs the command of a job in this process.
func (a *app) work(ctx context.Context, run *jobs.Run) jobs.Done {
	env := a.env
	env.Args, env.Dir = append(append([]string(nil), run.Record.Args...), "--machine"), run.Record.Dir
	env.Stdin, env.Stdout, env.Terminal, env.Interactive = bytes.NewReader(nil), io.Discard, false, false
	if run.Input != "" {
		f, err := os.Open(run.Input)
		if err != nil {
			return jobs.Done{Status: jobs.StatusFailed, ReasonCode: jobs.ReasonFault}
		}
		defer f.Close()
		env.Stdin = f
	}
	said := &answer{}
	env.Stdout = &said.printed
	sub := &app{env: env, machine: said, tell: run.Tell, job: run.Record.RunID}
	e := sub.envelope(ctx)
	var b bytes.Buffer
	if err := e.Write(&b); err != nil {
		return jobs.Done{Status: jobs.StatusFailed, ReasonCode: jobs.ReasonFault}
	}
	done := came(said, ctx.Err() != nil)
	done.Envelope = bytes.TrimSpace(b.Bytes())
	return done
}

// came is what the exit code of a command means for its job (FINE-PRINT 22 and
// 24).
func came(said *answer, interrupted bool) jobs.Done {
	if interrupted {
		return jobs.Done{Status: jobs.StatusCancelled, ReasonCode: jobs.ReasonInterrupted}
	}
	switch said.code {
	case ExitOK:
		return jobs.Done{Status: jobs.StatusCompleted}
	case ExitFindings:
		if said.any() {
			return jobs.Done{Status: jobs.StatusCompleted, ReasonCode: jobs.ReasonDrift}
		}
	case ExitCannotKnow:
		if said.partial {
			return jobs.Done{Status: jobs.StatusFailed, ReasonCode: jobs.ReasonPartial}
		}
		return jobs.Done{Status: jobs.StatusInconclusive, ReasonCode: jobs.ReasonCannotKnow}
	case ExitRefused:
		return jobs.Done{Status: jobs.StatusFailed, ReasonCode: jobs.ReasonRedactionFailed}
	case ExitWaits:
		return jobs.Done{Status: jobs.StatusSuspended, ReasonCode: jobs.ReasonAwaitingAnswer}
	case ExitBug:
		return jobs.Done{Status: jobs.StatusFailed, ReasonCode: jobs.ReasonFault}
	}
	return jobs.Done{Status: jobs.StatusFailed, ReasonCode: jobs.ReasonRefused}
}

// jobError gives an error about a run its exit code and its refusal.
func jobError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var spawn *jobs.SpawnError
	code := ExitUsage
	if errors.As(err, &spawn) {
		code = ExitCannotKnow
	}
	return &Exit{Code: code, Err: jobs.Refusal(err), Hint: jobHint(err)}
}

func jobHint(err error) string {
	var none *jobs.NotFoundError
	if errors.As(err, &none) {
		return "see agent-contracts job list"
	}
	return ""
}
