// Package acpclient is the client of the capture profile strict: it keeps to
// the Agent Client Protocol's specification, version 1, where OpenDesign
// v0.19.2 does not. It offers files and terminals and answers for them, checks
// the protocol's version, uses what an agent says that it can do and nothing
// else, cancels with a notification, and closes stdin only when the turn is
// over.
//
// Terminals are played: what an agent would run in one is not run, since its
// own tools are what a capture is about.
package acpclient

import (
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// ProtocolVersion is the version of ACP that the client speaks.
const ProtocolVersion = 1

// Methods of agents that keep their sessions.
const (
	methodList   = "session/list"
	methodResume = "session/resume"
)

// exitGrace is how long an agent has to exit after the end of its stdin.
const exitGrace = 5 * time.Second

// Files is the workspace that the agent may read and write through the client.
// Paths are absolute, as the agent spells them.
type Files interface {
	ReadFile(path string) ([]byte, error)
	WriteFile(path string, content []byte) error
}

// Options are what the client knows before the session starts.
type Options struct {
	Cwd    string // absolute
	Prompt string
	// Load is the session to continue, "" for a new one.
	Load string
	// Resume asks which sessions there are, and continues Load without its
	// history, each where the agent has that.
	Resume bool
	// Mode is the session mode to ask for, "" for the agent's own.
	Mode string
	// Model is the model to select, "" for the agent's own. One that the agent
	// does not offer is not asked for.
	Model string
	// AuthMethod is the id of the method to authenticate with before the
	// session, "" for none. One that the agent does not offer is not used.
	AuthMethod string
	// Attach goes with the prompt, each file in the best form that the agent
	// takes.
	Attach []Attachment
	// Close ends the session with session/close after the turn, where the agent
	// has that.
	Close bool
	// Permission is the answer to every permission question.
	Permission contract.ClientPermission
	// Ask answers the permission questions instead, when given.
	Ask func(Question) Decision
	// Version replaces the protocol version that the client offers; 0 leaves it.
	Version    int
	MCPServers []rpc.MCPServer
	Files      Files
}

// Client is one session. It implements rpc.Session.
type Client struct {
	opts      Options
	lastID    int
	pending   map[string]string // our requests: id → method
	stage     string            // the method of the last of them
	takes     capabilities
	sessionID string
	model     selection
	questions []event.Value // ids of unanswered permission questions
	hold      bool          // questions wait for the cancel
	terminals int
	over      bool
	outcome   rpc.Outcome
	out       []rpc.Action
}

// New returns a client.
func New(opts Options) *Client {
	return &Client{opts: opts, pending: map[string]string{}, hold: opts.Permission == contract.PermissionCancel}
}

// Outcome implements rpc.Session.
func (c *Client) Outcome() rpc.Outcome { return c.outcome }

func (c *Client) take() []rpc.Action {
	out := c.out
	c.out = nil
	return out
}

func (c *Client) send(fields ...event.Field) {
	all := append([]event.Field{event.F("jsonrpc", event.String("2.0"))}, fields...)
	c.out = append(c.out, rpc.Action{Kind: rpc.Send, Value: event.Object(all...)})
}

func (c *Client) request(method string, params ...event.Field) {
	c.lastID++
	c.call(event.Number(float64(c.lastID)), method, params...)
}

// extra sends a request that the consumer does not have. Its id is of a kind of
// its own, so that the other requests are numbered as the consumer numbers its
// own: its adapter then reads this session too.
func (c *Client) extra(id, method string, params ...event.Field) {
	c.call(event.String(id), method, params...)
}

func (c *Client) call(id event.Value, method string, params ...event.Field) {
	c.pending[id.JSON()] = method
	c.stage = method
	c.send(event.F("id", id), text("method", method), event.F("params", event.Object(params...)))
}

func (c *Client) answer(id event.Value, result event.Value) {
	c.send(event.F("id", id), event.F("result", result))
}

func (c *Client) refuse(id event.Value, code int, message string) {
	c.send(event.F("id", id), event.F("error", event.Object(event.F("code", event.Number(float64(code))), text("message", message))))
}

func text(key, s string) event.Field { return event.F(key, event.String(s)) }

// Start implements rpc.Session.
func (c *Client) Start() []rpc.Action {
	version := c.opts.Version
	if version == 0 {
		version = ProtocolVersion
	}
	yes := event.Bool(true)
	c.request("initialize", event.F("protocolVersion", event.Number(float64(version))),
		event.F("clientCapabilities", event.Object(
			event.F("fs", event.Object(event.F("readTextFile", yes), event.F("writeTextFile", yes))), event.F("terminal", yes))),
		event.F("clientInfo", event.Object(text("name", "agent-contracts"), text("version", contract.ToolVersion))))
	return c.take()
}

// Message implements rpc.Session.
func (c *Client) Message(line string) []rpc.Action {
	v, err := rawjson.Parse([]byte(line))
	if err != nil || v.Kind() != rawjson.Object || c.over {
		return nil
	}
	switch method := v.Get("method").Str(); {
	case method != "" && v.Get("id").Exists():
		c.asked(method, event.Of(v.Get("id")), v.Get("params"))
	case method != "":
	default:
		c.answered(v)
	}
	return c.take()
}

func (c *Client) answered(v rawjson.Value) {
	key := string(v.Get("id").Raw())
	method, known := c.pending[key]
	if !known {
		return
	}
	delete(c.pending, key)
	result, e := v.Get("result"), v.Get("error")
	switch { // an error that is null is none: some agents send both members
	case e.Exists() && e.Kind() != rawjson.Null:
		c.failed(method, e)
		return
	case !result.Exists():
		c.fail("the agent's answer has neither a result nor an error")
		return
	}
	switch method {
	case "initialize":
		if n := result.Get("protocolVersion"); n.Kind() != rawjson.Number || n.Float() != ProtocolVersion {
			c.fail("the agent speaks another version of the protocol")
			return
		}
		c.initialized(result)
	case "authenticate":
		c.list()
	case methodList:
		c.open()
	case "session/new", "session/load", methodResume:
		c.opened(result)
	case "session/set_mode":
		c.selectModel()
	case setOption, setModel:
		c.prompt()
	case "session/prompt":
		c.outcome.Completed = true
		c.close()
	case "session/close":
		c.end()
	}
}

func (c *Client) initialized(result rawjson.Value) {
	c.takes = capabilitiesOf(result.Get("agentCapabilities"))
	if offersMethod(result.Get("authMethods"), c.opts.AuthMethod) {
		c.extra("authenticate", "authenticate", text("methodId", c.opts.AuthMethod))
		return
	}
	c.list()
}

// list asks which sessions there are. What the answer says does not count: the
// session to take up is known.
func (c *Client) list() {
	if !c.opts.Resume || !c.takes.list {
		c.open()
		return
	}
	c.extra(methodList, methodList, text("cwd", c.opts.Cwd))
}

func (c *Client) open() {
	fields := []event.Field{text("cwd", c.opts.Cwd), event.F("mcpServers", rpc.Servers(c.opts.MCPServers, false))}
	if c.opts.Load == "" {
		c.request("session/new", fields...)
		return
	}
	fields = append([]event.Field{text("sessionId", c.opts.Load)}, fields...)
	switch {
	case c.opts.Resume && c.takes.resume:
		c.request(methodResume, fields...)
	case c.takes.load:
		c.request("session/load", fields...)
	default:
		c.fail("the agent does not load sessions")
	}
}

func (c *Client) opened(result rawjson.Value) {
	c.sessionID = result.Get("sessionId").Str()
	if c.sessionID == "" {
		c.sessionID = c.opts.Load // the answer need not repeat it
	}
	if c.sessionID == "" {
		c.fail("the agent gave no session id")
		return
	}
	c.model = offeredModel(result, c.opts.Model)
	if c.opts.Mode != "" {
		c.extra("mode", "session/set_mode", text("sessionId", c.sessionID), text("modeId", c.opts.Mode))
		return
	}
	c.selectModel()
}

func (c *Client) prompt() {
	parts := []event.Value{event.Object(text("type", "text"), text("text", c.opts.Prompt))}
	for _, a := range c.opts.Attach {
		parts = append(parts, a.block(c.takes))
	}
	c.request("session/prompt", text("sessionId", c.sessionID), event.F("prompt", event.Array(parts...)))
}

// failed handles an error answer: a list, a mode or a model may be refused, and a
// session that cannot be closed is over all the same.
func (c *Client) failed(method string, e rawjson.Value) {
	switch method {
	case methodList:
		c.open()
	case "session/set_mode":
		c.selectModel()
	case setOption, setModel:
		c.prompt()
	case "session/close":
		c.end()
	default:
		c.fail(e.Get("message").Str())
	}
}

// close ends the session, where the agent has that, and then the agent.
func (c *Client) close() {
	if !c.opts.Close || !c.takes.close {
		c.end()
		return
	}
	c.request("session/close", text("sessionId", c.sessionID))
}

// Stage implements rpc.Staged.
func (c *Client) Stage() string { return c.stage }

// TimedOut implements rpc.Staged: the agent is given up.
func (c *Client) TimedOut(after time.Duration) []rpc.Action {
	if !c.over {
		c.fail(rpc.TimeoutMessage(c.stage, after))
	}
	return c.take()
}

func (c *Client) fail(message string) {
	c.outcome.Fatal = true
	c.out = append(c.out, rpc.Action{Kind: rpc.Emit, Channel: rpc.ChannelError, Value: event.Object(text("message", message))})
	c.end()
}

// end closes stdin; an agent that stays is ended later.
func (c *Client) end() {
	c.over = true
	c.out = append(c.out, rpc.Action{Kind: rpc.EndStdin, KillAfter: exitGrace})
}

// Exit implements rpc.Session.
func (c *Client) Exit(int, string) []rpc.Action {
	c.outcome.Fatal = c.outcome.Fatal || !c.over && !c.outcome.Completed
	c.over = true
	return nil
}

// Fail implements rpc.Session.
func (c *Client) Fail(message string) []rpc.Action {
	if !c.over {
		c.fail(message)
	}
	return c.take()
}

// Abort implements rpc.Session: a notification, and "cancelled" for every
// question that waits. The turn ends with the agent's answer.
func (c *Client) Abort() []rpc.Action {
	if c.over || c.outcome.Aborted || c.outcome.Completed || c.sessionID == "" {
		return nil
	}
	c.outcome.Aborted = true
	c.send(text("method", "session/cancel"), event.F("params", event.Object(text("sessionId", c.sessionID))))
	for _, id := range c.questions {
		c.answer(id, outcome("cancelled", event.Value{}))
	}
	c.questions = nil
	return c.take()
}
