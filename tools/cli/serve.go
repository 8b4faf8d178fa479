package cli

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/compat"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/serve"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// defaultAddr is where serve listens: this machine alone can reach it.
const defaultAddr = "127.0.0.1:7411"

func (a *app) serveCommand() *cobra.Command {
	var addr string
	var hosts []string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer over HTTP: pages for people, an API for programs",
		Long: `Serve shows the registry as web pages and answers the compatibility routes of the
specification, until it is interrupted:

  GET /api/agents/AGENT/cli-compatibility?probe=0|1
  GET /api/agents/cli-compatibility?probe=0|1

/api/v1/openapi.json describes every route. It answers GET and HEAD alone and
changes nothing. A probe (probe=1) is compatibility --probe in a process of its
own; one runs at a time. New records are seen within seconds.

It listens on the loopback device. Another address needs --allow-host with the
name that clients use, and what is about this machine (installed CLIs, review
queue) is still answered to this machine alone.

Exit codes: 0 interrupted; 2 usage, or the address is taken.`,
		Example: `  agent-contracts serve
  agent-contracts serve --addr 127.0.0.1:0
  agent-contracts serve --addr :8080 --allow-host contracts.example`,
		Annotations: map[string]string{noMachine: "it answers over HTTP until it is interrupted"},
		Args:        argsError(cobra.NoArgs),
		RunE:        func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), addr, hosts) },
	}
	c.Flags().StringVar(&addr, "addr", defaultAddr, "address to listen on; port 0 is any free one")
	c.Flags().StringSliceVar(&hosts, "allow-host", nil, "a name, beside localhost, by which clients may call this server")
	_ = c.RegisterFlagCompletionFunc("addr", cobra.NoFileCompletions)
	_ = c.RegisterFlagCompletionFunc("allow-host", cobra.NoFileCompletions)
	return c
}

func (a *app) serve(ctx context.Context, addr string, hosts []string) error {
	if err := checkAddr(addr, hosts); err != nil {
		return err
	}
	reg, err := a.open()
	if err != nil {
		return err
	}
	state, err := store.StateDir(a.env.Getenv)
	if err != nil {
		return &Exit{Code: ExitUsage, Err: err, Hint: "set XDG_STATE_HOME to a folder that nobody else may read"}
	}
	var global []string
	if a.registry != "" {
		global = append(global, "--registry="+a.registry)
	}
	s, err := serve.New(serve.Config{
		Program: thisProgram(), Arguments: global, Registry: reg, Checker: compat.Checker{StateDir: state, LookupEnv: a.lookupEnv}, Requests: requests.Open(state, reg, a.env.Now), Hosts: hosts, Now: a.env.Now,
		Fault: func(err error) { a.warn("fault: %v", err) },
	})
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("listening: %w", err), Hint: "choose another address with --addr; port 0 is any free one"}
	}
	if _, err := fmt.Fprintf(a.env.Stdout, "http://%s/\n", l.Addr()); err != nil {
		return err
	}
	a.talk("serving until interrupted; GET /api/v1/openapi.json describes the routes")
	return s.Serve(ctx, l)
}

// checkAddr refuses an address that others can reach when nobody said by what
// name they may.
func checkAddr(addr string, hosts []string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("--addr %q is no address: want HOST:PORT", addr)}
	}
	ip := net.ParseIP(host)
	if len(hosts) > 0 || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return &Exit{Code: ExitUsage, Err: fmt.Errorf("--addr %q can be reached from other machines", addr), Hint: "say by what name clients call it: --allow-host NAME"}
}
