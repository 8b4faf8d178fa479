package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
)

func (a *app) jobCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "job",
		Short: "Runs that go on by themselves: status, output, list, kill, wait",
		Long: `A job is a command that was started with --detach. It outlives whoever submitted
it, and everything about it is in files below the private state folder, so any
later command answers the same. docs/MACHINE.md says what each answer means.`,
		Example: `  id=$(agent-contracts capture codex --detach)
  agent-contracts job wait $id && agent-contracts job output $id`,
		Args: cobra.ArbitraryArgs,
		RunE: helpOrUnknown,
	}
	c.AddCommand(a.jobStatusCommand(), a.jobOutputCommand(), a.jobListCommand(), a.jobKillCommand(), a.jobWaitCommand(),
		a.jobLogsCommand(), a.jobResumeCommand(), a.jobPruneCommand(), a.jobExecCommand(), a.jobDeliverCommand())
	return c
}

// jobAnswer prints what a job command learned: as the whole data of an envelope,
// as JSON, or as text.
func (a *app) jobAnswer(f format, v any, text func() error) error {
	switch {
	case a.machine != nil:
		a.machine.say(v)
		return nil
	case f == "json":
		return a.printJSON(v)
	}
	return text()
}

// jobVerb makes a command about one run.
func (a *app) jobVerb(use, short, long string, run func(s *jobs.Store, f format, id string) error) *cobra.Command {
	var f format
	c := &cobra.Command{
		Use: use, Short: short, Long: long,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeJobs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			s, err := a.jobStore()
			if err != nil {
				return err
			}
			return run(s, f, args[0])
		},
	}
	a.formatFlag(c, &f, "text", "json")
	return c
}

func (a *app) jobStatusCommand() *cobra.Command {
	return a.jobVerb("status RUN_ID", "What a job is doing, or how it ended",
		`Status says whether the job has ended (terminal), whether the work came out right
(outcome), and, as advice only, whether its process is there (alive).

Exit codes: 0; 2 usage, or there is no such job.`,
		func(s *jobs.Store, f format, id string) error {
			j, err := s.Status(id)
			if err != nil {
				return jobError(err)
			}
			return a.jobAnswer(f, j, func() error { return table(a.env.Stdout, jobRows([]jobs.Entry{{Lifecycle: j.Lifecycle}})) })
		})
}

func (a *app) jobOutputCommand() *cobra.Command {
	tail := jobs.DefaultTail
	c := a.jobVerb("output RUN_ID", "What a job has printed and left",
		`Output prints the end of the job's console. As JSON it also has the result of the
work, the list of its artifacts, and what it executes.

Exit codes: 0; 2 usage, or there is no such job.`,
		func(s *jobs.Store, f format, id string) error {
			o, err := s.Output(id, tail)
			if err != nil {
				return jobError(err)
			}
			return a.jobAnswer(f, o, func() error {
				if !o.Console.Available {
					a.talk("the console cannot be read: %s", *o.Console.Detail)
					return nil
				}
				if o.Console.Truncated {
					a.talk("only the end of the console; --tail-chars N shows more, job logs all")
				}
				_, err := io.WriteString(a.env.Stdout, *o.Console.Value.Value)
				return err
			})
		})
	c.Flags().IntVar(&tail, "tail-chars", tail, fmt.Sprintf("how much of the console's end, at most %d", jobs.MaxTail))
	return c
}

func (a *app) jobListCommand() *cobra.Command {
	var f format
	var status string
	limit := jobs.DefaultLimit
	c := &cobra.Command{
		Use:   "list",
		Short: "The newest jobs",
		Long: `List prints the newest jobs first, and says when there are more than it shows.

Exit codes: 0; 2 usage.`,
		Args: argsError(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			s, err := a.jobStore()
			if err != nil {
				return err
			}
			l, err := s.List(limit, jobs.Status(status))
			if err != nil {
				return jobError(err)
			}
			return a.jobAnswer(f, l, func() error {
				if !l.Jobs.Available {
					a.talk("the jobs cannot be listed: %s", *l.Jobs.Detail)
					return nil
				}
				if l.Truncated {
					a.talk("there are more; --limit N shows up to %d", jobs.MaxLimit)
				}
				return table(a.env.Stdout, jobRows(*l.Jobs.Value))
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", limit, fmt.Sprintf("how many, at most %d", jobs.MaxLimit))
	c.Flags().StringVar(&status, "status", "", "only those with this status")
	a.formatFlag(c, &f, "text", "json")
	return c
}

func jobRows(entries []jobs.Entry) [][]string {
	rows := [][]string{{"run", "kind", "status", "outcome", "reason", "submitted", "label"}}
	for _, e := range entries {
		outcome, reason, label := "", "", ""
		if e.Outcome != nil {
			outcome = string(*e.Outcome)
		}
		if e.ReasonCode != nil {
			reason = *e.ReasonCode
		}
		if e.Label != nil {
			label = oneLine(*e.Label)
		}
		if e.Error != nil {
			reason = oneLine(e.Error.Message)
		}
		rows = append(rows, []string{e.RunID, dash(e.Kind), string(e.Status), dash(outcome), dash(reason), dash(e.SubmittedAt), label})
	}
	return rows
}

func (a *app) jobKillCommand() *cobra.Command {
	signal := "TERM"
	c := a.jobVerb("kill RUN_ID", "Signal the processes of a job",
		`Kill delivers a signal to the job's whole process group and says whether it did.
That is no end yet: job wait sees it. A job that waits for an answer has no
process and is cancelled at once.

Exit codes: 0, also when there was nothing to signal; 2 usage, or there is no
such job.`,
		func(s *jobs.Store, f format, id string) error {
			k, err := s.Kill(id, strings.TrimPrefix(strings.ToUpper(signal), "SIG"))
			if err != nil {
				return jobError(err)
			}
			return a.jobAnswer(f, k, func() error {
				said := k.Signal + " delivered"
				if k.Explanation != nil {
					said = *k.Explanation
				}
				_, err := fmt.Fprintf(a.env.Stdout, "%s %s: %s\n", k.RunID, k.Status, said)
				return err
			})
		})
	c.Flags().StringVar(&signal, "signal", signal, strings.Join(jobs.Signals, ", "))
	_ = c.RegisterFlagCompletionFunc("signal", cobra.FixedCompletions(jobs.Signals, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) jobWaitCommand() *cobra.Command {
	var f format
	maxWait, poll := seconds(jobs.DefaultMaxWait), seconds(jobs.DefaultPoll)
	c := &cobra.Command{
		Use:   "wait RUN_ID...",
		Short: "Observe jobs until none is pending, for a bounded time",
		Long: `Wait looks at jobs until each has ended or cannot be waited for, or until the
window closes, which is no error. It never touches the work: interrupting it
leaves the jobs alone. --max-wait 0 is one look.

Besides those that ended and those that are pending it names the jobs that
stopped without a recorded end, and those whose start never came to a process:
waiting does not resolve them.

Exit codes: 0 every job has ended; 3 not every one has; 2 usage.`,
		Example: `  agent-contracts job wait 20260725T175010-97f334 --max-wait 600
  agent-contracts job wait $a $b --max-wait 0 --format json`,
		Args:              argsError(cobra.MinimumNArgs(1)),
		ValidArgsFunction: a.completeJobs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			s, err := a.jobStore()
			if err != nil {
				return err
			}
			w, err := s.Wait(c.Context(), args, time.Duration(maxWait), time.Duration(poll))
			if err != nil {
				return jobError(err)
			}
			if err := a.jobAnswer(f, w, func() error { return table(a.env.Stdout, jobRows(w.Entries)) }); err != nil {
				return err
			}
			if !w.AllTerminal {
				return &Exit{Code: ExitCannotKnow}
			}
			return nil
		},
	}
	c.Flags().Var(&maxWait, "max-wait", fmt.Sprintf("seconds, at most %.0f; 0 is one look", jobs.MaxWait.Seconds()))
	c.Flags().Var(&poll, "poll-interval", fmt.Sprintf("seconds between looks, %.1f to %.0f", jobs.MinPoll.Seconds(), jobs.MaxPoll.Seconds()))
	a.formatFlag(c, &f, "text", "json")
	return c
}

// seconds is a duration that is written as a number of seconds.
type seconds time.Duration

// String implements pflag.Value.
func (s *seconds) String() string {
	return strconv.FormatFloat(time.Duration(*s).Seconds(), 'f', -1, 64)
}

// Type implements pflag.Value.
func (s *seconds) Type() string { return "seconds" }

// Set implements pflag.Value.
func (s *seconds) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f < 0 {
		return fmt.Errorf("%q is no number of seconds", text)
	}
	*s = seconds(min(f, (1000*time.Hour).Seconds()) * float64(time.Second))
	return nil
}

func (a *app) jobLogsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "logs RUN_ID",
		Short: "The whole console of a job",
		Long: `Logs prints everything that the job wrote for people.

Exit codes: 0; 2 usage, or there is no such job.`,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeJobs,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.jobStore()
			if err != nil {
				return err
			}
			log, err := s.Log(args[0])
			if a.machine == nil && errors.Is(err, fs.ErrNotExist) {
				a.talk("the job has not come to print anything")
				return nil
			}
			if err != nil {
				return jobError(err)
			}
			defer log.Close()
			_, err = io.Copy(a.env.Stdout, log)
			return err
		},
	}
}

func (a *app) jobResumeCommand() *cobra.Command {
	return a.jobVerb("resume RUN_ID", "Go on with a job that waited for an answer",
		`Resume runs the work of a suspended job again, with the answers that review answer
recorded. It stays the same job, with a new process.

Exit codes: 0; 2 usage, or the job does not wait.`,
		func(s *jobs.Store, f format, id string) error {
			j, err := s.Resume(id, thisProgram())
			if err != nil {
				return jobError(err)
			}
			return a.jobAnswer(f, j, func() error { return table(a.env.Stdout, jobRows([]jobs.Entry{{Lifecycle: j.Lifecycle}})) })
		})
}

func (a *app) jobPruneCommand() *cobra.Command {
	var f format
	var older time.Duration
	var dryRun bool
	c := &cobra.Command{
		Use:   "prune",
		Short: "Remove jobs that ended long ago",
		Long: `Prune removes the files of jobs that ended longer ago than --older-than. What stays
is that they were there: asking for one says that it was pruned. A job without an
end is never removed. What killed submissions left goes, too, when it is an hour
old.

Exit codes: 0; 2 usage.`,
		Args: argsError(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			if older < 0 {
				return usage("--older-than must not be negative")
			}
			s, err := a.jobStore()
			if err != nil {
				return err
			}
			p, err := s.Prune(c.Context(), older, dryRun)
			if err != nil {
				return jobError(err)
			}
			return a.jobAnswer(f, p, func() error {
				for _, id := range p.Removed {
					fmt.Fprintln(a.env.Stdout, id)
				}
				a.talk("%s removed, %d kept", count(len(p.Removed), "job"), p.Kept)
				return nil
			})
		},
	}
	c.Flags().DurationVar(&older, "older-than", 30*24*time.Hour, "how long ago the job must have ended")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be removed, and remove nothing")
	a.formatFlag(c, &f, "text", "json")
	return c
}

func (a *app) completeJobs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	s, err := a.jobStore()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	l, err := s.List(jobs.DefaultLimit, "")
	if err != nil || !l.Jobs.Available {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, e := range *l.Jobs.Value {
		ids = append(ids, e.RunID+"\t"+e.Kind+" "+string(e.Status))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
