// Command agent-contracts captures, checks and serves the protocols of
// coding-agent CLIs. See package cli for its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/nexu-io/open-design-agent-contracts/tools/cli"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
)

func main() {
	if harness.SuperviseMain() {
		return
	}
	if os.Getenv("GOGC") == "" && !slices.ContainsFunc(os.Args, lean) {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(run(surroundings()))
}

// gcPercent is that of a program that lives for a moment: collecting a quarter as
// often makes redaction a seventh quicker (BenchmarkWhole).
const gcPercent = 400

// lean knows the commands whose memory counts for more: servers live long, and
// captures hold whatever a child prints, in several forms.
func lean(command string) bool {
	return slices.Contains([]string{"serve", "mcp", "capture", "bisect"}, command)
}

// oneSignal is how long signals count as one: timeout(1) sends each twice, to the
// process and to its group, and npm hands on what a terminal has sent to both.
const oneSignal = 2 * time.Second

// run runs one command; a signal asks it to end, and another one ends it, also
// where it waits for a file that nobody writes.
func run(env cli.Env) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer context.AfterFunc(ctx, func() { time.AfterFunc(oneSignal, stop) })()
	return cli.Main(ctx, env)
}

// surroundings is the process as a command sees it.
func surroundings() cli.Env {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	terminal := term.IsTerminal(int(os.Stderr.Fd()))
	return cli.Env{
		Args:     os.Args[1:],
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Getenv:   os.Getenv,
		Dir:      dir,
		Now:      time.Now,
		Terminal: terminal,

		Interactive: terminal && term.IsTerminal(int(os.Stdin.Fd())),
	}
}
