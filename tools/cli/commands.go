package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/play"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// command is a command below the root before it is made.
type command struct {
	name string
	make func() *cobra.Command
}

// commands has every command below the root, in the order of DESIGN section 6.
func (a *app) commands() []command {
	return []command{
		{"capture", a.captureCommand},
		{"synthesize", a.synthesizeCommand},
		{"redact", a.redactCommand},
		{"normalize", a.normalizeCommand},
		{"compare", a.compareCommand},
		{"replay", a.replayCommand},
		{"play", a.playCommand},
		{"record", a.recordCommand},
		{"classify", a.classifyCommand},
		{"errors", a.errorCasesCommand},
		{"bisect", a.bisectCommand},
		{"validate", a.validateCommand},
		{"matrix", a.matrixCommand},
		{"can-i-use", a.canIUseCommand},
		{"compatibility", a.compatibilityCommand},
		{"doctor", a.doctorCommand},
		{"discover", a.discoverCommand},
		{"plan", a.planCommand},
		{"campaign", a.campaignCommand},
		{"source-scan", a.sourceScanCommand},
		{"merge-step", a.mergeStepCommand},
		{"health", a.healthCommand},
		{"correct", a.correctCommand},
		{"report", a.reportCommand},
		{"review", a.reviewCommand},
		{"promote", a.promoteCommand},
		{"withdraw", a.withdrawCommand},
		{"submit", a.submitCommand},
		{"accept", a.acceptCommand},
		{"evidence", a.evidenceCommand},
		{"publish", a.publishCommand},
		{"serve", a.serveCommand},
		{"site", a.siteCommand},
		{"init", a.initCommand},
		{"check-recordings", a.checkRecordingsCommand},
		{"man", a.manCommand},
		{"explain", a.explainCommand},
		{"cache", a.cacheCommand},
		{"handshake", a.handshakeCommand},
		{"job", a.jobCommand},
		{"mcp", a.mcpCommand},
		{"conformance", a.conformanceCommand},
	}
}

// named makes the command that the arguments begin with, or all: those of a call
// that names none there, and those that a help text or a suggestion lists.
func (a *app) named(args []string) (out []*cobra.Command) {
	for _, c := range a.commands() {
		if len(args) > 0 && args[0] == c.name {
			return []*cobra.Command{c.make()}
		}
	}
	for _, c := range a.commands() {
		out = append(out, c.make())
	}
	return out
}

// strictHelp makes cobra's own commands refuse a word that they do not know;
// by themselves they print the help of something else and succeed.
func (a *app) strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run = nil
			c.RunE = func(c *cobra.Command, args []string) error {
				topic, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return unknownCommand(topic, strings.Join(rest, " "))
				}
				topic.InitDefaultHelpFlag()
				return topic.Help()
			}
		case "completion":
			c.Args = cobra.ArbitraryArgs
			c.RunE = helpOrUnknown
			for _, shell := range c.Commands() { // cobra's own refusal has no exit code
				shell.Args = argsError(cobra.NoArgs)
			}
		}
	}
}

const noRecords = "there is no registry around this folder, and the one in the binary has no records"

// openRecords is open for commands that need the records of a registry, which
// the one in the binary does not have: outside any checkout it is the user's
// own, if there is one.
func (a *app) openRecords() (*store.Registry, error) {
	reg, err := a.open()
	if err != nil || !reg.ReadOnly() {
		return reg, err
	}
	if dir, err := store.UserDir(a.env.Getenv); err == nil {
		if reg, err := store.Open(dir); err == nil {
			a.talk("reading your own registry, %s", dir)
			return reg, nil
		}
	}
	return nil, &Exit{Code: ExitUsage, Err: errors.New(noRecords), Hint: "name one with --registry DIR"}
}

// where says where the registry's records are, for whoever is told what to do
// next.
func (a *app) where(reg *store.Registry) capture.Place {
	return capture.Place{Versioned: reg.Versioned(), Flag: a.registryFlag()}
}

// registryFlag is what a command needs to work on the same registry, "" for none.
func (a *app) registryFlag() string {
	if a.registry == "" {
		return ""
	}
	return " --registry " + play.Quote(a.registry)
}

// inPlace makes a step's command one that works on the same registry.
func (a *app) inPlace(s matrix.Step) matrix.Step {
	if strings.HasPrefix(s.Command, "agent-contracts ") {
		s.Command += a.registryFlag()
	}
	return s
}

// dialectFlags are --family and --kind, which name the dialect of a FILE.
type dialectFlags struct{ family, kind string }

func (a *app) dialectFlags(c *cobra.Command, f *dialectFlags) {
	c.Flags().StringVar(&f.family, "family", "", "protocol family, such as json-event-stream/v1 (default: guessed)")
	a.kindFlag(c, f)
	_ = c.RegisterFlagCompletionFunc("family", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, p := range contract.ProtocolFamilies {
			words = append(words, string(p))
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	})
}

func (a *app) kindFlag(c *cobra.Command, f *dialectFlags) {
	c.Flags().StringVar(&f.kind, "kind", "", "parser or dialect within the family, such as codex (default: guessed)")
	_ = c.RegisterFlagCompletionFunc("kind", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		reg, err := a.open()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		families, err := reg.Families()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return kinds(families), cobra.ShellCompDirectiveNoFileComp
	})
}
