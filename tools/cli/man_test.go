package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A manual page says what the help says, whatever the text looks like to man.
func TestManualPage(t *testing.T) {
	t.Parallel()
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "agent-contracts", Short: "Root"}
	c := &cobra.Command{
		Use: "look FILE", Short: "Look at a file", Run: run,
		Long: `Look reads C:\new and the fields
.type and
'kind'.

  a  table
  b  of two lines

Exit codes: 0.`,
		Example: "  agent-contracts look -",
	}
	c.Flags().String("kind", "x", "which `one`")
	sub := &cobra.Command{Use: "closer", Short: "Look closer", Run: run}
	hidden := &cobra.Command{Use: "secretly", Hidden: true, Run: run}
	root.AddCommand(c)
	c.AddCommand(sub, hidden)
	page := string(manualPage(c))
	for _, want := range []string{
		"agent\\-contracts\\-look \\- Look at a file\n",
		"Look reads C:\\enew and the fields\n\\&.type and\n\\&'kind'.\n",
		".EX\n  a  table\n  b  of two lines\n.EE\n.PP\nExit codes: 0.\n",
		"\\-\\-kind one   which one (default \"x\")\n",
		".SH EXAMPLES\n.EX\n  agent\\-contracts look \\-\n.EE\n",
		".SH SEE ALSO\n.BR agent\\-contracts (1)\n.BR agent\\-contracts\\-look\\-closer (1)\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "secretly") {
		t.Error("the page names a hidden command")
	}
	if short := string(manualPage(sub)); !strings.Contains(short, ".SH DESCRIPTION\nLook closer\n") {
		t.Errorf("a command without a long text is not described:\n%s", short)
	}
}
