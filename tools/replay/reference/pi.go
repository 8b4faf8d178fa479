package reference

import (
	"strconv"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// pi reads pi --mode json, and of --mode rpc what pi itself prints. An answer
// is streamed by content index and comes again in message_end; since 0.84 the
// updates no longer carry the message. agent_end ends the run, unless it or a
// later auto_retry_start says that pi tries again; since 0.80 agent_settled
// follows. pi exits 0 after every failure (real-clis §6, case 071).
type pi struct {
	r       *run
	texts   map[string]*segment // of the message that is streamed, by content index
	order   []*segment
	thought bool // the message's thinking came as deltas
	broken  []*segment
	errors  pendingErrors
	started bool
	ended   bool
	stop    string // stopReason of the last answer
	told    bool   // the turn's answer came whole
}

func newPi(r *run) *pi { return &pi{r: r, texts: map[string]*segment{}} }

// quietPi are known frames without content for the transcript.
var quietPi = set("entry_appended", "tool_execution_update", "queue_update", "session_info_changed",
	"thinking_level_changed", "auto_compaction_end", "compaction_end", "extension_error", "model_changed", "bash_execution_update")

func (p *pi) frame(v rawjson.Value, text []byte) {
	switch typ := v.Get("type").Str(); typ {
	case "session":
		p.r.status("initializing", event.F("sessionId", event.OrNull(v.Get("id"))))
	case "agent_start":
		p.started, p.ended = true, false
		p.r.status("working")
	case "turn_start":
		p.told = false
	case "turn_end": // repeats the answer, and is all there is of it if nothing else told it
		if m := v.Get("message"); !p.told && m.Get("role").IsStr("assistant") {
			p.message(m, text)
		}
	case "message_start":
		p.reset()
	case "message_update":
		p.update(v.Get("assistantMessageEvent"), text)
	case "message_end":
		p.message(v.Get("message"), text)
	case "tool_execution_start":
		p.r.announce(v.Get("toolCallId").Str(), v.Get("toolName").Str(), parsed(v.Get("args")))
	case "tool_execution_end":
		p.r.toolResult(v.Get("toolCallId").Str(), event.String(sole(v.At("result", "content"))), v.Get("isError").Bool())
	case "agent_end":
		p.ended = !v.Get("willRetry").Bool()
		if p.ended {
			p.r.out.Terminals++
		}
	case "agent_settled":
		p.settled(v)
	case "auto_retry_start":
		p.retry(v)
	case "auto_retry_end":
		if !v.Get("success").Bool() {
			p.errors.add(nil, errorText(v.Get("finalError")))
		}
	case "auto_compaction_start", "compaction_start":
		p.r.status("compacted")
	case "response":
		p.response(v)
	case "extension_ui_request":
		p.ask(v.Get("method").Str())
	default:
		if !quietPi[typ] {
			p.r.lost(typ, text)
		}
	}
}

func (p *pi) reset() {
	clear(p.texts)
	p.order, p.thought = nil, false
}

// update reads a piece of the answer.
func (p *pi) update(e rawjson.Value, frame []byte) {
	key := strconv.FormatFloat(e.Get("contentIndex").Float(), 'g', -1, 64)
	switch typ := e.Get("type").Str(); typ {
	case "text_delta":
		s := p.texts[key]
		if s == nil {
			s = p.r.newSegment()
			p.texts[key] = s
			p.order = append(p.order, s)
		}
		p.r.delta(s, e.Get("delta").Str())
	case "thinking_delta":
		p.thought = true
		p.r.thinking(e.Get("delta").Str())
	case "start", "done", "error", "text_start", "text_end", "thinking_start", "thinking_end", "toolcall_start", "toolcall_delta", "toolcall_end":
	default:
		p.r.lost("assistantMessageEvent.type="+typ, frame)
	}
}

// message reads a whole message. Those of the user and of tools repeat what
// other frames say.
func (p *pi) message(m rawjson.Value, frame []byte) {
	switch role := m.Get("role").Str(); role {
	case "assistant":
		p.answer(m, frame)
	case "toolResult":
		p.r.toolResult(m.Get("toolCallId").Str(), event.String(sole(m.Get("content"))), m.Get("isError").Bool())
	case "user", "system", "custom", "bashExecution", "branchSummary", "compactionSummary", "hookMessage":
	default:
		p.r.lost("message_end.message.role="+role, frame)
	}
	p.reset()
}

func (p *pi) answer(m rawjson.Value, frame []byte) {
	p.stop, p.told = m.Get("stopReason").Str(), true
	good := p.stop != "error" && p.stop != "aborted"
	if good {
		p.errors.survived(p.r)
	}
	spoken := p.order
	for b := range m.Get("content").Children() {
		switch typ := b.Get("type").Str(); typ {
		case "text":
			spoken = p.wholeText(spoken, b.Get("text").Str(), good)
		case "thinking":
			if !p.thought {
				p.r.thinking(b.Get("thinking").Str())
			}
		case "toolCall":
			if good {
				p.r.announce(b.Get("id").Str(), b.Get("name").Str(), parsed(b.Get("arguments")))
			}
		case "image":
		default:
			p.r.lost("message_end.message.content[].type="+typ, frame)
		}
	}
	for _, s := range spoken {
		p.keep(s, good)
	}
	p.r.counts(m.Get("usage"), piTokens, true)
	switch p.stop {
	case "error":
		p.errors.add(nil, m.Get("errorMessage").Str())
	case "length":
		p.r.out.signal(SignalCutAnswer)
	}
}

// piTokens are the counts of one answer; a run's are their sum (case 071).
var piTokens = []tokenPath{
	{"input_tokens", []string{"input"}}, {"output_tokens", []string{"output"}}, {"thought_tokens", []string{"reasoning"}},
	{"cached_read_tokens", []string{"cacheRead"}}, {"cached_write_tokens", []string{"cacheWrite"}},
}

// wholeText reads a text of a whole message, which repeats the next streamed
// one if there is any.
func (p *pi) wholeText(spoken []*segment, text string, good bool) []*segment {
	if len(spoken) > 0 && text != "" {
		s := spoken[0]
		if s.text.String() != text {
			p.r.replace(s, text)
			s = p.r.segs[len(p.r.segs)-1]
		}
		p.keep(s, good)
		return spoken[1:]
	}
	if text != "" {
		p.r.text(text)
		p.keep(p.r.segs[len(p.r.segs)-1], good)
	}
	return spoken
}

// keep settles the text of a good answer; that of a broken one waits for a
// retry, which says it again.
func (p *pi) keep(s *segment, good bool) {
	s.settled = good
	if !good {
		p.broken = append(p.broken, s)
	}
}

func (p *pi) retry(v rawjson.Value) {
	p.ended = false
	for _, s := range p.broken {
		p.r.retract(s)
	}
	p.broken = nil
	p.r.retrying(errorText(v.Get("errorMessage")))
}

// settled reads the end of all work: the last word of releases that have it.
func (p *pi) settled(v rawjson.Value) {
	p.ended = true
	if v.Get("aborted").Bool() && p.stop != "error" {
		p.stop = "aborted"
	}
	p.r.notice = ""
}

// response reads the answer to a command of rpc mode.
func (p *pi) response(v rawjson.Value) {
	if v.Get("success").Kind() == rawjson.Boolean && !v.Get("success").Bool() && v.Get("command").IsStr("prompt") {
		p.errors.add(nil, errorText(v.Get("error")))
	}
}

// ask reads a request of an extension. Some wait for an answer, without which
// the run hangs (case 106).
func (p *pi) ask(method string) {
	switch method {
	case "select", "confirm", "input", "editor":
		p.r.last = didAsk
		p.r.status("permission_requested")
	}
}

func (p *pi) outcome() outcome {
	o := outcome{reported: p.stop, ended: p.ended, ok: p.ended && p.stop != "aborted" && !p.errors.any(), cancelled: p.stop == "aborted" && !p.errors.any()}
	if !p.started {
		o.before = contract.StageSessionInit
	}
	p.errors.fail(p.r, &o)
	return o
}
