package rpc

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Servers spells MCP servers as session/new has them; envMap gives their
// variables as an object instead of a list.
func Servers(servers []MCPServer, envMap bool) event.Value {
	list := make([]event.Value, len(servers))
	for i, m := range servers {
		typ := m.Type
		if typ == "" {
			typ = "stdio"
		}
		args := make([]event.Value, len(m.Args))
		for j, arg := range m.Args {
			args[j] = event.String(arg)
		}
		var env event.Value
		if envMap {
			var fields []event.Field
			for _, e := range m.Env {
				fields = with(fields, e.Name, event.String(e.Value))
			}
			env = object(fields)
		} else {
			var vars []event.Value
			for _, e := range m.Env {
				vars = append(vars, event.Object(str("name", e.Name), str("value", e.Value)))
			}
			env = event.Array(vars...)
		}
		list[i] = event.Object(str("type", typ), str("name", m.Name), str("command", m.Command), event.F("args", event.Array(args...)), event.F("env", env))
	}
	return event.Array(list...)
}

// with sets a member as JavaScript does: one that is there keeps its place.
func with(fields []event.Field, key string, value event.Value) []event.Field {
	for i := range fields {
		if fields[i].Key == key {
			fields[i].Value = value
			return fields
		}
	}
	return append(fields, event.F(key, value))
}

// object is an object with the members in JavaScript's order: integer-like
// keys first.
func object(fields []event.Field) event.Value {
	made := event.Object(fields...)
	v, err := rawjson.Parse([]byte(made.JSON()))
	if err != nil {
		return made
	}
	return event.Of(v)
}

// trimmed returns a string without white space around it, or "" for any
// other kind.
func trimmed(v rawjson.Value) string { return jstext.Trim(v.Str()) }

// currentModel returns the model that an answer names as the current one.
func currentModel(result rawjson.Value) string {
	if _, current := modelOption(result); current != "" {
		return current
	}
	return trimmed(result.At("models", "currentModelId"))
}

// modelOption returns the id of the configuration option that selects the
// model and its current value, or nothing.
func modelOption(result rawjson.Value) (id, current string) {
	options := result.Get("configOptions")
	if options.Kind() != rawjson.Array {
		return "", ""
	}
	for o := range options.Children() {
		id := trimmed(o.Get("id"))
		if typ := trimmed(o.Get("type")); id != "" && (typ == "" || typ == "select") && selectsModel(o, token(id)) {
			return id, trimmed(o.Get("currentValue"))
		}
	}
	return "", ""
}

func selectsModel(option rawjson.Value, id string) bool {
	category := token(option.Get("category").Str())
	if category == "model" || id == "model" {
		return true
	}
	if category != "" {
		return false
	}
	switch id {
	case "models", "modelid", "modelids":
		return true
	}
	return token(option.Get("name").Str()) == "model"
}
