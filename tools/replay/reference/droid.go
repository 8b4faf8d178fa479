package reference

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// droid reads droid exec -o stream-json. A completion ends the run, and
// repeats the last text; after SIGINT there is nothing at all (real-clis §6).
type droid struct {
	r      *run
	errors pendingErrors
	ended  bool
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
	if len(d.r.segs) == 0 {
		d.r.text(v.Get("finalText").Str())
	}
}

func (d *droid) outcome() outcome {
	o := outcome{ended: d.ended, ok: d.ended && !d.errors.any()}
	if d.ended {
		o.reported = "completion"
	}
	d.errors.fail(d.r, &o)
	return o
}
