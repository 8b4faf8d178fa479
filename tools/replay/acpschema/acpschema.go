// Package acpschema holds the frames of an ACP run against the protocol's
// official JSON Schema, and against what the schema cannot say: the order of
// a turn, JSON-RPC's own rules, names that belong to the protocol.
//
// A deviation has no text of the run: names of methods and members, and counts.
// It can be read from a sanitized transcript as well as from the raw one.
package acpschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// The kinds of deviations. Those of the schema come first.
const (
	KindMissingMember = "missing_member" // a required member is not there
	KindWrongType     = "wrong_type"
	KindUnknownValue  = "unknown_value" // none of the values that the schema lists
	KindOutOfRange    = "out_of_range"
	KindBrokenRule    = "broken_rule" // any other rule

	KindNotJSON         = "not_json"
	KindBatch           = "batch"            // a list or a value instead of one message
	KindUnknownMethod   = "unknown_method"   // not of the protocol and without the "_" of an extension
	KindWrongForm       = "wrong_form"       // a notification with an id, a request without one, an answer with result and error or neither
	KindUnaskedAnswer   = "unasked_answer"   // an id that nobody asked with
	KindHTTPStatus      = "http_status_code" // error.code is an HTTP status
	KindSharedID        = "shared_id"        // a request with an id that the other side has used: legal, and a trap for a client with one table
	KindLateUpdate      = "late_update"      // an update of the turn after the answer to its prompt
	KindUnannouncedCall = "unannounced_call" // an update or a question for a tool call that no tool_call announced
)

// Kinds lists every kind of deviation.
var Kinds = []string{KindMissingMember, KindWrongType, KindUnknownValue, KindOutOfRange, KindBrokenRule, KindNotJSON, KindBatch, KindUnknownMethod,
	KindWrongForm, KindUnaskedAnswer, KindHTTPStatus, KindSharedID, KindLateUpdate, KindUnannouncedCall}

// Who sent a frame.
const (
	ByAgent  = "agent"
	ByClient = "client"
)

// Check returns how the run deviates from the protocol, sorted; nil if it does
// not.
func Check(t *transcript.Transcript) []contract.ACPDeviation {
	c := &checker{official: load(), sides: map[string]*side{ByAgent: newSide(), ByClient: newSide()}, calls: map[string]bool{}, counts: map[contract.ACPDeviation]int{}}
	for i := range t.Records {
		r := &t.Records[i]
		switch {
		case r.Stream == transcript.Stdout:
			c.line(ByAgent, r.Line())
		case r.Stream == transcript.Stdin:
			c.line(ByClient, r.Line())
		}
	}
	return c.result()
}

// checker goes through a run.
type checker struct {
	*official
	sides   map[string]*side
	prompts int             // turns that are not answered
	turned  bool            // a turn was answered
	calls   map[string]bool // tool calls that were announced
	counts  map[contract.ACPDeviation]int
}

// side is what one of the two has asked.
type side struct {
	asked map[string]string // method by id, until it is answered
	used  map[string]bool   // ids
}

func newSide() *side { return &side{asked: map[string]string{}, used: map[string]bool{}} }

// message is a frame as it is read here.
type message struct {
	*decoded
	members map[string]any
	by      string
	frame   string // its name in a deviation
}

func (c *checker) found(m *message, kind, pointer string) {
	c.counts[contract.ACPDeviation{By: m.by, Frame: m.frame, Kind: kind, Pointer: pointer}]++
}

func (c *checker) result() []contract.ACPDeviation {
	var out []contract.ACPDeviation
	for d, n := range c.counts {
		d.Count = n
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b contract.ACPDeviation) int {
		return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Pointer, b.Pointer))
	})
	return out
}

func (c *checker) line(by string, line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	m := &message{decoded: c.decode(line), by: by}
	if !m.isJSON {
		c.found(m, KindNotJSON, "")
		return
	}
	var ok bool
	if m.members, ok = m.value.(map[string]any); !ok {
		c.found(m, KindBatch, "")
		return
	}
	method, isMethod := m.members["method"].(string)
	id, hasID := m.members["id"]
	switch {
	case isMethod && hasID:
		m.frame = method
		c.request(m, method, key(id))
	case isMethod:
		m.frame = method
		c.notification(m, method)
	default:
		c.answer(m, key(id))
	}
	switch v := m.members["jsonrpc"]; {
	case v == nil:
		c.found(m, KindMissingMember, "/jsonrpc")
	case v != "2.0":
		c.found(m, KindUnknownValue, "/jsonrpc")
	}
}

// key is an id as a key: 1 and "1" are two.
func key(id any) string {
	b, err := json.Marshal(id)
	if err != nil {
		return ""
	}
	return string(b)
}

func other(by string) string {
	if by == ByAgent {
		return ByClient
	}
	return ByAgent
}

func (c *checker) request(m *message, method, id string) {
	own := c.sides[m.by]
	if c.sides[other(m.by)].used[id] {
		c.found(m, KindSharedID, "/id")
	}
	own.asked[id], own.used[id] = method, true
	switch {
	case c.check(m, place{method, formRequest}, "params"):
	case c.known(method):
		c.found(m, KindWrongForm, "")
	default:
		c.unknown(m, method)
	}
	if method == "session/prompt" {
		c.prompts++
	}
	if method == "session/request_permission" {
		call, _ := member(m.members, "params", "toolCall").(map[string]any)
		c.call(m, call["toolCallId"], "/params/toolCall/toolCallId")
	}
}

func (c *checker) notification(m *message, method string) {
	update, _ := member(m.members, "params", "update").(map[string]any)
	kind, _ := update["sessionUpdate"].(string)
	if kind != "" {
		m.frame += ":" + kind
	}
	switch {
	case c.check(m, place{method, formNotification}, "params"):
	case c.known(method):
		c.found(m, KindWrongForm, "")
	default:
		c.unknown(m, method)
	}
	switch kind {
	case "tool_call":
		c.calls[key(update["toolCallId"])] = true
	case "tool_call_update":
		c.call(m, update["toolCallId"], "/params/update/toolCallId")
	}
	if c.turned && c.prompts == 0 && ofTurn[kind] {
		c.found(m, KindLateUpdate, "")
	}
}

// ofTurn are the updates that a turn is made of.
var ofTurn = map[string]bool{"agent_message_chunk": true, "agent_thought_chunk": true, "tool_call": true, "tool_call_update": true, "plan": true}

// call notes a tool call that was never announced, once.
func (c *checker) call(m *message, id any, at string) {
	if k := key(id); id != nil && !c.calls[k] {
		c.calls[k] = true
		c.found(m, KindUnannouncedCall, at)
	}
}

func (c *checker) unknown(m *message, method string) {
	if !strings.HasPrefix(method, "_") && !strings.HasPrefix(method, "$/") {
		c.found(m, KindUnknownMethod, "/method")
	}
}

func (c *checker) answer(m *message, id string) {
	asked := c.sides[other(m.by)].asked
	method, known := asked[id]
	delete(asked, id)
	_, hasResult := m.members["result"]
	failure, hasError := m.members["error"]
	m.frame = strings.TrimPrefix(method+":result", ":")
	if hasError {
		m.frame = strings.TrimPrefix(method+":error", ":")
	}
	if hasResult == hasError {
		c.found(m, KindWrongForm, "")
	}
	switch {
	case known && hasResult:
		c.check(m, place{method, formResponse}, "result")
	case known:
	case hasError && id == "null": // an answer to what could not be read
	default:
		c.found(m, KindUnaskedAnswer, "/id")
	}
	if hasError {
		for _, f := range c.flaws(c.failure, failure, m.outline(c.official, "error", failure), "/error") {
			c.found(m, f.kind, f.pointer)
		}
		if code, ok := member(m.members, "error", "code").(float64); ok && code >= 100 && code <= 599 {
			c.found(m, KindHTTPStatus, "/error/code")
		}
	}
	if method == "session/prompt" {
		c.prompts, c.turned = max(0, c.prompts-1), true
	}
}

// check holds a part of the message against the schema and reports whether the
// schema has the method in that form.
func (c *checker) check(m *message, p place, part string) bool {
	s := c.parts[p]
	if s == nil {
		return false
	}
	v, ok := m.members[part]
	if !ok {
		v = map[string]any{} // absent params are empty ones
	}
	for _, f := range c.flaws(s, v, m.outline(c.official, part, v), "/"+part) {
		c.found(m, f.kind, f.pointer)
	}
	return true
}

// member follows names into objects; nil where there is none.
func member(v any, names ...string) any {
	for _, n := range names {
		o, _ := v.(map[string]any)
		v = o[n]
	}
	return v
}
