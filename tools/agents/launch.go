package agents

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

// Vars are the values of the template variables and the probe's choices.
type Vars struct {
	// Paths are absolute. Tmp becomes the child's TMPDIR and must not hold
	// Home: some CLIs refuse to work from a HOME below TMPDIR.
	Cwd, Home, Tmp, PromptFile string
	// Prompt is the probe's, for CLIs that take it from their argv only.
	Prompt string
	// BaseURL is the provider's root, without a path or a trailing slash.
	BaseURL    string
	Model      string
	MaxRetries int
	// UUID and APIKey are made up by NewUUID and NewAPIKey for each run.
	UUID, APIKey string
	// SessionID is the session to resume, or one that does not exist.
	SessionID string
	// Policy is the probe's env-policy.json; nil asks for dummy credentials.
	Policy *contract.EnvPolicy
	// Help is what the help probe printed, stdout and stderr, non-nil when it
	// ran, even if it failed. Only launches with HelpArgs need it.
	Help []byte
	// Live runs against the real provider with the host's credentials: no
	// HOME files and no hermetic variables.
	Live bool
	// LookupEnv reads the host's environment; nil means os.LookupEnv.
	LookupEnv func(string) (string, bool)
}

// HomeFile is a rendered file below HOME, with a slash path; a path that begins
// with contract.WorkspacePrefix lies in the workspace.
type HomeFile struct{ Path, Text string }

// Launch is everything that starts one run.
type Launch struct {
	Profile, Dialect string
	// Argv follows the binary; ArgvTemplate is the same with variables, and
	// belongs into an observation.
	Argv, ArgvTemplate []string
	// Env is the child's whole environment, sorted KEY=value.
	Env       []string
	StdinMode contract.StdinMode
	Client    string // contract.ClientStrict, or the consumer's own
	// SessionMode, SessionModel and AuthMethod are what a strict client asks
	// for; each may be "".
	SessionMode, SessionModel, AuthMethod string
	HomeFiles                             []HomeFile
	ProviderAPI                           contract.ProviderAPI
	// Secrets are the values of the credential variables, for the redactor.
	Secrets []string
}

// HelpArgs returns the arguments of the help probe whose output NewLaunch
// needs for this launch, or nil.
func HelpArgs(agent *contract.Agent, v Version, probe, profile string) ([]string, error) {
	l, err := selectLaunch(agent, v, probe, profile)
	if err != nil {
		return nil, err
	}
	if len(gatedFlags(agent, l)) == 0 {
		return nil, nil
	}
	return agent.HelpProbe.Args, nil
}

// Dialect returns the id of the dialect that a launch is to speak.
func Dialect(agent *contract.Agent, v Version, probe, profile string) (string, error) {
	l, err := selectLaunch(agent, v, probe, profile)
	if err != nil {
		return "", err
	}
	return l.Dialect, nil
}

// SessionPlace returns where a run that is to be resumed prints its session's
// id or leaves its file, as SessionID and SessionFile of contract.AgentLaunch
// say; both are "" if the host minted the id.
func SessionPlace(agent *contract.Agent, v Version, probe, profile string) (printed, file string, err error) {
	l, err := selectLaunch(agent, v, probe, profile)
	if err != nil {
		return "", "", err
	}
	return l.SessionID, l.SessionFile, nil
}

// FirstRun returns the probe whose launch starts the run before a probe's own:
// that of the probe before, unless a launch of the profile is made for it.
func FirstRun(agent *contract.Agent, probe, before, profile string) string {
	own := contract.FirstRun(probe)
	for _, l := range agent.Launches {
		if l.Profile == profile && slices.Contains(l.Probes, own) {
			return own
		}
	}
	return before
}

func gatedFlags(agent *contract.Agent, l *contract.AgentLaunch) (flags []string) {
	if agent.HelpProbe == nil {
		return nil
	}
	for _, arg := range l.Argv {
		if slices.Contains(agent.HelpProbe.Flags, arg) {
			flags = append(flags, arg)
		}
	}
	return flags
}

// selectLaunch returns the first launch that fits.
func selectLaunch(agent *contract.Agent, v Version, probe, profile string) (*contract.AgentLaunch, error) {
	for i := range agent.Launches {
		l := &agent.Launches[i]
		if l.Profile != profile || len(l.Probes) > 0 && !slices.Contains(l.Probes, probe) {
			continue
		}
		if len(l.Probes) == 0 && needsTelling(agent, probe, profile) {
			continue
		}
		in, err := v.In(l.Versions)
		if err != nil {
			return nil, fmt.Errorf("agent %q, launch %d: %w", agent.ID, i, err)
		}
		if in {
			return l, nil
		}
	}
	return nil, fmt.Errorf("agent %q has no launch with profile %q for probe %q at version %s; add one to registry/agents.json", agent.ID, profile, probe, v.Token)
}

// needsTelling reports whether a probe needs a launch that names it: the version
// probe is never a chat's, and what the agent is told by an argv is not told
// without it. What a HOME file tells works with every launch of a profile that
// names none for the probe.
func needsTelling(agent *contract.Agent, probe, profile string) bool {
	if probe == contract.VersionProbeID {
		return true
	}
	named := slices.ContainsFunc(agent.Launches, func(l contract.AgentLaunch) bool {
		return l.Profile == profile && slices.Contains(l.Probes, probe)
	})
	file := slices.ContainsFunc(agent.HomeFiles, func(f contract.AgentHomeFile) bool { return slices.Contains(f.Probes, probe) })
	return slices.Contains(contract.ToldProbes, probe) && (named || !file)
}

// NewLaunch renders the launch for one run. A template variable without a
// value is an error, as is a missing help probe.
func NewLaunch(agent *contract.Agent, v Version, probe, profile string, vars Vars) (*Launch, error) {
	l, err := selectLaunch(agent, v, probe, profile)
	if err != nil {
		return nil, err
	}
	out := &Launch{Profile: l.Profile, Dialect: l.Dialect, StdinMode: l.StdinMode, Client: l.Client, SessionMode: l.SessionMode, AuthMethod: l.AuthMethod}
	if out.ArgvTemplate, err = argvTemplate(agent, l, vars.Help); err != nil {
		return nil, err
	}
	if vars.Policy != nil {
		out.ArgvTemplate = append(out.ArgvTemplate, vars.Policy.AppendArgs...)
	}
	r := &renderer{vars: vars}
	for _, arg := range out.ArgvTemplate {
		out.Argv = append(out.Argv, r.render(arg))
	}
	out.SessionModel = r.render(l.SessionModel)
	if out.ProviderAPI, err = providerAPI(agent, v); err != nil {
		return nil, err
	}
	// Asking for the version needs no provider, so its settings may be absent.
	versionOnly := probe == contract.VersionProbeID
	if !versionOnly && !vars.Live {
		files, err := homeFiles(agent, v, probe)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			out.HomeFiles = append(out.HomeFiles, HomeFile{Path: f.Path, Text: r.render(f.Text)})
		}
	}
	if err := out.setEnv(agent, l, vars, r, versionOnly); err != nil {
		return nil, err
	}
	if len(r.missing) > 0 {
		return nil, fmt.Errorf("agent %q, probe %q: no value for %s", agent.ID, probe, strings.Join(r.missing, ", "))
	}
	return out, nil
}

// homeFiles returns the files for a version and a probe; one that is made for
// the probe takes the place of the general one.
func homeFiles(agent *contract.Agent, v Version, probe string) ([]contract.AgentHomeFile, error) {
	var files []contract.AgentHomeFile
	own := map[string]bool{}
	for _, f := range agent.HomeFiles {
		in, err := v.In(cmp.Or(f.Versions, "*"))
		if err != nil {
			return nil, fmt.Errorf("agent %q, HOME file %q: %w", agent.ID, f.Path, err)
		}
		if !in || len(f.Probes) > 0 && !slices.Contains(f.Probes, probe) {
			continue
		}
		files = append(files, f)
		own[f.Path] = own[f.Path] || len(f.Probes) > 0
	}
	return slices.DeleteFunc(files, func(f contract.AgentHomeFile) bool { return own[f.Path] && len(f.Probes) == 0 }), nil
}

// argvTemplate drops the flags that the help probe did not name.
func argvTemplate(agent *contract.Agent, l *contract.AgentLaunch, help []byte) ([]string, error) {
	gated := gatedFlags(agent, l)
	if len(gated) > 0 && help == nil {
		return nil, fmt.Errorf("agent %q: the argv depends on what %s prints; run that first", agent.ID, strings.Join(agent.HelpProbe.Args, " "))
	}
	return slices.DeleteFunc(slices.Clone(l.Argv), func(arg string) bool {
		return slices.Contains(gated, arg) && !bytes.Contains(help, []byte(arg))
	}), nil
}

func providerAPI(agent *contract.Agent, v Version) (contract.ProviderAPI, error) {
	for _, p := range agent.Providers {
		in, err := v.In(p.Versions)
		if err != nil {
			return "", fmt.Errorf("agent %q, providers: %w", agent.ID, err)
		}
		if in {
			return p.API, nil
		}
	}
	return "", fmt.Errorf("agent %q names no provider api for version %s; add one to registry/agents.json", agent.ID, v.Token)
}

// setEnv puts the environment together. With dropMissing a variable whose
// template lacks a value is left out instead of reported.
func (l *Launch) setEnv(agent *contract.Agent, def *contract.AgentLaunch, vars Vars, r *renderer, dropMissing bool) error {
	policy := vars.Policy
	if policy == nil {
		policy = &contract.EnvPolicy{Credentials: contract.CredentialsDummy}
	}
	lookup := vars.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	env := map[string]string{}
	for _, k := range agent.Env.Inherit {
		if value, ok := lookup(k); ok {
			env[k] = value
		}
	}
	set := maps.Clone(agent.Env.Set)
	if !vars.Live {
		maps.Copy(set, agent.Env.Hermetic)
	}
	maps.Copy(set, def.Env)
	for _, k := range slices.Sorted(maps.Keys(set)) {
		known := len(r.missing)
		env[k] = r.render(set[k])
		if dropMissing && len(r.missing) > known {
			delete(env, k)
			r.missing = r.missing[:known]
		}
	}
	credentials, err := credentials(agent, policy.Credentials, vars, r, lookup)
	if err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(credentials)) {
		env[k] = credentials[k]
		l.Secrets = append(l.Secrets, env[k])
	}
	for _, k := range slices.Sorted(maps.Keys(policy.Set)) {
		env[k] = r.render(policy.Set[k])
	}
	for _, k := range policy.Unset {
		delete(env, k)
	}
	for _, k := range slices.Sorted(maps.Keys(env)) {
		l.Env = append(l.Env, k+"="+env[k])
	}
	return nil
}

// ErrNoLiveCredentials says that the environment has none of the variables
// that could hold an agent's real credentials.
var ErrNoLiveCredentials = errors.New("no live credentials")

// credentials returns the credential variables: made-up ones by the state that
// the probe asks for, or, in a live capture that should succeed, the host's.
func credentials(agent *contract.Agent, state contract.CredentialState, vars Vars, r *renderer, lookup func(string) (string, bool)) (map[string]string, error) {
	templates, ok := agent.Env.Credentials[state]
	if !ok {
		return nil, fmt.Errorf("agent %q has no credential state %q", agent.ID, state)
	}
	out := map[string]string{}
	if !vars.Live || state != contract.CredentialsDummy {
		for k, v := range templates {
			out[k] = r.render(v)
		}
		return out, nil
	}
	for _, k := range agent.Env.Live {
		if value, ok := lookup(k); ok && value != "" {
			out[k] = value
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("agent %q: %w: set one of %s", agent.ID, ErrNoLiveCredentials, strings.Join(agent.Env.Live, ", "))
	}
	return out, nil
}

// renderer fills in template variables and remembers those without a value.
type renderer struct {
	vars    Vars
	missing []string
}

var variable = lazyregexp.New(`\{[a-z_]+\}`)

func (r *renderer) render(text string) string {
	return variable.Get().ReplaceAllStringFunc(text, func(name string) string {
		value := r.value(name[1 : len(name)-1])
		if value == "" && !slices.Contains(r.missing, name) {
			r.missing = append(r.missing, name)
		}
		return value
	})
}

// value returns "" for an unknown name; contract.TemplateVariables lists them.
func (r *renderer) value(name string) string {
	v := &r.vars
	switch name {
	case "cwd":
		return v.Cwd
	case "home":
		return v.Home
	case "tmp":
		return v.Tmp
	case "prompt":
		return v.Prompt
	case "prompt_file":
		return v.PromptFile
	case "base_url":
		return v.BaseURL
	case "model":
		return v.Model
	case "max_retries":
		return strconv.Itoa(v.MaxRetries)
	case "uuid":
		return v.UUID
	case "api_key":
		return v.APIKey
	case "session_id":
		return v.SessionID
	}
	return ""
}

// NewUUID returns a random UUID of version 4, the form of a session id that a
// host mints.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// NewAPIKey returns the random part of a made-up API key: 48 letters and
// digits, as real keys have. Definitions put a vendor's prefix before it.
func NewAPIKey() string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, 48)
	_, _ = rand.Read(b)
	for i := range b {
		b[i] = alphabet[int(b[i])%len(alphabet)]
	}
	return string(b)
}
