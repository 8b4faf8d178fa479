package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"syscall"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/external"
	"github.com/nexu-io/open-design-agent-contracts/tools/report"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// classifyTool gives errors of the tools their exit code and hint: 2 for what
// the user can spell differently or must repair, 3 where the world keeps us
// from knowing, 70 for everything that should not happen.
func classifyTool(err error) (code int, hint string) {
	var agent *agents.UnknownAgentError
	var probe *capture.UnknownProbeError
	var profile *capture.UnknownProfileError
	var file *agents.FileError
	var broken *store.BrokenError
	var adapter *external.Error
	var expired *private.ExpiredError
	var locked *private.LockedError
	var damaged *private.DamagedError
	var stray *private.StrayError
	var alone *private.NoRecipientError
	switch {
	case errors.As(err, &agent):
		if agent.Suggestion != "" {
			return ExitUsage, "did you mean " + agent.Suggestion + "?"
		}
		return ExitUsage, ""
	case errors.As(err, &probe):
		return ExitUsage, didYouMean(probe.ID, contract.BasicProbes)
	case errors.As(err, &profile):
		return ExitUsage, didYouMean(profile.Profile, profile.Known)
	case errors.As(err, &adapter):
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return ExitUsage, "see agent-contracts replay --help; a relative path is looked up from this folder"
		}
		return ExitCannotKnow, "docs/ADAPTERS.md says what an adapter reads and writes"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, install.ErrDiskFull):
		return ExitCannotKnow, "free some space, for example with agent-contracts cache prune --keep-versions 1, and run the same command again"
	case cannotInstall(err):
		return ExitCannotKnow, ""
	case errors.As(err, &expired):
		return ExitCannotKnow, "capture --like OBSERVATION repeats the run"
	case errors.As(err, &locked):
		return ExitCannotKnow, "name a maintainer's age identity file in " + identityVariable
	case errors.As(err, &damaged), errors.As(err, &stray):
		return ExitCannotKnow, "restore it from a copy of the private store"
	case errors.As(err, &alone):
		return ExitUsage, "add age_recipients to maintainers in registry/policy.json"
	case errors.As(err, &file):
		return ExitUsage, validateHint(file.Name)
	case errors.Is(err, report.ErrAddress):
		return ExitUsage, "correct " + webhookURLVar
	case errors.Is(err, rawjson.ErrDepth):
		return ExitCannotKnow, fmt.Sprintf("no reader takes a line that nests more than %d deep", rawjson.MaxDepth)
	case errors.As(err, &broken):
		return ExitUsage, validateHint(broken.File)
	case brokenTranscript(err):
		return ExitUsage, ""
	case brokenFile(err):
		return ExitUsage, "agent-contracts validate says what is wrong with the registry, and where"
	case cannotKnow(err):
		return ExitCannotKnow, ""
	}
	return ExitBug, "this is our bug; please report the command and this version (agent-contracts --version)"
}

// badInput makes what is wrong with a capture input a usage error, whatever it
// is; only an unknown agent has a hint.
func badInput(err error) error {
	var agent *agents.UnknownAgentError
	if err == nil || errors.As(err, &agent) {
		return err
	}
	return &Exit{Code: ExitUsage, Err: err}
}

// cannotInstall reports an error of package install; its text has the advice.
func cannotInstall(err error) bool {
	for _, reason := range []error{
		install.ErrNoSuchVersion, install.ErrNPMMissing, install.ErrNetwork, install.ErrIntegrity,
		install.ErrNoBinary, install.ErrCache, install.ErrNPM,
	} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// brokenTranscript reports a file that looks like a transcript or a recording
// and is none; its text names the place.
func brokenTranscript(err error) bool {
	var line *transcript.LineError
	var in *inputError
	return errors.As(err, &line) || errors.As(err, &in)
}

// brokenFile reports JSON in a registry that is not what it should be.
func brokenFile(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind)
}

// validateHint names the command that finds every problem of a file.
func validateHint(place string) string {
	return "agent-contracts validate " + oneLine(place) + " says what is wrong, and where"
}

// cannotKnow reports what is neither the user's fault nor ours: a version that
// no binary tells, a file that cannot be read, a time limit.
func cannotKnow(err error) bool {
	var unknown *capture.CannotKnowError
	var dialect *dialectError
	var file *fs.PathError
	var call syscall.Errno
	var network *net.OpError
	return errors.As(err, &unknown) || errors.As(err, &dialect) || errors.As(err, &file) || errors.As(err, &call) ||
		errors.As(err, &network) || errors.Is(err, agents.ErrNoVersion) || errors.Is(err, context.DeadlineExceeded)
}

// installOptions are the options of package install for captures: the cache is
// the default one, and a capture reports progress itself.
func (a *app) installOptions() install.Options { return install.Options{} }
