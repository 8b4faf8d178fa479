package run

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/service"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// session is the RPC side of a run.
type session struct {
	rpc.Session
	lines rpc.Lines
	fatal bool // the session ended the run before any cancel
}

// newSession returns the session of a stream format, or nil for a line stream.
func newSession(format string, opts rpc.Options) *session {
	switch format {
	case "acp-json-rpc":
		return &session{Session: rpc.NewACP(opts)}
	case "pi-rpc":
		return &session{Session: rpc.NewPi(opts)}
	}
	return nil
}

// messages hands framed messages to the session.
func (r *Run) messages(texts []string) {
	for _, m := range texts {
		r.carryOut(r.session.Message(m))
	}
}

// carryOut does what the session wants of the daemon; frames and signals are
// the child's business.
func (r *Run) carryOut(actions []rpc.Action) {
	for _, a := range actions {
		if a.Kind != rpc.Emit {
			continue
		}
		var e event.Event
		if err := e.UnmarshalJSON([]byte(a.Value.JSON())); err != nil {
			continue // the session makes objects only
		}
		if a.Channel == rpc.ChannelError {
			r.sessionFailed(e)
			continue
		}
		r.events([]event.Event{e})
	}
}

// sessionFailed handles the error that ends a session. A structured one keeps
// its code; else the words decide as for a stream's error.
func (r *Run) sessionFailed(e event.Event) {
	if r.cancelled {
		return
	}
	r.session.fatal = true
	v, err := rawjson.Parse([]byte(e.Get("error").JSON()))
	if err != nil {
		v = rawjson.Value{}
	}
	message := e.Get("message").Str()
	printed := message + "\n" + r.out.text() + "\n" + r.errs.text()
	shown := rewrite(r.cfg.Agent, message, printed)
	retryable := unsaid
	if v.Get("retryable").Kind() == rawjson.Boolean {
		retryable = no
		if v.Get("retryable").Bool() {
			retryable = yes
		}
	}
	code := orDefault(e.Get("code").Str(), v.Get("code").Str())
	switch words := service.Code(printed); {
	case code != "" && code != service.ExecutionFailed:
		r.fail(code, shown, retryable)
	case service.AuthMissing(r.cfg.Agent, printed):
		r.fail(service.AuthRequired, service.AuthGuidance(r.cfg.Agent), yes)
	case words != "":
		r.fail(words, shown, yes)
	default:
		r.fail(service.ExecutionFailed, shown, retryable)
	}
}
