package opendesign

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// dialect handles one object of a json-event-stream and reports whether it
// knew it.
type dialect interface {
	event(out *sink, v rawjson.Value) bool
	flush(out *sink)
}

// jsonEvents reads json-event-stream: what its dialect does not know becomes
// a raw event.
type jsonEvents struct{ dialect }

func newJSONEvents(kind string) jsonEvents {
	switch kind {
	case "codex":
		return jsonEvents{newCodex()}
	case "opencode":
		return jsonEvents{&openCode{tools: map[string]bool{}}}
	case "gemini":
		return jsonEvents{&gemini{}}
	case "cursor-agent":
		return jsonEvents{&cursor{}}
	case "kimi":
		return jsonEvents{kimi{}}
	}
	return jsonEvents{unknownDialect{}}
}

func (j jsonEvents) object(out *sink, v rawjson.Value) {
	if !record(v) || !j.event(out, v) {
		out.raw()
	}
}

type unknownDialect struct{ nothingHeld }

func (unknownDialect) event(*sink, rawjson.Value) bool { return false }

// nothingHeld is for readers that never hold text back.
type nothingHeld struct{}

func (nothingHeld) flush(*sink) {}

// count is a usage member and the key it is read from.
type count struct{ name, key string }

// counts returns the members that are numbers, under their new names.
func counts(v rawjson.Value, list ...count) []event.Field {
	var fields []event.Field
	for _, c := range list {
		if n := v.Get(c.key); n.Kind() == rawjson.Number {
			fields = append(fields, event.F(c.name, event.Of(n)))
		}
	}
	return fields
}

// number returns v if it is a number, else nothing.
func number(v rawjson.Value) event.Value {
	if v.Kind() != rawjson.Number {
		return event.Value{}
	}
	return event.Of(v)
}

// todos returns the input of a TodoWrite call made from a list of items, or
// nothing if no item has a text.
func todos(items rawjson.Value) event.Value {
	if items.Kind() != rawjson.Array {
		return event.Value{}
	}
	var list []event.Value
	for item := range items.Children() {
		text := ""
		for _, key := range [...]string{"content", "label", "description", "text"} {
			if isString(item.Get(key)) {
				text = item.Get(key).Str()
				break
			}
		}
		if text == "" {
			continue
		}
		status := "completed"
		if !item.Get("completed").Bool() {
			status = todoStatus(item.Get("status").Str())
		}
		list = append(list, event.Object(str("content", text), str("status", status)))
	}
	if list == nil {
		return event.Value{}
	}
	return event.Object(event.F("todos", event.Array(list...)))
}

// todoStatus maps a status word of a todo list. Words that begin with a known
// one count as it.
func todoStatus(s string) string {
	s = jstext.Lower(jstext.Trim(s))
	s = strings.Join(strings.FieldsFunc("x"+s+"x", func(r rune) bool { return r == '-' || jstext.IsSpace(r) }), "_")
	s = s[1 : len(s)-1]
	for _, known := range [...]struct {
		status string
		exact  []string
		prefix []string
	}{
		{"completed", []string{"complete", "done"}, []string{"completed"}},
		{"in_progress", []string{"doing", "active"}, []string{"in_progress"}},
		{"stopped", nil, []string{"stopped", "failed", "blocked", "canceled", "cancelled"}},
	} {
		for _, w := range known.exact {
			if s == w {
				return known.status
			}
		}
		for _, w := range known.prefix {
			if strings.HasPrefix(s, w) {
				return known.status
			}
		}
	}
	return "pending"
}
