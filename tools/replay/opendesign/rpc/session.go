package rpc

import (
	"fmt"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
)

// Session is the host's side of one run over JSON lines. It is a pure state
// machine: whoever drives it delivers what comes from the child and carries
// out the actions, so that a live run and a recorded one take the same path.
// Times in its events are zero; only a host with a clock knows them.
type Session interface {
	// Start returns what the host does when the child is up.
	Start() []Action
	// Message takes one framed message of the child's stdout (see Lines).
	Message(text string) []Action
	// Exit says that the child is gone; the code is -1 if it has none.
	Exit(code int, signal string) []Action
	// Fail says that the child's stdin or the child itself broke.
	Fail(message string) []Action
	// Abort ends the run on behalf of the user.
	Abort() []Action
	// Outcome returns how far the session has come.
	Outcome() Outcome
}

// Staged is a session that knows what it waits for, and whose host gives up
// when no line has come for too long. Whoever drives it has the clock.
type Staged interface {
	Session
	// Stage returns the method of the request that waits, or StageResponse.
	Stage() string
	// TimedOut says that the agent printed no line for that long since the last
	// one, or since the last frame to it.
	TimedOut(after time.Duration) []Action
}

// TimeoutMessage is the error of an agent that was given up.
func TimeoutMessage(stage string, after time.Duration) string {
	return fmt.Sprintf("ACP %s timed out after %dms", stage, after.Milliseconds())
}

// Outcome is what the host knows of a session.
type Outcome struct {
	// Fatal says that the session ended the run with an error.
	Fatal bool
	// Completed says that the agent answered the prompt.
	Completed bool
	// Aborted says that the user ended the run.
	Aborted bool
	// SessionID is the agent's durable id for a later resume, or "".
	SessionID string
}

// ActionKind says what to do.
type ActionKind string

// The kinds of actions.
const (
	// Send writes a frame and a line feed to the child's stdin.
	Send ActionKind = "send"
	// Emit hands an event to the daemon's run.
	Emit ActionKind = "emit"
	// EndStdin closes the child's stdin.
	EndStdin ActionKind = "stdin_end"
	// Kill signals the child with SIGTERM.
	Kill ActionKind = "kill"
)

// Action is one thing that the host does.
type Action struct {
	Kind ActionKind
	// Value is the frame of Send, or the payload of Emit, as an object.
	Value event.Value
	// Channel is where Emit goes: agent or error.
	Channel string
	// KillAfter is, for EndStdin, how long the child has before it gets
	// SIGTERM; 0 sends none.
	KillAfter time.Duration
}

// Channels of Emit.
const (
	ChannelAgent = "agent"
	ChannelError = "error"
)

// Options are what the host knows before it starts a session.
type Options struct {
	Cwd    string // absolute
	Prompt string
	// Model is the one to select; "" and "default" leave the agent's own.
	Model string
	// ResumeSessionID asks an ACP agent to load a session.
	ResumeSessionID string
	// ImagePaths become resource links of an ACP prompt; empty ones are left
	// out.
	ImagePaths []string
	MCPServers []MCPServer
	// EnvMap sends the environment of MCP servers as an object instead of a
	// list of names and values.
	EnvMap bool
	// CompleteOnTurnEnd takes the update turn_end for the end of the prompt.
	CompleteOnTurnEnd bool
	// ModelUnavailableCode makes an answer without any output an error of
	// this code (agent amr only).
	ModelUnavailableCode string
	// ParentSession is the session that a Pi run continues: a path.
	ParentSession string
	// Images are those of a Pi prompt.
	Images []Image
}

// MCPServer is one server that the host hands to an ACP agent.
type MCPServer struct {
	Type    string // "" means stdio
	Name    string
	Command string
	Args    []string
	Env     []EnvVar
}

// EnvVar is one variable.
type EnvVar struct{ Name, Value string }

// Image is one image of a prompt.
type Image struct {
	Data     string // base64
	MimeType string
}

// actions collects what a message causes.
type actions struct{ list []Action }

func (a *actions) send(fields ...event.Field) {
	a.list = append(a.list, Action{Kind: Send, Value: event.Object(fields...)})
}

func (a *actions) emit(typ string, fields ...event.Field) {
	all := append([]event.Field{event.F("type", event.String(typ))}, fields...)
	a.list = append(a.list, Action{Kind: Emit, Channel: ChannelAgent, Value: event.Object(all...)})
}

func (a *actions) fatal(fields ...event.Field) {
	a.list = append(a.list,
		Action{Kind: Emit, Channel: ChannelError, Value: event.Object(fields...)},
		Action{Kind: Kill})
}

func (a *actions) endStdin(grace time.Duration) {
	a.list = append(a.list, Action{Kind: EndStdin, KillAfter: grace})
}

func str(key, s string) event.Field { return event.F(key, event.String(s)) }

func integer(key string, n int) event.Field { return event.F(key, event.Number(float64(n))) }

// elapsed stands for a time on the host's clock.
func elapsed(key string) event.Field { return integer(key, 0) }
