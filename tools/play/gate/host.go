package gate

import (
	"bytes"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture/acpclient"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// host drives a child as the consumer's daemon does. It is fed line by line,
// so that the line with which it acts is known.
type host interface {
	// begin returns what is written before the child says anything.
	begin() []byte
	// line takes a line of stdout.
	line(line []byte) hostAction
}

// hostAction is what a host does after a line.
type hostAction struct {
	write     []byte
	close     bool
	terminate bool // it wants the child ended; it closes stdin with that
}

// script lets a host drive a live child, and notes when it closed stdin. It
// also does what befell the recorded child from outside.
type script struct {
	host     host
	open     bytes.Buffer // of stdout
	lines    int          // of stdout
	closedAt int          // the line of stdout after which stdin was closed, -1 for never
	// happen is what befell the recorded child after that many lines of both
	// streams; nil for nothing.
	happen func() []harness.Action
	after  int
	seen   int
}

// Output implements harness.Script.
func (s *script) Output(stream transcript.Stream, chunk []byte) (out []harness.Action) {
	s.seen += bytes.Count(chunk, []byte("\n"))
	if stream == transcript.Stdout {
		s.open.Write(chunk)
		for bytes.IndexByte(s.open.Bytes(), '\n') >= 0 {
			line, _ := s.open.ReadBytes('\n')
			s.lines++
			out = append(out, s.act(s.host.line(line))...)
		}
	}
	if s.happen != nil && s.seen >= s.after {
		out = append(out, s.happen()...)
		s.happen = nil
	}
	return out
}

func (s *script) act(a hostAction) []harness.Action {
	if a.close && s.closedAt < 0 {
		s.closedAt = s.lines
	}
	return []harness.Action{{Write: a.write, CloseStdin: a.close, Terminate: a.terminate}}
}

// silent is the host of a child that reads a prompt, or nothing.
type silent struct{ prompt []byte }

func (s silent) begin() []byte          { return s.prompt }
func (s silent) line([]byte) hostAction { return hostAction{} }

// turns is the host of a stream-json child: it closes stdin when the turn is
// over.
type turns struct {
	silent
	parser opendesign.Parser
	book   opendesign.StdinBook
}

func newTurns(prompt []byte) *turns {
	p, err := opendesign.New("claude", opendesign.Options{})
	if err != nil {
		panic("gate: the claude parser is built in: " + err.Error())
	}
	return &turns{silent: silent{prompt}, parser: p}
}

func (t *turns) line(line []byte) (a hostAction) {
	for _, e := range t.parser.Feed(line) {
		a.close = t.book.Observe(e) || a.close
	}
	return a
}

// client is the host of a two-way protocol.
type client struct {
	session rpc.Session
	lines   rpc.Lines
	hello   []byte // what is written first instead of the session's own frames
	// cancelAfter is the line of stdout after which the recorded client gave
	// up, -1 for never.
	cancelAfter, seen int
}

func (c *client) begin() []byte {
	first := c.do(c.session.Start()).write
	if c.cancelAfter == 0 {
		first = append(first, c.do(c.session.Abort()).write...)
	}
	if c.hello != nil {
		return c.hello
	}
	return first
}

func (c *client) line(line []byte) hostAction {
	c.seen++
	var a hostAction
	for _, m := range c.lines.Feed(line) {
		a.add(c.do(c.session.Message(m)))
	}
	if c.seen == c.cancelAfter {
		a.add(c.do(c.session.Abort()))
	}
	return a
}

func (a *hostAction) add(b hostAction) {
	a.write = append(a.write, b.write...)
	a.close, a.terminate = a.close || b.close, a.terminate || b.terminate
}

// do carries out a session's actions. When the host loses its patience with an
// agent whose stdin has ended is the script's business.
func (c *client) do(actions []rpc.Action) (a hostAction) {
	for _, x := range actions {
		switch x.Kind {
		case rpc.Send:
			a.write = append(x.Value.AppendJSON(a.write), '\n')
		case rpc.EndStdin:
			a.close = true
		case rpc.Kill:
			a.terminate = true
		}
	}
	return a
}

// newHost returns the host that the recorded one was.
func newHost(t *transcript.Transcript, mode contract.StdinMode, d *contract.Dialect, asked contract.ClientPermission) host {
	switch mode {
	case contract.StdinText:
		return silent{[]byte("What a played child is asked does not matter.\n")}
	case contract.StdinJSONLOpen:
		return newTurns(t.Bytes(transcript.ServerToCLI, transcript.Stdin))
	case contract.StdinRPC:
		told := readClient(t)
		c := &client{cancelAfter: told.cancelAfter, hello: told.hello}
		switch {
		case d.Parser == "pi-rpc":
			c.session = rpc.NewPi(told.opts)
		case told.strict:
			c.session = acpclient.New(acpclient.Options{
				Cwd: told.opts.Cwd, Prompt: told.opts.Prompt, Load: told.opts.ResumeSessionID, Mode: told.mode,
				Model: told.opts.Model, AuthMethod: told.auth, Attach: told.attach, Close: told.close, Resume: told.resume,
				MCPServers: told.opts.MCPServers, Permission: asked, Files: &told.files,
			})
		default:
			c.session = rpc.NewACP(told.opts)
		}
		return c
	}
	return silent{}
}
