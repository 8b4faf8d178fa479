package cli

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

func families(t testing.TB) *contract.Families {
	t.Helper()
	f, err := store.Embedded(agentcontracts.Files()).Families()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParseInputTellsFormsApart(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want inputKind
		only bool
	}{
		"empty":                 {"", rawStdout, true},
		"stdout":                {`{"type":"turn.started"}` + "\n", rawStdout, true},
		"plain text":            {"Hello\n", rawStdout, true},
		"stdout with dir":       {`{"dir":"/tmp","at_ms":1}` + "\n", rawStdout, true},
		"transcript":            {`{"dir":"process","at_ms":0,"event":"spawn"}` + "\n", sanitized, false},
		"transcript, no events": {`{"dir":"cli->server","stream":"stdout","at_ms":0,"data":"x\n"}` + "\n", sanitized, true},
	} {
		in, err := parseInput(name, []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if in.kind != c.want || in.stdoutOnly() != c.only {
			t.Errorf("%s: kind %d, stdout only %v", name, in.kind, in.stdoutOnly())
		}
	}
}

// A transcript of chunks is read as lines, so that nothing is judged in parts.
func TestParseInputOfChunks(t *testing.T) {
	record := func(stream, data string) string {
		return `{"dir":"cli->server","stream":"` + stream + `","at_ms":0,"data":"` + data + `"}` + "\n"
	}
	in, err := parseInput("chunks", []byte(record("stderr", `one\ntw`)+record("stdout", `x\n`)+record("stderr", `o\nthree`)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range in.transcript.Records {
		got = append(got, string(in.transcript.Records[i].Data))
	}
	if want := []string{"one\n", "x\n", "two\n", "three"}; !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}

func TestParseInputReadsBundle(t *testing.T) {
	path := t.TempDir() + "/raw.bundle"
	w, err := transcript.CreateBundle(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Chunk(transcript.CLIToServer, transcript.Stdout, 1, []byte("{\"type\":\"turn.started\"}\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Process(2, transcript.ProcessEvent{Event: transcript.EventExit, ExitCode: new(int)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := (&app{}).readTranscript(path)
	if err != nil {
		t.Fatal(err)
	}
	if in.kind != rawBundle || in.stdoutOnly() || len(in.transcript.Records) != 2 {
		t.Errorf("kind %d, stdout only %v, %d records", in.kind, in.stdoutOnly(), len(in.transcript.Records))
	}
}

func TestDialectOfFlags(t *testing.T) {
	all := families(t)
	for name, c := range map[string]struct {
		text  string
		flags dialectFlags
		want  string // dialect, or the beginning of the error
		code  int
	}{
		"guessed":              {`{"type":"turn.started"}`, dialectFlags{}, "codex", 0},
		"kind of two dialects": {`{"id":"0","msg":{"type":"x"}}`, dialectFlags{kind: "codex"}, "codex-msg", 0},
		"kind that tells":      {"Hello", dialectFlags{kind: "claude-json"}, "claude-json", 0},
		"kind without a tell":  {`{"hello":1}`, dialectFlags{kind: "codex"}, "codex", 0},
		"unknown kind":         {"Hello", dialectFlags{kind: "klaude"}, `unknown --kind "klaude"`, ExitUsage},
		"unknown family":       {"Hello", dialectFlags{family: "claude"}, `unknown --family "claude"`, ExitUsage},
		"wrong family":         {"Hello", dialectFlags{family: "plain/v1", kind: "claude"}, "--kind claude is not of --family", ExitUsage},
		"nothing tells":        {`{"hello":1}`, dialectFlags{}, "x: guessing the dialect", ExitCannotKnow},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{quiet: true}
			in, err := parseInput("x", []byte(c.text+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			d, err := a.dialect(all, in, c.flags)
			var exit *Exit
			switch {
			case c.code == 0 && (err != nil || d.ID != c.want):
				t.Errorf("got %v, %v", d, err)
			case c.code != 0 && (!errors.As(err, &exit) || exit.Code != c.code || !strings.HasPrefix(err.Error(), c.want)):
				t.Errorf("got %v", err)
			}
		})
	}
}

// FuzzInput holds that no FILE makes a command fail in a way that is our fault,
// and that every byte of a CLI's stdout stays in the transcript.
func FuzzInput(f *testing.F) {
	for _, s := range []string{
		"", "\n", "Hello\n", `{"type":"turn.started"}` + "\n", `{"dir":"process","at_ms":0,"event":"spawn"}` + "\n",
		"agent-contracts bundle\x00", "agent-contracts bundle\x00\x01\x02\x00\x01x", "[{\"type\":\"result\"}]", "\xff\xfe{}\r\n", `{"dir":"process","at_ms":`,
	} {
		f.Add([]byte(s))
	}
	all := families(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := parseInput("x", b)
		if err != nil {
			return
		}
		if in.kind == rawStdout && !bytes.Equal(in.transcript.Bytes(transcript.CLIToServer, transcript.Stdout), b) {
			t.Error("the transcript holds other bytes")
		}
		d, err := (&app{quiet: true}).dialect(all, in, dialectFlags{})
		if err != nil {
			return
		}
		if _, _, err := normalize.Shape(in.transcript, d, contract.LevelRuntimeObserved); err != nil {
			t.Error(err)
		}
	})
}
