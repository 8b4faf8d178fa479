package reference

import (
	"bytes"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// sessionLog reads the file that a CLI keeps of its session (decision 0024). It
// speaks only where the pipes say success, and only against it.
type sessionLog interface {
	frame(v rawjson.Value)
	// last says how the last answer of the last turn ended.
	last() answerEnd
}

// answerEnd is how a model's answer ended.
type answerEnd uint8

const (
	endUnknown answerEnd = iota
	endWhole
	endCut   // the stream stopped without a reason
	endLimit // the model reached its output limit, or a filter stopped it
)

// newSessionLog returns the reader of an agent's session file, or nil.
func newSessionLog(agent string) sessionLog {
	if agent == "kimi" {
		return &kimiWire{}
	}
	return nil
}

// Session takes one line of the CLI's session file. A line that is no JSON
// object says nothing: unlike a pipe, a file has no noise around a frame.
func (r *Reader) Session(line []byte) {
	if r.log == nil {
		return
	}
	if v, err := rawjson.Parse(bytes.TrimSpace(line)); err == nil && v.Kind() == rawjson.Object {
		r.log.frame(v)
	}
}

// judgeSession looks whether the session file contradicts a success.
func (r *Reader) judgeSession() {
	if r.log == nil {
		return
	}
	switch r.log.last() {
	case endCut:
		r.run.failed("the session file has no end of the last answer: its stream broke off")
		r.run.out.signal(SignalSessionFile)
		r.fail(brokenStream)
	case endLimit:
		r.run.out.signal(SignalSessionFile)
		r.run.out.signal(SignalCutAnswer)
	}
}

// kimiWire reads wire.jsonl of kimi-code. Releases with protocol 1.5 (0.43.1,
// 2.1.0) keep the provider's reason with each message: null when there was
// none. Those with 1.3 (0.10.0) call every such step end_turn; there only the
// token counts, which the CLI asks for and which come last in a stream, are
// zero.
type kimiWire struct {
	step, message answerEnd
}

func (k *kimiWire) frame(v rawjson.Value) {
	switch v.Get("type").Str() {
	case "turn.prompt":
		*k = kimiWire{}
	case "context.append_loop_event":
		if e := v.Get("event"); e.Get("type").IsStr("step.end") {
			k.step = kimiStep(e)
		}
	case "agent.message.appended":
		if m := v.Get("message"); m.At("message", "role").IsStr("assistant") {
			k.message = kimiReason(m.At("meta", "finish", "finishReason"))
		}
	}
}

func (k *kimiWire) last() answerEnd {
	if k.message != endUnknown {
		return k.message
	}
	return k.step
}

func kimiReason(reason rawjson.Value) answerEnd {
	switch {
	case reason.Kind() == rawjson.Null:
		return endCut
	case reason.IsStr("truncated") || reason.IsStr("filtered"):
		return endLimit
	case reason.Kind() == rawjson.String:
		return endWhole
	}
	return endUnknown
}

func kimiStep(e rawjson.Value) answerEnd {
	if reason := e.Get("finishReason"); reason.IsStr("max_tokens") || reason.IsStr("filtered") {
		return endLimit
	} else if reason.Kind() != rawjson.String {
		return endUnknown
	}
	counts := 0
	for n := range e.Get("usage").Children() {
		if n.Float() != 0 {
			return endWhole
		}
		counts++
	}
	if counts == 0 {
		return endUnknown
	}
	return endCut
}
