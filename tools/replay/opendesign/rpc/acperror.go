package rpc

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

const codeExecutionFailed = "AGENT_EXECUTION_FAILED"

// codeInternal is the one JSON-RPC code that an agent may send for a request
// that nobody awaits.
const codeInternal = -32603

// errorMessage returns the text of an error answer, or "" for another message.
// An error with a blank text and without a number for an id is not seen.
func errorMessage(v rawjson.Value) string {
	e := v.Get("error")
	if !isObject(e) {
		return ""
	}
	message := "json-rpc error"
	switch text, code := e.Get("message"), e.Get("code"); {
	case text.Kind() == rawjson.String:
		message = text.Str()
	case code.Kind() == rawjson.Number:
		message = jstext.ToString(code)
	}
	if id := v.Get("id"); id.Kind() == rawjson.Number {
		return "json-rpc id " + jstext.ToString(id) + ": " + message
	}
	return message
}

// failed handles an error answer. A model that cannot be selected is no
// reason to give up, and an internal error for a request that nobody awaits is
// overlooked; any other error ends the run.
func (s *ACP) failed(out *actions, v rawjson.Value, message string) {
	id, e := v.Get("id"), v.Get("error")
	code := e.Get("code")
	data := e.Get("data")
	switch {
	case is(id, s.setModelID) && recoverable(code) && s.promptID == 0:
		s.setModelID = 0
		if s.model == "" {
			s.model = "default"
		}
		out.emit("status", str("label", "model"), str("model", s.model))
		s.prompt(out)
	case is(code, codeInternal) && !is(id, s.expectedID):
	case roleMarker(data):
		s.roleMarker(out, data, message)
	default:
		s.fail(out, message, failure{details: event.Of(data), retryable: retryable(message, data)})
	}
}

// recoverable reports whether a run goes on after this error about its model.
func recoverable(code rawjson.Value) bool {
	return is(code, codeInternal) || is(code, -32602) || is(code, -32601) || is(code, -32002)
}

// roleMarker recognises OpenCode's own report of an invented turn.
func roleMarker(data rawjson.Value) bool {
	return data.Get("kind").IsStr("opencode_session_error") && data.Get("source").IsStr("opencode") &&
		data.Get("code").IsStr("ROLE_MARKER_HALLUCINATION")
}

func (s *ACP) roleMarker(out *actions, data rawjson.Value, message string) {
	if own := trimmed(data.Get("message")); own != "" {
		message = own
	}
	again := event.Bool(true)
	if r := data.Get("retryable"); r.Kind() == rawjson.Boolean {
		again = event.Of(r)
	}
	var details []event.Field
	for _, m := range data.Members() {
		details = append(details, event.F(m.Key(), event.Of(m)))
	}
	s.failWith(out, message, event.Object(str("code", "ROLE_MARKER_HALLUCINATION"), str("message", message),
		event.F("retryable", again), event.F("details", object(with(details, "promoted_by", event.String("open_design_acp"))))))
}

// certainty is an answer that may be missing.
type certainty int

const (
	unsaid certainty = iota
	yes
	no
)

var (
	tooLarge = jstext.Words("request_too_large", "request body exceeds configured limit")
	passing  = jstext.Words("upstream_error", "stream idle timeout", "no data received within configured window",
		"temporarily unavailable", "overloaded", "gateway timeout", "service unavailable")
)

// retryable tells from the data, else from words, whether a repeat may help.
func retryable(message string, data rawjson.Value) certainty {
	if r := data.Get("retryable"); r.Kind() == rawjson.Boolean {
		if r.Bool() {
			return yes
		}
		return no
	}
	if isObject(data) {
		message += "\n" + data.Stringify()
	}
	switch text := jstext.Fold(message); {
	case tooLarge.Match(text):
		return no
	case passing.Match(text):
		return yes
	}
	return unsaid
}

// failure is what is known of an error beside its message.
type failure struct {
	details   event.Value
	retryable certainty
	noModel   bool // agent amr has no such model
}

// fail ends the run with an error, which has a structured part if there is
// anything to put into it.
func (s *ACP) fail(out *actions, message string, f failure) {
	switch {
	case s.opts.ModelUnavailableCode != "" && (f.noModel || namesNoModel(message)):
		s.failWith(out, message, event.Object(str("code", "AMR_MODEL_UNAVAILABLE"), str("message", message),
			event.F("retryable", event.Bool(false)),
			event.F("details", event.Object(str("kind", "amr_model"), str("action", "choose_model")))))
	case !f.details.Exists() && f.retryable == unsaid:
		s.failWith(out, message, event.Value{})
	default:
		s.failWith(out, message, event.Object(str("code", codeExecutionFailed), str("message", message),
			event.F("retryable", event.Bool(f.retryable == yes)), event.F("details", f.details)))
	}
}

func namesNoModel(message string) bool {
	text := jstext.Lower(message)
	for _, words := range [...]string{"model not found", "providermodelnotfounderror", "unknown model", "invalid model"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// failWith ends the run; what the tools did so far is told as failed.
func (s *ACP) failWith(out *actions, message string, structured event.Value) {
	s.tools.flush(out, true)
	s.over, s.outcome.Fatal = true, true
	out.fatal(str("message", message), event.F("error", structured))
}
