package opendesign

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// gemini reads gemini --output-format stream-json.
type gemini struct{ echo geminiEcho }

func (g *gemini) event(out *sink, v rawjson.Value) bool {
	typ, text := v.Get("type").Str(), v.Get("content").Str()
	if typ == "message" && v.Get("role").IsStr("assistant") && text != "" {
		if delta := g.echo.strip(text); delta != "" {
			out.text(delta)
		}
		return true
	}
	g.flush(out)
	switch typ {
	case "init":
		out.emit("status", str("label", "initializing"), event.F("model", stringOnly(v.Get("model"))))
		return true
	case "message":
		return v.Get("role").IsStr("user")
	case "tool_use":
		if isString(v.Get("tool_id")) && isString(v.Get("tool_name")) {
			g.tool(out, v)
			return true
		}
	case "tool_result":
		if isString(v.Get("tool_id")) {
			geminiResult(out, v)
			return true
		}
	case "error":
		geminiError(out, v)
		return true
	case "result":
		geminiEnd(out, v)
		return true
	}
	return false
}

// stringOnly returns v if it is a string, else nothing.
func stringOnly(v rawjson.Value) event.Value {
	if !isString(v) {
		return event.Value{}
	}
	return event.Of(v)
}

func (g *gemini) tool(out *sink, v rawjson.Value) {
	id, name := v.Get("tool_id").Str(), v.Get("tool_name").Str()
	input := parsedOr(v.Get("parameters"))
	if name == "write_todos" {
		if list := geminiTodos(input); list.Exists() {
			out.emit("tool_use", str("id", id+":todo-native"), str("name", "TodoWrite"), event.F("input", list))
			return
		}
	}
	switch name {
	case "write_file", "write", "replace", "edit":
		if writesFile(input) {
			g.echo.armed = true
		}
	}
	out.emit("tool_use", str("id", id), str("name", name), event.F("input", event.OrNull(input)))
}

// geminiTodos reads the list that an input is or has under todos or todo.
func geminiTodos(input rawjson.Value) event.Value {
	list := input
	for _, key := range [...]string{"todo", "todos"} {
		if l := input.Get(key); l.Kind() == rawjson.Array {
			list = l
		}
	}
	return todos(list)
}

func geminiResult(out *sink, v rawjson.Value) {
	failure, output := v.Get("error"), v.Get("output")
	text := output.Str()
	if !isString(output) {
		if record(failure) {
			text = errorMessage(failure, "")
		}
		if text == "" {
			text = content(output)
		}
	}
	out.emit("tool_result", event.F("toolUseId", event.Of(v.Get("tool_id"))), str("content", text),
		event.F("isError", event.Bool(v.Get("status").IsStr("error") || record(failure))))
}

func geminiError(out *sink, v rawjson.Value) {
	warning := jstext.Lower(v.Get("severity").Str()) == "warning"
	fallback := "Gemini CLI error"
	if warning {
		fallback = "Gemini CLI warning"
	}
	message := errorMessage(or(v.Get("message"), v.Get("error")), fallback)
	if warning {
		out.emit("status", str("label", "warning"), str("detail", message))
		return
	}
	out.emit("error", str("message", message), str("raw", v.Stringify()))
}

// geminiEnd handles the result frame: an error, or usage if there are stats.
func geminiEnd(out *sink, v rawjson.Value) {
	if v.Get("status").IsStr("error") || record(v.Get("error")) {
		out.emit("error", str("message", errorMessage(v.Get("error"), "Gemini CLI error")), str("raw", v.Stringify()))
		return
	}
	if stats := v.Get("stats"); record(stats) {
		out.emit("usage", event.F("usage", event.Object(counts(stats,
			count{"input_tokens", "input_tokens"}, count{"output_tokens", "output_tokens"}, count{"cached_read_tokens", "cached"})...)),
			event.F("durationMs", number(stats.Get("duration_ms"))))
	}
}

// flush implements handler: a withheld beginning of a tag is released.
func (g *gemini) flush(out *sink) {
	if text := g.echo.opening; text != "" {
		g.echo.opening, g.echo.armed = "", false
		out.text(text)
	}
}

// geminiEcho drops the <artifact> block that follows the writing of a file,
// whatever it holds. The closing tag must come in one piece: otherwise all
// later text is lost.
type geminiEcho struct {
	armed, inside bool
	opening       string // text that may be the start of an opening tag
}

func (a *geminiEcho) strip(text string) string {
	if !a.armed && !a.inside && a.opening == "" {
		return text
	}
	text = a.opening + text
	a.opening = ""
	shown := ""
	if !a.inside {
		i := strings.Index(text, artifactOpen)
		if i < 0 {
			return a.outside(text)
		}
		a.inside, a.armed = true, false
		shown, text = text[:i], text[i:]
	}
	_, rest, closed := strings.Cut(text, artifactClose)
	if !closed {
		return shown
	}
	a.inside, a.armed = false, false
	return shown + rest
}

// outside handles text without an opening tag. Only the first text after a
// write is looked at.
func (a *geminiEcho) outside(text string) string {
	if n := openingTail(text); a.armed && n > 0 {
		a.opening = text[len(text)-n:]
		return text[:len(text)-n]
	}
	a.armed = false
	return text
}
