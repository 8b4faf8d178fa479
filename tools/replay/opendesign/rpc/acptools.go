package rpc

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// maxToolResult is the longest tool result that is shown, in UTF-16 units.
const maxToolResult = 8000

// Names that tools have in daemon events.
const (
	toolEdit  = "Edit"
	toolWrite = "Write"
	toolBash  = "Bash"
	toolThink = "Think"
	toolOther = "Other"
	toolAny   = "Tool"
)

// toolBook collects what an agent says of each tool call. A call is told as
// one tool_use and one tool_result, back to back, when it has ended.
type toolBook struct {
	calls   map[string]*toolCall
	order   []string
	results bool // one ended with a result
	seen    bool
}

type toolCall struct {
	id                          string
	kind, name, title           string
	input, output, content, loc rawjson.Value
	told                        bool
}

// update takes in a tool_call or tool_call_update. It reports whether a tool
// that writes a file has ended well.
func (b *toolBook) update(out *actions, u rawjson.Value) (wrote bool) {
	id := u.Get("toolCallId").Str()
	if id == "" {
		return false
	}
	b.seen = true
	if b.calls == nil {
		b.calls = map[string]*toolCall{}
	}
	c := b.calls[id]
	if c == nil {
		c = &toolCall{id: id}
		b.calls[id] = c
		b.order = append(b.order, id)
	}
	c.learn(u)
	ended, failed := terminal(u.Get("status").Str())
	if !ended || c.told {
		return false
	}
	name := c.tell(out, failed)
	b.results = b.results || name != toolThink
	return !failed && (name == toolWrite || name == toolEdit)
}

func (c *toolCall) learn(u rawjson.Value) {
	text := func(to *string, key string) {
		if s := u.Get(key).Str(); s != "" {
			*to = s
		}
	}
	text(&c.kind, "kind")
	text(&c.name, "name")
	text(&c.title, "title")
	value := func(to *rawjson.Value, key string) {
		if v := u.Get(key); v.Exists() && v.Kind() != rawjson.Null {
			*to = v
		}
	}
	value(&c.input, "rawInput")
	value(&c.output, "rawOutput")
	value(&c.content, "content")
	value(&c.loc, "locations")
}

// terminal says whether a status ends a call, and how.
func terminal(status string) (ended, failed bool) {
	switch token(status) {
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
		if c := b.calls[id]; !c.told {
			c.tell(out, failed)
		}
	}
}

// tell emits the call and its result and returns its name. Thoughts that an
// agent presents as tools are not told.
func (c *toolCall) tell(out *actions, failed bool) string {
	c.told = true
	name := c.toolName()
	if name == toolThink {
		return name
	}
	id := ToolID(c.id)
	out.emit("tool_use", str("id", id), str("name", name), event.F("input", c.toolInput()), elapsed("startedAt"))
	out.emit("tool_result", str("toolUseId", id), str("content", c.result(name)), event.F("isError", event.Bool(failed)))
	return name
}

// ToolID is the id that a tool call of an ACP agent has in daemon events.
func ToolID(toolCallID string) string {
	sum := sha256.Sum256([]byte(toolCallID))
	return "acp_" + hex.EncodeToString(sum[:])[:24]
}

// kindNames are the names of ACP tool kinds and of verbs in their place.
var kindNames = map[string]string{
	"edit": toolEdit, "patch": toolEdit, "replace": toolEdit, "update": toolEdit,
	"write": toolWrite, "create": toolWrite, "save": toolWrite,
	"read":    "Read",
	"execute": toolBash, "bash": toolBash, "shell": toolBash, "terminal": toolBash,
	"search": "Grep", "grep": "Grep", "glob": "Grep",
	"fetch": "Fetch", "web": "Fetch",
	"think": toolThink, "thinking": toolThink, "thought": toolThink,
}

// titleVerbs are looked for in a title, in this order. A title's "update"
// counts as writing, a kind's as editing.
var titleVerbs = []struct {
	name string
	re   *regexp.Regexp
}{
	{toolWrite, regexp.MustCompile(`(?i)\b(write|create|save|update)\b`)},
	{toolEdit, regexp.MustCompile(`(?i)\b(edit|patch|replace)\b`)},
	{"Read", regexp.MustCompile(`(?i)\bread\b`)},
	{"Grep", regexp.MustCompile(`(?i)\b(search|grep|glob)\b`)},
	{"Fetch", regexp.MustCompile(`(?i)\b(fetch|web)\b`)},
	{toolBash, regexp.MustCompile(`(?i)\b(execute|bash|shell|terminal)\b`)},
}

var unnamable = regexp.MustCompile(`[^A-Za-z0-9_.:-]+`)

// toolName names the call. Only a kind that says so makes it a shell.
func (c *toolCall) toolName() string {
	if name, ok := kindNames[token(c.kind)]; ok {
		return name
	}
	if strings.HasPrefix(token(c.kind), "think") {
		return toolThink
	}
	name := unnamable.ReplaceAllString(c.name, "")
	if name == "" {
		for _, v := range titleVerbs {
			if v.re.MatchString(c.title) {
				name = v.name
				break
			}
		}
	}
	switch {
	case name == "":
		return toolAny
	case kindNames[strings.ToLower(name)] == toolBash:
		return toolOther
	}
	return name
}

var pathInTitle = regexp.MustCompile("(?:^|[\\s\"'`(])((?:[A-Za-z]:)?[\\w./\\\\~-]*[\\w-]\\.[A-Za-z0-9]{1,8})(?:$|[\\s\"'`),:;])")

// pathKeys are the members of an input that name a file.
var pathKeys = [...]string{"path", "file_path", "filename", "filePath"}

// toolInput is what the agent says it was asked, with the file it works on.
func (c *toolCall) toolInput() event.Value {
	var fields []event.Field
	has := false
	if c.input.Kind() == rawjson.Object {
		for _, m := range c.input.Members() {
			has = has || m.Key() == "file_path"
			fields = append(fields, event.F(m.Key(), event.Of(m)))
		}
	}
	if path := c.filePath(); path != "" && !has {
		fields = append(fields, str("file_path", path))
	}
	if fields == nil {
		if c.title == "" {
			return event.Object()
		}
		fields = []event.Field{str("title", c.title)}
	}
	return event.Object(fields...)
}

func (c *toolCall) filePath() string {
	for l := range c.loc.Children() {
		if p := l.Get("path").Str(); p != "" {
			return p
		}
	}
	for item := range c.content.Children() {
		if p := item.Get("path").Str(); p != "" {
			return p
		}
	}
	if c.input.Kind() == rawjson.Object {
		for _, key := range pathKeys {
			if p := c.input.Get(key).Str(); p != "" {
				return p
			}
		}
	}
	if m := pathInTitle.FindStringSubmatch(c.title); m != nil {
		return m[1]
	}
	return ""
}

// result is what the call gave. What a shell printed is not shown.
func (c *toolCall) result(name string) string {
	text := c.resultText()
	if name == toolBash && text != "" {
		return "[REDACTED:acp_bash_output:" + strconv.Itoa(rawjson.UTF16Len(text)) + "_chars]"
	}
	if rawjson.UTF16Len(text) > maxToolResult {
		return jstext.Head(text, maxToolResult) + "\n…[truncated]"
	}
	return text
}

func (c *toolCall) resultText() string {
	switch c.output.Kind() {
	case rawjson.Invalid, rawjson.Null:
	case rawjson.String:
		if s := c.output.Str(); s != "" {
			return s
		}
	default:
		if text := foundText(c.output, textDepth); text != "" {
			return text
		}
		return c.output.Stringify()
	}
	var parts []string
	for item := range c.content.Children() {
		switch {
		case item.Get("type").IsStr("diff"):
			if s := item.Get("newText").Str(); s != "" {
				parts = append(parts, s)
			}
		default:
			if s := foundText(item, textDepth); s != "" {
				parts = append(parts, s)
			}
		}
	}
	return strings.Join(parts, "\n")
}
