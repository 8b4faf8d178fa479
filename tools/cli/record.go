package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
	"github.com/nexu-io/open-design-agent-contracts/tools/record"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// The exit codes of a shell for a program that cannot be started.
const (
	exitNotFound   = 127
	exitNotStarted = 126
)

type recordFlags struct {
	out     string
	verbose bool
}

func (a *app) recordCommand() *cobra.Command {
	f := &recordFlags{}
	c := &cobra.Command{
		Use:   "record -- CLI ARGS...",
		Short: "Run a CLI for a host and keep what passes between them",
		Long: `Record starts a CLI and stands between it and the program that started record:
the same bytes pass through stdin, stdout and stderr, the end of stdin and
signals are passed on, and record ends as the CLI ends, by the same exit code or
signal. What passed is kept as a raw bundle in the private store of this machine
and is written nowhere else; redact and normalize read it.

Put it where a program names the CLI that it starts. A stream that is a terminal
is the CLI's own and is not recorded.

Exit codes: the CLI's own; 127 there is no such CLI, 126 it cannot be started;
2 usage; 3 the recording could not be begun, and the CLI was not started.`,
		Example: `  agent-contracts record -- codex exec --json --skip-git-repo-check - < prompt.md
  agent-contracts record --out run.bundle -- claude -p hello
  agent-contracts normalize run.bundle`,
		Annotations: map[string]string{noMachine: "its stdout is the CLI's own"},
		Args:        argsError(cobra.MinimumNArgs(1)),
		RunE:        func(_ *cobra.Command, args []string) error { return a.record(f, args) },
	}
	c.Flags().StringVar(&f.out, "out", "", "write the raw bundle to this new file instead of the private store")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "say on stderr, after the CLI's end, where the bundle is")
	c.Flags().SetInterspersed(false)
	return c
}

func (a *app) record(f *recordFlags, args []string) error {
	stdin, ok1 := a.env.Stdin.(*os.File)
	stdout, ok2 := a.env.Stdout.(*os.File)
	stderr, ok3 := a.env.Stderr.(*os.File)
	if !ok1 || !ok2 || !ok3 {
		return errors.New("recording: the standard streams are no files")
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		code := exitNotStarted
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			code = exitNotFound
		}
		return &Exit{Code: code, Err: fmt.Errorf("recording: %w", err)}
	}
	k := &keeper{app: a, cli: filepath.Base(path)}
	if err := k.begin(f.out); err != nil {
		return err
	}
	res, err := record.Run(record.Options{Path: path, Args: args, Stdin: stdin, Stdout: stdout, Stderr: stderr, Bundle: k.bundle})
	if err != nil {
		return errors.Join(&Exit{Code: exitNotStarted, Err: fmt.Errorf("recording: %w", err)}, k.keep())
	}
	lost := errors.Join(res.Lost, k.keep())
	switch {
	case f.verbose && lost != nil:
		a.warn("agent-contracts record: not all of the run was kept: %v", lost)
	case f.verbose:
		a.warn("agent-contracts record: %s", k.place)
	}
	if res.Signal != nil {
		return record.DieBy(res.Signal)
	}
	os.Exit(res.Code)
	return nil
}

// keeper keeps the bundle of one recording.
type keeper struct {
	app     *app
	cli     string
	started time.Time
	raw     *private.Store // nil for a file of the user's
	place   string
	bundle  *transcript.BundleWriter
}

func (k *keeper) begin(out string) error {
	k.started, k.place = k.app.env.Now(), out
	if out == "" {
		reg, err := k.app.open()
		if err != nil { // the shim works in any folder
			reg = store.Embedded(agentcontracts.Files())
		}
		if k.raw, err = k.app.privateStore(reg); err != nil {
			return err
		}
		k.place = k.raw.Begin()
	}
	var err error
	if k.bundle, err = transcript.CreateBundle(k.place); errors.Is(err, fs.ErrExist) {
		return &Exit{Code: ExitUsage, Err: err, Hint: "name a new file"}
	}
	return err
}

func (k *keeper) keep() error {
	digest, err := k.bundle.Close()
	if err != nil || k.raw == nil {
		return err
	}
	err = k.raw.Keep(context.Background(), k.place, private.Meta{
		SHA256: digest, StoredAt: k.started.UTC(), RetainUntil: k.started.Add(private.Retention).UTC().Truncate(time.Second), Agent: k.cli,
	}, nil)
	if err == nil {
		k.place = string(digest) + " in the private store"
	}
	return err
}
