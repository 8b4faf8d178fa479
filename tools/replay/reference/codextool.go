package reference

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// tool reads an item that is a call: a command, a patch, an MCP tool, a
// search. Old releases print only item.completed for some of them.
func (c *codex) tool(typ, id string, it rawjson.Value, phase string) {
	if phase == "item.started" && c.r.known(id) {
		c.r.out.DuplicateToolUses++
	}
	c.r.toolUse(id, toolName(typ, it), toolInput(typ, it), "")
	if phase != "item.completed" {
		return
	}
	c.r.toolResult(id, toolContent(typ, it), toolFailedItem(it))
}

// toolName is the name in the daemon's vocabulary.
func toolName(typ string, it rawjson.Value) string {
	switch typ {
	case "command_execution":
		return "Bash"
	case "file_change":
		return "apply_patch"
	case "mcp_tool_call":
		return "mcp__" + it.Get("server").Str() + "__" + it.Get("tool").Str()
	}
	return typ
}

func toolInput(typ string, it rawjson.Value) event.Value {
	switch typ {
	case "command_execution":
		return event.Object(event.F("command", event.Of(it.Get("command"))))
	case "file_change":
		return event.Object(event.F("changes", event.Of(it.Get("changes"))))
	case "web_search":
		return event.Object(event.F("query", event.Of(it.Get("query"))))
	}
	return event.OrNull(it.Get("arguments"))
}

func toolContent(typ string, it rawjson.Value) event.Value {
	switch typ {
	case "command_execution":
		return event.OrNull(it.Get("aggregated_output"))
	case "mcp_tool_call":
		if e := it.Get("error"); e.Kind() == rawjson.Object {
			return event.String(errorText(e))
		}
		return event.OrNull(it.Get("result"))
	}
	return event.Null
}

// toolFailedItem: the exit code decides, then the status. A declined call
// failed too.
func toolFailedItem(it rawjson.Value) bool {
	if code := it.Get("exit_code"); code.Kind() == rawjson.Number {
		return code.Float() != 0
	}
	switch it.Get("status").Str() {
	case "failed", "declined":
		return true
	}
	return it.Get("error").Kind() == rawjson.Object
}
