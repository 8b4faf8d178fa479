package cli

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
)

// canIUse is what can-i-use --format json prints.
type canIUse struct {
	SchemaVersion int                            `json:"schema_version"`
	Agent         string                         `json:"agent"`
	Version       string                         `json:"version"`
	Platform      contract.Platform              `json:"platform"`
	Answer        matrix.Answer                  `json:"answer"`
	Status        contract.SupportStatus         `json:"status"`
	Observed      bool                           `json:"observed"` // this very version was captured
	Policy        contract.CompatibilityPolicy   `json:"policy"`
	Evidence      contract.CompatibilityEvidence `json:"evidence"`
	Why           []string                       `json:"why"`
	Next          matrix.Step                    `json:"next"`
	GeneratedAt   string                         `json:"generated_at"` // of the matrix
}

func (a *app) canIUseCommand() *cobra.Command {
	var platform string
	var form format
	c := &cobra.Command{
		Use:   "can-i-use AGENT VERSION",
		Short: "Say whether a version of a CLI can be used: yes, no, or cannot know",
		Long: `Can-i-use looks a version up in the support matrix, offline, and says whether the
consumer can use it: yes only when this very version was captured and understood;
no when it is known not to work; else that it cannot know, and what would be the
cheapest way to find out.

Exit codes: 0 yes; 1 no; 2 usage; 3 cannot know.`,
		Example: `  agent-contracts can-i-use codex 0.133.0
  agent-contracts can-i-use claude 2.1.300 --platform darwin-arm64
  agent-contracts can-i-use codex 0.133.0 >/dev/null && echo run it`,
		Args:              argsError(cobra.ExactArgs(2)),
		ValidArgsFunction: a.completeVersions,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := form.check("text", "json"); err != nil {
				return err
			}
			p, err := platformOf(platform)
			if err != nil {
				return err
			}
			return a.canIUse(args[0], args[1], p, form)
		},
	}
	a.platformFlag(c, &platform)
	a.formatFlag(c, &form, "text", "json")
	return c
}

func (a *app) canIUse(agent, version string, p contract.Platform, form format) error {
	reg, err := a.open()
	if err != nil {
		return err
	}
	// Some megabytes, read once: collecting garbage would cost more than it frees.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	x, err := matrix.LoadIndexOf(reg, agent)
	if err != nil {
		return err
	}
	c, err := x.Find(agent, strings.TrimLeft(version, "vV"), p)
	if err != nil {
		return badVersion(err)
	}
	next := a.inPlace(c.Next(contract.HostPlatform()))
	if form == "json" {
		err = a.printJSON(canIUse{contract.SchemaVersion, agent, c.Version, p, c.Answer(), c.Status, c.Observed, c.Policy, c.Evidence, append([]string{}, c.Why()...), next, x.GeneratedAt})
	} else {
		err = a.sayClaim(&c, next)
	}
	if err != nil {
		return err
	}
	if code := answerCode(c.Answer()); code != ExitOK {
		return &Exit{Code: code}
	}
	return nil
}

func answerCode(w matrix.Answer) int {
	switch w {
	case matrix.AnswerYes:
		return ExitOK
	case matrix.AnswerNo:
		return ExitFindings
	}
	return ExitCannotKnow
}

func (a *app) sayClaim(c *matrix.Claim, next matrix.Step) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s on %s is %s\n", strings.ReplaceAll(string(c.Answer()), "_", " "), c.Agent.ID, c.Version, c.Platform, c.Status)
	for _, w := range c.Why() {
		fmt.Fprintf(&b, "  %s\n", oneLine(w))
	}
	if next.Text != "" {
		fmt.Fprintf(&b, "next: %s\n", next)
	}
	_, err := fmt.Fprint(a.env.Stdout, b.String())
	return err
}
