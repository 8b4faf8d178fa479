package rpc

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// textStream turns message chunks into text deltas. Some agents send all text
// so far with every chunk, so a chunk that begins with it adds the rest only;
// two equal chunks at the beginning become one, which is OpenDesign's fault.
type textStream struct {
	whole     []byte // all text of the agent
	markup    markupFilter
	artifacts blockFilter
	wroteFile bool // an <artifact> block from now on repeats a file
	visible   bool
}

func (t *textStream) chunk(out *actions, text string) {
	if text == "" {
		return
	}
	if n := len(t.whole); len(text) >= n && text[:n] == string(t.whole) {
		text = text[n:]
	}
	t.whole = append(t.whole, text...)
	first := t.markup.chars == 0
	text = t.markup.strip(text)
	if first && t.markup.chars > 0 {
		t.markup.report(out)
	}
	if t.wroteFile || t.artifacts.holds() {
		text = t.artifacts.strip(text)
	}
	t.show(out, text)
}

func (t *textStream) show(out *actions, text string) {
	if text == "" {
		return
	}
	if !t.visible {
		t.visible = true
		out.emit("status", str("label", "streaming"), elapsed("ttftMs"))
	}
	out.emit("text_delta", str("delta", text))
}

// end shows what was held back in vain, and sums up what was dropped.
func (t *textStream) end(out *actions) {
	t.show(out, t.artifacts.release(t.markup.release()))
	if t.markup.chars > 0 {
		t.markup.summary(out)
	}
}

// markupFilter drops tool calls that an agent writes as text.
type markupFilter struct {
	blockFilter
	chars, chunks, opened, closed int
}

func (m *markupFilter) strip(text string) string {
	m.tags = markupTags
	m.dropped = func(units int, opens, closes bool) {
		m.chars += units
		m.chunks++
		if opens {
			m.opened++
		}
		if closes {
			m.closed++
		}
	}
	return m.blockFilter.strip(text)
}

func (m *markupFilter) release() string { return m.blockFilter.release("") }

func (m *markupFilter) report(out *actions) {
	out.emit("diagnostic", str("name", "acp_tool_call_text_suppression"), str("source", "acp-json-rpc"), elapsed("elapsedMs"),
		str("reason", "tool_call_xml"), integer("suppressedChars", m.chars), integer("suppressedChunks", m.chunks),
		integer("openedBlocks", m.opened), integer("closedBlocks", m.closed),
		integer("pendingCandidateChars", rawjson.UTF16Len(m.candidate)), event.F("suppressing", event.Bool(m.inside != "")))
}

func (m *markupFilter) summary(out *actions) {
	out.emit("diagnostic", str("name", "acp_tool_call_text_suppression_summary"), str("source", "acp-json-rpc"), elapsed("elapsedMs"),
		integer("suppressedChars", m.chars), integer("suppressedChunks", m.chunks),
		integer("openedBlocks", m.opened), integer("closedBlocks", m.closed))
}

var (
	markupTags   = []string{"tool_call", "edit"}
	artifactTags = []string{"artifact"}
)

// blockFilter drops <tag …>…</tag> from a stream of text, wherever it is cut.
type blockFilter struct {
	tags      []string
	inside    string // the tag of the open block
	candidate string // may be the beginning of a tag
	dropped   func(units int, opens, closes bool)
}

func (f *blockFilter) holds() bool { return f.inside != "" || f.candidate != "" }

func (f *blockFilter) strip(text string) string {
	if f.tags == nil {
		f.tags = artifactTags
	}
	text, f.candidate = f.candidate+text, ""
	var shown strings.Builder
	for text != "" {
		if f.inside != "" {
			text = f.skip(text)
			continue
		}
		at, length, tag := f.opening(text)
		shown.WriteString(text[:at])
		if tag == "" { // nothing, or a candidate at the end
			f.candidate = text[at:]
			break
		}
		f.inside = tag
		f.note(text[at:at+length], true, false)
		text = text[at+length:]
	}
	return shown.String()
}

// skip drops text of the open block and returns what is behind it.
func (f *blockFilter) skip(text string) string {
	end := "</" + f.inside + ">"
	if i := strings.Index(text, end); i >= 0 {
		f.note(text[:i+len(end)], false, true)
		f.inside = ""
		return text[i+len(end):]
	}
	keep := 0
	for n := min(len(end)-1, len(text)); n > 0 && keep == 0; n-- {
		if strings.HasSuffix(text, end[:n]) {
			keep = n
		}
	}
	if keep < len(text) {
		f.note(text[:len(text)-keep], false, false)
	}
	f.candidate = text[len(text)-keep:]
	return ""
}

func (f *blockFilter) note(text string, opens, closes bool) {
	if f.dropped != nil {
		f.dropped(rawjson.UTF16Len(text), opens, closes)
	}
}

// opening finds the first opening tag: where it starts and its length. With
// no tag, at is where the text must be held back, or its end.
func (f *blockFilter) opening(text string) (at, length int, tag string) {
	for i := 0; i < len(text); i++ {
		if text[i] != '<' {
			continue
		}
		for _, t := range f.tags {
			rest, open := text[i:], "<"+t
			if !strings.HasPrefix(rest, open) {
				if strings.HasPrefix(open, rest) {
					return i, 0, ""
				}
				continue
			}
			if len(rest) == len(open) {
				return i, 0, ""
			}
			if c := rest[len(open)]; c != '>' && c != ' ' && c != '\n' && c != '\t' {
				continue
			}
			if end := strings.IndexByte(rest, '>'); end >= 0 {
				return i, end + 1, t
			}
			return i, 0, ""
		}
	}
	return len(text), 0, ""
}

// release returns text that turned out to be no block, with more behind it.
func (f *blockFilter) release(more string) string {
	text := f.candidate
	if f.inside != "" {
		text = ""
	}
	f.candidate, f.inside = "", ""
	return text + more
}
