package site

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
)

// machineCard is one installed CLI. Everything on it follows from the DTO.
type machineCard struct {
	DTO      contract.CompatibilityResponse
	Chip     chip
	Tone     string // good, warn or bad: what the policy says
	Headline string
	Guidance string
	Command  string
	Verified bool // of the version range
}

// Machine returns the page about the CLIs installed on this machine, made from
// the answers of the compatibility route and nothing else.
func (s *Site) Machine(answers []contract.CompatibilityResponse) (*File, error) {
	cards := make([]machineCard, 0, len(answers))
	for _, d := range answers {
		cards = append(cards, cardOf(d))
	}
	return s.html("machine/", "machine", "machine", "This machine", map[string]any{"Cards": cards}, nil)
}

func cardOf(d contract.CompatibilityResponse) machineCard {
	c := machineCard{DTO: d, Chip: chipOf(d.Status, d.Policy.AllowRun), Verified: d.Status == contract.SupportVersionRangeVerified || d.Status == contract.SupportLocalShapeVerified}
	switch d.Policy.AllowRun {
	case contract.AllowRunAllow:
		c.Tone, c.Headline = "good", "Run it."
	case contract.AllowRunBlock:
		c.Tone, c.Headline = "bad", "Do not run it."
	default:
		c.Tone, c.Headline = "warn", "It may run, with care."
	}
	switch d.Policy.UserAction {
	case contract.CLIActionNone:
		c.Guidance = "This version was captured, and the consumer's reading of it loses nothing."
		if d.Evidence.Source == contract.EvidenceFromLocalProbe {
			c.Guidance = "Its active shape is one that is verified."
		}
	case contract.CLIActionRunLocalProbe:
		c.Guidance = "Nobody verified exactly this. A local probe compares what it speaks with the shapes that are verified."
		c.Command = "agent-contracts compatibility " + d.Agent + " --probe"
	case contract.CLIActionUpgradeCLI:
		c.Guidance = "It is too old for the consumer: upgrade it."
	case contract.CLIActionPinSupportedVersion:
		c.Guidance = "This version is known to break: pin one that is verified."
	case contract.CLIActionReportUnknownShape:
		c.Guidance = "It speaks a protocol that this registry does not know: capture it and report the shape."
	}
	if d.Policy.AllowRun == contract.AllowRunBlock && d.InstalledVersion != nil {
		c.Command = "agent-contracts can-i-use " + d.Agent + " " + *d.InstalledVersion
	}
	return c
}

// reviewCard is one Request. A prompt that was not redacted is never shown.
type reviewCard struct {
	Kind, State, Prompt, Run, Step, AskedAt, Agent, Command string
	Hidden                                                  bool
}

// Review returns the page of the review queue.
func (s *Site) Review(entries []requests.Entry) (*File, error) {
	cards := make([]reviewCard, 0, len(entries))
	for _, e := range entries {
		r := &e.Request
		c := reviewCard{Kind: string(r.Kind), State: e.State, Prompt: r.Prompt, Run: r.Run, Step: r.Step, AskedAt: r.CreatedAt, Agent: r.Agent, Hidden: r.Raw,
			Command: "agent-contracts review show " + r.ID.Hex()[:12]}
		if c.Hidden {
			c.Prompt = ""
		}
		cards = append(cards, c)
	}
	return s.html("review/", "review", "review", "Review", map[string]any{"Cards": cards}, nil)
}
