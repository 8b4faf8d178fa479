package rpc

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// textStream turns message chunks into text deltas. Some agents send all text
// so far with every chunk, so a chunk that begins with it adds the rest only;
// two equal chunks at the beginning become one, which is OpenDesign's fault.
type textStream struct {
	whole     []byte // all text of the agent
	seen      bool   // an agent said something
	visible   bool   // and it was shown
	calls     filter // tool calls written as text
	artifacts *filter
	write     writeState
	callSum   filterSum
	blockSum  filterSum
	noted     int // diagnostics of filters so far
}

// writeState belongs to the filter that is set when a tool has written a file:
// an agent may then print the file again.
type writeState struct {
	owner     string          // the tool call that set the filter, or ""
	afterText bool            // there was text before it
	prose     bool            // text that is no artifact followed
	pending   map[string]bool // tool calls that write
}

// filterSum is what filters of one kind dropped so far.
type filterSum struct {
	chars                  int
	chunks, opened, closed int // of the latest filter
}

func (s *filterSum) fields() []event.Field {
	return []event.Field{integer("suppressedChars", s.chars), integer("suppressedChunks", s.chunks),
		integer("openedBlocks", s.opened), integer("closedBlocks", s.closed)}
}

// added returns what the chunk adds to the text, and whether the chunk holds
// all text so far.
func (t *textStream) added(chunk string) (rest string, snapshot bool) {
	if len(chunk)+3 < len(t.whole) {
		return chunk, false
	}
	if rest, ok := jstext.CutPrefix(chunk, string(t.whole)); ok {
		return rest, true
	}
	return chunk, false
}

func (t *textStream) chunk(out *actions, text string) {
	if text == "" {
		return
	}
	added, snapshot := t.added(text)
	if added == "" {
		return
	}
	t.seen = true
	t.whole = jstext.AppendJoin(t.whole, added)
	was := t.calls.inside
	shown := t.calls.strip(toolCallTags, added)
	t.noteCalls(out, either(was || shown != added, "tool_call_xml", "tool_call_candidate"))
	switch {
	case shown == "":
	case t.artifacts == nil:
		t.show(out, shown)
	default:
		t.withoutArtifacts(out, added, shown, snapshot)
	}
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// withoutArtifacts shows text after a tool has written a file. Prose around a
// second copy of the file is kept in some cases only.
func (t *textStream) withoutArtifacts(out *actions, added, text string, snapshot bool) {
	f := t.artifacts
	was, pending := f.inside, f.candidate != ""
	stripped := f.strip(artifactTags, text)
	t.noteArtifacts(out, either(was || stripped != text, "artifact_echo", "artifact_candidate"))
	open := f.inside || f.candidate != ""
	quiet := !was && !pending && !open
	prose := quiet && stripped == text
	keep := quiet && !snapshot &&
		(prose || !t.write.afterText && t.write.prose && !artifactEcho().MatchString(string(jstext.Fold(text))))
	if keep {
		t.show(out, text)
	} else {
		t.show(out, stripped)
	}
	t.write.prose = t.write.prose || prose
	if (was || stripped != added) && !open {
		t.disarm()
	}
}

// artifactEcho is text that starts with an artifact, or with words that
// announce one.
var artifactEcho = jstext.Regexp(`^\s*(?:(?:here\s+is|here'?s)\s+the\s+generated\s+file\s*:?\s*)?<\s*(?:\|?\s*dsml[\s,]+artifact\b|artifact\b)`)

func (t *textStream) disarm() {
	t.artifacts, t.write.owner, t.write.afterText, t.write.prose = nil, "", false, false
}

// afterTool sets the filter for artifacts when a tool that writes has ended
// well, and takes it away when it has failed.
func (t *textStream) afterTool(u rawjson.Value) {
	id, writes := trimmed(u.Get("toolCallId")), writesFile(u)
	if id != "" && writes {
		if t.write.pending == nil {
			t.write.pending = map[string]bool{}
		}
		t.write.pending[id] = true
	}
	owns := id != "" && t.write.pending[id]
	ended, failed := terminal(u)
	switch {
	case ended && !failed && (writes || owns):
		t.artifacts = &filter{}
		t.write.owner, t.write.afterText, t.write.prose = id, len(t.whole) > 0, false
		delete(t.write.pending, id)
	case ended && failed && id != "":
		delete(t.write.pending, id)
		if owns || id == t.write.owner {
			t.disarm()
		}
	}
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
	text := t.calls.release()
	t.noteCalls(out, "tool_call_xml_flush")
	if text != "" && t.artifacts != nil {
		text = t.artifacts.strip(artifactTags, text)
	}
	t.show(out, text)
	t.noteArtifacts(out, "artifact_flush")
	if t.callSum.chars > 0 {
		summary(out, "acp_tool_call_text_suppression_summary", t.callSum)
	}
	if t.blockSum.chars > 0 {
		summary(out, "unexpected_text_artifact_in_filesystem_run", t.blockSum)
		summary(out, "acp_artifact_text_suppression_summary", t.blockSum)
	}
}

func summary(out *actions, name string, sum filterSum) {
	out.emit("diagnostic", append([]event.Field{str("name", name), str("source", "acp-json-rpc"), elapsed("elapsedMs")}, sum.fields()...)...)
}

func (t *textStream) noteCalls(out *actions, reason string) {
	t.note(out, "acp_tool_call_text_suppression", reason, &t.calls, &t.callSum)
}

func (t *textStream) noteArtifacts(out *actions, reason string) {
	if t.artifacts != nil {
		t.note(out, "acp_artifact_text_suppression", reason, t.artifacts, &t.blockSum)
	}
}

// note tells what the filter has dropped since the last note.
func (t *textStream) note(out *actions, name, reason string, f *filter, sum *filterSum) {
	more := f.chars - f.noted
	if more <= 0 {
		return
	}
	f.noted = f.chars
	sum.chars += more
	sum.chunks, sum.opened, sum.closed = f.chunks, f.opened, f.closed
	if t.noted >= maxDiagnostics {
		return
	}
	t.noted++
	fields := []event.Field{str("name", name), str("source", "acp-json-rpc"), elapsed("elapsedMs"), str("reason", reason)}
	fields = append(fields, sum.fields()...)
	out.emit("diagnostic", append(fields, integer("pendingCandidateChars", rawjson.UTF16Len(f.candidate)), event.F("suppressing", event.Bool(f.inside)))...)
}
