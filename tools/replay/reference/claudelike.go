package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// qwen reads qwen --output-format stream-json: Claude's frames, a retry notice
// of its own, and an error that it appends to the answer as "[API Error: …]".
// Up to 0.15.10 the result then says success (real-clis §6).
type qwen struct {
	*claude
	last string // the last text, whose end may be the error
}

func (q *qwen) frame(v rawjson.Value, text []byte) {
	switch typ := v.Get("type"); {
	case typ.IsStr("stream_event") && v.At("event", "type").IsStr("goal_state"):
	case typ.IsStr("system") && v.Get("subtype").IsStr("retry"):
		q.r.retrying(v.At("data", "reason").Str())
		if !v.At("data", "preserveText").Bool() {
			q.stream.retry(q.r)
		}
	case typ.IsStr("system") && (v.Get("subtype").IsStr("session_start") || v.Get("subtype").IsStr("session_end")):
	default:
		q.claude.frame(v, text)
		if typ.IsStr("assistant") && v.Get("parent_tool_use_id").Str() == "" {
			if t := blockTexts(v.At("message", "content")); t != "" {
				q.last = t
			}
		}
	}
}

// printedError returns the error that the CLI wrote at the end of a text.
func printedError(text string) (string, bool) {
	text = strings.TrimSpace(text)
	i := strings.LastIndex(text, "[API Error: ")
	if i < 0 || !strings.HasSuffix(text, "]") {
		return "", false
	}
	return text[i:], true
}

func (q *qwen) outcome() outcome {
	message, printed := printedError(q.result.text)
	if !printed {
		message, printed = printedError(q.last)
	}
	if printed {
		q.dropError(message)
	}
	if q.result.seen && printed && !q.result.isError {
		q.r.failed(message)
		return outcome{reported: q.result.subtype, ended: true, texts: []string{message}, textEnds: true}
	}
	return q.claude.outcome()
}

// dropError takes the error out of the text: the model did not say it.
func (q *qwen) dropError(message string) {
	for i := range q.r.items {
		it := &q.r.items[i]
		if it.seg == nil || it.seg.dropped {
			continue
		}
		rest, ok := strings.CutSuffix(strings.TrimRight(it.delta, "\n "), message)
		if !ok {
			continue
		}
		said := strings.TrimSuffix(it.seg.text.String(), it.delta) + rest
		it.delta = rest
		it.seg.text.Reset()
		it.seg.text.WriteString(said)
		it.seg.dropped = said == ""
	}
}

// qoder reads qoder's stream-json: Claude's frames, with errors as objects.
type qoder struct{ *claude }

func (q qoder) frame(v rawjson.Value, text []byte) {
	q.claude.frame(v, text)
	e := v.Get("error")
	switch typ := v.Get("type").Str(); typ {
	case "assistant":
		if e.Kind() == rawjson.Object {
			q.failure(v, e)
		}
	case "result":
		q.result.texts = append(q.result.texts, e.Str(), v.Get("message").Str())
		if good := q.result.subtype == "success" && !q.result.isError; good && e.Kind() != rawjson.Object && q.said() && q.errorCode != "" && q.errorText != "" {
			q.r.warn(q.errorText)
			q.r.out.signal(SignalRecoveredError)
			q.errorCode, q.errorText = "", ""
		}
	}
}

// failure reads the error of a message. Beside a text it is a warning.
func (q qoder) failure(v, e rawjson.Value) {
	message := errorText(e)
	if message == "" {
		message = e.Get("code").Str()
	}
	if blockTexts(v.At("message", "content")) != "" {
		q.r.warn(message)
		return
	}
	q.errorCode, q.errorText = "unknown", message
}

func (q qoder) said() bool {
	for _, s := range q.r.segs {
		if !s.dropped && s.text.Len() > 0 {
			return true
		}
	}
	return false
}

// amp reads amp --stream-json: Claude's frames, errors as strings, and token
// counts that only the answers have in most releases.
type amp struct {
	*claude
	answers map[string]int64
}

func (a *amp) frame(v rawjson.Value, text []byte) {
	a.claude.frame(v, text)
	switch v.Get("type").Str() {
	case "assistant":
		u := v.At("message", "usage")
		for _, t := range tokenNames {
			for _, from := range t.from {
				if n, ok := whole(u.Get(from)); ok {
					if a.answers == nil {
						a.answers = map[string]int64{}
					}
					a.answers[t.name] += n
					break
				}
			}
		}
	case "result":
		if e := v.Get("error"); e.Str() != "" {
			a.result.texts = append([]string{e.Str()}, a.result.texts...)
		}
		if a.r.out.Usage == nil && a.answers != nil {
			a.r.out.Usage = a.answers
			var fields []event.Field
			for _, t := range tokenNames {
				if n, ok := a.answers[t.name]; ok {
					fields = append(fields, event.F(t.name, event.Number(float64(n))))
				}
			}
			a.r.emit("usage", event.F("usage", event.Object(fields...)))
		}
	}
}
