// Package merge says what happens to captures that were derived again: one
// action for each verdict (FINE-PRINT 27). It touches nothing; the workflow
// does what it says.
package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Outcome is what a capture came to once everything was derived again. What a
// CLI printed is in none of its members.
type Outcome struct {
	Agent, Version, Probe, Profile string
	Verdict                        contract.Verdict // "" when it could not be derived
	// Disputed says that the version had another shape until now.
	Disputed  bool
	Redaction contract.RedactionStatus
}

// Action is what happens to one capture.
type Action string

// The actions, the most careful last.
const (
	// Record commits the observation: its shape is known.
	Record Action = "record"
	// Propose opens a pull request with the new shape, its fixture and goldens.
	Propose Action = "propose"
	// ProposeVariant opens a pull request with both shapes of one version.
	ProposeVariant Action = "propose_variant"
	// PublishFailing opens a pull request with the failing contract, and alerts.
	PublishFailing Action = "publish_failing"
	// Withhold publishes nothing and alerts the maintainers privately.
	Withhold Action = "withhold"
)

// Actions are the actions, the most careful last.
var Actions = []Action{Record, Propose, ProposeVariant, PublishFailing, Withhold}

// Decide returns the action for a capture. Whatever is not known to be
// publishable is withheld: a redaction that did not pass, a verdict that nobody
// knows, a capture that could not be derived again.
func Decide(o *Outcome) Action {
	if o.Redaction != contract.RedactionPassed {
		return Withhold
	}
	switch o.Verdict {
	case contract.VerdictSameShape:
		if o.Disputed {
			return ProposeVariant // of a shape that is known, but not of this version
		}
		return Record
	case contract.VerdictCompatibleNewShape:
		if o.Disputed {
			return ProposeVariant
		}
		return Propose
	case contract.VerdictServerVariant:
		return ProposeVariant
	case contract.VerdictParserIncompatible:
		return PublishFailing
	}
	return Withhold
}

// Decision is the action for one capture.
type Decision struct {
	Agent   string           `json:"agent"`
	Version string           `json:"version"`
	Probe   string           `json:"probe"`
	Profile string           `json:"profile"`
	Verdict contract.Verdict `json:"verdict"`
	Action  Action           `json:"action"`
}

// Message is a title and Markdown for people.
type Message struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// Result is what a merge job does.
type Result struct {
	SchemaVersion int        `json:"schema_version"`
	Decisions     []Decision `json:"decisions"`
	// Publish says how the records that may be published get into the
	// repository: commit, pull_request or nothing.
	Publish string `json:"publish"`
	// PullRequest is set where Publish is pull_request, or commit, whose message
	// it is.
	PullRequest *Message `json:"pull_request"`
	// Alert is for the public, PrivateAlert for the maintainers alone; null for
	// none. The second names what was captured and nothing of it.
	Alert        *Message `json:"alert"`
	PrivateAlert *Message `json:"private_alert"`
}

// The ways into the repository.
const (
	Commit      = "commit"
	PullRequest = "pull_request"
	Nothing     = "nothing"
)

// Outcomes judges what a registry has more than the trusted one did, and adds
// one for each bundle that was refused: of those nothing is known but a name.
func Outcomes(base, head *store.Registry, refused []string) ([]Outcome, error) {
	added, judgements, err := capture.Added(base, head)
	if err != nil {
		return nil, err
	}
	var out []Outcome
	for i := range added {
		o, j := &added[i], judgements[i]
		out = append(out, Outcome{o.Agent, o.CLIVersion, o.Probe, o.Extensions.Profile, j.Verdict, j.Disputed, o.Redaction.Status})
	}
	for _, name := range refused {
		out = append(out, Outcome{Agent: "bundle", Version: name})
	}
	return out, nil
}

// Plan decides about all captures of a merge. One that is withheld does not keep
// the others from being published; none of it is in what they publish.
func Plan(outcomes []Outcome) *Result {
	r := &Result{SchemaVersion: contract.SchemaVersion, Decisions: []Decision{}, Publish: Nothing}
	for i := range outcomes {
		o := &outcomes[i]
		r.Decisions = append(r.Decisions, Decision{o.Agent, o.Version, o.Probe, cmp.Or(o.Profile, contract.ProfileProduction), o.Verdict, Decide(o)})
	}
	slices.SortStableFunc(r.Decisions, func(a, b Decision) int {
		return cmp.Or(cmp.Compare(slices.Index(Actions, b.Action), slices.Index(Actions, a.Action)), cmp.Compare(a.Agent, b.Agent),
			cmp.Compare(a.Version, b.Version), cmp.Compare(a.Probe, b.Probe), cmp.Compare(a.Profile, b.Profile))
	})
	by := map[Action][]Decision{}
	for _, d := range r.Decisions {
		by[d.Action] = append(by[d.Action], d)
	}
	proposed := slices.Concat(by[PublishFailing], by[ProposeVariant], by[Propose])
	switch {
	case len(proposed) > 0:
		r.Publish = PullRequest
		r.PullRequest = &Message{title(proposed), section("Incompatible with the consumer", by[PublishFailing]) +
			section("Several shapes of one version", by[ProposeVariant]) + section("New shapes that the consumer understands", by[Propose]) + section("Known shapes", by[Record])}
	case len(by[Record]) > 0:
		r.Publish = Commit
		r.PullRequest = &Message{title(by[Record]), section("Known shapes", by[Record])}
	}
	if list := by[PublishFailing]; len(list) > 0 {
		r.Alert = &Message{"Incompatible: " + what(list), section("The consumer's reading of these captures loses something; the records are in the pull request", list)}
	}
	if list := by[Withhold]; len(list) > 0 {
		r.PrivateAlert = &Message{"Withheld: " + what(list), section("Nothing of these captures was published; look at them in the private store", list)}
	}
	return r
}

func title(list []Decision) string { return "Captures: " + what(list) }

// what names the versions of a list, three at most.
func what(list []Decision) string {
	var names []string
	for _, d := range list {
		if n := plain(d.Agent + " " + d.Version); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("and %d more", len(names)-3))
	}
	return strings.Join(names, ", ")
}

func section(heading string, list []Decision) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| agent | version | probe | verdict |\n|---|---|---|---|\n", heading)
	for _, d := range list {
		probe := d.Probe
		if d.Profile != contract.ProfileProduction {
			probe += " (" + d.Profile + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", plain(d.Agent), plain(d.Version), plain(probe), plain(cmp.Or(string(d.Verdict), "cannot be derived")))
	}
	b.WriteString("\n")
	return b.String()
}

// plain keeps a name from a report from being Markdown: it has the characters
// of ids and versions only.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune(" ._+-()", r):
			return r
		}
		return '�'
	}, s[:min(len(s), 100)])
}
