package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/evidence"
	"github.com/nexu-io/open-design-agent-contracts/tools/health"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
)

func (a *app) evidenceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "evidence",
		Short: "Whether an observation follows from its raw bytes, and what else is known of it",
		Long: `Evidence follows an observation back to the bytes that a CLI printed. The raw
bundles are encrypted with age, to the keys of the maintainers in
registry/policy.json and of the machine that captured: in the private state
folder, or where AGENT_CONTRACTS_RAW_STORE says (a folder, or
s3://ENDPOINT/BUCKET[/PREFIX]). AGENT_CONTRACTS_IDENTITY names a file with a
maintainer's age identity. docs/EVIDENCE.md tells the whole story.`,
		Example: `  agent-contracts evidence show OBSERVATION
  agent-contracts evidence audit OBSERVATION
  agent-contracts evidence expire --dry-run`,
		Args: cobra.ArbitraryArgs,
		RunE: helpOrUnknown,
	}
	c.AddCommand(a.evidenceShowCommand(), a.evidenceAuditCommand(), a.evidenceExpireCommand(), a.evidenceReproductionCommand())
	return c
}

// evidenceError gives the errors of package evidence their exit codes and hints.
func evidenceError(err error) error {
	var refused *evidence.RefusedError
	var bundle *evidence.BundleError
	var leak *health.LeakError
	switch {
	case errors.As(err, &refused):
		return &Exit{Code: ExitFindings, Err: err, Hint: refused.Next}
	case errors.As(err, &bundle):
		return &Exit{Code: ExitFindings, Err: err, Hint: "agent-contracts submit makes bundles"}
	case errors.As(err, &leak):
		return &Exit{Code: ExitRefused, Err: err, Hint: "say it without that value: the record is public"}
	case errors.Is(err, fs.ErrNotExist):
		return &Exit{Code: ExitCannotKnow, Err: err, Hint: "name a file below observations/, such as matrix --explain AGENT VERSION shows"}
	}
	return waits(err)
}

// recordAt resolves the argument of a command that decides about a record.
func (a *app) recordAt(name string) (*store.Registry, string, error) {
	reg, err := a.openRecords()
	if err != nil {
		return nil, "", err
	}
	place, err := a.place(reg, name)
	return reg, place, err
}

func (a *app) evidenceShowCommand() *cobra.Command {
	var f format
	c := &cobra.Command{
		Use:   "show OBSERVATION",
		Short: "Show the chain from an observation to its raw bundle, and what was said of it",
		Long: `Show prints what is on record about one observation: the sanitized transcript and
the raw bundle by their hashes, until when the raw bytes are kept, what ran where,
who attested, reproduced, promoted or withdrew it. What is not known is said so.

Exit codes: 0; 2 usage; 3 there is no such observation.`,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeObservations,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			reg, place, err := a.recordAt(args[0])
			if err != nil {
				return err
			}
			chain, err := evidence.Show(reg, place)
			if err != nil {
				return evidenceError(err)
			}
			if f == "json" {
				return a.printJSON(chain)
			}
			_, err = fmt.Fprint(a.env.Stdout, chain.Text())
			return err
		},
	}
	a.formatFlag(c, &f, "text", "json")
	return c
}

func (a *app) evidenceAuditCommand() *cobra.Command {
	var f format
	var attest bool
	var by string
	c := &cobra.Command{
		Use:   "audit OBSERVATION",
		Short: "Derive an observation again from its raw bundle",
		Long: `Audit fetches the raw bundle, decrypts it, and derives sanitized transcript,
shape, signature and readings again. It says where they part, by line and name and
never by content. --attest records that you did, as a maintainer.

Exit codes: 0 everything is the same; 1 something is not, or may not be attested;
2 usage; 3 cannot know: the raw bundle is not there, expired, or no key opens it.`,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeObservations,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			return a.evidenceAudit(c.Context(), f, args[0], attest, by)
		},
	}
	c.Flags().BoolVar(&attest, "attest", false, "record a maintainer's attestation if everything is the same")
	c.Flags().StringVar(&by, "by", "", "handle of who attests (default: the user of this machine)")
	a.formatFlag(c, &f, "text", "json")
	return c
}

func (a *app) evidenceAudit(ctx context.Context, f format, name string, attest bool, by string) error {
	reg, place, err := a.recordAt(name)
	if err != nil {
		return err
	}
	raw, err := a.privateStore(reg)
	if err != nil {
		return err
	}
	audit, err := evidence.AuditObservation(ctx, reg, raw, place)
	if err != nil {
		return evidenceError(err)
	}
	if f == "json" {
		err = a.printJSON(audit)
	} else {
		_, err = fmt.Fprint(a.env.Stdout, audit.Text())
	}
	if err != nil {
		return err
	}
	switch audit.Verdict {
	case evidence.AuditDiffers:
		return &Exit{Code: ExitFindings}
	case evidence.AuditCannotKnow:
		return &Exit{Code: ExitCannotKnow}
	}
	if !attest {
		return nil
	}
	made, isNew, err := evidence.Attest(ctx, reg, audit, a.answerer(by), a.env.Now())
	if err != nil {
		return evidenceError(err)
	}
	a.recorded(made.Path, isNew)
	return nil
}

// recorded says where a record is that a command added.
func (a *app) recorded(place string, isNew bool) {
	if isNew {
		a.talk("recorded in %s; commit what is new", place)
	} else {
		a.talk("%s is there already", place)
	}
}

func (a *app) evidenceExpireCommand() *cobra.Command {
	var f format
	var dry bool
	c := &cobra.Command{
		Use:   "expire",
		Short: "Remove the raw bundles whose time is over",
		Long: `Expire removes the raw bundles that were to be kept until a time that has come,
and keeps their hashes with what is known of them. It prints what it removed, or
with --dry-run what it would. Killed anywhere, it goes on when run again, and a
damaged entry does not keep the others.

Exit codes: 0, also when nothing expires; 2 usage; 3 an entry of the store is
damaged, or does not say how long it is kept.`,
		Args: argsError(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			return a.evidenceExpire(c.Context(), f, dry)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	a.formatFlag(c, &f, "text", "json")
	return c
}

// expiry is what evidence expire did, or would do.
type expiry struct {
	SchemaVersion int            `json:"schema_version"`
	DryRun        bool           `json:"dry_run"`
	Expired       []private.Meta `json:"expired"`
}

func (a *app) evidenceExpire(ctx context.Context, f format, dry bool) error {
	reg, err := a.open()
	if err != nil {
		return err
	}
	raw, err := a.privateStore(reg)
	if err != nil {
		return err
	}
	gone, failed := raw.Expire(ctx, a.env.Now(), dry) // what is gone is told in any case
	return errors.Join(a.printExpiry(f, &expiry{contract.SchemaVersion, dry, append([]private.Meta{}, gone...)}, failed == nil), failed)
}

// printExpiry prints what expired; all says that the whole store was looked at.
func (a *app) printExpiry(f format, e *expiry, all bool) error {
	if f == "json" {
		return a.printJSON(e)
	}
	if len(e.Expired) == 0 {
		if all {
			a.talk("nothing expires")
		}
		return nil
	}
	rows := [][]string{{"raw bundle", "bytes", "kept until", "agent", "version", "probe"}}
	for _, m := range e.Expired {
		rows = append(rows, []string{string(m.SHA256), fmt.Sprint(m.Bytes), m.RetainUntil.UTC().Format(time.RFC3339), m.Agent, m.CLIVersion, m.Probe})
	}
	return table(a.env.Stdout, rows)
}

func (a *app) evidenceReproductionCommand() *cobra.Command {
	var r evidence.Reproduced
	var shape string
	c := &cobra.Command{
		Use:   "reproduction OBSERVATION --by HANDLE --url URL --shape SIGNATURE",
		Short: "Record that a contributor got the same shape",
		Long: `Reproduction records that somebody who is no maintainer got the shape of an
observation independently and published it. It changes no level by itself:
agent-contracts promote OBSERVATION --to community_confirmed does.

Exit codes: 0 recorded, or there already; 1 refused; 2 usage; 3 there is no such
observation; 4 the leak scan refuses the text.`,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeObservations,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := contract.ParseDigest(shape)
			switch {
			case r.By == "" || !strings.HasPrefix(r.URL, "https://"):
				return usage("--by and --url are missing, or --url is not HTTPS: say who published it where")
			case err != nil && r.Own == "":
				return usage("--shape is not a signature: %v", err)
			}
			reg, place, err := a.recordAt(args[0])
			if err != nil {
				return err
			}
			r.Observation, r.Shape = place, d
			made, isNew, err := evidence.Reproduce(c.Context(), reg, r, a.env.Now())
			if err != nil {
				return evidenceError(err)
			}
			a.recorded(made.Path, isNew)
			_, err = fmt.Fprintln(a.env.Stdout, made.Path)
			return err
		},
	}
	c.Flags().StringVar(&r.By, "by", "", "handle of the contributor")
	c.Flags().StringVar(&r.URL, "url", "", "where it was published, HTTPS")
	c.Flags().StringVar(&shape, "shape", "", "the signature that the contributor got")
	c.Flags().StringVar(&r.Own, "observation", "", "the contributor's own observation here, instead of --shape")
	return c
}

// completeObservations offers the observations of the registry.
func (a *app) completeObservations(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	reg, err := a.openRecords()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	all, err := reg.Walk("observations", ".observation.json")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, o := range all {
		if strings.HasPrefix(o, word) {
			out = append(out, o)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
