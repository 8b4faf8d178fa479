package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness/fault"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/provider"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Bounds of one child, whatever its probe says.
const (
	maxOutputBytes = 32 << 20
	maxOutputLines = 200_000
	maxLogBytes    = 8 << 20
)

// recorded is one finished run of a child: the bundle on disk and what the
// surroundings know about it.
type recorded struct {
	bundle   string
	digest   contract.Digest
	launch   *agents.Launch
	resume   string // the session that a two-way client asks for, or ""
	result   harness.Result
	gaveUp   string // the words of a two-way client that an agent left waiting
	isolated bool
	requests contract.RequestSummary
	// problem says why the probe itself was not run: the run before it, which
	// the bundle then holds, did not make a session.
	problem string
	// secrets are the credentials of every run in this place.
	secrets []string
	// unexpected describes requests that the scenario does not answer, without
	// their content.
	unexpected []string
	// background goes with the bundle into the private store; nil when the run
	// was not redacted.
	background *Background
	// fault is what changed the run on its way to the recorder, nil for nothing.
	fault   *fault.Injector
	ws      *workspace
	baseURL string
	started time.Time
	// tokens are those that the run reported, 0 for none.
	tokens int64
}

// child runs one probe once and records it. The workspace stays until the
// caller has derived everything: the redactor needs its paths.
func (c *capturer) child(ctx context.Context, job *cellJob, dir string) (rec *recorded, err error) {
	ws, err := newWorkspace(c.opts.StateDir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ws.remove())
		}
	}()
	sandbox, err := harness.NewSandbox(ctx, harness.Options{HostNetwork: c.opts.Live})
	if err != nil {
		return nil, fmt.Errorf("making a sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, sandbox.Close()) }()

	server, err := provider.New(job.probe.first().Scenario, provider.Options{Workdir: ws.cwd, TextChunk: c.opts.ChunkRunes})
	if err != nil {
		return nil, err
	}
	if err := server.Start(sandbox.Listener()); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()

	rec = &recorded{bundle: filepath.Join(dir, "raw.bundle"), ws: ws, isolated: sandbox.Isolated(), baseURL: server.BaseURL(), started: c.opts.Now()}
	session := agents.NewUUID() // unless a run before leaves one, nobody knows it
	if job.probe.Before != nil {
		if session, err = c.makeSession(ctx, job, rec, sandbox, server); err != nil || rec.problem != "" {
			return rec, err
		}
	}
	if err := c.prepare(job, rec, agents.NewUUID(), session); err != nil {
		return nil, err
	}
	if err := c.record(ctx, job, rec, sandbox, server.Replied()); err != nil {
		return nil, err
	}
	rec.count(server, job.probe.Before != nil)
	return rec, nil
}

// count sums up what the child asked the provider.
func (rec *recorded) count(server *provider.Server, resumed bool) {
	for _, r := range server.Requests() {
		switch r.Kind {
		case provider.KindSide:
			rec.requests.Side++
		case provider.KindUnexpected:
			rec.requests.Unexpected++
			rec.unexpected = append(rec.unexpected, r.String())
		default:
			rec.requests.Model++
			rec.requests.Images = max(rec.requests.Images, r.Images)
			if resumed && rec.requests.History == nil {
				rec.requests.History = &r.Answers
			}
		}
	}
}

// prepare fills the workspace and renders the launch. uuid is the id that the
// host mints for this run, session the one to resume.
func (c *capturer) prepare(job *cellJob, rec *recorded, uuid, session string) error {
	ws := rec.ws
	promptFile := filepath.Join(ws.tmp, "prompt.md")
	launch, err := agents.NewLaunch(job.agent, job.version.Version, job.cell.Probe, job.cell.Profile, agents.Vars{
		Cwd: ws.cwd, Home: ws.home, Tmp: ws.tmp, Prompt: job.probe.Prompt, PromptFile: promptFile, BaseURL: rec.baseURL,
		Model: job.probe.Scenario.Model, MaxRetries: job.probe.Scenario.MaxRetries,
		UUID: uuid, APIKey: agents.NewAPIKey(), SessionID: session,
		Policy: &job.probe.EnvPolicy, Live: c.opts.Live, Help: job.version.Help[job.cell.Profile], LookupEnv: c.opts.LookupEnv,
	})
	if err != nil {
		return err
	}
	rec.resume = ""
	if job.probe.Before != nil || slices.Contains(contract.ResumeProbes, job.probe.ID) {
		rec.resume = session
	}
	rec.launch, rec.secrets = launch, append(rec.secrets, launch.Secrets...)
	for _, f := range launch.HomeFiles {
		dir, rel := ws.home, f.Path
		if inside, ok := strings.CutPrefix(f.Path, contract.WorkspacePrefix); ok {
			dir, rel = ws.cwd, inside
		}
		if err := ws.write(dir, rel, []byte(f.Text), 0o600); err != nil {
			return err
		}
	}
	for _, f := range job.probe.Files {
		if err := ws.write(ws.cwd, f.Path, f.Content, 0o644); err != nil {
			return err
		}
	}
	if launch.StdinMode == contract.StdinPromptFile {
		return ws.write(ws.tmp, "prompt.md", []byte(job.probe.Prompt), 0o600)
	}
	return nil
}

func (c *capturer) record(ctx context.Context, job *cellJob, rec *recorded, sandbox *harness.Sandbox, replied <-chan struct{}) error {
	bundle, err := transcript.CreateBundle(rec.bundle)
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	t := job.probe.Scenario.Timeouts
	longer := time.Millisecond * time.Duration(job.patience)
	spec := harness.Spec{
		Path: job.version.Installed.Path, Args: append(append([]string{}, job.version.Installed.Args...), rec.launch.Argv...),
		Env: rec.launch.Env, Dir: rec.ws.cwd, UID: rec.ws.uid, GID: rec.ws.gid,
		Limits: harness.Limits{Wall: time.Duration(t.WallMS) * longer, Idle: time.Duration(t.IdleMS) * longer, Bytes: maxOutputBytes, Lines: maxOutputLines},
		Bundle: bundle,
	}
	if log := job.agent.SessionLog; log != "" && job.probe.ID != contract.VersionProbeID {
		spec.Log = &harness.Log{Root: rec.ws.home, Pattern: log, Limit: maxLogBytes}
	}
	if err := job.probe.conditions(&spec, rec.ws, replied); err != nil {
		return err
	}
	if rec.fault, err = job.probe.inject(&spec, rec.launch.Dialect); err != nil {
		return err
	}
	spec.Stdin, spec.Script = stdinFor(rec.launch, job.probe.Prompt)
	if rec.launch.StdinMode == contract.StdinRPC {
		spec.Stdin, spec.Script = newRPC(rec.launch, job, rec.ws, rec.resume)
	}
	rec.result, err = sandbox.Run(ctx, spec)
	if client, ok := spec.Script.(*rpcScript); ok && rec.result.Reason == transcript.ReasonIdleTimeout {
		rec.gaveUp = client.gaveUp(spec.Limits.Idle)
	}
	var start *harness.StartError
	if errors.As(err, &start) {
		err = nil // a child that cannot start is an observation of its own kind
		rec.result.Reason = start.Reason()
	}
	digest, closeErr := bundle.Close()
	rec.digest = digest
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(err, closeErr)
}

// stdinFor gives the child its prompt as the consumer does (research of
// OpenDesign v0.19.2, spawn path): text and then the end of stdin, or one
// stream-json line on a stdin that stays open until the turn is over.
func stdinFor(l *agents.Launch, prompt string) (harness.Stdin, harness.Script) {
	switch l.StdinMode {
	case contract.StdinText:
		return harness.Stdin{Mode: l.StdinMode, Data: []byte(prompt)}, nil
	case contract.StdinJSONLOpen:
		line := []byte(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":`)
		line = rawjson.AppendQuote(line, prompt)
		line = append(line, "}]}}\n"...)
		return harness.Stdin{Mode: l.StdinMode, Data: line}, newTurnScript()
	}
	return harness.Stdin{Mode: l.StdinMode}, nil
}

// turnScript closes stdin when the consumer would.
type turnScript struct {
	parser opendesign.Parser
	book   opendesign.StdinBook
}

func newTurnScript() *turnScript {
	p, err := opendesign.New("claude", opendesign.Options{})
	if err != nil {
		panic("capture: the claude parser is built in: " + err.Error())
	}
	return &turnScript{parser: p}
}

// Output implements harness.Script.
func (t *turnScript) Output(s transcript.Stream, chunk []byte) []harness.Action {
	if s != transcript.Stdout {
		return nil
	}
	for _, e := range t.parser.Feed(chunk) {
		if t.book.Observe(e) {
			return []harness.Action{{CloseStdin: true}}
		}
	}
	return nil
}

// answer is what a short command said, and how it ended.
type answer struct {
	stdout, stderr []byte
	result         harness.Result
}

// small runs a short command of the CLI: the questions for its version and its
// flags, which are not recorded. With a request the CLI is ended when it has
// answered a line.
func (c *capturer) small(ctx context.Context, in *install.Installed, args []string, request string, timeout time.Duration) (answer, error) {
	return c.smallThen(ctx, in, args, request, timeout, nil)
}

// smallThen is small; then, if not nil, sees the folder that the command ran in
// before that goes, and "{out}" in args is the folder out below it.
func (c *capturer) smallThen(ctx context.Context, in *install.Installed, args []string, request string, timeout time.Duration, then func(cwd string) error) (out answer, err error) {
	ws, err := newWorkspace(c.opts.StateDir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, ws.remove()) }()
	sandbox, err := harness.NewSandbox(ctx, harness.Options{})
	if err != nil {
		return out, fmt.Errorf("making a sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, sandbox.Close()) }()
	stdin, script := harness.Stdin{Mode: contract.StdinNone}, harness.Script(nil)
	if request != "" {
		stdin, script = harness.Stdin{Mode: contract.StdinRPC, Data: []byte(request)}, oneLine{}
	}
	full := append([]string{}, in.Args...)
	for _, arg := range args {
		full = append(full, strings.ReplaceAll(arg, "{out}", filepath.Join(ws.cwd, "out")))
	}
	out.result, err = sandbox.Run(ctx, harness.Spec{
		Path: in.Path, Args: full,
		Env: []string{"HOME=" + ws.home, "TMPDIR=" + ws.tmp, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}, Dir: ws.cwd, UID: ws.uid, GID: ws.gid,
		Stdin:  stdin,
		Script: script,
		Limits: harness.Limits{Wall: timeout, Bytes: 4 << 20},
		Tap: func(s transcript.Stream, b []byte) {
			if s == transcript.Stdout {
				out.stdout = append(out.stdout, b...)
			} else {
				out.stderr = append(out.stderr, b...)
			}
		},
	})
	if err == nil && then != nil {
		err = then(ws.cwd)
	}
	return out, err
}

// oneLine ends a CLI that has answered a line.
type oneLine struct{}

// Output implements harness.Script.
func (oneLine) Output(s transcript.Stream, chunk []byte) []harness.Action {
	if s != transcript.Stdout || !bytes.Contains(chunk, []byte("\n")) {
		return nil
	}
	return []harness.Action{{CloseStdin: true, Terminate: true}}
}
