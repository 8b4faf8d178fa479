// Package cli is the command line: flags in, one call, output out. It holds no
// logic of its own.
//
// Rules of the interface: stdout is the result and nothing else; stderr is
// talk (progress, warnings, errors, hints). Errors start with "error:", in
// lower case without a final period, and say what, where and what to do next;
// a "hint:" line may follow. Colour and redrawn lines appear on a terminal
// only. Whatever a CLI printed is never repeated on either stream unless the
// command's result is that text.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// The exit codes (DESIGN section 6). Some commands give 1 and 3 a meaning of
// their own, which their help says.
const (
	ExitOK         = 0
	ExitFindings   = 1
	ExitUsage      = 2
	ExitCannotKnow = 3
	ExitRefused    = 4 // redaction refused
	ExitWaits      = 5 // waits for an answer
	ExitBug        = 70
)

// Env is everything that a command takes from its surroundings.
type Env struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Dir            string // working folder
	Now            func() time.Time
	// Terminal says that a person looks at stderr.
	Terminal bool
	// Interactive says that a person also types on stdin.
	Interactive bool
	// Files is the registry in the binary; nil is the one that was built in.
	Files fs.FS
	// System is the machine by which jobs are judged; nil is this one.
	System *jobs.System
}

// Exit is an error that sets the exit code. Its text may be empty when the
// command has already said everything.
type Exit struct {
	Code int
	Err  error
	Hint string
}

// Error implements error.
func (e *Exit) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *Exit) Unwrap() error { return e.Err }

func usage(format string, args ...any) error {
	return &Exit{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// app is what the commands share.
type app struct {
	env      Env
	registry string
	quiet    bool
	lines    <-chan string // of stdin, once somebody is asked; see newDialogue
	machine  *answer       // nil without --machine
	// tell is told how far a job's work is; nil outside of jobs.
	tell func(done, total int, what string)
	job  string // the id of the job whose work this is, "" outside of jobs
}

// Main runs one command and returns its exit code.
func Main(ctx context.Context, env Env) (code int) {
	noCores()
	defer func() {
		if r := recover(); r != nil {
			// The value may quote foreign bytes: name its type only.
			fmt.Fprintf(env.Stderr, "error: internal fault (%T)\nhint: this is our bug; please report the command and this version\n", r)
			code = ExitBug
		}
	}()
	if machineAsked(env.Args) {
		return machineMain(ctx, env)
	}
	a := &app{env: env}
	return a.report(a.execute(ctx))
}

// execute runs the command that the arguments name.
func (a *app) execute(ctx context.Context) error {
	root := a.rootCommand()
	root.SetArgs(a.env.Args)
	if a.machine != nil {
		a.machineMode(root)
	}
	return root.ExecuteContext(ctx)
}

func (a *app) report(err error) int {
	if err == nil {
		return ExitOK
	}
	code, hint := classify(err)
	msg := err.Error()
	if errors.Is(err, context.Canceled) {
		msg = "interrupted"
	}
	if msg != "" {
		fmt.Fprintf(a.env.Stderr, "error: %s\n", shortened(oneLine(msg)))
		if hint != "" {
			fmt.Fprintf(a.env.Stderr, "hint: %s\n", hint)
		}
	}
	return code
}

// classify finds the exit code and hint of an error from the layers below.
func classify(err error) (code int, hint string) {
	var exit *Exit
	if errors.As(err, &exit) {
		return exit.Code, exit.Hint
	}
	var readOnly *store.ReadOnlyError
	var notRegistry *store.NotRegistryError
	switch {
	case errors.Is(err, context.Canceled):
		return 130, "run the same command again to go on where it stopped"
	case errors.As(err, &readOnly):
		return ExitUsage, "name a registry that you may write with --registry DIR"
	case errors.As(err, &notRegistry):
		return ExitUsage, "name a registry with --registry DIR, or leave it out to use the one around this folder"
	}
	return classifyTool(err)
}

// oneLine keeps a hostile file name or version text from forging further
// output lines or workflow commands.
func oneLine(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				return '�'
			}
			return r
		}, l)
	}
	return strings.Join(lines, "\n  ")
}

// shortened cuts the middle out of a message that only a hostile argument or
// file can have made so long.
func shortened(s string) string {
	const most, end = 2000, 500
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-end], "") + " … " + strings.ToValidUTF8(s[len(s)-end:], "")
}

// rootCommand is the tree of commands, or of it what the arguments need.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "agent-contracts",
		Short: "Which version of which coding-agent CLI speaks what protocol, with evidence",
		Long: `agent-contracts runs real coding-agent CLIs, records what they say on their
pipes, and keeps the structure of it as evidence: which version speaks which
protocol, what changed between two releases, and whether a consumer's parser
still understands it.

Start with:  agent-contracts capture codex`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Version:           agentcontracts.Version,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.SetIn(a.env.Stdin)
	root.SetOut(a.env.Stdout) // cobra's own commands look at it when they are made
	root.SetErr(a.env.Stderr)
	root.SetVersionTemplate("agent-contracts {{.Version}}\n")
	root.PersistentFlags().StringVar(&a.registry, "registry", "", "registry folder (default: the one around the current folder, else the one in the binary)")
	_ = root.MarkPersistentFlagDirname("registry")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress on stderr")
	root.PersistentFlags().Bool("machine", false, "answer with exactly one JSON envelope on stdout (docs/MACHINE.md)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if word := firstWord(a.env.Args); c == root && word != "" {
			return unknownCommand(c, word) // the flag belongs to a command that we do not have
		}
		return &Exit{Code: ExitUsage, Err: err, Hint: "see " + c.CommandPath() + " --help"}
	})
	root.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return c.Help()
	}
	root.Args = cobra.ArbitraryArgs
	root.AddCommand(a.named(a.env.Args)...)
	a.strictHelp(root)
	return root
}

func unknownCommand(c *cobra.Command, word string) error {
	return &Exit{Code: ExitUsage, Err: fmt.Errorf("unknown command %q", word), Hint: suggest(c, word)}
}

// helpOrUnknown is what a command does that only has other commands.
func helpOrUnknown(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return c.Help()
}

// firstWord returns the first argument that is no flag of the root's, or "".
func firstWord(args []string) string {
	for i, s := range args {
		if !strings.HasPrefix(s, "-") && (i == 0 || args[i-1] != "--registry") {
			return s
		}
	}
	return ""
}

func suggest(c *cobra.Command, word string) string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if hint := didYouMean(word, names); hint != "" {
		return hint
	}
	return "see " + c.CommandPath() + " --help"
}

// argsError turns cobra's complaint about arguments into a usage error.
func argsError(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return &Exit{Code: ExitUsage, Err: err, Hint: "see " + c.CommandPath() + " --help"}
		}
		return nil
	}
}

// open returns the registry that the command works on.
func (a *app) open() (*store.Registry, error) {
	if a.registry != "" {
		return store.Open(a.registry)
	}
	if dir, ok := store.Find(a.env.Dir); ok {
		return store.Open(dir)
	}
	return store.Embedded(a.env.files()), nil
}

// openToWrite returns the registry that a command writes to: outside any
// checkout the user's own, made on first use.
func (a *app) openToWrite() (*store.Registry, error) {
	reg, err := a.open()
	if err != nil || !reg.ReadOnly() {
		return reg, err
	}
	dir, err := store.UserDir(a.env.Getenv)
	if err != nil {
		return nil, err
	}
	if err := store.Create(dir, reg); err != nil {
		return nil, err
	}
	a.talk("writing to your own registry, %s", dir)
	return store.Open(dir)
}

// talk writes one line for people.
func (a *app) talk(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.env.Stderr, format+"\n", args...)
	}
}

// readInput returns the bytes of FILE, where "-" is stdin.
func (a *app) readInput(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.env.Stdin)
	}
	return os.ReadFile(name)
}
