package run

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/service"
)

// streamFailed handles an error event of the stream: the first one ends the
// run as failed, later ones and those after a cancel are dropped.
func (r *Run) streamFailed(e event.Event) {
	if r.cancelled || r.streamError {
		return
	}
	if r.runtime.StreamFormat == "claude-stream-json" {
		r.claudeFailed(e)
		return
	}
	r.streamError = true
	message := orDefault(e.Get("message").Str(), "Agent stream error")
	text := strings.Join([]string{message, e.Get("raw").Str(), r.out.text(), r.errs.text()}, "\n")
	shown := rewrite(r.cfg.Agent, message, text)
	if service.AuthMissing(r.cfg.Agent, text) {
		r.fail(service.AuthRequired, service.AuthGuidance(r.cfg.Agent), yes)
	} else if code := service.Code(text); code != "" {
		r.fail(code, shown, yes)
	} else {
		r.fail(service.ExecutionFailed, shown, unsaid)
	}
}

// claudeFailed looks at all that claude printed, as after its exit.
func (r *Run) claudeFailed(e event.Event) {
	if r.resumeFailed() {
		return
	}
	r.streamError = true
	message := orDefault(e.Get("message").Str(), "Claude Code stream error")
	text := strings.Join([]string{message, e.Get("code").Str(), r.out.text(), r.errs.text()}, "\n")
	one := 1
	diagnosis, found := r.diagnose(service.ClaudeRun{ExitCode: &one, Stderr: r.errs.text(), Stdout: text})
	code := service.Code(text)
	switch {
	case found:
		r.fail(orDefault(diagnosis.Code, orDefault(code, service.ExecutionFailed)), diagnosis.Message, yes)
	case code == service.AuthRequired || code == service.RateLimited:
		r.fail(code, rewrite(r.cfg.Agent, message, text), yes)
	default:
		r.fail(orDefault(code, service.ExecutionFailed), rewrite(r.cfg.Agent, message, text), no)
	}
}

// diagnose is for the agent id claude only.
func (r *Run) diagnose(run service.ClaudeRun) (service.ClaudeDiagnosis, bool) {
	if r.cfg.Agent != "claude" {
		return service.ClaudeDiagnosis{}, false
	}
	run.BaseURL, run.ConfigDir = r.cfg.ClaudeBaseURL, r.cfg.ClaudeConfigDir
	return service.DiagnoseClaude(run)
}

// resumes are the agents whose stored session OpenDesign resumes.
var resumes = map[string]bool{"claude": true, "codebuddy": true, "codex": true, "opencode": true}

func (r *Run) resumeFailed() bool {
	return r.cfg.Resuming && resumes[r.cfg.Agent] && service.ResumeFailed(r.cfg.Agent, r.errs.text(), r.out.text())
}

var (
	tokenTooLong = jstext.Any(`bufio\.scanner:\s*token too long`)
	jsonRPCID    = jstext.Any(`json-rpc id \d+`)
)

// rewrite replaces a message that says nothing to the user.
func rewrite(agent, message, text string) string {
	message = orDefault(jstext.Trim(message), "Agent stream error")
	t := jstext.Fold(message + "\n" + text)
	if tokenTooLong.Match(t) && t.Has("opencode") && (agent == "opencode" || agent == "mimo" || jsonRPCID.Match(t)) {
		return "The run failed due to an unknown upstream streaming error. Please retry."
	}
	return message
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
