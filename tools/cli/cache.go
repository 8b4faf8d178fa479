package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/install"
)

func (a *app) cacheCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "cache",
		Short: "See and clean the cache of installed CLIs",
		Long: `The cache holds releases of CLIs that captures installed, the Node.js that some
of them need, and npm's downloads. All registries share it. It lies at
$XDG_CACHE_HOME/agent-contracts, or /var/cache/agent-contracts for root; all of
it can be removed and will be downloaded again.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &Exit{Code: ExitUsage, Err: fmt.Errorf("unknown command \"cache %s\"", args[0]), Hint: suggest(c, args[0])}
			}
			return c.Help()
		},
	}
	c.AddCommand(a.cacheListCommand(), a.cachePruneCommand())
	return c
}

func (a *app) cacheListCommand() *cobra.Command {
	var f format
	c := &cobra.Command{
		Use:     "list",
		Short:   "List what is in the cache",
		Example: `  agent-contracts cache list --format json`,
		Args:    argsError(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			cache, err := a.cache()
			if err != nil {
				return err
			}
			entries, err := cache.List()
			if err != nil {
				return err
			}
			return a.printEntries(f, entries)
		},
	}
	a.formatFlag(c, &f, "text", "json")
	return c
}

func (a *app) cachePruneCommand() *cobra.Command {
	var f format
	var dryRun bool
	keep := install.Keep{}
	c := &cobra.Command{
		Use:   "prune",
		Short: "Remove what was not used for longest until the limits hold",
		Long: `Prune removes npm's downloads and the least recently used releases until the
limits hold, and lists what it removed. A release that is being installed
stays.

Exit codes: 0; 2 usage; 3 the cache cannot be changed.`,
		Example: `  agent-contracts cache prune --keep-versions 2
  agent-contracts cache prune --keep-bytes 5000000000 --dry-run`,
		Args: argsError(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			if err := checkKeep(c, &keep); err != nil {
				return err
			}
			return a.prune(c.Context(), f, keep, dryRun)
		},
	}
	c.Flags().Int64Var(&keep.Bytes, "keep-bytes", 0, "keep at most this many bytes in the whole cache")
	c.Flags().IntVar(&keep.Versions, "keep-versions", 0, "keep at most this many releases of each agent")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "list what would be removed, and remove nothing")
	a.formatFlag(c, &f, "text", "json")
	return c
}

// checkKeep makes a limit that was not given none.
func checkKeep(c *cobra.Command, keep *install.Keep) error {
	bytes, versions := c.Flags().Changed("keep-bytes"), c.Flags().Changed("keep-versions")
	switch {
	case !bytes && !versions:
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("say what to keep: --keep-bytes N, --keep-versions N, or both"), Hint: "agent-contracts cache prune --keep-versions 1 leaves the newest used release of each agent"}
	case keep.Bytes < 0:
		return usage("--keep-bytes %d: want 0 or more", keep.Bytes)
	case keep.Versions < 0:
		return usage("--keep-versions %d: want 0 or more", keep.Versions)
	}
	if !bytes {
		keep.Bytes = -1
	}
	if !versions {
		keep.Versions = -1
	}
	return nil
}

func (a *app) prune(ctx context.Context, f format, keep install.Keep, dryRun bool) error {
	cache, err := a.cache()
	if err != nil {
		return err
	}
	what, remove := "removed", cache.Prune
	if dryRun {
		what, remove = "would remove", cache.Prunable
	}
	gone, err := remove(ctx, keep)
	if printErr := a.printEntries(f, gone); printErr != nil {
		return printErr
	}
	var freed int64
	for _, e := range gone {
		freed += e.Bytes
	}
	a.talk("%s %s, %s", what, entries(len(gone)), size(freed))
	return err
}

func (a *app) cache() (*install.Cache, error) { return install.OpenCache(a.installOptions().Cache) }

func (a *app) printEntries(f format, list []install.Entry) error {
	if f == "json" {
		if list == nil {
			list = []install.Entry{}
		}
		return a.printJSON(list)
	}
	if len(list) == 0 {
		return nil
	}
	rows := [][]string{{"name", "size", "last used", "folder"}}
	for _, e := range list {
		used := "-"
		if !e.LastUsed.IsZero() {
			used = e.LastUsed.UTC().Format(time.DateTime)
		}
		rows = append(rows, []string{e.Name, size(e.Bytes), used, e.Dir})
	}
	return table(a.env.Stdout, rows)
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// size spells bytes for people.
func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
