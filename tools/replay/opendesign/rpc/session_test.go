package rpc

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/vectortest"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// traceEntry is one entry of a recorded session: what the host or the child
// did.
type traceEntry struct {
	Dir      string
	Frame    json.RawMessage
	Data     *string
	Event    string
	Payload  json.RawMessage
	ExitCode *int `json:"exit_code"`
	Signal   *string
}

type harnessVectors struct {
	Vectors []struct {
		Family, Name     string
		Options          json.RawMessage
		Trace            []traceEntry
		Fatal            bool
		Completed        *bool
		DurableSessionID *string `json:"durable_session_id"`
	}
}

func TestHarnessVectors(t *testing.T) {
	var file harnessVectors
	vectortest.Load(t, "rpc-harness.json", &file)
	for _, v := range file.Vectors {
		vectortest.Run(t, v.Family+"/"+v.Name, func(t *testing.T) {
			s := newSession(t, v.Family, v.Options)
			var want, got []string
			for _, e := range v.Trace {
				want = append(want, e.line(t))
			}
			play(t, s, v.Trace, &got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("trace (-want +got):\n%s", diff)
			}
			o := s.Outcome()
			if o.Fatal != v.Fatal || v.Completed != nil && o.Completed != *v.Completed {
				t.Errorf("outcome %+v, want fatal %v, completed %v", o, v.Fatal, v.Completed)
			}
			if v.DurableSessionID != nil && o.SessionID != *v.DurableSessionID {
				t.Errorf("session id %q, want %q", o.SessionID, *v.DurableSessionID)
			}
		})
	}
}

// play delivers what the child did in the trace and notes everything in the
// order in which it happens.
func play(t *testing.T, s Session, trace []traceEntry, got *[]string) {
	t.Helper()
	var lines Lines
	take := func(actions []Action) {
		for _, a := range actions {
			*got = append(*got, actionLine(a))
		}
	}
	take(s.Start())
	for _, e := range trace {
		switch {
		case e.Dir == "cli->server":
			*got = append(*got, e.line(t))
			text := ""
			if e.Data != nil {
				text = *e.Data
			} else {
				text = compact(t, e.Frame)
			}
			for _, m := range lines.Feed([]byte(text + "\n")) {
				take(s.Message(m))
			}
		case e.Dir == "process" && e.Event == "exit":
			*got = append(*got, e.line(t))
			code, signal := -1, ""
			if e.ExitCode != nil {
				code = *e.ExitCode
			}
			if e.Signal != nil {
				signal = *e.Signal
			}
			take(s.Exit(code, signal))
		case e.Dir == "call" && e.Event == "abort":
			*got = append(*got, e.line(t))
			take(s.Abort())
		}
	}
}

func (e traceEntry) line(t *testing.T) string {
	t.Helper()
	switch {
	case e.Dir == "server->cli" && e.Frame != nil:
		return "send " + compact(t, e.Frame)
	case e.Dir == "server->cli" && e.Event == "kill":
		return "kill " + *e.Signal
	case e.Dir == "server->cli":
		return e.Event
	case e.Dir == "emit":
		return "emit " + e.Event + " " + compact(t, e.Payload)
	case e.Data != nil:
		return "data " + *e.Data
	case e.Frame != nil:
		return "frame " + compact(t, e.Frame)
	}
	return e.Dir + " " + e.Event
}

func actionLine(a Action) string {
	switch a.Kind {
	case Send:
		return "send " + a.Value.JSON()
	case Emit:
		return "emit " + a.Channel + " " + a.Value.JSON()
	case Kill:
		return "kill SIGTERM"
	}
	return string(a.Kind)
}

func compact(t *testing.T, b json.RawMessage) string {
	t.Helper()
	return event.Of(value(t, b)).JSON()
}

func newSession(t *testing.T, family string, options json.RawMessage) Session {
	t.Helper()
	o := value(t, options)
	opts := Options{
		Cwd: "/work", Prompt: "PROMPT", Model: o.Get("model").Str(), ResumeSessionID: o.Get("resumeSessionId").Str(),
		EnvMap: o.Get("envFormat").IsStr("map"), CompleteOnTurnEnd: o.Get("completePromptOnTurnEnd").Bool(),
		ModelUnavailableCode: o.Get("modelUnavailableErrorCode").Str(), ParentSession: o.Get("parentSession").Str(),
	}
	for p := range o.Get("imagePaths").Children() {
		opts.ImagePaths = append(opts.ImagePaths, p.Str())
	}
	for m := range o.Get("mcpServers").Children() {
		server := MCPServer{Type: m.Get("type").Str(), Name: m.Get("name").Str(), Command: m.Get("command").Str()}
		for a := range m.Get("args").Children() {
			server.Args = append(server.Args, a.Str())
		}
		for e := range m.Get("env").Children() {
			if e.Kind() == rawjson.Object {
				server.Env = append(server.Env, EnvVar{e.Get("name").Str(), e.Get("value").Str()})
				continue
			}
			server.Env = append(server.Env, EnvVar{e.Key(), e.Str()})
		}
		opts.MCPServers = append(opts.MCPServers, server)
	}
	if strings.HasPrefix(family, "pi") {
		return NewPi(opts)
	}
	return NewACP(opts)
}
