package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Step is what can be done next: the cheapest thing that could change an
// answer.
type Step struct {
	Text    string `json:"text"`
	Command string `json:"command,omitempty"` // does it; "" where no command can
}

// Why says for a person why the claim is what it is, most important first.
func (c *Claim) Why() []string {
	var out []string
	id, e := c.Agent.ID, c.Entry
	switch {
	case e == nil && c.Agent.Exemption != "":
		out = append(out, "nothing of "+id+" is in this registry: "+c.Agent.Exemption)
	case e == nil:
		out = append(out, fmt.Sprintf("version %s of %s was not captured on %s%s, and no two captured versions with one shape enclose it", c.Version, id, c.Platform, c.with()))
	case e.Extensions.Reason != "":
		out = append(out, e.Extensions.Reason)
		for _, link := range e.Extensions.Evidence {
			out = append(out, "evidence: "+link)
		}
	case c.Observed && e.SupportStatus == contract.SupportVersionRangeVerified:
		out = append(out, fmt.Sprintf("version %s was captured on %s, and the consumer's reading of %s loses nothing", c.Version, c.Platform, c.Agent.RepresentativeProbe))
	case e.SupportStatus == contract.SupportVersionRangeVerified:
		out = append(out, fmt.Sprintf("version %s itself was not captured: it lies in %s, whose captured versions have one shape", c.Version, *c.Evidence.VersionRange))
	}
	if c.Status == contract.SupportNewerThanVerified {
		out = append(out, fmt.Sprintf("it is newer than %s, the newest version that is verified", c.LatestVerified))
	}
	if c.Status == contract.SupportLocalShapeVerified {
		out = append([]string{"the active shape is one that is verified"}, out...)
	}
	if c.Status == contract.SupportActiveShapeUnknown {
		out = append([]string{"the active shape is none that is verified"}, out...)
	}
	if c.Status == contract.SupportUnknown && c.Evidence.Source == contract.EvidenceFromLocalProbe {
		out = append([]string{"the active shape was captured before, and is none that is verified"}, out...)
	}
	if e == nil {
		return out
	}
	for _, k := range e.KnownBreakingShapes {
		out = append(out, fmt.Sprintf("shape %s: %s (%s)", k.Shape.Short(), k.Reason, k.Evidence))
	}
	return append(out, grouped(e.Notes, c.Agent.RepresentativeProbe)...)
}

// with names the probe that a claim is about, for a version that others may know.
func (c *Claim) with() string {
	if c.Agent.RepresentativeProbe == "" {
		return ""
	}
	return " with " + c.Agent.RepresentativeProbe
}

// grouped joins notes that say the same of several probes, and puts the one
// about the representative probe first.
func grouped(notes []string, representative string) []string {
	var texts []string
	probes := map[string][]string{}
	for _, n := range notes {
		probe, text, ok := strings.Cut(n, ": ")
		if !ok || strings.Contains(probe, " ") {
			probe, text = "", n
		}
		if probes[text] == nil {
			texts = append(texts, text)
		}
		probes[text] = append(probes[text], probe)
	}
	slices.SortStableFunc(texts, func(a, b string) int {
		first := func(text string) int {
			return slices.Index([]bool{true, false}, slices.Contains(probes[text], representative))
		}
		return first(a) - first(b)
	})
	out := make([]string, len(texts))
	for i, text := range texts {
		if out[i] = text; probes[text][0] != "" {
			out[i] = strings.Join(probes[text], ", ") + ": " + text
		}
	}
	return out
}

// Next returns the cheapest step that could change the answer, or a Step
// without text when there is nothing to change. host is the platform of whoever
// asks.
func (c *Claim) Next(host contract.Platform) Step {
	switch {
	case c.Policy.AllowRun == contract.AllowRunAllow:
		return Step{}
	case c.Policy.AllowRun == contract.AllowRunBlock, c.lost():
		return c.otherVersion()
	case c.Status == contract.SupportActiveShapeUnknown:
		return Step{"capture the installed program and report its shape",
			fmt.Sprintf("agent-contracts capture %s --bin \"$(command -v %s)\" --probe %s", c.Agent.ID, c.Agent.ProgramNames()[0], c.Agent.RepresentativeProbe)}
	case c.Status == contract.SupportServerVariantPossible:
		return Step{"find out which of the server's shapes is active here", fmt.Sprintf("agent-contracts compatibility %s --probe", c.Agent.ID)}
	case c.Agent.Install == nil || len(c.Agent.Launches) == 0:
		return Step{Text: "no command of this program can: there is nothing to capture it with"}
	}
	step := Step{"capture this version once", fmt.Sprintf("agent-contracts capture %s@%s --probe %s", c.Agent.ID, c.Version, c.Agent.RepresentativeProbe)}
	if c.disputed() {
		step.Text = "capture this version once more: two captures disagree, and a third one decides"
	}
	if c.Platform != host {
		step.Text += ", on " + string(c.Platform)
	}
	return step
}

// lost says that the version was captured and the consumer does not get all of
// it: no further capture changes that.
func (c *Claim) lost() bool {
	return c.Status == contract.SupportUnknown && c.Evidence.Source == contract.EvidenceFromLocalProbe ||
		c.Entry != nil && c.Entry.SupportStatus == contract.SupportUnknown && c.Observed
}

// disputed says that captures of this version's representative probe disagree.
func (c *Claim) disputed() bool {
	if c.Entry == nil || c.Observed {
		return false
	}
	n := 0
	for _, s := range c.Entry.ObservedShapes {
		if s.Extensions.Probe == c.Agent.RepresentativeProbe {
			n++
		}
	}
	return n > 1 && c.Entry.SupportStatus == contract.SupportUnknown
}

// otherVersion leads away from a version that cannot be used.
func (c *Claim) otherVersion() Step {
	if c.LatestVerified == "" {
		return Step{"no version of it is verified; see what is known of this one", fmt.Sprintf("agent-contracts matrix --explain %s %s --platform %s", c.Agent.ID, c.Version, c.Platform)}
	}
	step := Step{Text: fmt.Sprintf("use version %s, which is verified", c.LatestVerified)}
	if c.Agent.Install != nil {
		step.Command = "npm install --global " + c.Agent.Install.NPM.Package + "@" + c.LatestVerified
	}
	return step
}

// String returns the step on one line.
func (s Step) String() string {
	return strings.TrimSuffix(s.Text+": "+s.Command, ": ")
}
