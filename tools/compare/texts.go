package compare

import (
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// ErrorText is a text of the CLI or its provider in a sanitized transcript.
type ErrorText struct {
	EventType string // "stderr" for a line of stderr
	Path      string
	Text      string // without numbers: attempts, times and placeholders differ from run to run
}

// ErrorTexts returns the texts at the dialect's vocabulary paths and the lines
// of stderr, without repeats, in order of first appearance. The transcript must
// be a sanitized one: signals quote these texts.
func ErrorTexts(t *transcript.Transcript, d *contract.Dialect) ([]ErrorText, error) {
	places := make([]paths.Place, 0, len(d.Redact.Vocabulary))
	var names []string
	for _, p := range d.Redact.Vocabulary {
		if strings.HasSuffix(p, "**") || strings.Contains(p, "<key>") {
			continue // payloads, not texts
		}
		x, err := paths.Compile(p)
		if err != nil {
			return nil, err
		}
		places, names = append(places, x), append(names, p)
	}
	out := []ErrorText{}
	add := func(e ErrorText) {
		if e.Text = noNumbers(e.Text); e.Text != "" && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	var doc rawjson.Doc
	for line := range t.Lines(transcript.CLIToServer, transcript.Stdout) {
		if doc.Parse(line) != nil {
			continue
		}
		event := eventType(doc.Root(), d)
		for i, p := range places {
			p.Find(doc.Root(), func(v rawjson.Value) bool {
				if v.Kind() == rawjson.String {
					add(ErrorText{event, names[i], v.Str()})
				}
				return true
			})
		}
	}
	for line := range t.Lines(transcript.CLIToServer, transcript.Stderr) {
		add(ErrorText{EventType: "stderr", Text: string(line)})
	}
	return out, nil
}

func eventType(v rawjson.Value, d *contract.Dialect) string {
	for _, p := range d.EventType {
		if x, err := paths.Compile(p); err == nil {
			if t := x.First(v); t.Kind() == rawjson.String {
				return t.Str()
			}
		}
	}
	return ""
}

// maxText is the longest text that a signal quotes, in bytes.
const maxText = 300

// noNumbers writes # for each run of digits.
func noNumbers(s string) string {
	var b strings.Builder
	digit := false
	for _, r := range strings.TrimSpace(s) {
		isDigit := r >= '0' && r <= '9'
		if isDigit && !digit {
			b.WriteByte('#')
		}
		if digit = isDigit; !isDigit {
			b.WriteRune(r)
		}
		if b.Len() >= maxText {
			break
		}
	}
	return b.String()
}

// texts compares the error texts of two runs, place by place.
func (c *comparison) texts(as, bs []ErrorText) {
	type place struct{ event, path string }
	var order []place
	from, to := map[place][]string{}, map[place][]string{}
	collect := func(list, other []ErrorText, into map[place][]string) {
		for _, e := range list {
			p := place{e.EventType, e.Path}
			if !slices.Contains(order, p) {
				order = append(order, p)
			}
			if !slices.Contains(other, e) {
				into[p] = append(into[p], e.Text)
			}
		}
	}
	collect(as, bs, from)
	collect(bs, as, to)
	for _, p := range order {
		for _, text := range to[p] {
			for _, flag := range requiredFlags(text) {
				c.add(Signal{ID: FlagRequired, EventType: p.event, Path: p.path, To: flag})
			}
		}
		if len(from[p]) > 0 && len(to[p]) > 0 {
			slices.Sort(from[p])
			slices.Sort(to[p])
			c.add(Signal{ID: ErrorTextChanged, EventType: p.event, Path: p.path, From: from[p][0], To: to[p][0]})
		}
	}
}
