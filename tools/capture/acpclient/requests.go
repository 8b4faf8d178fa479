package acpclient

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// JSON-RPC error codes of the answers.
const (
	codeMethodNotFound = -32601
	// CodeNotFound answers for a file that does not exist (ACP: resource not
	// found).
	CodeNotFound = -32002
	codeInternal = -32603
)

// asked answers a request of the agent. What the protocol does not have is
// refused as JSON-RPC wants it: qwen waits for that.
func (c *Client) asked(method string, id event.Value, params rawjson.Value) {
	switch method {
	case "session/request_permission":
		c.permission(id, params)
	case "fs/read_text_file":
		c.read(id, params)
	case "fs/write_text_file":
		c.write(id, params)
	case "terminal/create":
		c.terminals++
		c.answer(id, event.Object(text("terminalId", "terminal-"+strconv.Itoa(c.terminals))))
	case "terminal/output":
		c.answer(id, event.Object(text("output", ""), event.F("truncated", event.Bool(false)), event.F("exitStatus", ended)))
	case "terminal/wait_for_exit":
		c.answer(id, ended)
	case "terminal/kill", "terminal/release":
		c.answer(id, event.Object())
	default:
		c.refuse(id, codeMethodNotFound, "Method not found")
	}
}

var ended = event.Object(event.F("exitCode", event.Number(0)), event.F("signal", event.Null))

func outcome(word string, option event.Value) event.Value {
	fields := []event.Field{text("outcome", word)}
	if option.Exists() {
		fields = append(fields, event.F("optionId", option))
	}
	return event.Object(event.F("outcome", event.Object(fields...)))
}

// Question is a permission question of the agent.
type Question struct {
	WireID string // the id of its request, as it spells it
	// Title and Kind are what the tool call says of itself; "" if it does not.
	Title, Kind string
	// Options are the kinds of the offered options.
	Options []string
}

// Decision is an answer to a Question.
type Decision struct {
	// Kinds are the kinds of options to choose from, the first that is offered;
	// none for "cancelled".
	Kinds []string
	// Wait says that nobody has answered yet: the run ends here and is done
	// again later.
	Wait bool
}

func questionOf(id event.Value, params rawjson.Value) Question {
	call := params.Get("toolCall")
	q := Question{WireID: id.JSON(), Title: call.Get("title").Str(), Kind: call.Get("kind").Str()}
	for o := range params.Get("options").Children() {
		q.Options = append(q.Options, o.Get("kind").Str())
	}
	return q
}

// permission chooses an option by its kind; a kind that the protocol does not
// have (case 065) and an option without an id are never chosen. A refusal is an option too: "cancelled" is
// for a turn that was cancelled.
func (c *Client) permission(id event.Value, params rawjson.Value) {
	options := params.Get("options")
	if c.outcome.Aborted {
		c.answer(id, outcome("cancelled", event.Value{}))
		return
	}
	if c.hold {
		c.questions = append(c.questions, id)
		return
	}
	kinds := []string{"allow_once", "allow_always"}
	if c.opts.Permission == contract.PermissionReject {
		kinds = []string{"reject_once", "reject_always"}
	}
	if c.opts.Ask != nil {
		d := c.opts.Ask(questionOf(id, params))
		if d.Wait {
			c.over = true
			c.out = append(c.out, rpc.Action{Kind: rpc.Kill})
			return
		}
		kinds = d.Kinds
	}
	for _, kind := range kinds {
		for o := range options.Children() {
			if o.Get("kind").IsStr(kind) && o.Get("optionId").Kind() == rawjson.String {
				c.answer(id, outcome("selected", event.Of(o.Get("optionId"))))
				return
			}
		}
	}
	c.answer(id, outcome("cancelled", event.Value{}))
}

func (c *Client) read(id event.Value, params rawjson.Value) {
	b, err := c.opts.Files.ReadFile(params.Get("path").Str())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.refuse(id, CodeNotFound, "Resource not found")
	case err != nil:
		c.refuse(id, codeInternal, "Internal error")
	default:
		c.answer(id, event.Object(text("content", window(string(b), params))))
	}
}

// window is the part of a text that the agent asked for: limit lines from
// line, counted from 1.
func window(content string, params rawjson.Value) string {
	lines := strings.SplitAfter(content, "\n")
	if from := int(params.Get("line").Float()); from > 1 {
		lines = lines[min(from-1, len(lines)):]
	}
	if limit := params.Get("limit"); limit.Kind() == rawjson.Number && limit.Float() >= 0 {
		lines = lines[:min(int(limit.Float()), len(lines))]
	}
	return strings.Join(lines, "")
}

func (c *Client) write(id event.Value, params rawjson.Value) {
	if err := c.opts.Files.WriteFile(params.Get("path").Str(), []byte(params.Get("content").Str())); err != nil {
		c.refuse(id, codeInternal, "Internal error")
		return
	}
	c.answer(id, event.Object())
}
