package cli

import (
	"errors"
	"fmt"
	"strings"
)

// mayCaptureLive refuses where foreign code could meet credentials. In a workflow
// it takes only events that run the code of people who may write here, and of these
// only where the variable is set that the environment which people protect has alone.
func (a *app) mayCaptureLive() error {
	refuse := func(format string, args ...any) error {
		return &Exit{Code: ExitUsage, Err: errors.New("--live refuses to run " + fmt.Sprintf(format, args...)), Hint: "run it by hand, behind a protected environment (docs/AUTOMATION.md)"}
	}
	event, ref := a.env.Getenv("GITHUB_EVENT_NAME"), a.env.Getenv("GITHUB_REF")
	switch {
	case strings.HasPrefix(event, "pull_request") || strings.HasPrefix(ref, "refs/pull/"):
		return refuse("for a pull request: foreign code must not meet credentials")
	case event == "merge_group" || strings.HasPrefix(ref, mergeQueue):
		return refuse("for a merge queue: foreign code must not meet credentials")
	case event == "" && a.env.Getenv("GITHUB_ACTIONS") == "":
		return nil // no workflow
	case event == "push" && (!strings.HasPrefix(ref, "refs/heads/") || a.env.Getenv("GITHUB_REF_PROTECTED") != "true"):
		return refuse("for a push to anything but a protected branch")
	case event != "schedule" && event != "workflow_dispatch" && event != "push":
		return refuse("for the event %q: only schedule, workflow_dispatch and push to a protected branch run code of people who may write here", event)
	case a.env.Getenv("AGENT_CONTRACTS_LIVE") == "":
		return refuse("in a workflow without AGENT_CONTRACTS_LIVE, which only a protected environment sets")
	}
	return nil
}

// mergeQueue begins the branches on which GitHub tries what waits to be merged.
const mergeQueue = "refs/heads/gh-readonly-queue/"
