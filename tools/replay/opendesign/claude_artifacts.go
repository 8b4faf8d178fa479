package opendesign

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

const (
	artifactOpen  = "<artifact"
	artifactClose = "</artifact>"
	keptWrites    = 5
)

// artifactEcho drops an <artifact> block from the text when it repeats a file
// that the model has just written. A block is held back until it is complete.
type artifactEcho struct {
	dropHTML  bool     // drop any HTML artifact of a turn that wrote HTML
	armed     bool     // a file was written and no artifact seen since
	wroteHTML bool     // in this turn
	writes    []string // the last contents written, normalised
	opening   string   // text that may be the start of an opening tag
	inside    bool
	block     []byte // the block so far, from its opening tag
}

// toolUse notes a tool call that writes a file.
func (a *artifactEcho) toolUse(name event.Value, input rawjson.Value) {
	switch name.Str() {
	case "Write", "Edit", "write_file", "replace":
	default:
		return
	}
	if !writesFile(input) {
		return
	}
	a.armed = true
	content := writtenContent(input).Str()
	if content == "" {
		return
	}
	a.wroteHTML = a.wroteHTML || writesHTML(input, content)
	a.writes = append(a.writes, normalizeArtifact(content))
	if len(a.writes) > keptWrites {
		a.writes = a.writes[1:]
	}
}

func (a *artifactEcho) endTurn() { a.writes, a.wroteHTML = nil, false }

// strip returns what of the text may be shown now.
func (a *artifactEcho) strip(text string) string {
	shown := ""
	for {
		if !a.armed && !a.inside && a.opening == "" && len(a.writes) == 0 {
			return shown + text
		}
		text = a.opening + text
		a.opening = ""
		if a.inside {
			rest, done := a.collect(text)
			if !done {
				return shown
			}
			shown, text = shown+string(a.block), rest
			a.block = nil
			continue
		}
		i := strings.Index(text, artifactOpen)
		if i < 0 {
			if n := openingTail(text); n > 0 && (a.armed || len(a.writes) > 0) {
				a.opening = text[len(text)-n:]
				text = text[:len(text)-n]
			}
			return shown + text
		}
		a.inside, a.armed = true, false
		shown, text = shown+text[:i], text[i:]
	}
}

// collect adds text to the block. When the block is complete it leaves in
// a.block what is to be shown of it and returns the text behind it.
func (a *artifactEcho) collect(text string) (rest string, done bool) {
	from := max(0, len(a.block)-len(artifactClose))
	a.block = jstext.AppendJoin(a.block, text)
	i := bytes.Index(a.block[from:], []byte(artifactClose))
	if i < 0 {
		return "", false
	}
	end := from + i + len(artifactClose)
	rest = string(a.block[end:])
	a.block = a.block[:end]
	a.inside, a.armed = false, false
	if a.redundant(string(a.block)) {
		a.block = nil
	}
	if !a.dropHTML {
		a.writes = nil
	}
	return rest, true
}

func (a *artifactEcho) redundant(block string) bool {
	gt := strings.IndexByte(block, '>')
	end := strings.LastIndex(block, artifactClose)
	if gt < 0 || end <= gt {
		return false
	}
	if a.dropHTML && a.wroteHTML && artifactPatterns().html.Match(jstext.Fold(block[:gt+1])) {
		return true
	}
	return slices.Contains(a.writes, normalizeArtifact(block[gt+1:end]))
}

// release returns the text that is held back and starts afresh, unless there
// is none.
func (a *artifactEcho) release() string {
	text := a.opening + string(a.block)
	if text != "" {
		*a = artifactEcho{dropHTML: a.dropHTML}
	}
	return text
}

// openingTail returns the length of the longest proper beginning of the
// opening tag that the text ends with.
func openingTail(text string) int {
	for n := min(len(artifactOpen)-1, len(text)); n > 0; n-- {
		if strings.HasPrefix(artifactOpen, text[len(text)-n:]) {
			return n
		}
	}
	return 0
}

// writesFile reports whether the input of a writing tool names a text file or
// has content.
func writesFile(input rawjson.Value) bool {
	if !record(input) {
		return false
	}
	path := input.Get("file_path")
	if !isString(path) {
		path = input.Get("path")
	}
	if artifactPatterns().textFile.MatchString(path.Str()) {
		return true
	}
	return isString(input.Get("content")) || isString(input.Get("new_string"))
}

func writtenContent(input rawjson.Value) rawjson.Value {
	if v := input.Get("content"); isString(v) {
		return v
	}
	return input.Get("new_string")
}

func writesHTML(input rawjson.Value, content string) bool {
	p := artifactPatterns()
	path := or(input.Get("file_path"), input.Get("filePath"))
	return p.htmlFile.MatchString(path.Str()) || p.htmlText.Match(jstext.Fold(content))
}

// normalizeArtifact makes a written file and its echo comparable: no byte
// order mark, \n line ends, no white space or spelled-out \r and \n at the
// edges.
func normalizeArtifact(s string) string {
	s = strings.TrimPrefix(s, "\ufeff")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	for {
		n := len(s)
		s = jstext.Trim(s)
		for _, escape := range [...]string{`\r`, `\n`} {
			s = strings.TrimSuffix(strings.TrimPrefix(s, escape), escape)
		}
		if len(s) == n {
			return s
		}
	}
}

// artifactPatterns are compiled on first use. Both file patterns fold case
// over all of Unicode or over ASCII; no file name tells the difference.
var artifactPatterns = sync.OnceValue(func() (p struct {
	html, htmlText     *jstext.Patterns
	textFile, htmlFile *regexp.Regexp
}) {
	p.html = jstext.Any(`\btype\s*=\s*["']text/html["']`)
	p.htmlText = jstext.Any(`<!doctype\s+html\b`, `<html\b`)
	p.textFile = regexp.MustCompile(`(?i)\.(html|htm|css|js|jsx|ts|tsx|md)$`)
	p.htmlFile = regexp.MustCompile(`(?i)\.(html?|xhtml)$`)
	return p
})
