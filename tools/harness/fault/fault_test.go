package fault

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

func fault(kind contract.FaultKind, line int) *contract.Fault {
	f := &contract.Fault{Kind: kind, Line: line}
	switch kind {
	case contract.FaultUnknownEvent:
		f.Frames = map[string]json.RawMessage{"codex": json.RawMessage("{ \"type\": \"new\" }")}
	case contract.FaultNoOutput, contract.FaultExitCode:
		code := 3
		f.ExitCode = &code
	}
	return f
}

// through gives the streams to an injector in the chunks that cut says.
func through(t *testing.T, f *contract.Fault, stdout []byte, cut func(left int) int) (out []byte, i *Injector) {
	t.Helper()
	i, err := New(f, "codex")
	if err != nil {
		t.Fatal(err)
	}
	for len(stdout) > 0 {
		n := cut(len(stdout))
		chunk := bytes.Clone(stdout[:n])
		out = append(out, i.Output(transcript.Stdout, chunk)...)
		clear(chunk) // whoever kept it would show it now
		stdout = stdout[n:]
	}
	return append(out, i.End(transcript.Stdout)...), i
}

func whole(left int) int { return left }
func single(int) int     { return 1 }

func TestFaults(t *testing.T) {
	const run = "noise\n{\"a\":1}\n{\"b\":\"é\"}\r\n{\"c\":3}\n"
	for _, c := range []struct {
		name, in, want string
		fault          *contract.Fault
		unapplied      bool
	}{
		{"a line breaks", run, "noise\n{\"a\n{\"b\":\"é\"}\r\n{\"c\":3}\n", fault(contract.FaultMalformedJSON, 1), false},
		{"a later line breaks", run, "noise\n{\"a\":1}\n{\"b\":\r\n{\"c\":3}\n", fault(contract.FaultMalformedJSON, 2), false},
		{"too few lines", run, run, fault(contract.FaultMalformedJSON, 4), true},
		{"the open line breaks", "{\"a\":1}", "{\"a", fault(contract.FaultMalformedJSON, 1), false},
		{"half of it would be JSON", "{}{}\n", "{\n", fault(contract.FaultMalformedJSON, 1), false},
		{"blanks are no half", "{}      \n", "{\n", fault(contract.FaultMalformedJSON, 1), false},
		{"between two characters", "{\"ééé\"}\n", "{\"é\n", fault(contract.FaultMalformedJSON, 1), false},
		{"the last line ends early", run, "noise\n{\"a\":1}\n{\"b\":\"é\"}\r\n{\"c", fault(contract.FaultPartialLine, 0), false},
		{"blank lines behind it go too", "{\"a\":1}\n{\"b\":2}\n\n \n", "{\"a\":1}\n{\"b", fault(contract.FaultPartialLine, 0), false},
		{"blank lines before stay", "\n\n{\"b\":2}\n", "\n\n{\"b", fault(contract.FaultPartialLine, 0), false},
		{"nothing to cut", "", "", fault(contract.FaultPartialLine, 0), true},
		{"a frame comes in", run, "noise\n{\"a\":1}\n{\"type\":\"new\"}\n{\"b\":\"é\"}\r\n{\"c\":3}\n", fault(contract.FaultUnknownEvent, 1), false},
		{"with the stream's line break", run, "noise\n{\"a\":1}\n{\"b\":\"é\"}\r\n{\"type\":\"new\"}\r\n{\"c\":3}\n", fault(contract.FaultUnknownEvent, 2), false},
		{"behind an open line", "{\"a\":1}", "{\"a\":1}\n{\"type\":\"new\"}", fault(contract.FaultUnknownEvent, 1), false},
		{"nothing arrives", run, "", fault(contract.FaultNoOutput, 0), false},
		{"only the exit", run, run, fault(contract.FaultExitCode, 0), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, cut := range map[string]func(int) int{"whole": whole, "byte by byte": single} {
				got, i := through(t, c.fault, []byte(c.in), cut)
				if string(got) != c.want || i.Applied() == c.unapplied {
					t.Errorf("%s: got %q, applied %v, want %q", how, got, i.Applied(), c.want)
				}
			}
		})
	}
}

func TestStderrAndExit(t *testing.T) {
	for _, kind := range contract.FaultKinds {
		i, err := New(fault(kind, 1), "codex")
		if err != nil {
			t.Fatal(err)
		}
		got := string(i.Output(transcript.Stderr, []byte("{\"a\":1}\n"))) + string(i.End(transcript.Stderr))
		if silent := kind == contract.FaultNoOutput; silent != (got == "") || !silent && got != "{\"a\":1}\n" {
			t.Errorf("%s: stderr became %q", kind, got)
		}
		want := 7
		if kind == contract.FaultNoOutput || kind == contract.FaultExitCode {
			want = 3
		}
		if code := i.Exit(7); code != want {
			t.Errorf("%s: exit code %d, want %d", kind, code, want)
		}
	}
}

func TestNoFrameForTheDialect(t *testing.T) {
	_, err := New(fault(contract.FaultUnknownEvent, 1), "gemini")
	if err == nil || !strings.Contains(err.Error(), `"gemini"`) {
		t.Errorf("error %v", err)
	}
}

// Whatever a CLI prints and however it is cut: the chunks do not matter, and
// every line but one stays byte for byte.
func FuzzInjector(f *testing.F) {
	f.Add([]byte("noise\n{\"a\":1}\n{\"b\":\"é\"}\r\n{\"c\":3}\n"), uint8(0), uint8(1), uint64(1))
	f.Add([]byte("{\"a\":1}\n\n{\"b\""), uint8(1), uint8(0), uint64(2))
	f.Add([]byte("\xff{}\n {}\n{}{}\n"), uint8(2), uint8(2), uint64(3))
	f.Fuzz(func(t *testing.T, stdout []byte, kind, line uint8, seed uint64) {
		k := contract.FaultKinds[int(kind)%len(contract.FaultKinds)]
		fl := fault(k, 1+int(line%5))
		random := rand.New(rand.NewPCG(seed, 0))
		got, i := through(t, fl, stdout, func(left int) int { return 1 + random.IntN(left) })
		again, _ := through(t, fl, stdout, whole)
		if !bytes.Equal(got, again) {
			t.Fatalf("%s: the chunks matter: %q, %q", k, got, again)
		}
		if k == contract.FaultNoOutput {
			if len(got) > 0 {
				t.Fatalf("%q arrived", got)
			}
			return
		}
		if !i.Applied() || k == contract.FaultExitCode {
			if !bytes.Equal(got, stdout) {
				t.Fatalf("%s: without a fault %q became %q", k, stdout, got)
			}
			return
		}
		oneLineDiffers(t, k, stdout, got)
	})
}

func oneLineDiffers(t *testing.T, k contract.FaultKind, before, after []byte) {
	t.Helper()
	was, is := slices.Collect(bytes.Lines(before)), slices.Collect(bytes.Lines(after))
	same := 0
	for same < len(was) && same < len(is) && bytes.Equal(was[same], is[same]) {
		same++
	}
	was, is = was[same:], is[same:]
	switch k {
	case contract.FaultMalformedJSON:
		if len(is) == 0 { // the open line at the end had one character
			is = [][]byte{{}}
		}
		if len(was) != len(is) || json.Valid(is[0]) || !bytes.Equal(bytes.Join(was[1:], nil), bytes.Join(is[1:], nil)) {
			t.Fatalf("%q became %q", before, after)
		}
	case contract.FaultPartialLine:
		rest := bytes.Join(was, nil)
		if tail := bytes.Join(is, nil); !bytes.HasPrefix(rest, tail) || bytes.HasSuffix(tail, []byte("\n")) || len(bytes.TrimSpace(bytes.Join(was[min(1, len(was)):], nil))) > 0 {
			t.Fatalf("%q became %q", before, after)
		}
	case contract.FaultUnknownEvent:
		frame := []byte("{\"type\":\"new\"}")
		at := bytes.Index(after, frame)
		if at < 0 || bytes.Count(after, frame) != bytes.Count(before, frame)+1 || len(after)-len(before) < len(frame)+1 {
			t.Fatalf("%q became %q", before, after)
		}
	}
}
