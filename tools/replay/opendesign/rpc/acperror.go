package rpc

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// JSON-RPC error codes that the session knows.
const (
	codeInternal       = -32603
	codeInvalidParams  = -32602
	codeMethodNotFound = -32601
	codeNotFound       = -32002
)

// failed handles an error answer. A model that cannot be selected is no
// reason to give up, and an internal error for a request that nobody awaits is
// overlooked; any other error ends the run.
func (s *ACP) failed(out *actions, v rawjson.Value) {
	id, e := v.Get("id"), v.Get("error")
	code := int(e.Get("code").Float())
	switch {
	case s.awaited(id) && (s.stage == StageSetModel || s.stage == StageSetOption) && recoverable(code):
		model := s.model
		if model == "" {
			model = "default"
		}
		out.emit("status", str("label", "model"), str("model", model))
		s.prompt(out)
	case code == codeInternal && !s.awaited(id):
	default:
		s.refused(out, id, e)
	}
}

func recoverable(code int) bool {
	switch code {
	case codeInternal, codeInvalidParams, codeMethodNotFound, codeNotFound:
		return true
	}
	return false
}

func (s *ACP) refused(out *actions, id, e rawjson.Value) {
	message := textOr(e.Get("message"), "unknown error")
	if id.Kind() == rawjson.Number {
		message = "json-rpc id " + event.Of(id).JSON() + ": " + message
	}
	data := e.Get("data")
	if roleMarker(data) {
		s.fatal(out, message, []event.Field{str("code", "ROLE_MARKER_HALLUCINATION"), str("message", message),
			event.F("retryable", event.Bool(false)), event.F("details", event.Of(data))})
		return
	}
	retryable, known := retryable(message, data)
	if !known && !truthy(data) {
		s.fatal(out, message, nil)
		return
	}
	extra := []event.Field{str("code", "AGENT_EXECUTION_FAILED"), str("message", message), event.F("retryable", event.Bool(retryable))}
	if truthy(data) {
		extra = append(extra, event.F("details", event.Of(data)))
	}
	s.fatal(out, message, extra)
}

// roleMarker recognises OpenCode's own report of an invented turn.
func roleMarker(data rawjson.Value) bool {
	return data.Get("kind").IsStr("opencode_session_error") && data.Get("source").IsStr("opencode") &&
		data.Get("code").IsStr("ROLE_MARKER_HALLUCINATION")
}

// retryable tells from the data, else from words, whether a repeat may help.
func retryable(message string, data rawjson.Value) (yes, known bool) {
	if r := data.Get("retryable"); r.Kind() == rawjson.Boolean {
		return r.Bool(), true
	}
	text := strings.ToLower(message)
	if truthy(data) {
		text += " " + strings.ToLower(data.Stringify())
	}
	for _, words := range [...]string{"request_too_large", "request body exceeds configured limit"} {
		if strings.Contains(text, words) {
			return false, true
		}
	}
	for _, words := range [...]string{"upstream_error", "stream idle timeout", "temporarily unavailable", "overloaded", "gateway timeout", "service unavailable"} {
		if strings.Contains(text, words) {
			return true, true
		}
	}
	return false, false
}
