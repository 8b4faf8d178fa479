package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/play"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// ExitHost is the exit code of a played child whose host did not do what the
// recorded one did (EX_USAGE of sysexits.h).
const ExitHost = 64

type playFlags struct {
	speed   float64
	noDelay bool
	raw     bool
	shims   string
	as      string
}

func (a *app) playCommand() *cobra.Command {
	f := &playFlags{}
	c := &cobra.Command{
		Use:   "play FIXTURE|OBSERVATION|SIGNATURE | play --install-shims DIR",
		Short: "Be the CLI that a recording holds",
		Long: `Play becomes the child that was recorded: it prints the recording's stdout and
stderr line by line, reads from stdin what the recorded CLI was told, waits
where that waited, and ends as it ended, by the same exit code or signal. The
name is a file (a fixture, an observation, a raw bundle), here or in the
registry, or a signature: sha256:… of a shape, a fixture or a raw bundle, or its
first eight characters.

A text prompt is read to its end. Of a stream-json or two-way conversation the
kinds of frames count, not their words, and the ids of answers are those of the
live client. A host that does something else is told so on stderr.

A fixture has no times. With --raw the original bytes are played, in the chunks
and at the times in which they came, from the private store of the machine that
recorded them.

--install-shims writes a program for each agent that has recordings, by the name
of its CLI, so that it can stand in for the CLI on PATH. Which recording it plays
is the choice of OD_CONTRACT_SHAPE, OD_CONTRACT_PROBE and OD_CONTRACT_ERROR, and
of OpenDesign's OD_MOCKS_TRACE, OD_MOCKS_BY_PROMPT_HASH, OD_MOCKS_POOL and
OD_MOCKS_SEED (docs/PLAY.md).

Exit codes: the child's own; 64 the host did not do what the recorded one did;
2 usage; of a shim also 1 no recording fits the variables, 3 there is none.`,
		Example: `  agent-contracts play fixtures/json-event-stream/sha256-….sanitized.jsonl < prompt.md
  agent-contracts play observations/codex/0.133.0/linux-x64/….observation.json --raw --speed 10
  agent-contracts play --install-shims ~/shims
  OD_CONTRACT_SHAPE=codex@0.133.0 OD_CONTRACT_PROBE=chat-tool-success PATH=~/shims:$PATH my-wrapper`,
		Annotations: map[string]string{noMachine: "its stdout is the recorded CLI's"},
		Args:        cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			lib, err := a.library(f)
			if err != nil {
				return err
			}
			switch {
			case f.shims != "":
				return a.installShims(lib, f.shims)
			case f.as != "":
				return a.playAs(lib, f, args)
			}
			named, err := lib.Open(args[0])
			if err != nil {
				return playError(err)
			}
			return a.play(named, f, a.env.Stdin)
		},
	}
	c.Flags().Float64Var(&f.speed, "speed", 1, "how many times faster than recorded")
	c.Flags().BoolVar(&f.noDelay, "no-delay", false, "print without any delay")
	c.Flags().BoolVar(&f.raw, "raw", false, "play the original chunks and times from the private store")
	c.Flags().StringVar(&f.shims, "install-shims", "", "write a stand-in for each CLI into this folder")
	_ = c.MarkFlagDirname("install-shims")
	c.Flags().StringVar(&f.as, "as", "", "be a shim of this agent; what follows -- are the CLI's own arguments")
	_ = c.Flags().MarkHidden("as")
	return c
}

func (f *playFlags) check(args []string) error {
	switch {
	case f.speed <= 0 || f.speed != f.speed:
		return usage("--speed %g: want a number above zero, or --no-delay", f.speed)
	case f.shims != "" && len(args) > 0:
		return usage("give a recording or --install-shims, not both")
	case f.shims == "" && f.as == "" && len(args) != 1:
		return &Exit{Code: ExitUsage, Err: errors.New("name one recording: a FIXTURE, an OBSERVATION or a SIGNATURE"), Hint: "see agent-contracts play --help"}
	}
	return nil
}

func (a *app) library(f *playFlags) (*play.Library, error) {
	reg, err := a.open()
	if err != nil {
		return nil, err
	}
	if reg.ReadOnly() { // outside any checkout the records are the user's own
		if dir, err := store.UserDir(a.env.Getenv); err == nil {
			if own, err := store.Open(dir); err == nil {
				reg = own
			}
		}
	}
	lib := &play.Library{Registry: reg, Dir: a.env.Dir}
	if f.raw {
		var err error
		lib.Raw, err = a.privateStore(reg)
		return lib, err
	}
	return lib, nil
}

// play plays a recording and ends this process as the child ended.
func (a *app) play(named *play.Named, f *playFlags, stdin io.Reader) error {
	o := play.Options{Stdin: stdin, Stdout: a.env.Stdout, Stderr: a.env.Stderr, Speed: f.speed}
	if f.noDelay {
		o.Speed = 0
	}
	end, err := play.Play(named.Recording, o)
	if err == nil {
		err = play.Die(end)
	}
	return playError(err)
}

// playError gives the errors of a played child their exit codes. Its stderr is
// the child's, so the message says who speaks.
func playError(err error) error {
	var host *play.Violation
	var name *play.NameError
	switch {
	case errors.As(err, &host):
		return &Exit{Code: ExitHost, Err: fmt.Errorf("agent-contracts play: %w", host), Hint: "docs/PLAY.md says what a played CLI expects of its host"}
	case errors.As(err, &name), errors.Is(err, play.ErrNotPlayable):
		return &Exit{Code: ExitUsage, Err: err, Hint: "see agent-contracts play --help"}
	case errors.Is(err, fs.ErrNotExist):
		return &Exit{Code: ExitUsage, Err: err}
	}
	return err
}

// playAs is the work of a shim.
func (a *app) playAs(lib *play.Library, f *playFlags, args []string) error {
	s := play.SelectionOf(a.env.Getenv)
	f.noDelay = f.noDelay || s.NoDelay
	answer, err := lib.Answer(f.as, s, args)
	if answer != "" {
		_, err = a.env.Stdout.Write([]byte(answer))
		return err
	}
	if err != nil {
		return pickError(err)
	}
	prompt, stdin := play.Prompt(a.env.Stdin)
	pick, err := lib.Pick(f.as, s, prompt)
	if err != nil {
		return pickError(err)
	}
	if _, err := a.env.Stderr.Write([]byte(pick.Announcement(f.as))); err != nil {
		return err
	}
	named, err := lib.Recorded(pick.Record)
	if err != nil {
		return playError(err)
	}
	return a.play(named, f, stdin)
}

func pickError(err error) error {
	var none *play.NoMatchError
	switch {
	case !errors.As(err, &none):
		return err
	case none.Empty:
		return &Exit{Code: ExitCannotKnow, Err: err, Hint: "capture it first, or name a registry with --registry"}
	}
	return &Exit{Code: ExitFindings, Err: err}
}

func (a *app) installShims(lib *play.Library, dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var args []string
	if !lib.Registry.ReadOnly() {
		args = []string{"--registry", lib.Registry.Dir()}
	}
	shims, err := lib.InstallShims(a.absolute(dir), program, args)
	if err != nil {
		return &Exit{Code: ExitUsage, Err: err}
	}
	rows := [][]string{{"agent", "shim"}}
	for _, s := range shims {
		rows = append(rows, []string{s.Agent, s.Path})
	}
	if err := table(a.env.Stdout, rows); err != nil {
		return err
	}
	if len(shims) == 0 {
		return &Exit{Code: ExitCannotKnow, Err: errors.New("the registry has no recordings"), Hint: "name one with --registry DIR"}
	}
	return nil
}
