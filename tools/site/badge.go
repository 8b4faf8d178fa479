package site

import (
	"bytes"
	"fmt"
	"html/template"
	"sync"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// badge returns the picture that tells a README how an agent stands: its newest
// verified version, or the status of its newest captured one.
func (s *Site) badge(at, id string) (*File, error) {
	a := s.Records.Agents.Agent(id)
	if a == nil {
		return nil, &NotFoundError{at, "there is no such agent"}
	}
	line := s.agentLine(a)
	text, color := "not captured", "#6b675d"
	switch newest := line.Newest; {
	case newest.Version == "":
	case newest.Chip.Tone == "good":
		text, color = "✓ "+newest.Version+" verified", "#11603c"
	case line.Verified != "":
		text, color = "verified up to "+line.Verified, "#7a4b00"
	case newest.Chip.Tone == "bad":
		text, color = "✕ "+newest.Version+" "+newest.Chip.Word, "#9c1c12"
	default:
		text = newest.Version + " captured, not verified"
	}
	var b bytes.Buffer
	left, right := textWidth(a.ID)+14, textWidth(text)+14
	err := badgeTemplate().Execute(&b, map[string]any{"Agent": a.ID, "Text": text, "Color": color, "Left": left, "Right": right, "Width": left + right, "MidLeft": left / 2, "MidRight": left + right/2})
	if err != nil {
		return nil, fmt.Errorf("making the badge of %s: %w", id, err)
	}
	return &File{Type: TypeSVG, Body: b.Bytes()}, nil
}

// textWidth guesses the width of a text of 11 pixels, on the wide side.
func textWidth(s string) int { return utf8.RuneCountInString(s)*66/10 + 2 }

var badgeTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("badge").Parse(badgeText)) })

const badgeText = `<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="20" role="img" aria-label="{{.Agent}}: {{.Text}}"><title>{{.Agent}}: {{.Text}}</title><clipPath id="r"><rect width="{{.Width}}" height="20" rx="4"/></clipPath><g clip-path="url(#r)"><rect width="{{.Left}}" height="20" fill="#33312c"/><rect x="{{.Left}}" width="{{.Right}}" height="20" fill="{{.Color}}"/></g><g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="{{.MidLeft}}" y="14">{{.Agent}}</text><text x="{{.MidRight}}" y="14">{{.Text}}</text></g></svg>
`

// verdictTone is the class of a verdict.
func verdictTone(v contract.Verdict) string {
	switch v {
	case contract.VerdictSameShape:
		return "good"
	case contract.VerdictParserIncompatible, contract.VerdictRedactionFailed:
		return "bad"
	}
	return "warn"
}
