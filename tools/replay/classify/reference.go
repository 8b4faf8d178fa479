package classify

import (
	"strconv"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/service"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Reference returns the right classification of a run, as far as the
// classifier's input shows it, or nil for one that is said to have succeeded.
// The rules are those that package reference applies to transcripts; they see
// less here, since stdout is not part of the input.
func Reference(in Input) *contract.FailureClassification {
	if in.Result == "success" {
		return nil
	}
	r := newRun(in)
	end, stage := r.ending(), r.reached()
	if in.Result == "cancelled" {
		f := r.cancelled()
		f.Stage = contract.StageFirstTokenWait
		if stage == contract.StageToolExecution {
			f.Stage = stage
		}
		return withTrigger(f, in)
	}
	texts := r.errorTexts()
	e := reference.Evidence{
		Agent: in.AgentID, Texts: texts, Stderr: r.stderr(), Code: codeVerdict(r.code),
		ErrorFrame: r.closeReason() == "stream_error", End: end, Stage: stage,
	}
	if e.Code == nil && r.closeReason() == "fatal_rpc_error" {
		e.Code = codeVerdict("FATAL_RPC")
	}
	f := e.Classify()
	if f.Detail == "inactivity_timeout" && in.TerminalTrigger == "" {
		f.TerminalTrigger = "inactivity_watchdog"
		if r.t.Has("without emitting a first output") {
			f.TerminalTrigger = "first_output_deadline"
		}
	}
	return withTrigger(f, in)
}

func withTrigger(f contract.FailureClassification, in Input) *contract.FailureClassification {
	if in.TerminalTrigger != "" {
		f.TerminalTrigger = in.TerminalTrigger
	}
	return &f
}

// stalled begins the daemon's sentence about a run that its watchdog ended. It
// says how the run ended and not why.
const stalled = "Agent stalled without emitting"

// errorTexts returns the run's error and the texts of error events, newest
// first.
func (r *run) errorTexts() []string {
	var texts []string
	say := func(s string) {
		if s = jstext.Trim(s); s != "" && len(texts) < textParts && !strings.HasPrefix(s, stalled) {
			texts = append(texts, s)
		}
	}
	add := func(v rawjson.Value) { say(v.Str()) }
	say(r.in.Status.Error)
	for i := len(r.events) - 1; i >= 0; i-- {
		e := &r.events[i]
		if e.event != "error" && (e.event != "agent" || !e.data.Get("type").IsStr("error")) {
			continue
		}
		failure := e.data.Get("error")
		add(e.data.Get("message"))
		add(failure.Get("message"))
		add(failure.At("data", "message"))
		add(failure.Get("code"))
		if status := failure.At("data", "statusCode"); status.Kind() == rawjson.Number {
			say("status code " + jstext.ToString(status))
		}
	}
	return texts
}

func (r *run) stderr() []byte {
	var b []byte
	for _, e := range r.events {
		if e.event == "stderr" {
			b = append(append(b, e.data.Get("chunk").Str()...), e.data.Get("text").Str()...)
			b = append(b, e.data.Str()...)
		}
	}
	return b
}

// ending reads how the process ended: from the status, or from the code that
// the daemon made of it.
func (r *run) ending() reference.Ending {
	end := reference.Ending{ExitCode: r.in.Status.ExitCode, Signal: r.in.Status.Signal}
	if code, ok := strings.CutPrefix(r.code, "AGENT_EXIT_"); ok && end.ExitCode == nil {
		if n, err := strconv.Atoi(code); err == nil {
			end.ExitCode = &n
		}
	}
	if signal, ok := strings.CutPrefix(r.code, "AGENT_SIGNAL_"); ok && end.Signal == "" {
		end.Signal = signal
	}
	switch r.in.TerminalTrigger {
	case "inactivity_watchdog", "first_output_deadline":
		end.TimedOut, end.Idle = true, true
	}
	if r.t.Has(strings.ToLower(stalled)) {
		end.TimedOut, end.Idle = true, true
	}
	return end
}

// reached returns how far the run had come, in the reference's stages.
func (r *run) reached() contract.FailureStage {
	var tools progress
	last := ""
	for _, e := range r.events {
		if e.event != "agent" {
			continue
		}
		typ := e.data.Get("type").Str()
		tools.see(typ, e.data)
		switch typ {
		case "text_delta", "tool_use", "tool_result":
			last = typ
		}
	}
	switch {
	case tools.outstanding() || last == "tool_result":
		return contract.StageToolExecution
	case last == "text_delta":
		return contract.StageChildClose
	}
	return contract.StageFirstTokenWait
}

// codes say what the daemon's error codes mean where no words do.
var codes = sync.OnceValue(func() map[string]contract.FailureClassification {
	return map[string]contract.FailureClassification{
		service.InsufficientBalance: {Category: contract.CategoryInsufficientBalance, Detail: "amr_insufficient_balance", Stage: contract.StageSessionInit, UserAction: contract.ActionRecharge},
		service.TierUpgrade:         {Category: contract.CategoryEntitlement, Detail: "amr_tier_upgrade_required", Stage: contract.StageSessionInit, UserAction: contract.ActionUpgrade},
		service.AccountAuth:         signIn,
		service.AuthRequired:        signIn,
		"UNAUTHORIZED":              signIn,
		service.RateLimited:         {Category: contract.CategoryRateLimit, Detail: "rate_limit_429", Retryable: true, UserAction: contract.ActionRetry},
		service.UpstreamUnavailable: {Category: contract.CategoryUpstream, Detail: "upstream_5xx", Retryable: true, UserAction: contract.ActionRetry},
		service.ConnectionDropped:   {Category: contract.CategoryUpstream, Detail: "stream_disconnected", Retryable: true, UserAction: contract.ActionRetry},
		service.RoleMarker:          {Category: contract.CategoryProcessExit, Detail: "fabricated_role_marker", Stage: contract.StageChildClose, Retryable: true, UserAction: contract.ActionRetry},
		"AMR_MODEL_UNAVAILABLE":     {Category: contract.CategoryModelUnavailable, Detail: "model_not_found", Stage: contract.StageModelSelect, UserAction: contract.ActionSwitchModel},
		"AGENT_PROMPT_TOO_LARGE":    {Category: contract.CategoryPromptTooLarge, Detail: "prompt_too_large", Stage: contract.StagePromptSend, UserAction: contract.ActionReduceContext},
		"AGENT_UNAVAILABLE":         {Category: contract.CategoryProcessExit, Detail: "cli_not_installed", Stage: contract.StageSpawn, UserAction: contract.ActionInstallCLI},
		"TIMEOUT":                   {Category: contract.CategoryTimeout, Detail: "timeout", Retryable: true, UserAction: contract.ActionRetry},
		"FATAL_RPC":                 {Category: contract.CategoryProcessExit, Detail: "fatal_rpc_error", Stage: contract.StageChildClose, Retryable: true, UserAction: contract.ActionRetry},
	}
})

var signIn = contract.FailureClassification{Category: contract.CategoryAuth, Detail: "auth_required", Stage: contract.StageSessionInit, UserAction: contract.ActionLogin}

func codeVerdict(code string) *contract.FailureClassification {
	f, ok := codes()[code]
	if !ok {
		return nil
	}
	return &f
}
