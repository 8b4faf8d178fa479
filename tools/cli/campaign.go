package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/campaign"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
	"github.com/nexu-io/open-design-agent-contracts/tools/plan"
)

const (
	// campaignCall bounds one call: the longest is one window of a wait.
	campaignCall = 5 * time.Minute
	// What becomes of a job that nobody will end: five looks in about a minute.
	campaignWindow, campaignPoll, campaignLooks, campaignBackoff = time.Minute, time.Second, 5, 2 * time.Second
)

func (a *app) campaignCommand() *cobra.Command {
	var f format
	c := &cobra.Command{
		Use:   "campaign [AGENT]...",
		Short: "Capture what plan asks for on this platform, one job a version",
		Long: `Campaign submits a capture job for each version that plan names for this platform,
the most pressing first, and waits for each before it submits the next. The jobs
are their own: when a campaign ends or is killed, the one that runs goes on, and
job list shows it. The same campaign again waits for that job, and captures what is
still to be captured. A job that needs an answer does not hold up the others; run
the same campaign again when it is given, or job resume one that was detached.

Exit codes: 0 everything was captured, or there is nothing to capture; 1 a change
was found; 2 usage; 3 something could not be captured; 5 a job waits for an answer
(see review).`,
		Example: `  agent-contracts campaign --detach --notify-cmd 'notify-send done'
  agent-contracts campaign codex claude`,
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			return a.campaign(c.Context(), f, args)
		},
	}
	a.formatFlag(c, &f, "text", "json")
	return a.detachable(c, jobs.KindCampaign, func(_ *cobra.Command, args []string) error { return a.knownAgents(f, args) })
}

func (a *app) campaign(ctx context.Context, f format, ids []string) error {
	reg, err := a.openToWrite()
	if err != nil {
		return err
	}
	records, err := plan.Load(reg)
	if err != nil {
		return err
	}
	p, err := plan.Build(records, plan.Options{Agents: ids, Now: a.env.Now(), Platforms: []contract.Platform{contract.HostPlatform()}})
	if err != nil {
		return err
	}
	o := campaign.Options{Key: "campaign/" + a.job, Again: a.job == "", Policy: machine.Policy{Window: campaignWindow, Poll: campaignPoll, Attempts: campaignLooks, Backoff: campaignBackoff}}
	if a.job == "" {
		// Of the registry: the same campaign after one that was killed finds the job
		// that goes on.
		dir, err := filepath.Abs(reg.Dir())
		if err != nil {
			return fmt.Errorf("naming the campaign: %w", err)
		}
		o.Key += strings.TrimPrefix(string(contract.Sum([]byte(dir))), "sha256:")[:16]
	}
	if a.registry != "" {
		o.Arguments = []string{"--registry=" + a.registry}
	}
	o.Tell = func(done, total int, what string) {
		a.talk("[%d/%d] %s", done, total, oneLine(what))
		if a.tell != nil {
			a.tell(done, total, what)
		}
	}
	client, _, err := machine.Connect(ctx, thisProgram(), campaignCall)
	if err != nil {
		return &Exit{Code: ExitCannotKnow, Err: err}
	}
	o.Program = client
	report, err := campaign.Run(ctx, p.Items, records.Agents, o)
	if printErr := a.printCampaign(f, report); printErr != nil {
		return printErr
	}
	return a.campaignExit(report, err)
}

func (a *app) printCampaign(f format, r *campaign.Report) error {
	if f == "json" {
		return a.printJSON(r)
	}
	if len(r.Captures) == 0 {
		a.talk("there is nothing to capture")
		return nil
	}
	rows := [][]string{{"agent", "version", "probes", "job", "status", "outcome", "reason"}}
	for i := range r.Captures {
		c := &r.Captures[i]
		row := []string{c.Agent, c.Version, fmt.Sprint(len(c.Probes)), "-", "-", "-", "-"}
		if c.Job != nil {
			row[3], row[4] = c.Job.RunID, c.Job.Status
			if c.Job.Outcome != nil {
				row[5] = *c.Job.Outcome
			}
			if c.Job.ReasonCode != nil {
				row[6] = *c.Job.ReasonCode
			}
		}
		if c.Problem != nil {
			row[6] = oneLine(c.Problem.Message)
		} else if c.Abandoned {
			row[6] = "given up: nobody will end it"
		}
		rows = append(rows, row)
	}
	return table(a.env.Stdout, rows)
}

// campaignExit is the exit code over all captures: who waits before what failed,
// before what changed.
func (a *app) campaignExit(r *campaign.Report, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	code, done, why := ExitOK, false, ""
	for i := range r.Captures {
		c := &r.Captures[i]
		var outcome *string
		if c.Job != nil {
			outcome = c.Job.Outcome
		}
		switch succeeded := machine.EndingOf(outcome) == machine.DidSucceed; {
		case c.Waits():
			code = max(code, ExitWaits)
		case !succeeded:
			code = max(code, ExitCannotKnow)
			if c.Job != nil && why == "" {
				why = c.Job.RunID
			}
		default:
			done = true
			if c.Job.ReasonCode != nil && *c.Job.ReasonCode == jobs.ReasonDrift {
				code = max(code, ExitFindings)
			}
		}
	}
	if a.machine != nil {
		a.machine.partial = done && code == ExitCannotKnow
	}
	if err != nil {
		return &Exit{Code: ExitCannotKnow, Err: err, Hint: "the jobs that were submitted go on: see agent-contracts job list"}
	}
	if why != "" {
		a.talk("hint: agent-contracts job logs %s says why", why)
	}
	if code != ExitOK {
		return &Exit{Code: code}
	}
	return nil
}
