package replay

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/classify"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/service"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// summarize reads the events of a consumer's parser as its user sees them:
// text, tools, tokens. Every tool_use counts, doubled ones too.
func (r *Reading) summarize() {
	r.Unknown, r.Deviations = map[string]int{}, map[string]int{}
	seen := map[string]int{}
	var text strings.Builder
	for _, e := range r.Events {
		switch e.Type() {
		case "text_delta":
			text.WriteString(e.Get("delta").Str())
		case "tool_use":
			id := e.Get("id").Str()
			if _, again := seen[id]; again && !e.Get("name").IsStr("TodoWrite") {
				r.DuplicateToolUses++
			}
			seen[id] = len(r.Tools)
			r.Tools = append(r.Tools, reference.Tool{ID: id, Name: e.Get("name").Str(), Input: e.Get("input"), State: reference.ToolOpen})
		case "tool_result":
			if i, ok := seen[e.Get("toolUseId").Str()]; ok {
				r.Tools[i].State = reference.ToolDone
				if e.Get("isError").True() {
					r.Tools[i].State = reference.ToolFailed
				}
			}
		case "usage":
			r.takeUsage(e.Get("usage"))
		case "raw":
			r.Unknown["raw"]++
		}
	}
	r.Text = text.String()
	if r.Text != "" {
		r.Texts = []string{r.Text}
	}
}

// takeUsage replaces the counts: what the consumer shows is its last usage
// event.
func (r *Reading) takeUsage(u event.Value) {
	v, err := rawjson.Parse([]byte(u.JSON()))
	if err != nil || v.Kind() != rawjson.Object {
		return
	}
	r.Usage = map[string]int64{}
	for m := range v.Children() {
		if m.Kind() == rawjson.Number {
			r.Usage[m.Key()] = int64(m.Float())
		}
	}
}

// tailBytes is how much of stdout and stderr the daemon keeps for its
// classification at close, in UTF-16 units there.
const tailBytes = 2000

// closeOpenDesign decides the run as the daemon does when the child closes
// (report on OpenDesign v0.19.2, section 4, "Order at child close").
func (r *Reading) closeOpenDesign(in Input) {
	end := reference.EndingOf(in.Transcript)
	var book opendesign.StdinBook
	for _, e := range r.Events {
		if in.Dialect.ProtocolFamily == contract.FamilyClaude {
			book.Observe(e)
		}
	}
	stderr := string(in.Transcript.Bytes(transcript.CLIToServer, transcript.Stderr))
	status := opendesign.CloseStatus(opendesign.Exit{
		CancelRequested: end.Cancelled, Code: end.ExitCode, Signal: end.Signal, TurnCompletedCleanly: book.TurnCompletedCleanly,
	})
	code, message, reason := "", "", closeReason(end)
	switch {
	case end.Cancelled:
	case r.streamError() != nil:
		status, reason = opendesign.Failed, "stream_error"
		message = r.streamError().Get("message").Str()
		code = service.Code(message + "\n" + tail(stderr))
		if code == "" {
			code = "AGENT_EXECUTION_FAILED"
		}
	case status == opendesign.Succeeded && r.silent(in):
		status, reason = opendesign.Failed, "empty_output"
		message = "The agent finished without producing any output."
		code = "AGENT_EXECUTION_FAILED"
	case status == opendesign.Failed:
		code = service.Code(tail(stderr))
	}
	result := opendesign.Result(status)
	r.RunResult = contract.RunResult(result)
	code = opendesign.ErrorCode(status, code, end.Signal, end.ExitCode)
	r.Failure = classify.Classify(classify.Input{
		Result:    result,
		Status:    classify.Status{Status: status, Error: message, ErrorCode: code, ExitCode: end.ExitCode, Signal: end.Signal},
		ErrorCode: code,
		AgentID:   in.Agent,
		Events:    r.daemonEvents(stderr, reason),
	})
}

func closeReason(end reference.Ending) string {
	switch {
	case end.Cancelled:
		return "cancel_requested"
	case end.Signal != "":
		return "signal"
	case end.ExitCode == nil:
		return "unknown"
	case *end.ExitCode == 0:
		return "exit_0"
	}
	return "exit_nonzero"
}

// streamError returns the first error event: later ones are ignored.
func (r *Reading) streamError() *event.Event {
	for i := range r.Events {
		if r.Events[i].Type() == "error" {
			return &r.Events[i]
		}
	}
	return nil
}

// silent is the daemon's empty-output rule: families that it tracks need a
// text, others only any stdout.
func (r *Reading) silent(in Input) bool {
	if in.Dialect.ProtocolFamily == contract.FamilyEvents {
		return r.Text == ""
	}
	for range in.Transcript.Lines(transcript.CLIToServer, transcript.Stdout) {
		return false
	}
	return true
}

func (r *Reading) daemonEvents(stderr, reason string) []classify.Event {
	var out []classify.Event
	add := func(name string, e event.Event) { out = append(out, classify.Event{Event: name, Data: e.JSON()}) }
	for _, e := range r.Events {
		add("agent", e)
	}
	if stderr != "" {
		add("stderr", event.New("stderr", event.F("chunk", event.String(stderr))))
	}
	add("diagnostic", event.New("runtime_close", event.F("rpc_close_reason", event.String(reason))))
	return out
}

func tail(s string) string {
	if len(s) > tailBytes {
		return strings.ToValidUTF8(s[len(s)-tailBytes:], "")
	}
	return s
}
