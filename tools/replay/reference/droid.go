package reference

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// droid reads droid exec -o stream-json. A completion ends the run, and
// repeats the last text; after SIGINT there is nothing at all (real-clis §6).
// A stream that breaks off without an error ends in a completion too: only the
// token counts, which come last in the stream, are missing.
type droid struct {
	r       *run
	errors  pendingErrors
	ended   bool
	counted bool // the completion has token counts, of whatever value
	noTurns bool // the completion says that there was no turn: no answer could be used
}

func (d *droid) frame(v rawjson.Value, text []byte) {
	switch typ := v.Get("type").Str(); typ {
	case "system":
		if !v.Get("subtype").IsStr("init") {
			d.r.lost("system.subtype="+v.Get("subtype").Str(), text)
			return
		}
		d.r.status("initializing", event.F("sessionId", event.OrNull(v.Get("session_id"))), event.F("model", event.OrNull(v.Get("model"))))
	case "message":
		d.message(v, text)
	case "reasoning", "thinking":
		d.r.thinking(sole(v.Get("text")))
	case "tool_call":
		name := v.Get("toolName").Str()
		if name == "" {
			name = v.Get("toolId").Str()
		}
		d.r.announce(v.Get("id").Str(), name, parsed(v.Get("parameters")))
		d.errors.survived(d.r)
	case "tool_result":
		content := sole(v.Get("value"))
		if content == "" {
			content = errorText(v.Get("error"))
		}
		d.r.toolResult(v.Get("id").Str(), event.String(content), v.Get("isError").Bool())
	case "error":
		d.r.usefulness(v.Get("source").Str())
		d.errors.add(statusCode(v.Get("statusCode")), errorText(v.Get("message")), errorText(v.Get("error")))
	case "completion":
		d.completion(v)
	default:
		d.r.lost(typ, text)
	}
}

func (d *droid) message(v rawjson.Value, frame []byte) {
	switch role := v.Get("role").Str(); role {
	case "assistant":
		if t := v.Get("text").Str(); t != "" {
			d.errors.survived(d.r)
			d.r.text(t)
		}
	case "user", "system":
	default:
		d.r.lost("message.role="+role, frame)
	}
}

func (d *droid) completion(v rawjson.Value) {
	d.ended = true
	d.r.out.Terminals++
	d.r.tokens(v.Get("usage"), nil)
	d.counted = d.r.out.Usage != nil
	turns, ok := whole(v.Get("numTurns"))
	d.noTurns = ok && turns == 0
	if len(d.r.segs) == 0 {
		d.r.text(v.Get("finalText").Str())
	}
}

func (d *droid) outcome() outcome {
	o := outcome{ended: d.ended, ok: d.ended && !d.errors.any()}
	if d.ended {
		o.reported = "completion"
	}
	if o.ok && d.noTurns && d.r.last == didNothing {
		d.errors.add(&emptyOutput, "no turn was completed")
		o.ok = false
	}
	if o.ok && d.counted && !d.r.out.TokensSeen() && d.r.last == didText {
		d.errors.add(&brokenStream, "the answer has no token counts: its stream broke off")
		o.ok = false
	}
	d.errors.fail(d.r, &o)
	return o
}

var brokenStream = upstream("stream_disconnected", "")
