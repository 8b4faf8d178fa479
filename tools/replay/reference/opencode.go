package reference

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// openCode reads opencode run --format json, and its forks kilo and mimo. It
// prints whole parts and no result: the last step that asks for no tool ends
// the run. 1.2 and 1.14 exit 0 after an error frame (cases 034, 037, 038).
type openCode struct {
	r        *run
	errors   pendingErrors
	reported string
	ended    bool
	aborted  bool // by somebody, as the CLI says: no failure
	unsure   bool // the last step ended for a reason that the CLI did not know
	texts    map[string]*segment
}

func newOpenCode(r *run) *openCode { return &openCode{r: r, texts: map[string]*segment{}} }

// openCodeTokens are the counts of one step; a run's are their sum.
var openCodeTokens = []tokenPath{
	{"input_tokens", []string{"input"}}, {"output_tokens", []string{"output"}}, {"thought_tokens", []string{"reasoning"}},
	{"cached_read_tokens", []string{"cache", "read"}}, {"cached_write_tokens", []string{"cache", "write"}},
}

func (o *openCode) frame(v rawjson.Value, text []byte) {
	part := v.Get("part")
	switch typ := v.Get("type").Str(); typ {
	case "step_start":
		o.ended, o.unsure, o.aborted = false, false, false
		o.r.status("running", event.F("sessionId", event.OrNull(v.Get("sessionID"))))
	case "text":
		o.text(part)
	case "reasoning":
		o.r.thinking(part.Get("text").Str())
	case "tool_use":
		o.tool(part, text)
	case "step_finish":
		o.finish(part)
	case "error":
		o.failure(v)
	default:
		o.r.lost(typ, text)
	}
}

// text reads a part of the answer. A part may come again with more text.
func (o *openCode) text(part rawjson.Value) {
	text, id := part.Get("text").Str(), part.Get("id").Str()
	if text == "" {
		return
	}
	if s := o.texts[id]; s != nil && id != "" {
		if s.text.String() != text {
			o.r.replace(s, text)
			o.texts[id] = o.r.segs[len(o.r.segs)-1]
		}
		return
	}
	s := o.r.newSegment()
	s.settled = true
	o.texts[id] = s
	o.r.delta(s, text)
}

func (o *openCode) tool(part rawjson.Value, frame []byte) {
	id, state := part.Get("callID").Str(), part.Get("state")
	o.r.announce(id, part.Get("tool").Str(), parsed(state.Get("input")))
	switch status := state.Get("status").Str(); status {
	case "completed":
		o.r.toolResult(id, event.String(sole(state.Get("output"))), false)
	case "error":
		o.r.toolResult(id, event.String(errorText(state.Get("error"))), true)
	case "pending", "running":
	default:
		o.r.lost("tool_use.part.state.status="+status, frame)
	}
}

func (o *openCode) finish(part rawjson.Value) {
	o.r.counts(part.Get("tokens"), openCodeTokens, true)
	reason := part.Get("reason").Str()
	o.reported = reason
	switch reason {
	case "tool-calls":
		return
	case "error":
		o.ended = true
		o.errors.add(nil)
		return
	case "unknown":
		// A stream without a finish reason: 1.18 starts the step again, for
		// ever. Only the end of the process tells what came of it.
		o.unsure = true
		return
	case "length", "content-filter":
		o.r.out.signal(SignalCutAnswer)
	}
	o.ended = true
	o.r.out.Terminals++
	o.errors.survived(o.r)
}

// failure reads an error frame. The message of UnknownError is the text of
// whatever was thrown; responseBody is what the provider said.
func (o *openCode) failure(v rawjson.Value) {
	e := v.Get("error")
	if e.Kind() == rawjson.String {
		o.errors.add(nil, e.Str())
		return
	}
	data := e.Get("data")
	code := statusCode(data.Get("statusCode"))
	if code != nil && code.Category == contract.CategoryRateLimit && data.Get("isRetryable").Kind() == rawjson.Boolean && !data.Get("isRetryable").Bool() {
		v := hardQuota(contract.ActionNone)
		code = &v
	}
	message := data.Get("message").Str()
	if message == "" {
		message = errorText(v.Get("message"))
	}
	o.ended = false
	if e.Get("name").Str() == "MessageAbortedError" {
		o.aborted = true
		return
	}
	o.r.usefulness(e.Get("name").Str())
	o.errors.add(code, message, data.Get("responseBody").Str(), e.Get("name").Str())
}

func (o *openCode) outcome() outcome {
	out := outcome{reported: o.reported, ended: o.ended, ok: o.ended && !o.errors.any(), textEnds: o.unsure,
		cancelled: o.aborted && !o.errors.any()}
	o.errors.fail(o.r, &out)
	return out
}
