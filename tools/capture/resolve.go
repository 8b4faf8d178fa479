package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

func loadAgents(reg *store.Registry) (*contract.AgentsFile, error) {
	b, err := reg.ReadFile(store.AgentsFile)
	if err != nil {
		return nil, err
	}
	return agents.Read(bytes.NewReader(b), store.AgentsFile)
}

// What a CannotKnowError can be about, for errors.Is.
var (
	// ErrMachine: this machine could not run the program, whatever program it is.
	ErrMachine = errors.New("this machine could not run the program")
	// ErrNoAnswer: the program did not start, or did not say who it is in time.
	ErrNoAnswer = errors.New("the program did not say which version it is")
	// ErrOtherVersion: the program is another version, or another program.
	ErrOtherVersion = errors.New("the program is another version")
)

// CannotKnowError says that a capture could not find anything out, and why.
type CannotKnowError struct {
	What string
	Err  error
	// About is one of the errors above, or nil.
	About error
}

// Error implements error.
func (e *CannotKnowError) Error() string {
	if e.Err == nil {
		return e.What
	}
	return e.What + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *CannotKnowError) Unwrap() error { return e.Err }

// Is reports what the error is about.
func (e *CannotKnowError) Is(target error) bool { return e.About != nil && target == e.About }

// resolveVersion turns what the user asked for into an exact version.
func resolveVersion(ctx context.Context, opts Options, a *contract.Agent, t Target) (string, []string, error) {
	if opts.Bin != "" {
		v, err := binVersion(ctx, opts, a)
		return v, nil, err
	}
	if t.Version != "" {
		v, err := install.Resolve(ctx, a, t.Version, opts.Install)
		if err != nil {
			return "", nil, err
		}
		if v == t.Version {
			return v, nil, nil
		}
		return v, []string{fmt.Sprintf("%s: %s is version %s", a.ID, t.Version, v)}, nil
	}
	known, err := newestKnown(opts.Registry, a)
	if err != nil {
		return "", nil, err
	}
	latest, err := install.Resolve(ctx, a, "latest", opts.Install)
	switch {
	case err != nil && known == "":
		return "", nil, err
	case err != nil:
		return known, []string{fmt.Sprintf("%s: could not look for a newer version than %s: %v", a.ID, known, err)}, nil
	case known == "":
		return latest, []string{fmt.Sprintf("%s: the registry knows no version; capturing the latest, %s", a.ID, latest)}, nil
	}
	if n, err := agents.CompareVersions(a, latest, known); err == nil && n > 0 {
		return known, []string{fmt.Sprintf("%s: capturing %s, the newest that the registry knows; %s exists: agent-contracts capture %s@%s", a.ID, known, latest, a.ID, latest)}, nil
	}
	return known, nil, nil
}

// binVersion asks the program that the user named who it is.
func binVersion(ctx context.Context, opts Options, a *contract.Agent) (string, error) {
	c := &capturer{opts: opts, progress: Progress{Group: a.ID}}
	in, err := install.Binary(a, opts.Bin)
	if err != nil {
		return "", err
	}
	v, err := c.askVersion(ctx, a, in)
	return v.Token, err
}

func hasLaunch(a *contract.Agent, version, probe, profile string) bool {
	v, err := agents.ParseToken(a, version)
	if err != nil {
		return false
	}
	_, err = agents.HelpArgs(a, v, probe, profile)
	return err == nil
}

// versionInfo is what is known of an installed program before its probes.
type versionInfo struct {
	Version   agents.Version
	Installed *install.Installed
	// Help is the help probe's output by profile, where an argv depends on it.
	Help map[string][]byte
	// program is the file as it was when it named its version.
	program os.FileInfo
}

// unchanged says that the program is still the one that named its version: some
// update themselves while they run.
func (v *versionInfo) unchanged() error {
	now, err := os.Stat(v.Installed.Path)
	if err != nil || !os.SameFile(v.program, now) || now.Size() != v.program.Size() || !now.ModTime().Equal(v.program.ModTime()) {
		return &CannotKnowError{What: fmt.Sprintf("%s changed while it was captured; run the same command again", v.Installed.Source), Err: err}
	}
	return nil
}

// identify asks an installed release who it is and refuses an answer that is
// not the version asked for (DESIGN D3).
func (c *capturer) identify(ctx context.Context, a *contract.Agent, in *install.Installed, cells []Cell) (*versionInfo, error) {
	program, err := os.Stat(in.Path)
	if err != nil {
		return nil, &CannotKnowError{What: "looking at " + in.Source, Err: err}
	}
	v, err := c.askVersion(ctx, a, in)
	if err != nil {
		return nil, err
	}
	if v.Token != cells[0].Version {
		return nil, &CannotKnowError{What: fmt.Sprintf("%s says that it is version %s, not %s", in.Source, v.Token, cells[0].Version), About: ErrOtherVersion}
	}
	info := &versionInfo{Version: v, Installed: in, Help: map[string][]byte{}, program: program}
	for _, cell := range cells {
		if info.Help[cell.Profile] != nil {
			continue
		}
		args, err := agents.HelpArgs(a, v, cell.Probe, cell.Profile)
		if err != nil || args == nil {
			continue
		}
		c.tell("asking for its flags")
		said, err := c.small(ctx, in, args, "", time.Duration(a.HelpProbe.TimeoutMS)*time.Millisecond)
		if err != nil {
			return nil, fmt.Errorf("asking %s for its flags: %w", in.Source, err)
		}
		info.Help[cell.Profile] = append(append([]byte{}, said.stdout...), said.stderr...)
	}
	return info, nil
}

func (c *capturer) askVersion(ctx context.Context, a *contract.Agent, in *install.Installed) (agents.Version, error) {
	c.tell("asking for its version")
	asking := "asking " + in.Source + " for its version"
	args, request := agents.VersionQuestion(a, in.Version)
	timeout := time.Duration(a.VersionProbe.TimeoutMS) * time.Millisecond
	said, err := c.small(ctx, in, args, request, timeout)
	var refused *harness.StartError
	switch {
	case errors.As(err, &refused):
		return agents.Version{}, &CannotKnowError{What: asking, Err: err, About: ErrNoAnswer}
	case err != nil:
		return agents.Version{}, &CannotKnowError{What: asking, Err: err, About: ErrMachine}
	}
	if len(bytes.TrimSpace(said.stdout)) == 0 { // pi 0.75 and 0.76 keep stdout for their frames
		said.stdout = said.stderr
	}
	v, err := agents.ParseVersion(a, said.stdout)
	if err != nil {
		if said.result.Ended == transcript.EventTimeout {
			err = fmt.Errorf("it was not done after %s: %w", timeout, err)
		}
		return v, &CannotKnowError{What: asking, Err: err, About: ErrNoAnswer}
	}
	if code := said.result.ExitCode; v.Product == "" && code != nil && *code != 0 { // a stack names the version of its runtime
		return v, &CannotKnowError{What: fmt.Sprintf("%s: it failed with exit code %d", asking, *code), About: ErrNoAnswer}
	}
	if v.Product == "" {
		return v, &CannotKnowError{What: fmt.Sprintf("%s answers with version %s but not as %s: it may be another program of the same name", in.Source, v.Token, a.Name), About: ErrOtherVersion}
	}
	return v, nil
}

// InputTargets reads one Capture Input object, or a list of them. name stands
// for the file in errors.
func InputTargets(reg *store.Registry, name string, b []byte) ([]Target, error) {
	file, err := loadAgents(reg)
	if err != nil {
		return nil, err
	}
	var list []Input
	text := bytes.TrimSpace(b)
	if len(text) > 0 && text[0] == '{' {
		text = append(append([]byte("["), text...), ']')
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("reading the capture input %s: %w", name, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading the capture input %s: there is text after the JSON value", name)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("reading the capture input %s: it is empty", name)
	}
	var out []Target
	for i, in := range list {
		t, err := in.Target(file)
		if err != nil {
			return nil, fmt.Errorf("capture input %s, item %d: %w", name, i+1, err)
		}
		out = append(out, t)
	}
	return out, nil
}

// LikeTargets reads observations by their places and repeats them: the same
// version, probe and profile.
func LikeTargets(reg *store.Registry, places []string) ([]Target, error) {
	var out []Target
	for _, p := range places {
		o := &contract.Observation{}
		rel := strings.ReplaceAll(p, "\\", "/")
		if i := strings.Index(rel, "observations/"); i > 0 {
			rel = rel[i:]
		}
		rel = path.Clean(rel)
		if !strings.HasPrefix(rel, "observations/") || !strings.HasSuffix(rel, ".observation.json") {
			return nil, fmt.Errorf("repeating %s: it is not an observation, a file observations/….observation.json", p)
		}
		if err := reg.ReadJSON(rel, o); err != nil {
			return nil, fmt.Errorf("repeating %s: %w", p, err)
		}
		i := slices.IndexFunc(out, func(t Target) bool {
			return t.Agent == o.Agent && t.Version == o.CLIVersion && t.Profile == o.Extensions.Profile
		})
		if i < 0 {
			out = append(out, Target{Agent: o.Agent, Version: o.CLIVersion, Profile: o.Extensions.Profile})
			i = len(out) - 1
		}
		if !slices.Contains(out[i].Probes, o.Probe) {
			out[i].Probes = append(out[i].Probes, o.Probe)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no observation given")
	}
	return out, nil
}
