package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// verdict is a failure's classification. An empty Stage is filled in from how
// far the run had come.
type verdict contract.FailureClassification

// The verdicts that need no words.
var (
	emptyOutput = verdict{Category: contract.CategoryEmptyOutput, Detail: "empty_output", Retryable: true, UserAction: contract.ActionRetry}
	timedOut    = verdict{Category: contract.CategoryTimeout, Detail: "timeout", Retryable: true, UserAction: contract.ActionRetry}
	inactive    = verdict{Category: contract.CategoryTimeout, Detail: "inactivity_timeout", Retryable: true, UserAction: contract.ActionRetry}
	// streamError is an error frame without evidence of its cause (error-texts
	// row 56: do not guess).
	streamError = verdict{Category: contract.CategoryProcessExit, Detail: "stream_error", Retryable: true, UserAction: contract.ActionRetry}
	// terminatedUnknown is a run that said something and stopped without its
	// terminal frame.
	terminatedUnknown = verdict{Category: contract.CategoryProcessExit, Detail: "terminated_unknown", Stage: contract.StageChildClose, Retryable: true, UserAction: contract.ActionRetry}
)

func processExit(detail string, stage contract.FailureStage, action contract.UserAction) verdict {
	return verdict{Category: contract.CategoryProcessExit, Detail: detail, Stage: stage, UserAction: action}
}

// exitVerdict reads an exit code or signal. claude and codex trap signals and
// exit with 128+n (error-texts, "Exit codes with a documented meaning").
func exitVerdict(e Ending) verdict {
	if e.ArgsTooLong {
		return tooLarge("prompt_too_large")
	}
	if e.NotStarted {
		return processExit("cli_not_installed", contract.StageSpawn, contract.ActionInstallCLI)
	}
	signal, code := strings.TrimPrefix(e.Signal, "SIG"), 0
	if e.ExitCode != nil {
		code = *e.ExitCode
	}
	switch {
	case signal == "INT" || code == 130:
		return processExit("interrupted", contract.StageChildClose, contract.ActionNone)
	case crashSignal(signal) || int64(code) >= 0x80000000 || code == 132 || code == 133 || code == 134 || code == 135 || code == 139:
		return processExit("process_crashed", contract.StageChildClose, contract.ActionNone)
	case signal != "" || code > 128 && code <= 128+64 || e.Killed && code == 0:
		return processExit("signal_killed", contract.StageChildClose, contract.ActionNone)
	case code == 127:
		return processExit("cli_not_installed", contract.StageSpawn, contract.ActionInstallCLI)
	case code == 126:
		return processExit("spawn_failed", contract.StageSpawn, contract.ActionInstallCLI)
	}
	return processExit("exit_nonzero", contract.StageChildClose, contract.ActionNone)
}

func crashSignal(s string) bool {
	switch s {
	case "ILL", "TRAP", "ABRT", "BUS", "SEGV", "FPE", "SYS":
		return true
	}
	return false
}
