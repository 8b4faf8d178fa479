package rpc

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/service"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// maxDiagnostics is how many diagnostics of one sort a session emits.
const maxDiagnostics = 8

// shape describes an update without its content (agent amr only).
func (s *ACP) shape(out *actions, u rawjson.Value) {
	if s.opts.ModelUnavailableCode == "" || s.shapes >= maxDiagnostics {
		return
	}
	s.shapes++
	filled := func(key, member string) event.Field { return event.F(key, event.Bool(u.Get(member).Str() != "")) }
	count := event.Value{}
	if l := u.Get("locations"); l.Kind() == rawjson.Array {
		count = event.Number(float64(l.Len()))
	}
	name, status := event.Null, event.Value{}
	if v := u.Get("sessionUpdate"); v.Kind() == rawjson.String {
		name = event.Of(v)
	}
	if v := u.Get("status"); v.Kind() == rawjson.String {
		status = event.Of(v)
	}
	out.emit("diagnostic", str("name", "acp_raw_event_shape"), str("source", "acp-json-rpc"), elapsed("elapsedMs"),
		event.F("shape", event.Object(
			event.F("sessionUpdate", name),
			event.F("keys", keys(u)),
			str("contentKind", kindName(u.Get("content"))),
			event.F("contentKeys", keys(u.Get("content"))),
			event.F("hasText", event.Bool(updateText(u) != "")),
			filled("hasTopLevelText", "text"),
			filled("hasTopLevelDelta", "delta"),
			event.F("hasTopLevelMessage", event.Bool(u.Get("message").Exists())),
			event.F("hasToolCallId", event.Bool(trimmed(u.Get("toolCallId")) != "")),
			event.F("hasRawInput", event.Bool(u.Get("rawInput").Exists())),
			str("rawInputKind", kindName(u.Get("rawInput"))),
			event.F("rawInputKeys", keys(u.Get("rawInput"))),
			str("locationsKind", kindName(u.Get("locations"))),
			event.F("locationsCount", count),
			event.F("status", status),
			filled("titlePresent", "title"))))
}

// keys returns the sorted names of an object's members, or the indices of an
// array.
func keys(v rawjson.Value) event.Value {
	var names []string
	switch v.Kind() {
	case rawjson.Object:
		for _, m := range v.Members() {
			names = append(names, m.Key())
		}
	case rawjson.Array:
		for i := range v.Len() {
			names = append(names, strconv.Itoa(i))
		}
	}
	slices.Sort(names)
	list := make([]event.Value, len(names))
	for i, n := range names {
		list[i] = event.String(n)
	}
	return event.Array(list...)
}

// kindName is JavaScript's name of a value's type, with null and array told
// from objects.
func kindName(v rawjson.Value) string {
	if !v.Exists() {
		return "undefined"
	}
	return v.Kind().String()
}

// accountFailed ends a run of agent amr that would be tried again although the
// account is the reason.
func (s *ACP) accountFailed(out *actions, u rawjson.Value) bool {
	if s.opts.ModelUnavailableCode == "" || token(u.Get("status").Str()) != "retry" {
		return false
	}
	return s.accountError(out, strings.Join(diagnosticTexts(nil, u, textDepth), "\n"), "open_design_acp_retry_status")
}

// accountError ends the run if the text speaks of the account.
func (s *ACP) accountError(out *actions, text, promotedBy string) bool {
	code := service.AccountCode(text)
	if code == "" {
		return false
	}
	message, details := accountMessage(code, text)
	details = append(details, str("promoted_by", promotedBy))
	s.failWith(out, message, event.Object(str("code", code), str("message", message),
		event.F("retryable", event.Bool(false)), event.F("details", event.Object(details...))))
	return true
}

// maxStderr is how much of stderr's end counts, in UTF-16 units.
const maxStderr = 16_000

var (
	retryEvents = jstext.Any("opencode_event_stream_failure", `session\.status`)
	retryWord   = jstext.Words("retry")
)

// Stderr takes text of the child's stderr. It ends a run of agent amr whose
// log tells of a retry that the account is the reason for.
func (s *ACP) Stderr(text string) []Action {
	if s.over || s.opts.ModelUnavailableCode == "" {
		return nil
	}
	s.stderr = jstext.Tail(s.stderr+text, maxStderr)
	var out actions
	if t := jstext.Fold(s.stderr); retryEvents.Match(t) && retryWord.Match(t) {
		s.accountError(&out, s.stderr, "open_design_acp_stderr_retry_status")
	}
	return out.list
}

// rechargePage is where agent amr's users add money.
const rechargePage = "https://open-design.ai/amr/dashboard?source=open_design"

// accountMessage returns what OpenDesign tells the user of an account error,
// and what to do about it.
func accountMessage(code, text string) (string, []event.Field) {
	details := func(fields ...event.Field) []event.Field {
		return append([]event.Field{str("kind", "amr_account")}, fields...)
	}
	switch code {
	case service.InsufficientBalance:
		return "AMR Cloud reported insufficient balance for this model. Top up your AMR balance at " + rechargePage + ", then retry this run.",
			details(str("action", "recharge"), str("actionUrl", rechargePage))
	case service.TierUpgrade:
		if strings.Contains(jstext.Lower(text), "tier_model_not_entitled") {
			return "Your current AMR plan does not include this model or request type. Upgrade your AMR plan, or switch to an available model and retry.",
				details(str("action", "upgrade"))
		}
		return "Your current AMR plan does not include this request type yet. Upgrade your AMR plan, or switch to a supported model and retry.",
			details(str("action", "upgrade"))
	}
	return "AMR sign-in is required. Sign in to AMR Cloud again, then retry this run.", details(str("action", "relogin"))
}

// diagnosticTexts collects what an update says of an error.
func diagnosticTexts(texts []string, v rawjson.Value, depth int) []string {
	if depth < 0 {
		return texts
	}
	switch v.Kind() {
	case rawjson.String:
		if trimmed(v) != "" {
			texts = append(texts, v.Str())
		}
	case rawjson.Number, rawjson.Boolean:
		texts = append(texts, jstext.ToString(v))
	case rawjson.Array:
		for item := range v.Children() {
			texts = diagnosticTexts(texts, item, depth-1)
		}
	case rawjson.Object:
		for _, key := range [...]string{"type", "status", "code", "message", "detail", "details", "error", "recovery", "pauseReason", "content", "text", "rawInput"} {
			texts = diagnosticTexts(texts, v.Get(key), depth-1)
		}
	}
	return texts
}
