// Package compat says what is known about the CLIs that are installed on this
// machine: the specification's classification, by version alone or with a
// bounded probe of the active shape, and what else of the machine matters. It
// publishes nothing.
package compat

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Checker classifies installed CLIs.
type Checker struct {
	Index    *matrix.Index
	Registry *store.Registry // its probes are what a local probe asks
	StateDir string          // the private state folder
	// LookupEnv is asked for PATH, and for the variables that an agent's
	// definition lets a probed program see.
	LookupEnv func(string) (string, bool)
	Now       func() time.Time
	// Probe runs the representative probe of each CLI that is classified.
	Probe bool
	// Versions remembers versions between checks; nil asks each time.
	Versions *Versions
	// Progress is told what happens; nil tells nobody.
	Progress func(agent, what string)
}

// Result is what is known about one installed CLI.
type Result struct {
	// Response is the answer for programs.
	Response contract.CompatibilityResponse
	// Program is the file that was found, "" for none.
	Program string
	// Why says for people why the status is what it is.
	Why []string
	// Next is the cheapest step that could change it, without text when there
	// is nothing to do.
	Next matrix.Step
}

// Answer is the answer to "can I use it?".
func (r *Result) Answer() matrix.Answer {
	c := matrix.Claim{Policy: r.Response.Policy}
	return c.Answer()
}

// FindProgram returns the file that PATH gives for the agent's program, or "".
// Folders of PATH that depend on the current folder are left out.
func FindProgram(a *contract.Agent, path string) string {
	for _, name := range a.ProgramNames() {
		for _, dir := range filepath.SplitList(path) {
			if !filepath.IsAbs(dir) {
				continue
			}
			if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return p
			}
		}
	}
	return ""
}

func (k *Checker) path() string {
	path, _ := k.LookupEnv("PATH")
	return path
}

// Installed returns the ids of the agents whose program is on PATH.
func (k *Checker) Installed() []string {
	var ids []string
	path := k.path()
	for i := range k.Index.Agents() {
		if a := &k.Index.Agents()[i]; FindProgram(a, path) != "" {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// Check classifies the installed CLI of an agent. A CLI that is not there, or
// does not say its version, is a result; errors are an
// *agents.UnknownAgentError and those of this machine.
func (k *Checker) Check(ctx context.Context, id string) (*Result, error) {
	r, err := k.check(ctx, id)
	if err == nil { // made now: what it says of a local probe is older
		r.Response.GeneratedAt = k.Now().UTC().Format(time.RFC3339)
	}
	return r, err
}

func (k *Checker) check(ctx context.Context, id string) (*Result, error) {
	a, err := k.Index.Agent(id)
	if err != nil {
		return nil, err
	}
	r := &Result{Program: FindProgram(a, k.path()), Response: contract.CompatibilityResponse{
		SchemaVersion: contract.SchemaVersion, Agent: a.ID, Platform: contract.HostPlatform(),
		Status: contract.SupportUnknown, Evidence: contract.CompatibilityEvidence{Source: contract.EvidenceFromNone},
		Policy: contract.CompatibilityPolicy{AllowRun: contract.AllowRunFor(contract.SupportUnknown, false), UserAction: contract.ActionFor(contract.SupportUnknown, false)},
	}}
	if r.Program == "" {
		k.missing(a, r)
		return r, nil
	}
	if a.VersionProbe == nil {
		r.Why = []string{"this registry does not know how to ask it for its version"}
		return r, nil
	}
	k.tell(a, "asking "+filepath.Base(r.Program)+" for its version")
	v, err := k.version(ctx, a, r.Program)
	if err != nil {
		var unknown *capture.CannotKnowError
		if ctx.Err() != nil || !errors.As(err, &unknown) {
			return nil, err
		}
		r.Why = []string{unknown.Error()}
		return r, nil
	}
	r.Response.InstalledVersion = &v.Token
	return r, k.classify(ctx, a, v.Token, r)
}

func (k *Checker) version(ctx context.Context, a *contract.Agent, program string) (agents.Version, error) {
	if k.Versions != nil {
		return k.Versions.Ask(ctx, a, program)
	}
	return capture.InstalledVersion(ctx, k.StateDir, a, program)
}

func (k *Checker) missing(a *contract.Agent, r *Result) {
	r.Why = []string{"no program of its name is on PATH"}
	if a.Install == nil {
		return
	}
	version := "latest"
	if c, err := k.Index.Find(a.ID, "0.0.0", contract.HostPlatform()); err == nil && c.LatestVerified != "" {
		version = c.LatestVerified
	}
	r.Next = matrix.Step{Text: "install it", Command: "npm install --global " + a.Install.NPM.Package + "@" + version}
}

func (k *Checker) classify(ctx context.Context, a *contract.Agent, version string, r *Result) error {
	c, err := k.Index.Find(a.ID, version, r.Response.Platform)
	if err != nil {
		return err
	}
	var said []string
	// What is known not to work is not started to find out more.
	if k.Probe && c.Status != contract.SupportTooOld && c.Status != contract.SupportKnownBreaking {
		found, err := k.probe(ctx, a, version, r.Program)
		if err != nil {
			return err
		}
		said = found.said
		if c, err = k.Index.Classify(a.ID, version, r.Response.Platform, found.Probed); err != nil {
			return err
		}
		if c.Status == contract.SupportActiveShapeUnknown {
			said = append(said, k.changes(&c, found)...)
		}
	}
	r.Response.Status, r.Response.Policy, r.Response.Evidence = c.Status, c.Policy, c.Evidence
	r.Why = append(said, c.Why()...)
	r.Next = c.Next(contract.HostPlatform())
	if c.Policy.UserAction == contract.CLIActionRunLocalProbe && !k.Probe {
		r.Next = matrix.Step{Text: "run a local probe", Command: "agent-contracts compatibility " + a.ID + " --probe"}
	}
	return nil
}

func (k *Checker) tell(a *contract.Agent, what string) {
	if k.Progress != nil {
		k.Progress(a.ID, what)
	}
}

// makeDir makes a folder that every user may walk through and nobody list:
// children run as another user.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return err
	}
	return os.Chmod(dir, 0o711)
}
