package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// matrixTable prints a matrix for people.
func (a *app) matrixTable(m *contract.SupportMatrix) error {
	rows := [][]string{{"agent", "platform", "family", "versions", "status", "policy", "observed"}}
	for i := range m.Agents {
		e := &m.Agents[i]
		row := []string{e.Agent, list(e.Platforms), list(e.ProtocolFamilies), strings.Join(e.VersionRanges, " || "), string(e.SupportStatus), string(e.Policy.AllowRun), "never"}
		if e.LastObservedAt != nil {
			row[6] = day(*e.LastObservedAt)
		}
		rows = append(rows, row)
	}
	return table(a.env.Stdout, rows)
}

func list[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ",")
}

// day cuts a timestamp down to its date.
func day(at string) string {
	d, _, _ := strings.Cut(at, "T")
	return d
}

func (a *app) quality(f *matrixFlags, reg *store.Registry) error {
	r, err := matrix.Load(reg)
	if err != nil {
		return err
	}
	list, err := matrix.Qualities(r)
	if err != nil {
		return err
	}
	if f.format == "json" {
		return a.printJSON(struct {
			SchemaVersion int              `json:"schema_version"`
			Agents        []matrix.Quality `json:"agents"`
		}{contract.SchemaVersion, list})
	}
	now := a.env.Now()
	rows := [][]string{{"agent", "platform", "versions", "probes", "observed", "interpolated", "unknown", "stability", "newest", "age"}}
	for i := range list {
		q := &list[i]
		stability, age := "-", fmt.Sprintf("%d d", q.AgeDays(now))
		if q.Stability != nil {
			stability = fmt.Sprintf("%s (%d)", percent(*q.Stability), q.Repeated)
		}
		if q.Stale(now) {
			age += fmt.Sprintf(", stale (%d d)", q.FreshnessDays)
		}
		rows = append(rows, []string{q.Agent, string(q.Platform), fmt.Sprint(q.Versions), fmt.Sprint(q.Probes),
			percent(q.ObservedShare), percent(q.InterpolatedShare), percent(q.UnknownShare), stability, day(q.LastObservedAt), age})
	}
	return table(a.env.Stdout, rows)
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

func (a *app) explainClaim(f *matrixFlags, reg *store.Registry, agent, version string) error {
	if f.probe != "" {
		if _, err := capture.LoadProbe(reg, f.probe); err != nil {
			return err
		}
	}
	p, err := platformOf(f.platform)
	if err != nil {
		return err
	}
	r, err := matrix.Load(reg)
	if err != nil {
		return err
	}
	e, err := matrix.Explain(r, agent, version, p, f.probe, contract.HostPlatform())
	if err != nil {
		return badVersion(err)
	}
	e.Next = a.inPlace(e.Next)
	if f.format == "json" {
		return a.printJSON(e)
	}
	return a.explanation(e)
}

// badVersion makes a text that is no version a usage error.
func badVersion(err error) error {
	var pathErr *fs.PathError
	if code, _ := classify(err); code != ExitBug || errors.As(err, &pathErr) {
		return err
	}
	return &Exit{Code: ExitUsage, Err: err}
}

func (a *app) explanation(e *matrix.Explanation) error {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("%s %s on %s: %s", e.Agent, e.Version, e.Platform, e.Status)
	say("answer: %s (%s, %s)", strings.ReplaceAll(string(e.Answer), "_", " "), e.Policy.AllowRun, e.Policy.UserAction)
	if e.Claim != nil {
		how := "this version was captured"
		if !e.Observed {
			how = "this version has no settled shape of the representative probe"
		}
		say("claim: %s, versions %s; %s", *e.Claim, *e.Evidence.VersionRange, how)
	} else {
		say("claim: none")
	}
	for _, w := range e.Why {
		say("why: %s", w)
	}
	for _, p := range e.Probes {
		explainProbe(say, &p)
	}
	for _, o := range e.SetAside {
		say("\nset aside (%s):", o.Why)
		say("  %s", o.Path)
	}
	if e.Next.Text != "" {
		say("\nnext: %s", e.Next)
	}
	_, err := fmt.Fprint(a.env.Stdout, b.String())
	return err
}

func explainProbe(say func(string, ...any), p *matrix.ExplainedProbe) {
	mark := ""
	if p.Representative {
		mark = ", representative"
	}
	say("\n%s (%s%s): %s", p.Probe, p.ProtocolFamily, mark, strings.ReplaceAll(string(p.State), "_", " "))
	if p.Shape != "" {
		say("  shape %s, %s; the consumer's reading is %s", p.Shape, p.Level, p.Reading)
	}
	if len(p.Between) > 0 {
		say("  nearest captured: %s", strings.Join(p.Between, ", "))
	}
	for _, o := range p.Observations {
		say("  %s", o.Path)
		if o.Why != "" {
			say("    does not count: %s", o.Why)
		}
		say("    run %s, reading %s, provider %s, runner %s", o.RunResult, o.ParserReplay, o.Provider, o.Runner)
		say("    linked  %s", o.Evidence)
		say("    shape   %s", o.Shape)
		say("    fixture %s (%s)", o.Fixture, o.FixtureHash)
		for _, g := range o.Goldens {
			say("    golden  %s", g)
		}
		say("    raw     %s (%s)", o.Raw, o.Visibility)
	}
}

// platformFlag is --platform, this machine's by default.
func (a *app) platformFlag(c *cobra.Command, p *string) {
	c.Flags().StringVar(p, "platform", string(contract.HostPlatform()), "platform, such as darwin-arm64")
	_ = c.RegisterFlagCompletionFunc("platform", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return strings.Split(list(contract.Platforms), ","), cobra.ShellCompDirectiveNoFileComp
	})
}

func platformOf(word string) (contract.Platform, error) {
	if p := contract.Platform(word); p.Valid() {
		return p, nil
	}
	return "", &Exit{Code: ExitUsage, Err: fmt.Errorf("unknown --platform %q: want one of %s", word, strings.ReplaceAll(list(contract.Platforms), ",", ", ")), Hint: didYouMean(word, strings.Split(list(contract.Platforms), ","))}
}
