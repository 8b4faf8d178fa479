package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/compat"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/discover"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

type discoverFlags struct {
	write  bool
	format format
}

func (a *app) discoverCommand() *cobra.Command {
	f := &discoverFlags{}
	c := &cobra.Command{
		Use:   "discover [AGENT]…",
		Short: "Find the newest release of each agent",
		Long: `Discover asks npm, GitHub releases, Homebrew, the vendor and the program on this
machine which release of an agent is the newest, and compares it with the newest
that is verified. Each source can fail alone: it is then "not available", with
the reason. Answers are kept by their ETag, a service whose limit is used up is
left alone until it is new, and requests go through the proxy that the
environment names. GITHUB_TOKEN raises GitHub's limit; GITHUB_API_URL and
HOMEBREW_API_DOMAIN name other addresses.

With --write, what is new goes to registry/latest-seen.json, and the support
matrix follows. A version that was seen is only taken back by the source that
named it.

Exit codes: 0 nothing to do; 1 a release is newer than the newest verified one;
3 no remote source of an agent answered; 2 usage.`,
		Example: `  agent-contracts discover
  agent-contracts discover codex claude --format json
  agent-contracts discover --write`,
		ValidArgsFunction: a.completeAgents,
		RunE:              func(c *cobra.Command, args []string) error { return a.discover(c.Context(), f, args) },
	}
	c.Flags().BoolVar(&f.write, "write", false, "write what is new to registry/latest-seen.json, and the matrix")
	a.formatFlag(c, &f.format, "text", "json")
	return a.detachable(c, jobs.KindDiscover, func(_ *cobra.Command, args []string) error { return a.knownAgents(f.format, args) })
}

func (a *app) discover(ctx context.Context, f *discoverFlags, ids []string) error {
	if err := f.format.check("text", "json"); err != nil {
		return err
	}
	open := a.open
	if f.write {
		open = a.openToWrite
	}
	reg, err := open()
	if err != nil {
		return err
	}
	known := &contract.AgentsFile{}
	if err := reg.ReadJSON(store.AgentsFile, known); err != nil {
		return err
	}
	opts, err := a.discoverOptions(reg, known, ids)
	if err != nil {
		return err
	}
	report, err := discover.Run(ctx, opts)
	if err != nil {
		return err
	}
	if a.tell != nil {
		a.tell(len(opts.Agents), len(opts.Agents), "done")
	}
	if f.write {
		if err := a.writeSeen(ctx, reg, report, known); err != nil {
			return err
		}
	}
	if f.format == "json" {
		err = a.printJSON(report)
	} else {
		err = a.printDiscovered(report)
	}
	if err != nil {
		return err
	}
	return discoverExit(report)
}

func (a *app) discoverOptions(reg *store.Registry, known *contract.AgentsFile, ids []string) (discover.Options, error) {
	opts := discover.Options{
		Now: a.env.Now, CacheDir: filepath.Join(install.DefaultCache(), "discover"),
		GitHubAPI: a.env.Getenv("GITHUB_API_URL"), GitHubToken: a.env.Getenv("GITHUB_TOKEN"), HomebrewAPI: a.env.Getenv("HOMEBREW_API_DOMAIN"),
		Releases: func(ctx context.Context, ag *contract.Agent) (*install.Releases, error) {
			return install.FindReleases(ctx, ag, a.installOptions())
		},
	}
	for _, id := range ids {
		ag, err := agents.Find(known, id)
		if err != nil {
			return opts, err
		}
		if !slices.Contains(opts.Agents, ag) {
			opts.Agents = append(opts.Agents, ag)
		}
	}
	for i := range known.Agents {
		if len(ids) == 0 {
			opts.Agents = append(opts.Agents, &known.Agents[i])
		}
	}
	state, err := store.StateDir(a.env.Getenv)
	if err != nil {
		return opts, &Exit{Code: ExitUsage, Err: err, Hint: "set XDG_STATE_HOME to a folder that nobody else may read"}
	}
	opts.Local = func(ctx context.Context, ag *contract.Agent) (string, agents.Version, error) {
		path := compat.FindProgram(ag, a.env.Getenv("PATH"))
		if path == "" {
			return "", agents.Version{}, errors.New("no program " + strings.Join(ag.ProgramNames(), " or ") + " on PATH")
		}
		v, err := capture.InstalledVersion(ctx, state, ag, path)
		return filepath.Base(path), v, err
	}
	m := &contract.SupportMatrix{}
	if reg.Exists(matrix.Path) {
		if err := reg.ReadJSON(matrix.Path, m); err != nil {
			return opts, err
		}
	}
	verified, err := discover.Verified(known, m)
	opts.Verified = func(id string) string { return verified[id] }
	var mu sync.Mutex
	begun := map[string]bool{}
	opts.Progress = func(agent, source string) {
		mu.Lock()
		defer mu.Unlock()
		a.talk("asking %s", source)
		if begun[agent] = true; a.tell != nil {
			a.tell(len(begun)-1, len(opts.Agents), agent+": asking "+source)
		}
	}
	return opts, err
}

// writeSeen writes the record and what follows from it, both or neither.
func (a *app) writeSeen(ctx context.Context, reg *store.Registry, report *discover.Report, known *contract.AgentsFile) error {
	tx, err := reg.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Discard()
	var old contract.LatestSeen
	if tx.Has(discover.Place) {
		if err := reg.ReadJSON(discover.Place, &old); err != nil {
			return err
		}
	}
	next, changed, err := discover.Update(old, report, known)
	if err != nil {
		return err
	}
	if !changed {
		a.talk("%s has all of it already", discover.Place)
		return nil
	}
	b, err := contract.Encode(next)
	if err != nil {
		return err
	}
	if err := tx.Write(discover.Place, b); err != nil {
		return err
	}
	if err := matrix.Refresh(reg, tx, nil); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	a.talk("wrote %s and %s", discover.Place, matrix.Path)
	return nil
}

func (a *app) printDiscovered(r *discover.Report) error {
	rows := [][]string{{"agent", "source", "version", "published", "verified"}}
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	for i := range r.Agents {
		ag := &r.Agents[i]
		verified := text(ag.LatestVerified)
		if ag.Behind {
			verified += " (behind)"
		}
		for _, s := range ag.Sources {
			version := text(s.Version)
			if !s.Available {
				version = "not available: " + s.Reason
			}
			rows = append(rows, []string{ag.Agent, s.Source, version, text(s.PublishedAt), verified})
		}
	}
	return table(a.env.Stdout, rows)
}

func discoverExit(r *discover.Report) error {
	code := ExitOK
	for i := range r.Agents {
		switch {
		case r.Agents[i].Behind:
			return &Exit{Code: ExitFindings}
		case !r.Agents[i].Looked():
			code = ExitCannotKnow
		}
	}
	if code == ExitOK {
		return nil
	}
	return &Exit{Code: code}
}
