package replay

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// The parsers of OpenDesign that are sessions (contract.Dialect.Parser).
const (
	parserACP = "acp"
	parserPi  = "pi-rpc"
)

// readSession reads a two-way run as OpenDesign's session does. What the
// session would have sent is taken from the recorded run, so that both stay in
// step.
func (r *Reading) readSession(in Input) {
	opts := sessionOptions(in)
	session := rpc.Session(rpc.NewPi(opts))
	if in.Dialect.Parser == parserACP {
		session, r.consumerID = rpc.NewACP(opts), rpc.ToolID
	}
	var lines rpc.Lines
	var client clientFrames
	n := 0
	r.emitted(reference.Untold, session.Start())
	for i := range in.Transcript.Records {
		rec := &in.Transcript.Records[i]
		switch {
		case client.cancels(rec):
			r.emitted(reference.Untold, session.Abort())
		case rec.Dir == transcript.CLIToServer && rec.Stream == transcript.Stdout:
			for _, m := range lines.Feed(rec.Line()) {
				r.emitted(n, session.Message(m))
			}
			n++
		}
	}
	for _, m := range lines.Flush() {
		r.emitted(reference.EndOfRun, session.Message(m))
	}
	if end := reference.EndingOf(in.Transcript); end.ExitCode != nil || end.Signal != "" {
		code := -1
		if end.ExitCode != nil {
			code = *end.ExitCode
		}
		r.emitted(reference.EndOfRun, session.Exit(code, end.Signal))
	}
	r.completed = session.Outcome().Completed
}

// emitted adds the events among the session's actions. The error that ends a
// session has no type of its own.
func (r *Reading) emitted(line int, actions []rpc.Action) {
	for _, a := range actions {
		if a.Kind != rpc.Emit {
			continue
		}
		var e event.Event
		if err := e.UnmarshalJSON([]byte(a.Value.JSON())); err != nil {
			continue // the session makes objects only
		}
		if a.Channel == rpc.ChannelError {
			e = event.New("error", e.Fields()...)
		}
		r.add(line, []Event{e})
	}
}

// clientFrames reads the frames that the client wrote.
type clientFrames struct{ doc rawjson.Doc }

// cancels reports whether the client asked the agent to stop.
func (c *clientFrames) cancels(rec *transcript.Record) bool {
	if rec.Cancels() {
		return true
	}
	v := c.frame(rec)
	return v.Get("method").IsStr("session/cancel") || v.Get("type").IsStr("abort")
}

// frame returns a frame that the client wrote, until the next one is read, or the
// zero Value.
func (c *clientFrames) frame(rec *transcript.Record) rawjson.Value {
	if rec.Dir != transcript.ServerToCLI || rec.Stream != transcript.Stdin || c.doc.Parse(rec.Line()) != nil {
		return rawjson.Value{}
	}
	return c.doc.Root()
}

// sessionOptions reads from the client's frames what it was told: the model,
// the session to continue. Two agents have rules of their own.
func sessionOptions(in Input) rpc.Options {
	opts := rpc.Options{CompleteOnTurnEnd: in.Agent == "kiro"}
	if in.Agent == "amr" {
		opts.ModelUnavailableCode = "AMR_MODEL_UNAVAILABLE"
	}
	var client clientFrames
	for i := range in.Transcript.Records {
		v := client.frame(&in.Transcript.Records[i])
		params := v.Get("params")
		switch v.Get("method").Str() {
		case rpc.StageSetModel:
			opts.Model = params.Get("modelId").Str()
		case rpc.StageSetOption:
			opts.Model = params.Get("value").Str()
		case rpc.StageLoad:
			opts.ResumeSessionID = params.Get("sessionId").Str()
		}
		if v.Get("type").IsStr("new_session") {
			opts.ParentSession = v.Get("parentSession").Str()
		}
	}
	return opts
}
