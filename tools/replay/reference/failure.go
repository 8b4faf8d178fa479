package reference

import (
	"bytes"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// evidence is what may say why a run failed.
type evidence struct {
	agent string
	// texts are structured error texts and other last words, the strongest first.
	texts []string
	// code is what a structured field says; a text that is known says more.
	code *verdict
	// weak is the end of stderr. It decides only when nothing else does.
	weak []byte
	// started says that the CLI printed frames: words of a start that failed are
	// those of a hook or a tool.
	started bool
}

// classify returns the verdict on a failed run, or nil if nothing is known.
func classify(e evidence) *verdict {
	v := classifyTexts(e)
	if v != nil && v.Detail == "model_not_found" && e.hasHTML404() {
		routing := upstream("provider_routing_error", "")
		return &routing
	}
	return v
}

func classifyTexts(e evidence) *verdict {
	for _, t := range e.texts {
		if v := classifyText(e.agent, t); v != nil {
			return v
		}
	}
	if e.code != nil {
		return e.code
	}
	v := classifyStderr(e.agent, e.weak)
	if v != nil && v.Stage == contract.StageSpawn && e.started {
		return nil
	}
	return v
}

// html404 is the body of a wrong base URL, which CLIs report as a missing
// model (case 107).
const html404 = `404 page not found|404\b.{0,40}(?:<!doctype html|<html)`

var is404 = lazyregexp.New(html404)

func (e evidence) hasHTML404() bool {
	for _, t := range e.texts {
		if is404.Get().MatchString(normalizeText(t)) {
			return true
		}
	}
	return is404.Get().MatchString(normalizeText(string(e.weak)))
}

// ClassifyText returns what one error text of an agent means, or nil if the
// text is not known to mean a failure. The table is in failure_table.go. An
// empty Stage says that the text does not tell it.
func ClassifyText(agent, text string) *contract.FailureClassification {
	v := classifyText(agent, text)
	if v == nil {
		return nil
	}
	f := contract.FailureClassification(*v)
	return &f
}

func classifyText(agent, text string) *verdict {
	norm := normalizeText(unwrap(text))
	rows := texts()
	for i := range rows {
		if row := &rows[i]; row.fits(agent) && row.pattern().find(norm) != nil {
			v := row.verdict
			return &v
		}
	}
	return nil
}

// wholeTextIsError classifies a text that is the CLI's whole output: only a
// short one that begins with the words of an error counts, since a model may
// write about errors (case 089).
func wholeTextIsError(agent, text string) *verdict {
	const longest, latest = 400, 12
	if len(text) > longest {
		return nil
	}
	norm := normalizeText(text)
	if printed, ok := strings.CutPrefix(norm, "[api error: "); ok && agent != "claude" && agent != "codex" {
		if v := classifyText(agent, printed); v != nil {
			return v
		}
		return &streamError
	}
	rows := texts()
	for i := range rows {
		row := &rows[i]
		if !row.fits(agent) {
			continue
		}
		if at := row.pattern().find(norm); at != nil && at[0] <= latest {
			v := row.verdict
			return &v
		}
	}
	return nil
}

// classifyStderr reads stderr without the lines that are known to be harmless.
func classifyStderr(agent string, stderr []byte) *verdict {
	kept := tellingLines(bytes.ReplaceAll(stripTerminal(stderr), notRecognizedGBK, notRecognized))
	if len(kept) == 0 {
		return nil
	}
	for i, l := range kept {
		kept[i] = withoutRequest(normalizeText(l))
	}
	return classifyText(agent, strings.Join(kept, "\n"))
}

// tellingLines are the lines of stderr that are neither blank nor known to be
// harmless.
func tellingLines(stderr []byte) []string {
	var kept []string
	for l := range strings.Lines(string(stderr)) {
		if norm := normalizeText(l); norm != "" && !harmless.Get().MatchString(norm) {
			kept = append(kept, strings.TrimRight(l, "\r\n"))
		}
	}
	return kept
}

// notRecognizedGBK is what cmd.exe of a Chinese Windows prints for a missing
// program, in its code page 936 (case 080); notRecognized is the same in English.
var (
	notRecognizedGBK = []byte("\xb2\xbb\xca\xc7\xc4\xda\xb2\xbf\xbb\xf2\xcd\xe2\xb2\xbf\xc3\xfc\xc1\xee")
	notRecognized    = []byte(" is not recognized as an internal or external command ")
)

// harmless are lines that successful runs print too, and lines about another
// principal than the model provider (error-texts: rows 7, 11, 77 and "Benign
// stderr seen in successful runs").
var harmless = lazyregexp.New(`reading (?:additional input|prompt) from stdin` +
	`|failed to load skill|model metadata for|loaded cached credentials|mcp issues detected|codex_models_manager|failed to refresh available models` +
	`|for server \S+.{0,40}oauth|oauth tokens for server|\bmcp\b.{0,80}(?:auth|token)` +
	`|web sessions require authentication|telemetry|could not update path` +
	`|^(?:\S+ )?(?:info|debug|trace)\b|permission requested:.{0,80}auto-rejecting|^ripgrep (?:is )?not available|\bmcp client for .{0,60}failed to start` +
	`|^attempt \d+ failed:.*retrying after|deprecat`)

// request is the echo of a request in a log line; its words are the prompt's
// (case 101).
var request = lazyregexp.New(`"?(?:requestbodyvalues|messages)"?:\s*[\[{].*?[\]}]+`)

func withoutRequest(norm string) string { return request.Get().ReplaceAllString(norm, "") }

// normalizeText makes texts of different releases equal: lower case, one kind
// of apostrophe (codex ≥0.155 and claude use U+2019), single spaces, no colours.
func normalizeText(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = string(stripTerminal([]byte(s)))
	}
	s = strings.ToLower(strings.ReplaceAll(s, "\u2019", "'"))
	return strings.Join(strings.Fields(s), " ")
}

// unwrap adds the strings of a JSON document that is a text (case 095). One
// level: a text inside the document stays as it is.
func unwrap(s string) string {
	t := strings.TrimSpace(s)
	if !strings.HasPrefix(t, "{") {
		return s
	}
	v, err := rawjson.Parse([]byte(t))
	if err != nil {
		return s
	}
	var parts []string
	collectStrings(v, 0, &parts)
	return s + " " + strings.Join(parts, " ")
}

func collectStrings(v rawjson.Value, depth int, out *[]string) {
	const deepest = 8
	if depth > deepest {
		return
	}
	if v.Kind() == rawjson.String {
		*out = append(*out, v.Str())
	}
	for c := range v.Children() {
		collectStrings(c, depth+1, out)
	}
}
