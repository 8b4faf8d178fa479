package run

import (
	"bytes"
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/classify"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/service"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// emptyOutput is OpenDesign's whole sentence. It says "quota", and so its own
// classifier takes it for a limit.
const emptyOutput = "Agent completed without producing any output. The model or provider may have returned an empty response. " +
	"Check the agent logs for upstream errors, then try re-authenticating the agent, checking quota, or switching models."

// Close ends the run and returns what OpenDesign makes of it.
func (r *Run) Close(end Ending) Outcome {
	if r.aborted {
		end.Code, end.Signal = nil, "SIGTERM"
	} else {
		r.drain()
		if r.session != nil && end.StalledSeconds == 0 {
			code := -1
			if end.Code != nil {
				code = *end.Code
			}
			r.carryOut(r.session.Exit(code, end.Signal))
		}
		if r.aborted { // the guard fired on the last line: the child is gone by itself
			r.aborted = false
		}
	}
	if end.StalledSeconds > 0 && !r.cancelled {
		return r.stalled(end)
	}
	if !r.cancelled && r.resumeFailed() {
		return Outcome{Rerun: true, Events: r.sent}
	}
	r.replayAntigravity()
	if status, code, decided := r.decided(end); decided {
		return r.finish(end, status, code)
	}
	status := opendesign.CloseStatus(opendesign.Exit{
		CancelRequested: r.cancelled, Code: end.Code, Signal: end.Signal,
		TurnCompletedCleanly: r.stdin.TurnCompletedCleanly, ArtifactProduced: r.writes.artifact,
		ACPCleanCompletion: r.runtime.StreamFormat == "acp-json-rpc" && r.session.Outcome().Completed,
	})
	if status == opendesign.Failed {
		r.explain(end)
	}
	r.showAntigravity()
	return r.finish(end, status, end.Code)
}

// drain handles what the streams still held when they closed.
func (r *Run) drain() {
	if text := r.errs.end(); len(text) > 0 {
		r.stderr(string(text))
	}
	r.showStderr(r.shown.flush())
	r.out.end()
	switch {
	case r.session != nil:
		r.messages(r.session.lines.Flush())
	case r.cfg.Agent != "antigravity":
		r.events(r.parser.Flush())
	}
}

func (r *Run) stalled(end Ending) Outcome {
	what, trigger := "any new output", "inactivity_watchdog"
	if end.FirstOutput {
		what, trigger = "a first output", "first_output_deadline"
	}
	r.fail(service.ExecutionFailed, fmt.Sprintf("Agent stalled without emitting %s for %ds.", what, end.StalledSeconds), yes)
	if end.TerminalTrigger == "" {
		end.TerminalTrigger = trigger
	}
	return r.finish(end, opendesign.Failed, end.Code)
}

// decided applies the checks that end a run before its exit code is judged.
func (r *Run) decided(end Ending) (status string, code *int, decided bool) {
	one := 1
	orOne := func(c *int) *int {
		if c == nil {
			return &one
		}
		return c
	}
	clean := end.Code != nil && *end.Code == 0
	printed := func() string { return r.errs.text() + "\n" + r.out.text() }
	switch {
	case r.session != nil && r.session.fatal:
		r.reason = "fatal_rpc_error"
		if clean {
			return opendesign.Failed, &one, true
		}
		return opendesign.Failed, end.Code, true
	case r.streamError: // it was reported before any cancel
		r.reason = "stream_error"
		if clean {
			return opendesign.Failed, &one, true
		}
		return opendesign.Failed, orOne(end.Code), true
	case r.cancelled:
		return "", nil, false
	case !clean && service.AuthMissing(r.cfg.Agent, printed()):
		r.fail(service.AuthRequired, service.AuthGuidance(r.cfg.Agent), yes)
		return opendesign.Failed, orOne(end.Code), true
	case !clean:
		return "", nil, false
	case r.tracked && !r.produced:
		r.reason = "empty_output"
		r.fail(service.ExecutionFailed, emptyOutput, yes)
		return opendesign.Failed, end.Code, true
	case !r.tracked && r.out.seen && service.AuthMissing(r.cfg.Agent, printed()):
		r.fail(service.AuthRequired, service.AuthGuidance(r.cfg.Agent), yes)
		return opendesign.Failed, end.Code, true
	case !r.tracked && !r.out.seen:
		r.reason = "empty_output"
		r.silent(printed())
		return opendesign.Failed, end.Code, true
	}
	return "", nil, false
}

// silent finds words for a clean exit without any stdout. antigravity is
// silent when it is not signed in.
func (r *Run) silent(printed string) {
	signIn := service.AuthMissing(r.cfg.Agent, printed)
	if r.cfg.Agent == "antigravity" && !signIn {
		code := service.Code(printed)
		if code == service.RateLimited {
			r.fail(code, "Antigravity returned \"RESOURCE_EXHAUSTED: Individual quota reached\" for the current model.", yes)
			return
		}
		signIn = code == ""
	}
	if signIn {
		r.fail(service.AuthRequired, service.AuthGuidance(r.cfg.Agent), yes)
		return
	}
	r.fail(service.ExecutionFailed, r.cfg.Agent+" returned an empty response. This may indicate an expired session — try re-authenticating the agent.", yes)
}

// explain finds words for a failed run: claude's diagnosis, a service error,
// else the end of what was printed. With nothing printed there are none.
func (r *Run) explain(end Ending) {
	printed := r.errs.text() + "\n" + r.out.text()
	diagnosis, found := r.diagnose(service.ClaudeRun{
		Succeeded: end.Code != nil && *end.Code == 0 && end.Signal == "",
		ExitCode:  end.Code, Stderr: r.errs.text(), Stdout: r.out.text(),
	})
	code := service.Code(printed)
	last := jstext.Trim(orDefault(r.errs.text(), r.out.text()))
	switch {
	case found:
		r.fail(orDefault(diagnosis.Code, orDefault(code, service.ExecutionFailed)), diagnosis.Message, yes)
	case code != "":
		r.fail(code, orDefault(last, "The model service returned an error."), yes)
	case last != "":
		r.fail(service.ExecutionFailed, rewrite(r.cfg.Agent, last, printed), yes)
	}
}

func (r *Run) finish(end Ending, status string, code *int) Outcome {
	reason := r.reason
	switch {
	case reason != "":
	case r.cancelled || status == opendesign.Canceled:
		reason = "cancel_requested"
	case end.Signal != "":
		reason = "signal"
	case code == nil:
		reason = "unknown"
	case *code == 0:
		reason = "exit_0"
	default:
		reason = "exit_nonzero"
	}
	fields := []event.Field{event.F("type", event.String("runtime_close")), event.F("rpc_close_reason", event.String(reason)), event.F("status", event.String(status))}
	if code != nil {
		fields = append(fields, event.F("exit_code", event.Number(float64(*code))))
	}
	if end.Signal != "" {
		fields = append(fields, event.F("signal", event.String(end.Signal)))
	}
	r.record("diagnostic", object(fields...))
	errorCode := opendesign.ErrorCode(status, r.code, end.Signal, code)
	var known *string
	if errorCode != "" {
		known = &errorCode
	}
	return Outcome{
		Status: status, ErrorCode: errorCode, CloseReason: reason, Events: r.sent,
		Classifier: classify.Input{
			Result: opendesign.Result(status), ErrorCode: known, AgentID: r.cfg.Agent,
			Status:       classify.Status{Status: status, Error: r.err, ErrorCode: r.code, ExitCode: code, Signal: end.Signal},
			Events:       r.log[max(0, len(r.log)-KeptEvents):],
			CancelOrigin: end.CancelOrigin, TerminalTrigger: end.TerminalTrigger,
		},
	}
}

// replayAntigravity reads antigravity's stdout as gemini events if it is
// nothing else.
func (r *Run) replayAntigravity() {
	if !geminiStream(r.buffered) {
		return
	}
	parser, err := opendesign.New("gemini", opendesign.Options{})
	if err != nil {
		return
	}
	r.tracked = true
	r.events(append(parser.Feed(r.buffered), parser.Flush()...))
	r.buffered = nil
}

// showAntigravity shows stdout that was held back.
func (r *Run) showAntigravity() {
	if text := opendesign.StripControl(jstext.Decode(r.buffered)); text != "" {
		r.events([]event.Event{event.New("stdout", event.F("chunk", event.String(text)))})
	}
}

// geminiStream reports whether every line is a gemini event and the first one
// opens a session.
func geminiStream(stdout []byte) bool {
	first := true
	for line := range bytes.Lines(stdout) {
		line = bytes.TrimFunc(line, jstext.IsSpace)
		if len(line) == 0 {
			continue
		}
		v, err := rawjson.Parse(line)
		if err != nil || v.Kind() != rawjson.Object {
			return false
		}
		switch v.Get("type").Str() {
		case "init", "message", "tool_use", "tool_result", "error", "result":
		default:
			return false
		}
		if first && (!v.Get("type").IsStr("init") || v.Get("session_id").Str() == "" || v.Get("model").Str() == "") {
			return false
		}
		first = false
	}
	return !first
}
