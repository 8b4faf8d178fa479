package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// exitNoEnvelope is the exit code when the envelope itself could not be
// written: a fault of the transport, not of the request.
const exitNoEnvelope = 74

// noMachine annotates, with the reason, a command whose stdout is the child's or a protocol of its
// own (FINE-PRINT 23).
const noMachine = "no-machine-result"

// answer is what a command said under --machine, until its envelope is written.
type answer struct {
	printed bytes.Buffer      // what it wrote to stdout
	values  []json.RawMessage // what it handed to printJSON
	types   []reflect.Type    // of the values and of data
	data    any               // the whole data, where the command says it itself
	code    int               // what the exit code is without --machine
	partial bool              // some of the work could not be done
}

// machineAsked reports whether the arguments ask for a machine result. It is
// asked before flags are parsed, so that a bad flag is answered with an
// envelope, too. What follows the CLI that record starts is the CLI's own.
func machineAsked(args []string) bool {
	asked, words := false, 0
	for _, arg := range args {
		if arg == "--" || words > 1 && firstWord(args) == "record" {
			break
		}
		if !strings.HasPrefix(arg, "-") {
			words++
		}
		if arg == "--machine" {
			asked = true
		} else if v, ok := strings.CutPrefix(arg, "--machine="); ok {
			yes, err := strconv.ParseBool(v)
			asked = yes || err != nil // a word that is neither is refused as who asks is
		}
	}
	return asked
}

// machineMain runs one command and writes exactly one envelope (D1, D3).
func machineMain(ctx context.Context, env Env) int {
	if err := installed(env.files()); err != nil {
		fmt.Fprintf(env.Stderr, "error: this installation is damaged: %v\nhint: install agent-contracts again\n", oneLine(err.Error()))
		return machine.ExitInstallation
	}
	stdout := env.Stdout
	said := &answer{}
	env.Stdout, env.Terminal, env.Interactive = &said.printed, false, false
	a := &app{env: env, machine: said}
	if err := a.envelope(ctx).Write(stdout); err != nil {
		fmt.Fprintln(env.Stderr, "error: the envelope could not be written to stdout")
		return exitNoEnvelope
	}
	return ExitOK
}

// files is the registry in the binary.
func (e *Env) files() fs.FS {
	if e.Files != nil {
		return e.Files
	}
	return agentcontracts.Files()
}

// installed checks what every command needs of the program itself: the agents
// and the families that were built in.
func installed(files fs.FS) error {
	for name, starts := range map[string]string{store.AgentsFile: `"agents": [`, store.FamiliesFile: "{"} {
		f, err := files.Open(name)
		if err != nil {
			return fmt.Errorf("the registry in the program has no %s", name)
		}
		head := make([]byte, 200)
		n, _ := io.ReadFull(f, head)
		if err := f.Close(); err != nil || !bytes.Contains(head[:n], []byte(starts)) {
			return fmt.Errorf("%s of the registry in the program is not what was built", name)
		}
	}
	return nil
}

// envelope runs the command. Whatever happens there is one.
func (a *app) envelope(ctx context.Context) (e *machine.Envelope) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(a.env.Stderr, "error: internal fault (%T)\n", r)
			e = machine.Refusal(machine.Errorf(machine.Internal, "internal fault (%T): this is our bug", r))
		}
	}()
	err := a.execute(ctx)
	code := a.report(err)
	a.machine.code = code
	if refused := a.refusal(err, code); refused != nil {
		return machine.Refusal(refused)
	}
	data, err := a.data(err, code)
	if err == nil {
		e, err = machine.Success(data)
	}
	if err != nil {
		fmt.Fprintf(a.env.Stderr, "error: %s\n", oneLine(err.Error()))
		return machine.Refusal(machine.Errorf(machine.Internal, "%v", err))
	}
	return e
}

// refusal returns why there is no answer, nil when there is one: an outcome
// that a command's help gives an exit code of its own is an answer.
func (a *app) refusal(err error, code int) *machine.Error {
	if err == nil {
		return nil
	}
	var refused *machine.Error
	if errors.As(err, &refused) {
		return refused
	}
	if a.machine.any() {
		switch code {
		case ExitFindings, ExitCannotKnow, ExitRefused, ExitWaits:
			return nil
		}
	}
	msg := shortened(oneLine(err.Error()))
	if errors.Is(err, context.Canceled) {
		msg = "interrupted"
	}
	if msg == "" {
		msg = fmt.Sprintf("the command ended with exit code %d", code)
	}
	detail := map[string]any{"exit_code": code}
	if _, hint := classify(err); hint != "" {
		detail["hint"] = hint
	}
	return &machine.Error{Kind: errorKind(err, code), Message: msg, Detail: detail}
}

func errorKind(err error, code int) machine.ErrorKind {
	var agent *agents.UnknownAgentError
	var probe *capture.UnknownProbeError
	switch {
	case errors.As(err, &agent), errors.As(err, &probe), code != ExitBug && errors.Is(err, fs.ErrNotExist):
		return machine.NotFound
	case code == ExitUsage, code == ExitFindings, code == ExitRefused:
		return machine.InvalidInput
	case code == ExitWaits:
		return machine.Conflict
	case code == ExitBug:
		return machine.Internal
	}
	return machine.Unavailable
}

// say is the whole data of the envelope.
func (s *answer) say(data any) {
	s.data = data
	s.types = append(s.types, reflect.TypeOf(data))
}

func (s *answer) any() bool { return s.data != nil || len(s.values) > 0 || s.printed.Len() > 0 }

// result is the data of a command that answers in one go, or what it said
// itself.
func (a *app) data(err error, code int) (any, error) {
	if a.machine.data != nil {
		return a.machine.data, nil
	}
	value, valueErr := a.machine.value()
	if valueErr != nil {
		return nil, valueErr
	}
	r := machine.Result[json.RawMessage]{ExitCode: code, Result: machine.Got(value)}
	if err != nil && err.Error() != "" {
		msg := shortened(oneLine(err.Error()))
		r.Message = &msg
	}
	return r, nil
}

// value is the one JSON value that a command printed, the list of its lines
// where they are JSON, or its text.
func (s *answer) value() (json.RawMessage, error) {
	printed := bytes.TrimSpace(s.printed.Bytes())
	switch {
	case len(s.values) == 1 && len(printed) == 0:
		return s.values[0], nil
	case len(s.values) > 0:
		return nil, errors.New("the command has more than one result")
	case len(printed) == 0:
		return encodeText("")
	}
	if lines, ok := jsonLines(printed); ok {
		return json.Marshal(lines)
	}
	return encodeText(s.printed.String())
}

func encodeText(s string) (json.RawMessage, error) {
	return contract.Encode(strings.ToValidUTF8(s, "�"))
}

// jsonLines reads lines of JSON objects. A single value that takes several
// lines is a list of one.
func jsonLines(b []byte) ([]json.RawMessage, bool) {
	var out []json.RawMessage
	for dec := json.NewDecoder(bytes.NewReader(b)); ; {
		var v json.RawMessage
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			return out, true
		}
		if err != nil || v[0] != '{' && v[0] != '[' {
			return nil, false
		}
		out = append(out, v)
	}
}

// machineMode prepares every command below c for --machine: JSON where it has
// the choice, and a refusal where there is no one result.
func (a *app) machineMode(c *cobra.Command) {
	for _, sub := range c.Commands() {
		a.machineMode(sub)
	}
	run := c.RunE
	if run == nil {
		return
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Annotations[noMachine] != "" {
			return &Exit{Code: ExitUsage, Err: machine.Errorf(machine.InvalidInput, "%s has no machine result: %s", c.CommandPath(), c.Annotations[noMachine])}
		}
		if err := chooseJSON(c); err != nil {
			return err
		}
		return run(c, args)
	}
}

func chooseJSON(c *cobra.Command) error {
	fl := c.Flags()
	if f := fl.Lookup("format"); f != nil && strings.Contains(" "+f.Usage+" ", " json ") {
		if f.Changed && f.Value.String() == "text" {
			return usage("--machine prints JSON: leave --format out")
		}
		if !f.Changed { // another format is the caller's own choice of a document
			if err := f.Value.Set("json"); err != nil {
				return err
			}
		}
	}
	if f := fl.Lookup("json"); f != nil && f.Value.Type() == "bool" {
		return f.Value.Set("true")
	}
	return nil
}

func (a *app) handshakeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "handshake",
		Short: "Which version of the machine-result contract this program speaks",
		Long: `Handshake tells a consumer of --machine which contract this program speaks. A
consumer asks once, before it offers anything, and still checks the
contract_version of every later envelope: the program behind a path can be
replaced at any time. docs/MACHINE.md is the contract.

Exit codes: 0; 2 usage.`,
		Example: `  agent-contracts handshake --machine`,
		Args:    argsError(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			h := machine.Handshake{ContractVersion: machine.ContractVersion, MinSupportedVersion: machine.MinSupportedVersion,
				Implementation: "agent-contracts", ImplementationVersion: agentcontracts.Version, Module: thisProgram()}
			return a.jobAnswer("json", h, nil)
		},
	}
}

// thisProgram is the absolute path of the program that runs.
func thisProgram() string {
	p, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return p
}
