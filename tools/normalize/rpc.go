package normalize

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// The event types of JSON-RPC answers end with what they are. An answer to
// nothing that was asked has the end only.
const (
	eventResult = "result"
	eventError  = "error"
)

// exchange pairs JSON-RPC answers with the requests of the other side. Ids of
// both sides collide, so they are kept apart.
type exchange struct {
	asked map[string]request
	// answered is the step of the CLI's last answer, which causes our next
	// request; -1 if that was sent.
	answered int
}

type request struct {
	method string
	step   int // of a request of the CLI
	call   int
}

func newExchange() *exchange { return &exchange{asked: map[string]request{}, answered: -1} }

// part is what a JSON-RPC frame is.
type part struct {
	key      string // of the request that it is or answers; "" for a notification
	method   string // of that request, "" if nobody asked
	isAnswer bool
	event    string
}

// part reads a frame. An answer's event type is made of its request's method:
// session/prompt:result.
func (x *exchange) part(dir transcript.Dir, v rawjson.Value) part {
	id := v.Get("id")
	hasID := id.Kind() == rawjson.Number || id.Kind() == rawjson.String
	if m := v.Get("method"); m.Kind() == rawjson.String {
		p := part{method: m.Str()}
		if hasID {
			p.key = string(dir) + string(id.AppendStringify(nil))
		}
		return p
	}
	p := part{isAnswer: true, event: eventResult}
	if v.Get("error").Exists() {
		p.event = eventError
	}
	if hasID {
		other := transcript.ServerToCLI
		if dir == transcript.ServerToCLI {
			other = transcript.CLIToServer
		}
		p.key = string(other) + string(id.AppendStringify(nil))
		if p.method = x.asked[p.key].method; p.method != "" {
			p.event = p.method + ":" + p.event
		}
	}
	return p
}

// ask keeps a request for its answer.
func (x *exchange) ask(p part, step, call int) {
	if p.key != "" && !p.isAnswer {
		x.asked[p.key] = request{p.method, step, call}
	}
}

// placeRPC puts a frame of a two-way run into the order of the run. When a
// frame of ours was written is our doing and a matter of chance: an answer
// counts right after its request, a request right after the answer that led
// to it.
func (r *run) placeRPC(s step, p part, ours bool) {
	x := r.rpc
	if !ours {
		x.ask(p, len(r.order.steps), s.call)
		if p.isAnswer {
			x.answered = len(r.order.steps)
		}
		r.order.add(s)
		return
	}
	q, known := x.asked[p.key]
	x.ask(p, 0, s.call)
	switch {
	case p.isAnswer && known:
		s.call = q.call
		r.order.answer(q.step, s)
	case p.isAnswer:
		r.order.add(s)
	case x.answered >= 0:
		r.order.answer(x.answered, s)
		x.answered = -1
	default:
		r.order.addOurs(s)
	}
}
