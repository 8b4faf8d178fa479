package capture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture/acpclient"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// exitGrace is how long a CLI has to exit after the end of its stdin. The
// consumer waits half a second for ACP agents; then how a healthy one ends
// would be a matter of the machine's load (research, "Stability").
const exitGrace = 6 * time.Second

// rpcScript is the client of a two-way protocol.
type rpcScript struct {
	session rpc.Session
	lines   rpc.Lines
	moment  contract.ClientMoment // when to cancel; "" for never, or done
}

// newRPC returns the first frames and the script of a session in the launch's
// dialect.
func newRPC(l *agents.Launch, job *cellJob, ws *workspace, resume string) (harness.Stdin, harness.Script) {
	probe := job.probe
	var client contract.ScenarioClient
	if c := probe.Scenario.Client; c != nil {
		client = *c
	}
	s := &rpcScript{moment: client.CancelAfter}
	opts := rpc.Options{Cwd: ws.cwd, Prompt: probe.Prompt, ResumeSessionID: resume, MCPServers: probe.mcpServers(ws)}
	opts.ImagePaths, opts.Images = probe.images(ws)
	switch {
	case l.Dialect == reference.DialectPiRPC:
		opts.ParentSession = resume
		s.session = rpc.NewPi(opts)
	case l.Client == contract.ClientStrict:
		s.session = acpclient.New(acpclient.Options{
			Cwd: ws.cwd, Prompt: probe.Prompt, Load: resume, Mode: l.SessionMode, Model: l.SessionModel, AuthMethod: l.AuthMethod,
			Permission: client.Permission, Ask: job.permission(client.Permission, ws), Files: ws,
			MCPServers: opts.MCPServers, Attach: probe.attachments(ws), Close: client.CloseSession, Resume: client.ResumeSession,
		})
	default:
		s.session = rpc.NewACP(opts)
	}
	in := harness.Stdin{Mode: contract.StdinRPC}
	for _, a := range s.do(s.session.Start()) {
		in.Data = append(in.Data, a.Write...)
	}
	in.Data = spoil(in.Data, client.Hello)
	return in, s
}

// mcpServers are the servers in the probe's workspace that the client hands to
// the agent: *-server.cjs, started with node.
func (p *Probe) mcpServers(ws *workspace) []rpc.MCPServer {
	var out []rpc.MCPServer
	for _, f := range p.Files {
		if strings.HasSuffix(f.Path, "-server.cjs") {
			out = append(out, rpc.MCPServer{Name: "registry", Command: "node", Args: []string{filepath.Join(ws.cwd, filepath.FromSlash(f.Path))}})
		}
	}
	return out
}

// images are the pictures in the probe's workspace: ACP agents get their paths,
// Pi the bytes.
func (p *Probe) images(ws *workspace) (paths []string, images []rpc.Image) {
	for _, f := range p.Files {
		if strings.HasSuffix(f.Path, ".png") {
			paths = append(paths, filepath.Join(ws.cwd, filepath.FromSlash(f.Path)))
			images = append(images, rpc.Image{Data: base64.StdEncoding.EncodeToString(f.Content), MimeType: "image/png"})
		}
	}
	return paths, images
}

// attachments are the files that a strict client sends with the prompt: those
// that the scenario names, and pictures.
func (p *Probe) attachments(ws *workspace) (out []acpclient.Attachment) {
	for _, f := range p.Files {
		named := p.Scenario.Client != nil && slices.Contains(p.Scenario.Client.Attach, f.Path)
		if !named && path.Ext(f.Path) != ".png" {
			continue
		}
		out = append(out, acpclient.Attachment{Path: filepath.Join(ws.cwd, filepath.FromSlash(f.Path)), MIMEType: mimeType(f.Path), Content: f.Content})
	}
	return out
}

func mimeType(file string) string {
	switch path.Ext(file) {
	case ".png":
		return "image/png"
	case ".json":
		return "application/json"
	}
	return "text/plain"
}

// spoil puts the probe's fault into the first frame.
func spoil(frame []byte, hello contract.ClientHello) []byte {
	version := []byte(`"protocolVersion":1`)
	switch hello {
	case contract.HelloWrongVersion:
		return bytes.Replace(frame, version, []byte(`"protocolVersion":9999`), 1)
	case contract.HelloInvalid:
		return bytes.Replace(frame, append(version, ','), nil, 1)
	case contract.HelloGarbage:
		return append([]byte("this line is no JSON\n"), frame...)
	}
	return frame
}

// Output implements harness.Script.
func (s *rpcScript) Output(stream transcript.Stream, chunk []byte) []harness.Action {
	if stream != transcript.Stdout {
		return nil
	}
	var out []harness.Action
	for _, m := range s.lines.Feed(chunk) {
		out = append(out, s.do(s.session.Message(m))...)
		if s.moment != "" && momentOf(m) == s.moment {
			out = append(out, s.cancel()...)
		}
	}
	return out
}

// gaveUp says what the client waited for when the agent had been silent for too
// long, "" if it waited for nothing.
func (s *rpcScript) gaveUp(after time.Duration) string {
	staged, ok := s.session.(rpc.Staged)
	if !ok {
		return ""
	}
	stage := staged.Stage()
	if len(staged.TimedOut(after)) == 0 {
		return ""
	}
	return rpc.TimeoutMessage(stage, after)
}

func (s *rpcScript) cancel() []harness.Action {
	s.moment = ""
	return s.do(s.session.Abort())
}

func (s *rpcScript) do(actions []rpc.Action) []harness.Action {
	var out []harness.Action
	for _, a := range actions {
		switch a.Kind {
		case rpc.Send:
			frame := a.Value.AppendJSON(nil)
			out = append(out, harness.Action{Write: append(frame, '\n')})
			if s.moment == contract.MomentPrompt && isPrompt(frame) {
				out = append(out, s.cancel()...)
			}
		case rpc.EndStdin:
			out = append(out, harness.Action{CloseStdin: true, Terminate: true, TerminateAfter: max(a.KillAfter, exitGrace)})
		case rpc.Kill:
			out = append(out, harness.Action{Terminate: true})
		}
	}
	return out
}

func isPrompt(frame []byte) bool {
	v, err := rawjson.Parse(frame)
	return err == nil && (v.Get("method").IsStr("session/prompt") || v.Get("type").IsStr("prompt"))
}

// momentOf returns the moment that a message of the agent is, or "".
func momentOf(message string) contract.ClientMoment {
	v, err := rawjson.Parse([]byte(message))
	if err != nil {
		return ""
	}
	if v.Get("method").IsStr("session/request_permission") {
		return contract.MomentPermission
	}
	u := v.At("params", "update")
	status := u.Get("status").Str()
	switch kind := u.Get("sessionUpdate").Str(); {
	case kind == "agent_message_chunk" || v.At("assistantMessageEvent", "type").IsStr("text_delta"):
		return contract.MomentText
	case kind == "tool_call" || v.Get("type").IsStr("tool_execution_start"):
		return contract.MomentTool
	case kind == "tool_call_update" && (status == "completed" || status == "failed") || v.Get("type").IsStr("tool_execution_end"):
		return contract.MomentToolResult
	}
	return ""
}

// ReadFile implements acpclient.Files: the agent's own workspace, and nothing
// that a link in it leads to.
func (w *workspace) ReadFile(path string) ([]byte, error) {
	root, rel, err := w.inside(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.ReadFile(rel)
}

// WriteFile implements acpclient.Files.
func (w *workspace) WriteFile(path string, content []byte) error {
	root, rel, err := w.inside(path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.WriteFile(rel, content, 0o644); err != nil || w.uid == 0 {
		return err
	}
	return root.Lchown(rel, w.uid, w.gid)
}

func (w *workspace) inside(path string) (*os.Root, string, error) {
	rel, err := filepath.Rel(w.cwd, path)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, "", fmt.Errorf("opening a file for the agent: %w", errors.Join(fs.ErrPermission, err))
	}
	root, err := os.OpenRoot(w.cwd)
	if err != nil {
		return nil, "", fmt.Errorf("opening a file for the agent: %w", err)
	}
	return root, rel, nil
}
