package rpc

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// maxToolResult is the longest tool result that is shown, in UTF-16 units.
const maxToolResult = 8000

// toolBook collects what an agent says of each tool call. A call is told as
// one tool_use and one tool_result, back to back, when it has ended.
type toolBook struct {
	calls map[string]*toolCall
	order []string
	seen  bool // an agent spoke of a tool
	told  bool // one was told
}

type toolCall struct {
	id       string
	name     string
	byKind   bool // the name is that of a kind, which titles do not change
	input    []event.Field
	path     string
	pathRank int
	result   string
	thought  bool
	ended    bool
}

// update takes in a tool_call or tool_call_update.
func (b *toolBook) update(out *actions, u rawjson.Value) {
	b.seen = true
	id := trimmed(u.Get("toolCallId"))
	if id == "" {
		return
	}
	c := b.calls[id]
	if c == nil {
		if b.calls == nil {
			b.calls = map[string]*toolCall{}
		}
		c = &toolCall{id: id}
		b.calls[id] = c
		b.order = append(b.order, id)
	}
	c.learn(u)
	if ended, failed := terminal(u); ended {
		b.tell(out, c, failed)
	}
}

// learn takes over what a frame says. Before the first frame a call has no
// name.
func (c *toolCall) learn(u rawjson.Value) {
	if c.ended {
		return
	}
	kind := jstext.Trim(u.Get("kind").Str())
	switch name := toolName(u); {
	case recognizedKind(kind):
		c.name, c.byKind = name, true
	case !c.byKind && (name != toolAny || c.name == ""):
		c.name = name
	}
	path, rank := filePath(u)
	for _, f := range toolInput(u, path) {
		c.input = with(c.input, f.Key, f.Value)
	}
	if path != "" && (c.path == "" || rank >= c.pathRank) {
		c.path, c.pathRank = path, rank
	}
	if result := toolResult(u); result != "" {
		c.result = result
	}
	c.thought = c.thought || isThought(u)
}

// terminal says whether a status ends a call, and how.
func terminal(u rawjson.Value) (ended, failed bool) {
	switch token(u.Get("status").Str()) {
	case "completed", "complete", "succeeded", "success":
		return true, false
	case "failed", "failure", "error", "cancelled", "canceled":
		return true, true
	}
	return false, false
}

// flush tells every call that has not ended.
func (b *toolBook) flush(out *actions, failed bool) {
	for _, id := range b.order {
		b.tell(out, b.calls[id], failed)
	}
}

// tell emits the call and its result, once. Thoughts that an agent presents as
// tools are not told.
func (b *toolBook) tell(out *actions, c *toolCall, failed bool) {
	if c.ended {
		return
	}
	c.ended = true
	if c.thought {
		return
	}
	b.told = true
	id := ToolID(c.id)
	out.emit("tool_use", str("id", id), str("name", c.name), event.F("input", c.fullInput()), elapsed("startedAt"))
	out.emit("tool_result", str("toolUseId", id), str("content", c.shownResult()), event.F("isError", event.Bool(failed)))
}

// ToolID is the id that a tool call of an ACP agent has in daemon events.
func ToolID(toolCallID string) string {
	sum := sha256.Sum256([]byte(jstext.Trim(toolCallID)))
	return "acp_" + hex.EncodeToString(sum[:])[:24]
}

// fullInput is what the agent says it was asked, with the file it works on and
// without any other file_path.
func (c *toolCall) fullInput() event.Value {
	if c.path != "" {
		return object(with(c.input, "file_path", event.String(c.path)))
	}
	var fields []event.Field
	for _, f := range c.input {
		if f.Key != "file_path" {
			fields = append(fields, f)
		}
	}
	return object(fields)
}

// shownResult is what the call gave. What a shell printed is not shown.
func (c *toolCall) shownResult() string {
	if c.result != "" && runsCommands(c.name) {
		return "[REDACTED:acp_bash_output:" + strconv.Itoa(rawjson.UTF16Len(c.result)) + "_chars]"
	}
	return c.result
}

// toolInput returns the members of one frame's input, or its title if it has
// none.
func toolInput(u rawjson.Value, path string) []event.Field {
	var fields []event.Field
	switch raw := u.Get("rawInput"); raw.Kind() {
	case rawjson.Object:
		for _, m := range raw.Members() {
			fields = append(fields, event.F(m.Key(), event.Of(m)))
		}
	case rawjson.Array:
		for item := range raw.Children() {
			fields = append(fields, event.F(strconv.Itoa(len(fields)), event.Of(item)))
		}
	}
	if path != "" {
		fields = with(fields, "file_path", event.String(path))
	}
	if title := trimmed(u.Get("title")); fields == nil && title != "" {
		fields = []event.Field{str("title", title)}
	}
	return fields
}

// toolResult returns what one frame says of the call's result, cut to a
// length.
func toolResult(u rawjson.Value) string {
	text := ""
	switch output, content := u.Get("rawOutput"), u.Get("content"); {
	case output.Kind() == rawjson.String:
		text = output.Str()
	case output.Exists() && output.Kind() != rawjson.Null:
		text = output.Stringify()
	case content.Kind() == rawjson.Array:
		text = contentText(content)
	default:
		text = updateText(u)
	}
	if rawjson.UTF16Len(text) > maxToolResult {
		return jstext.Head(text, maxToolResult) + "\n…[truncated]"
	}
	return text
}

// contentText joins the texts and differences of a call's content.
func contentText(content rawjson.Value) string {
	var parts []string
	for item := range content.Children() {
		before, after := item.Get("oldText").Str(), item.Get("newText").Str()
		part := ""
		switch {
		case item.Kind() == rawjson.String:
			part = item.Str()
		case item.Get("text").Str() != "":
			part = item.Get("text").Str()
		case item.Get("diff").Str() != "":
			part = item.Get("diff").Str()
		case before != "" || after != "":
			part = "--- old\n" + before + "\n+++ new\n" + after
		default:
			part = updateText(item)
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n")
}
