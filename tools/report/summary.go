package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Grounding says on what kind of evidence a summary stands (specification,
// "Feishu and Public Reporting").
type Grounding string

// The grounding statuses, in the specification's words.
const (
	GroundRuntime   Grounding = "runtime observed"
	GroundSource    Grounding = "source derived only"
	GroundConfirmed Grounding = "confirmed by multiple observations"
	GroundSynthetic Grounding = "synthetic only"
)

// Summary is the risk of one change: the fields of the specification's Feishu
// card. It holds the names of frames, members and values, and no text of a run.
type Summary struct {
	Agent      string              `json:"agent"`
	CLIVersion string              `json:"cli_version"`
	Platforms  []contract.Platform `json:"platforms"`
	Probes     []string            `json:"probes"`
	// ShapeStatus is the verdict of compare.
	ShapeStatus contract.Verdict       `json:"shape_status"`
	Changes     []contract.DriftSignal `json:"changes"`
	// Parser is what the consumer's parser makes of the newer shape.
	Parser    contract.ReplayStatus    `json:"parser_compatibility"`
	Redaction contract.RedactionStatus `json:"redaction_status"`
	Grounding Grounding                `json:"grounding_status"`
	// ContractURL is the contract's pull request or issue, RunURL the run of
	// the capture workflow; "" if there is none.
	ContractURL string `json:"contract_url,omitempty"`
	RunURL      string `json:"run_url,omitempty"`
	// Key is the same for the same change, so that an issue about it can be
	// found again.
	Key contract.Digest `json:"key"`
	// Diff is the place of the diff report that it tells. No two summaries have
	// one place, while two pairs of shapes may show the same change.
	Diff string `json:"diff"`
}

// ID names a summary in a command.
func (s *Summary) ID() string { return contract.Sum([]byte(s.Diff)).Hex()[:idDigits] }

// idDigits tell the summaries of one version apart.
const idDigits = 10

// Summarize tells the risk of a change. obs are the observations of the agent
// and version that still count.
func Summarize(r *contract.DriftReport, obs []store.Observed) *Summary {
	s := &Summary{
		Agent: r.Agent, CLIVersion: r.CLIVersion, ShapeStatus: r.Verdict, Changes: withoutTexts(r.Signals),
		Parser: contract.ReplayNotRun, Redaction: contract.RedactionPassed, Key: keyOf(r), Diff: r.Path(),
	}
	var seen []*store.Observed
	for i := range obs {
		o := &obs[i]
		if o.Agent != r.Agent || o.CLIVersion != r.CLIVersion || !slices.ContainsFunc(r.Cells, func(c contract.DriftCell) bool { return c.NewerObservation == o.Path }) &&
			o.Shape.Signature != r.Newer.Signature {
			continue
		}
		s.Platforms, s.Probes = append(s.Platforms, o.Platform), append(s.Probes, o.Probe)
		s.Parser = worse(s.Parser, o.ParserReplay.Status)
		if o.Redaction.Status != contract.RedactionPassed {
			s.Redaction = o.Redaction.Status
		}
		if o.Capture.WorkflowRunURL != nil {
			s.RunURL = *o.Capture.WorkflowRunURL
		}
		seen = append(seen, o)
	}
	s.Grounding = grounding(seen)
	slices.Sort(s.Platforms)
	s.Platforms, s.Probes = slices.Compact(s.Platforms), unique(s.Probes)
	return s
}

// grounding holds the observations of a change to the rule of the matrix.
func grounding(seen []*store.Observed) Grounding {
	switch {
	case len(seen) == 0:
		return GroundSource
	case matrix.Independent(seen):
		return GroundConfirmed
	}
	return GroundRuntime
}

// GroundingOf is the grounding of what rests on evidence of one level alone.
func GroundingOf(l contract.ValidityLevel) Grounding {
	switch l {
	case contract.LevelSyntheticMock:
		return GroundSynthetic
	case contract.LevelSourceDerived, contract.LevelVendorDocumented:
		return GroundSource
	case contract.LevelConfirmed, contract.LevelCommunityConfirmed:
		return GroundConfirmed
	}
	return GroundRuntime
}

func worse(a, b contract.ReplayStatus) contract.ReplayStatus {
	rank := []contract.ReplayStatus{contract.ReplayNotRun, contract.ReplayCompatible, contract.ReplayIncompatible}
	if slices.Index(rank, b) > slices.Index(rank, a) {
		return b
	}
	return a
}

// withoutTexts drops the wording of error texts: a summary says that it
// changed, the diff report says how.
func withoutTexts(signals []contract.DriftSignal) []contract.DriftSignal {
	out := slices.Clone(signals)
	for i := range out {
		if out[i].ID == compare.ErrorTextChanged {
			out[i].From, out[i].To = "", ""
		}
	}
	return out
}

// keyOf hashes what makes a change the same change.
func keyOf(r *contract.DriftReport) contract.Digest {
	parts := []string{r.Agent, r.CLIVersion}
	for _, s := range r.Signals {
		parts = append(parts, string(s.Fingerprint))
	}
	slices.Sort(parts[2:])
	return contract.Sum([]byte(strings.Join(parts, "\x00")))
}

// parser says in words what the consumer makes of a change.
func (s *Summary) parser() string {
	switch s.Parser {
	case contract.ReplayCompatible:
		return "reads it without loss"
	case contract.ReplayIncompatible:
		return "loses or misreads something"
	}
	return "not replayed"
}

// fields are the specification's, in its order, as a label and a text each.
func (s *Summary) fields() [][2]string {
	return [][2]string{
		{"Agent", s.Agent},
		{"CLI version", s.CLIVersion},
		{"Platform", join(s.Platforms)},
		{"Shape status", string(s.ShapeStatus)},
		{"Parser compatibility", s.parser()},
		{"Redaction status", string(s.Redaction)},
		{"Grounding status", string(s.Grounding)},
		{"Contract PR or issue", cmp.Or(s.ContractURL, "none")},
		{"Capture run", cmp.Or(s.RunURL, "none")},
	}
}

func join[T ~string](list []T) string {
	var words []string
	for _, x := range list {
		words = append(words, string(x))
	}
	return cmp.Or(strings.Join(words, ", "), "none")
}

// Title is a summary in a line.
func (s *Summary) Title() string {
	return fmt.Sprintf("%s %s: %s", s.Agent, s.CLIVersion, s.ShapeStatus)
}

// Markdown writes a summary for people.
func (s *Summary) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n| | |\n|---|---|\n", s.Title())
	for _, f := range s.fields() {
		fmt.Fprintf(&b, "| %s | %s |\n", f[0], inCell(f[1]))
	}
	fmt.Fprintf(&b, "| Probes | %s |\n\n### Changes\n\n", join(s.Probes))
	SignalTable(&b, s.Changes)
	_, err := io.WriteString(w, b.String())
	return err
}

// Issue is a GitHub issue about a change.
type Issue struct {
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	Labels []string `json:"labels"`
	// Marker is the line of the body by which the issue is found again.
	Marker string `json:"marker"`
}

// Issue turns a summary into an issue. The same change gives the same marker,
// so that an open issue is updated and not repeated.
func (s *Summary) Issue() (*Issue, error) {
	var body strings.Builder
	marker := fmt.Sprintf("<!-- agent-contracts drift %s -->", s.Key.Hex()[:16])
	body.WriteString(marker + "\n")
	if err := s.Markdown(&body); err != nil {
		return nil, err
	}
	body.WriteString("\n### What to do\n\n")
	for _, line := range s.advice() {
		body.WriteString("- " + line + "\n")
	}
	labels := []string{"drift", "agent:" + s.Agent}
	if w := Worst(s.Changes); w != "" {
		labels = append(labels, "severity:"+w)
	}
	return &Issue{Title: s.Title(), Body: body.String(), Labels: labels, Marker: marker}, nil
}

// advice is one line for each verdict (specification, "Compare").
func (s *Summary) advice() []string {
	switch s.ShapeStatus {
	case contract.VerdictSameShape:
		return []string{"Nothing: the shape is known."}
	case contract.VerdictCompatibleNewShape:
		return []string{"Review the new shape, its fixture and golden, and merge them."}
	case contract.VerdictServerVariant:
		return []string{"Keep both shapes: one version answers in two ways.", "Run a local probe before you rely on either."}
	case contract.VerdictParserIncompatible:
		return []string{"Teach the parser the changes that it reads, or pin a supported version.", "The failing contract is in the registry; replay it with `agent-contracts replay`."}
	}
	return []string{"Nothing was published. A maintainer looks at the private capture."}
}

// Summaries tells the risk of each change that came with a version of an agent;
// version "" is the newest with a change.
func Summaries(ctx context.Context, reg *store.Registry, now time.Time, agent, version string) ([]*Summary, error) {
	reports, err := diffsOf(ctx, reg, now, agent, version)
	if err != nil || len(reports) == 0 {
		return nil, err
	}
	obs, err := observations(reg)
	if err != nil {
		return nil, err
	}
	var out []*Summary
	for _, r := range reports {
		out = append(out, Summarize(r, obs))
	}
	return out, nil
}
