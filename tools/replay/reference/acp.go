package reference

import (
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// acp reads both sides of an ACP session. The answer to session/prompt ends
// the turn; its chunks may come after it (opencode 1.0.61), and an agent may
// put its error into a chunk and end the turn well (real-clis §6).
type acp struct {
	r         *run
	agent     string
	requests  map[string]string // our requests: id → method
	speech    speech
	messageID string
	lastChunk string // of a new message: where agents write their errors
	errors    pendingErrors
	opened    bool // our side of the session is there to read
	loaded    bool // the session is an old one
	prompted  bool
	updates   int // since the prompt
	ended     bool
	refused   bool // the prompt was answered with an error
	cancelled bool // we asked for the end, before the answer
	going     bool // the agent refused to end
	stop      string
}

func newACP(r *run, agent string) *acp {
	return &acp{r: r, agent: agent, requests: map[string]string{}}
}

// Methods of ACP that the reading looks at.
const (
	acpInitialize = "initialize"
	acpNew        = "session/new"
	acpLoad       = "session/load"
	acpResume     = "session/resume"
	acpPrompt     = "session/prompt"
	acpCancel     = "session/cancel"
	acpUpdate     = "session/update"
	acpPermission = "session/request_permission"
)

// acpAsks are requests that an agent may make of its client.
var acpAsks = set("fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release")

// client reads a frame of ours.
func (a *acp) client(v rawjson.Value) {
	method, id := v.Get("method").Str(), v.Get("id")
	if method != "" && id.Exists() {
		a.requests[string(id.Raw())] = method
	}
	a.opened = true
	switch method {
	case acpLoad, acpResume:
		a.loaded = true
	case acpPrompt:
		a.prompted = true
		a.speech.end(a.r)
	case acpCancel:
		a.cancelled = a.cancelled || !a.ended
	}
}

func (a *acp) frame(v rawjson.Value, text []byte) {
	method := v.Get("method").Str()
	switch {
	case method == acpUpdate:
		a.update(v.Get("params"), text)
	case method == acpPermission:
		a.permission(v.At("params", "toolCall"))
	case method != "":
		if !acpAsks[method] {
			a.r.lost(method, text)
		}
	case v.Get("error").Kind() == rawjson.Object:
		a.failed(a.requests[string(v.Get("id").Raw())], v.Get("error"))
	case v.Get("result").Exists():
		a.result(a.requests[string(v.Get("id").Raw())], v.Get("result"))
	default:
		a.r.lost("no method", text)
	}
}

// result reads an answer. Without our side of the session the answer to the
// prompt is the one that has a stop reason.
func (a *acp) result(method string, result rawjson.Value) {
	if id := result.Get("sessionId"); method == acpNew || method == acpLoad || method == acpResume {
		a.r.status("initializing", event.F("sessionId", event.OrNull(id)))
	}
	stop := result.Get("stopReason").Str()
	if method != acpPrompt && (method != "" || stop == "") {
		return
	}
	a.ended, a.stop, a.refused = true, stop, false
	a.r.out.Terminals++
	a.r.counts(result.Get("usage"), acpTokens, false)
	if stop == "max_tokens" {
		a.r.out.signal(SignalCutAnswer)
	}
	a.errors.survived(a.r)
}

var acpTokens = []tokenPath{
	{"input_tokens", []string{"inputTokens"}}, {"output_tokens", []string{"outputTokens"}}, {"thought_tokens", []string{"thoughtTokens"}},
	{"cached_read_tokens", []string{"cachedReadTokens"}}, {"cached_write_tokens", []string{"cachedWriteTokens"}},
}

// failed reads an error answer: what its data says tells more than a generic
// message (case 062), and some agents use HTTP statuses as codes.
func (a *acp) failed(method string, e rawjson.Value) {
	switch method {
	case "session/set_model", "session/set_config_option", "session/set_mode", "authenticate", "logout", acpCancel:
		a.r.warn(e.Get("message").Str()) // the session goes on without it
		a.going = a.going || method == acpCancel
		return
	case acpPrompt:
		a.refused = true
		a.r.out.Terminals++
	}
	data := e.Get("data")
	code := statusCode(firstOf(data.Get("http_status"), data.Get("statusCode"), data.Get("status"), e.Get("code")))
	if code == nil && brokenRPC(method, e.Get("code")) {
		code = &protocol
	}
	a.errors.add(code, acpErrorData(data), e.Get("message").Str())
	if method == acpLoad || method == acpResume {
		a.errors.code = &resumeExpired
	}
}

// brokenRPC says that the two sides do not speak one protocol: JSON-RPC's codes
// for what cannot be parsed, is no request, or names no method, and in the
// handshake for parameters of another kind (nullclaw/nullclaw#674).
func brokenRPC(method string, code rawjson.Value) bool {
	if code.Kind() != rawjson.Number {
		return false
	}
	return slices.Contains([]float64{-32700, -32600, -32601}, code.Float()) || method == acpInitialize && code.Float() == -32602
}

// acpErrorData returns the text in an error's data. ACP's own libraries put what
// went wrong into details and call every such error an internal one.
func acpErrorData(data rawjson.Value) string {
	if text := errorText(data); text != "" {
		return text
	}
	for _, key := range [...]string{"details", "detail", "error"} {
		if text := errorText(data.Get(key)); text != "" {
			return text
		}
	}
	return ""
}

// resumeExpired is a session that the agent no longer has.
var resumeExpired = verdict{Category: contract.CategoryProcessExit, Detail: "session_resume_expired", Stage: contract.StageSessionInit, Retryable: true, UserAction: contract.ActionRetry}

func firstOf(values ...rawjson.Value) rawjson.Value {
	for _, v := range values {
		if v.Exists() && v.Kind() != rawjson.Null {
			return v
		}
	}
	return rawjson.Value{}
}

// acpQuiet are updates without content for the transcript.
var acpQuiet = set("user_message_chunk", "available_commands_update", "current_mode_update", "usage_update", "session_info_update",
	"config_option_update", "plan", "turn_end", "current_model_update")

// update reads session/update. A flat one, as a draft of the protocol had it,
// is read all the same and counted as unknown.
func (a *acp) update(params rawjson.Value, frame []byte) {
	u := params.Get("update")
	if u.Kind() != rawjson.Object {
		if !params.Get("sessionUpdate").Exists() {
			a.r.lost(acpUpdate, frame)
			return
		}
		a.r.out.unknown("flat params.sessionUpdate")
		u = params
	}
	kind := u.Get("sessionUpdate").Str()
	if a.opened && !a.prompted && (a.loaded || strings.HasPrefix(kind, "agent_")) {
		return // an old session's history, or a banner: the answer follows the prompt
	}
	if !acpQuiet[kind] {
		a.updates++
	}
	switch kind {
	case "agent_message_chunk":
		a.chunk(u)
		return
	case "agent_thought_chunk":
		a.r.thinking(acpText(u.Get("content")))
	case "tool_call", "tool_call_update":
		a.tool(u)
	default:
		if !acpQuiet[kind] {
			a.r.lost(acpUpdate+":"+kind, frame)
		}
		return
	}
	a.speech.end(a.r)
}

// acpText is the text of a content block; other blocks have none.
func acpText(content rawjson.Value) string {
	if content.Kind() == rawjson.String {
		return content.Str()
	}
	return content.Get("text").Str()
}

// chunk reads a piece of the answer. An agent that sends all text so far with
// every chunk adds only the rest.
func (a *acp) chunk(u rawjson.Value) {
	text := acpText(u.Get("content"))
	if id := u.Get("messageId").Str(); id != a.messageID {
		a.messageID = id
		a.speech.end(a.r)
	}
	if s := a.speech.seg; s != nil && len(s.text.String()) >= minSnapshot {
		if rest, ok := strings.CutPrefix(text, s.text.String()); ok {
			text = rest
		}
	}
	if text != "" {
		a.lastChunk = text
	}
	a.speech.piece(a.r, text)
}

// minSnapshot is the shortest text that a chunk repeats on purpose; a model
// may say a short one twice.
const minSnapshot = 4

// permission reads a question. Some agents name the call here only (gemini),
// others by its id alone.
func (a *acp) permission(call rawjson.Value) {
	a.speech.end(a.r)
	if call.Get("title").Exists() || call.Get("kind").Exists() {
		a.announce(call)
	}
	a.r.last = didAsk
	a.r.status("permission_requested")
}

func (a *acp) tool(u rawjson.Value) {
	id := u.Get("toolCallId").Str()
	status := u.Get("status").Str()
	ended := status == "completed" || status == "failed" || status == "cancelled"
	if u.Get("sessionUpdate").IsStr("tool_call") || ended {
		a.announce(u)
	}
	if ended {
		a.r.toolResult(id, event.String(acpResult(u)), status != "completed")
	}
}

func (a *acp) announce(u rawjson.Value) {
	a.r.announce(u.Get("toolCallId").Str(), acpToolName(u), event.OrNull(u.Get("rawInput")))
}

// acpKinds are the protocol's tool kinds in the daemon's words.
var acpKinds = map[string]string{
	"read": "Read", "edit": "Edit", "delete": "Delete", "move": "Move", "search": "Grep", "execute": "Bash", "think": "Think", "fetch": "Fetch",
}

func acpToolName(u rawjson.Value) string {
	if name := acpKinds[u.Get("kind").Str()]; name != "" {
		return name
	}
	if name := u.Get("name").Str(); name != "" {
		return name
	}
	return "Tool"
}

func acpResult(u rawjson.Value) string {
	var parts []string
	for c := range u.Get("content").Children() {
		switch {
		case c.Get("type").IsStr("diff"):
			parts = append(parts, c.Get("newText").Str())
		default:
			if text := acpText(c.Get("content")); text != "" {
				parts = append(parts, text)
			}
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, "\n")
	}
	return sole(u.Get("rawOutput"))
}

func (a *acp) outcome() outcome {
	a.speech.end(a.r)
	o := outcome{reported: a.stop, ended: a.ended || a.refused}
	switch {
	case !a.prompted && !a.ended:
		o.before = contract.StageSessionInit
	case a.refused && a.updates == 0:
		o.before = contract.StagePromptSend
	}
	// Who cancels a turn and gets no proper answer has cancelled it all the
	// same: Kimi does not know the cancel that the consumer sends.
	o.cancelled = a.cancelled && !a.ended
	if a.errors.any() {
		a.errors.fail(a.r, &o)
		return o
	}
	switch a.stop {
	case "cancelled":
		o.cancelled = true
	case "refusal":
		if a.loaded && a.updates == 0 {
			o.code = &resumeExpired
		}
	case "error":
	case "end_turn":
		// OpenCode 1.14 and earlier, and others of that time, end a cancelled
		// turn as a whole one.
		if a.cancelled && !a.going {
			o.cancelled = true
			return o
		}
		fallthrough
	default:
		o.ok = a.ended
		a.apology(&o)
	}
	return o
}

// apology finds the error of a turn that ended well: in a message of its own,
// or, when the agent said nothing, on stderr.
func (a *acp) apology(o *outcome) {
	if a.lastChunk != "" {
		if v := a.spokenError(); v != nil {
			o.ok, o.code = false, v
			if segs := a.r.segs; len(segs) == 1 && segs[0].text.String() == a.lastChunk && len(a.r.out.Tools) == 0 {
				a.r.last = didNothing // the error stands where the first word was awaited
			}
			a.r.failed(a.lastChunk)
		}
		return
	}
	if a.updates == 0 {
		o.printsErrors = func(line string) bool {
			return strings.HasPrefix(line, "error") || strings.Contains(line, "api call failed") ||
				!harmless.Get().MatchString(line) && wholeTextIsError(a.agent, line) != nil
		}
	}
}

// announced opens the errors that agents write in the model's place (copilot).
const announced = "Error: "

// spokenError classifies the last message if it is an error in the model's
// place: one that says so at its start, or is nothing but a known one.
func (a *acp) spokenError() *verdict {
	text := strings.TrimSpace(a.lastChunk)
	if rest, ok := strings.CutPrefix(text, announced); ok && len(rest) > len(announced) {
		if v := classifyText(a.agent, rest); v != nil {
			return v
		}
		return &streamError
	}
	if len(a.r.out.Tools) > 0 {
		return nil
	}
	return wholeTextIsError("", text)
}
