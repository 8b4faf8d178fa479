package capture

import (
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// exitGrace is how long a CLI has to exit after the end of its stdin. The
// consumer waits half a second for ACP agents; then how a healthy one ends
// would be a matter of the machine's load (research, "Stability").
const exitGrace = 6 * time.Second

// rpcScript is the client of a two-way protocol: the consumer's own session.
type rpcScript struct {
	session rpc.Session
	lines   rpc.Lines
}

// newRPC returns the first frames and the script of a session in the dialect.
func newRPC(dialect string, opts rpc.Options) (harness.Stdin, harness.Script) {
	s := &rpcScript{session: rpc.NewPi(opts)}
	if dialect == reference.DialectACP {
		s.session = rpc.NewACP(opts)
	}
	in := harness.Stdin{Mode: contract.StdinRPC}
	for _, a := range s.do(s.session.Start()) {
		in.Data = append(in.Data, a.Write...)
	}
	return in, s
}

// Output implements harness.Script.
func (s *rpcScript) Output(stream transcript.Stream, chunk []byte) []harness.Action {
	if stream != transcript.Stdout {
		return nil
	}
	var out []harness.Action
	for _, m := range s.lines.Feed(chunk) {
		out = append(out, s.do(s.session.Message(m))...)
	}
	return out
}

func (s *rpcScript) do(actions []rpc.Action) []harness.Action {
	var out []harness.Action
	for _, a := range actions {
		switch a.Kind {
		case rpc.Send:
			out = append(out, harness.Action{Write: append(a.Value.AppendJSON(nil), '\n')})
		case rpc.EndStdin:
			out = append(out, harness.Action{CloseStdin: true, Terminate: true, TerminateAfter: max(a.KillAfter, exitGrace)})
		case rpc.Kill:
			out = append(out, harness.Action{Terminate: true})
		}
	}
	return out
}
