package rpc

import (
	"regexp"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// filter drops blocks between an opening and a closing tag from a stream of
// text, wherever it is cut. Any closing tag of its kind ends a block.
type filter struct {
	inside    bool
	candidate string // text at the end that may be the beginning of a tag
	// chars are UTF-16 units that were dropped, noted those already told.
	chars, noted           int
	chunks, opened, closed int
}

// tags are the blocks that a filter drops. Expressions search folded text.
type tags struct {
	open, shut func() *regexp.Regexp
	// names are the tags' names without white space and marks; begin and end
	// are the marks that may stand in an unfinished opening or closing tag.
	openNames, shutNames []string
	begin, end           string
}

var (
	artifactTags = &tags{
		open:      jstext.Regexp(`<\s*\|?\s*dsml[\s,]+artifact\b[^>]*>|<\s*artifact\b[^>]*>`),
		shut:      jstext.Regexp(`</artifact>|</\s*\|?\s*dsml\s*>|<\s*\|?\s*/\s*dsml\s*\|?\s*>`),
		openNames: []string{"dsmlartifact", "artifact"}, begin: "<|,",
		shutNames: []string{"artifact", "dsml"}, end: "<|/",
	}
	toolCallTags = &tags{
		open:      jstext.Regexp(`<\s*tool_call\b[^>]*>|<\s*edit\s*>`),
		shut:      jstext.Regexp(`</\s*tool_call\s*>|</\s*edit\s*>`),
		openNames: []string{"toolcall", "edit"}, begin: "<|,_-",
		shutNames: []string{"toolcall", "edit"}, end: "<|/_-",
	}
)

// maxCandidate is how far from the end of a text an unfinished tag is looked
// for, in UTF-16 units.
const maxCandidate = 512

// strip returns what is to be shown of all text so far that was held back and
// of this one.
func (f *filter) strip(t *tags, text string) string {
	text, f.candidate = f.candidate+text, ""
	var shown strings.Builder
	for {
		re := t.open
		if f.inside {
			re = t.shut
		}
		tag := re().FindStringIndex(string(jstext.Fold(text)))
		switch {
		case tag == nil && f.inside:
			at := unfinishedTag(text, t.shutNames, t.end)
			f.drop(text[:at])
			f.candidate = text[at:]
			return shown.String()
		case tag == nil:
			at := unfinishedTag(text, t.openNames, t.begin)
			shown.WriteString(text[:at])
			f.candidate = text[at:]
			return shown.String()
		case f.inside:
			f.closed++
			f.drop(text[:tag[1]])
		default:
			f.opened++
			shown.WriteString(text[:tag[0]])
			f.drop(text[tag[0]:tag[1]])
		}
		f.inside = !f.inside
		text = text[tag[1]:]
	}
}

func (f *filter) drop(text string) {
	if text != "" {
		f.chars += rawjson.UTF16Len(text)
		f.chunks++
	}
}

// release gives up waiting for the end of a tag.
func (f *filter) release() string {
	text := f.candidate
	f.candidate = ""
	if f.inside {
		return ""
	}
	return text
}

// unfinishedTag returns where a tag that is not finished starts, or the end of
// the text. The last one counts.
func unfinishedTag(text string, names []string, marks string) int {
	from := len(text) - len(jstext.Tail(text, maxCandidate))
	for end := len(text); end > from; {
		at := strings.LastIndexByte(text[from:end], '<')
		if at < 0 {
			break
		}
		at += from
		if strings.IndexByte(text[at:], '>') >= 0 {
			break // so have all tags before it
		}
		if begins(text[at:], names, marks) {
			return at
		}
		end = at
	}
	return len(text)
}

// begins reports whether the tail is the beginning of a tag, or goes on behind
// a tag's name.
func begins(tail string, names []string, marks string) bool {
	name := strings.Map(func(r rune) rune {
		if jstext.IsSpace(r) || strings.ContainsRune(marks, r) {
			return -1
		}
		return r
	}, string(jstext.Fold(tail)))
	for _, n := range names {
		if strings.HasPrefix(n, name) || strings.HasPrefix(name, n) {
			return true
		}
	}
	return false
}
