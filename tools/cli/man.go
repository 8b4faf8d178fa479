package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: `Man writes a manual page for every command to DIR, for man(1) and for packages.

Exit codes: 0; 2 usage.`,
		Example: `  agent-contracts man share/man/man1`,
		Args:    argsError(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := a.absolute(args[0])
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			whole := app{env: Env{Files: a.env.Files}}
			return writeManual(whole.rootCommand(), dir)
		},
	}
}

// writeManual writes the page of a command and of all below it. The same version
// gives the same bytes. (Cobra's own generator brings a Markdown parser with it,
// for whose tables every start of this program waited.)
func writeManual(c *cobra.Command, dir string) error {
	if err := store.WriteAtomic(filepath.Join(dir, pageName(c)+".1"), manualPage(c), 0o644); err != nil {
		return err
	}
	for _, sub := range documented(c) {
		if err := writeManual(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// documented are the commands below c that its help names.
func documented(c *cobra.Command) (out []*cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			out = append(out, sub)
		}
	}
	return out
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manualPage is a command's page in the language of man(7).
func manualPage(c *cobra.Command) []byte {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	var b strings.Builder
	name := pageName(c)
	fmt.Fprintf(&b, ".TH \"%s\" 1 \"\" \"agent\\-contracts %s\"\n", roff(strings.ToUpper(name)), roff(agentcontracts.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n", roff(c.UseLine()))
	text := c.Long
	if text == "" {
		text = c.Short
	}
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(paragraph, " ") || strings.HasPrefix(paragraph, "\t") || strings.Contains(paragraph, "\n ") {
			asWritten(&b, paragraph)
		} else {
			b.WriteString(roff(paragraph) + "\n")
		}
	}
	section := func(title, text string) {
		if strings.TrimSpace(text) != "" {
			b.WriteString(".SH " + title + "\n")
			asWritten(&b, text)
		}
	}
	const width = 76
	section("OPTIONS", c.NonInheritedFlags().FlagUsagesWrapped(width))
	section("OPTIONS OF EVERY COMMAND", c.InheritedFlags().FlagUsagesWrapped(width))
	section("EXAMPLES", c.Example)
	related := documented(c)
	if c.HasParent() {
		related = append([]*cobra.Command{c.Parent()}, related...)
	}
	for i, r := range related {
		if i == 0 {
			b.WriteString(".SH SEE ALSO\n")
		}
		fmt.Fprintf(&b, ".BR %s (1)\n", roff(pageName(r)))
	}
	return []byte(b.String())
}

// asWritten keeps the lines of a text as they are.
func asWritten(b *strings.Builder, text string) {
	b.WriteString(".EX\n" + roff(strings.Trim(text, "\n")) + "\n.EE\n")
}

// roff makes a text one that is printed as it stands: a backslash, a hyphen, and
// a line that starts like a request mean something else there.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
