package reference

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

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
