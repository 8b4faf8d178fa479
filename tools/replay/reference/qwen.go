package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// qwen reads qwen --output-format stream-json: Claude's frames, a retry notice
// of its own, and an error that it appends to the answer as "[API Error: …]".
// Up to 0.15.10 the result then says success (real-clis §6).
type qwen struct {
	*claude
	last  string // the last text, whose end may be the error
	since int    // index of the first text of the answer that a retry would replace
	from  int    // index of its first item
	joins int    // attempts that the CLI joined into the answer's text
}

func (q *qwen) frame(v rawjson.Value, text []byte) {
	switch typ := v.Get("type"); {
	case typ.IsStr("stream_event") && v.At("event", "type").IsStr("goal_state"):
	case typ.IsStr("system") && v.Get("subtype").IsStr("retry"):
		q.retry(v.Get("data"))
	case typ.IsStr("system") && (v.Get("subtype").IsStr("session_start") || v.Get("subtype").IsStr("session_end")):
	default:
		q.claude.frame(v, text)
		if typ.IsStr("user") {
			q.endAnswer()
		}
		if typ.IsStr("assistant") && v.Get("parent_tool_use_id").Str() == "" {
			if t := blockTexts(v.At("message", "content")); t != "" {
				q.last = t
			}
		}
	}
}

// retry reads a retry notice (since 0.24). One that does not preserve the text
// takes it back; otherwise the CLI itself joins what both attempts said.
func (q *qwen) retry(data rawjson.Value) {
	q.r.retrying(data.Get("reason").Str())
	if data.Get("preserveText").Bool() {
		q.joins++
		q.r.out.signal(SignalJoinedText)
		return
	}
	for _, s := range q.r.segs[min(q.since, len(q.r.segs)):] {
		q.r.drop(s)
	}
	q.stream.retry(q.r)
	q.since = len(q.r.segs)
}

// endAnswer ends an answer: what joined attempts repeated counts once.
func (q *qwen) endAnswer() {
	for _, s := range q.r.segs[min(q.since, len(q.r.segs)):] {
		if q.joins > 0 && !s.dropped {
			q.r.unjoin(s, q.joins, q.from)
			break
		}
	}
	q.since, q.from, q.joins = len(q.r.segs), q.r.items.n, 0
}

// unjoin takes the repetitions out of a text that says the same words n times
// before it goes on with them once more. It needs the words: of a sanitized
// text, which is one placeholder, nothing is taken.
func (r *run) unjoin(s *segment, n, from int) {
	const shortest = 8        // bytes: less may be the model's own words
	const longest = 128 << 10 // bounds the search in a hostile text
	text := s.text.String()
	if len(text) < (n+1)*shortest || len(text) > longest {
		return
	}
	head := text[:shortest]
	limit := len(text)/(n+1) + shortest
	for size := strings.LastIndex(text[:limit], head); size >= shortest; size = strings.LastIndex(text[:size+shortest-1], head) {
		if strings.HasPrefix(text[size:], text[:size*n]) {
			r.out.Retracted = append(r.out.Retracted, text[:size*n])
			r.cutFront(s, size*n, from)
			return
		}
	}
}

// cutFront takes the first n bytes out of a text and its deltas, of which from
// is the first.
func (r *run) cutFront(s *segment, n, from int) {
	rest := s.text.String()[n:]
	for i := from; i < r.items.n; i++ {
		if it := r.items.at(i); it.seg == s && n > 0 {
			cut := min(n, len(it.delta))
			it.delta = it.delta[cut:]
			n -= cut
		}
	}
	s.text.Reset()
	s.text.WriteString(rest)
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
	q.endAnswer()
	if q.result.seen && printed && !q.result.isError {
		q.r.failed(message)
		return outcome{reported: q.result.subtype, ended: true, texts: []string{message}, textEnds: true}
	}
	return q.claude.outcome()
}

// dropError takes the error out of the text: the model did not say it.
func (q *qwen) dropError(message string) {
	for i := range q.r.items.n {
		it := q.r.items.at(i)
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
		if it.seg.dropped && q.r.last == didText && len(q.r.out.Tools) == 0 {
			q.r.last = didNothing // the error stands where the first word was awaited
		}
	}
}
