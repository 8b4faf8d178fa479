package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

var update = flag.Bool("update", false, "write the schemas of the commands' data, where nothing breaks")

// leaves returns the commands that do something, by their path.
func leaves(c *cobra.Command) map[string]*cobra.Command {
	out := map[string]*cobra.Command{}
	for _, sub := range c.Commands() {
		if sub.Hidden || sub.Name() == "help" || sub.Name() == "completion" {
			continue
		}
		if !sub.HasSubCommands() {
			out[strings.TrimPrefix(sub.CommandPath(), "agent-contracts ")] = sub
		}
		maps.Copy(out, leaves(sub))
	}
	return out
}

func testEnv(t *testing.T, stdin string, args ...string) Env {
	t.Helper()
	state := t.TempDir()
	if err := os.Chmod(state, 0o700); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	if err := errors.Join(os.Chmod(cache, 0o755), os.Chmod(filepath.Dir(cache), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", cache) // the cache of the person who runs the tests is theirs
	vars := map[string]string{"XDG_STATE_HOME": state, "XDG_DATA_HOME": state, "XDG_CACHE_HOME": cache, "HOME": state, "PATH": "/nonexistent"}
	return Env{Args: args, Stdin: strings.NewReader(stdin), Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer),
		Dir: filepath.Join("..", ".."), Now: time.Now, Getenv: func(k string) string { return vars[k] }}
}

// envelopeOf runs a command as the program does and reads its one envelope.
func envelopeOf(t *testing.T, env Env) *machine.Envelope {
	t.Helper()
	if code := Main(context.Background(), env); code != 0 {
		t.Fatalf("%v: exit code %d with an envelope", env.Args, code)
	}
	e, err := machine.ParseEnvelope(env.Stdout.(*bytes.Buffer).Bytes())
	if err != nil {
		t.Fatalf("%v: %v", env.Args, err)
	}
	return e
}

// Every command answers a success, a bad flag and too many words with exactly
// one envelope, and its data is what its committed schema says.
func TestEveryCommandHasAnEnvelope(t *testing.T) {
	rows := machineRows(t)
	for path, c := range leaves((&app{env: testEnv(t, "")}).rootCommand()) {
		t.Run(strings.ReplaceAll(path, " ", "-"), func(t *testing.T) {
			words := strings.Fields(path)
			e := envelopeOf(t, testEnv(t, "", append(slices.Clone(words), "--machine", "--no-such-flag")...))
			if e.OK || e.Error.Kind != machine.InvalidInput {
				t.Errorf("an unknown flag: %+v", e.Error)
			}
			full := testEnv(t, "", append(slices.Clone(words), "--machine", "--no-such-flag")...)
			full.Stdout = fullDisk{}
			if code := Main(context.Background(), full); code != exitNoEnvelope {
				t.Errorf("stdout that cannot be written: exit code %d", code)
			}
			faulty := testEnv(t, "", append(slices.Clone(words), "--machine", "--no-such-flag")...)
			faulty.Stderr = &panicsOnce{}
			if e := envelopeOf(t, faulty); e.OK || e.Error.Kind != machine.Internal {
				t.Errorf("a panic: %+v", e.Error)
			}
			if c.Annotations[noMachine] != "" {
				env := testEnv(t, "", append(slices.Clone(words), "--machine", "x")...)
				if e := envelopeOf(t, env); e.OK || e.Error.Kind != machine.InvalidInput {
					t.Errorf("a command without a machine result: %+v", e)
				}
				if said := env.Stderr.(*bytes.Buffer).String(); strings.Contains(said, "our bug") {
					t.Errorf("a refusal is blamed on us: %s", said)
				}
				return
			}
			row, found := rows[path]
			if !found {
				t.Fatal("the command has no row in machineRows: every command's data has a schema")
			}
			checkRow(t, path, words, row)
		})
	}
}

func checkRow(t *testing.T, path string, words []string, row machineRow) {
	t.Helper()
	var types []reflect.Type
	var data []json.RawMessage
	for _, args := range row.runs {
		env := testEnv(t, row.stdin, append(append(slices.Clone(words), "--machine"), args...)...)
		said := &answer{}
		env.Stdout = &said.printed
		e := (&app{env: env, machine: said}).envelope(context.Background())
		if !e.OK {
			t.Fatalf("%v: %+v", args, e.Error)
		}
		types, data = append(types, said.types...), append(data, e.Data)
	}
	for _, v := range row.types {
		types = append(types, reflect.TypeOf(v))
	}
	checkSchema(t, path, row, types, data)
}

// The answer to --detach is the same for every command that has it.
func TestSubmittedHasASchema(t *testing.T) {
	checkSchema(t, "job submit", machineRow{}, []reflect.Type{reflect.TypeFor[submitted]()}, nil)
}

func TestNoEnvelopeWithoutAnInstallation(t *testing.T) {
	env := testEnv(t, "", "handshake", "--machine")
	env.Files = fstest.MapFS{}
	if code := Main(context.Background(), env); code != machine.ExitInstallation {
		t.Errorf("exit code %d", code)
	}
	if n := env.Stdout.(*bytes.Buffer).Len(); n != 0 {
		t.Errorf("%d bytes on stdout", n)
	}
}

// panicsOnce is a writer that panics once.
type panicsOnce struct{ bytes.Buffer }

func (p *panicsOnce) Write(b []byte) (int, error) {
	if p.Len() == 0 {
		_, _ = p.Buffer.Write(b)
		panic("a fault")
	}
	return p.Buffer.Write(b)
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestUnwritableStdoutIsATransportFault(t *testing.T) {
	env := testEnv(t, "", "handshake", "--machine")
	env.Stdout = fullDisk{}
	if code := Main(context.Background(), env); code != exitNoEnvelope {
		t.Errorf("exit code %d", code)
	}
}

func TestPanicIsAnEnvelope(t *testing.T) {
	env := testEnv(t, "", "job", "list", "--machine")
	env.Getenv = func(string) string { panic("a secret of somebody's") }
	e := envelopeOf(t, env)
	if e.OK || e.Error.Kind != machine.Internal || strings.Contains(e.Error.Message, "secret") {
		t.Errorf("%+v", e.Error)
	}
}

func TestMachineRefusals(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		env  map[string]string
		want machine.ErrorKind
	}{
		{"unknown agent", []string{"can-i-use", "none", "1"}, nil, machine.NotFound},
		{"unknown probe", []string{"capture", "codex@0.133.0", "--probe", "none", "--detach"}, nil, machine.NotFound},
		{"unknown job", []string{"job", "status", "20260725T175010-97f334"}, nil, machine.NotFound},
		{"no job id", []string{"job", "status", "../../etc"}, nil, machine.InvalidInput},
		{"unknown command", []string{"frobnicate"}, nil, machine.InvalidInput},
		{"another format", []string{"health", "--format", "text"}, nil, machine.InvalidInput},
		{"missing file", []string{"normalize", "none.jsonl"}, nil, machine.NotFound},
		{"no place for jobs", []string{"capture", "codex@0.133.0", "--detach"}, map[string]string{"XDG_STATE_HOME": blocked}, machine.Unavailable},
		{"words for a completion", []string{"completion", "bash", "x"}, nil, machine.InvalidInput},
		{"a flag that is missing", []string{"merge-step"}, nil, machine.InvalidInput},
		{"label without a job", []string{"capture", "codex@0.133.0", "--label", "x"}, nil, machine.InvalidInput},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := testEnv(t, "", append(c.args, "--machine")...)
			if c.env != nil {
				get := env.Getenv
				env.Getenv = func(k string) string {
					if v, ok := c.env[k]; ok {
						return v
					}
					return get(k)
				}
			}
			if e := envelopeOf(t, env); e.OK || e.Error.Kind != c.want {
				t.Errorf("%+v, want %s", e.Error, c.want)
			}
		})
	}
}

// What cobra adds to the tree answers like the rest of it.
func TestCommandsOfCobraHaveAnEnvelope(t *testing.T) {
	for _, args := range []string{"", "--help", "--version", "help", "help capture", "job", "completion", "completion bash", "completion zsh",
		"completion fish", "completion powershell", "__complete capture co"} {
		if e := envelopeOf(t, testEnv(t, "", append(strings.Fields(args), "--machine")...)); !e.OK || !bytes.Contains(e.Data, []byte(`"available":true`)) || bytes.Contains(e.Data, []byte(`"value":""`)) {
			t.Errorf("%s: %.200s %+v", args, e.Data, e.Error)
		}
	}
}

func TestMachineAsked(t *testing.T) {
	for _, c := range []struct {
		args string
		want bool
	}{
		{"health --machine", true}, {"--machine health", true}, {"health --machine=true", true}, {"health --machine=false", false},
		{"health", false}, {"record --machine -- cli", true}, {"record cli --machine", false}, {"record -- cli --machine", false},
		{"capture -- --machine", false}, {"health --machine=perhaps", true},
	} {
		if got := machineAsked(strings.Fields(c.args)); got != c.want {
			t.Errorf("%s: %v", c.args, got)
		}
	}
}

// checkSchema compares the schema of a command's data with the committed one,
// and the data with it.
func checkSchema(t *testing.T, path string, row machineRow, types []reflect.Type, data []json.RawMessage) {
	t.Helper()
	name := filepath.Join("..", "..", "schemas", "machine", fmt.Sprintf("v%d", machine.ContractVersion), strings.ReplaceAll(path, " ", "-")+".schema.json")
	now, err := contract.Encode(dataSchema(t, path, row, types))
	if err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if was != nil {
		for _, b := range breaking(t, was, now) {
			t.Errorf("%s breaks contract version %d: raise machine.ContractVersion, or keep what was promised", b, machine.ContractVersion)
		}
	}
	if *update && !t.Failed() {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, now, 0o644); err != nil {
			t.Fatal(err)
		}
		was = now
	}
	if !bytes.Equal(was, now) {
		t.Errorf("%s is not what the command answers: go test ./tools/cli -run TestEveryCommandHasAnEnvelope -update", filepath.Base(name))
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(now, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range data {
		var v any
		if err := json.Unmarshal(d, &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Errorf("the data does not fit its schema: %.300v", err)
		}
	}
}
