package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/site"
)

// repositoryURL is where a page on the web links to for a record.
const repositoryURL = "https://github.com/nexu-io/open-design-agent-contracts/blob/main/"

func (a *app) siteCommand() *cobra.Command {
	var out, records string
	c := &cobra.Command{
		Use:   "site",
		Short: "Write the pages of serve as static files",
		Long: `Site writes the registry as a folder of web pages, JSON documents and badges that
any web server can hand out, under addresses that can be guessed:
/codex/0.144.0/linux-x64/, /api/v1/codex.json, /badge/codex.svg. Links are
relative, so that it works below any address. No file has more than 100 kB, and
the same records give the same bytes.

The folder is replaced as a whole. One that holds something else is refused.

Exit codes: 0; 2 usage, or a broken record.`,
		Example: `  agent-contracts site
  agent-contracts site --out public --registry ../contracts`,
		Args: argsError(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.site(c.Context(), out, records) },
	}
	c.Flags().StringVar(&out, "out", "site", "folder to write")
	c.Flags().StringVar(&records, "records", repositoryURL, "address that a record's place is appended to")
	_ = c.MarkFlagDirname("out")
	_ = c.RegisterFlagCompletionFunc("records", cobra.NoFileCompletions)
	return c
}

func (a *app) site(ctx context.Context, out, records string) error {
	reg, err := a.openRecords()
	if err != nil {
		return err
	}
	s, err := site.Load(reg, site.Options{RecordURL: records})
	if err != nil {
		return err
	}
	a.talk("writing %s", out)
	n, err := s.Write(ctx, a.absolute(out))
	var other *site.NotASiteError
	if errors.As(err, &other) {
		return &Exit{Code: ExitUsage, Err: err, Hint: "choose another folder with --out, or empty this one yourself"}
	}
	if err != nil {
		return err
	}
	a.talk("%s", count(n, "file"))
	return nil
}
