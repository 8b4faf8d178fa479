package classify

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/vectortest"
)

func TestMain(m *testing.M) { vectortest.Main(m) }

type vector struct {
	Name   string
	Input  Input
	Output *contract.FailureClassification
}

func vectors(t testing.TB) []vector {
	var file struct{ Vectors []vector }
	vectortest.Load(t, "failure-classification.json", &file)
	return file.Vectors
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		vectortest.Run(t, v.Name, func(t *testing.T) {
			if diff := cmp.Diff(v.Output, Classify(v.Input)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Corners of the classifier that the vectors leave out.
func TestTextsAndCodesAreReadAsJavaScriptDoes(t *testing.T) {
	failed := func(text string) Input {
		return Input{Result: "failed", Status: Status{Error: text, ErrorCode: "AGENT_EXIT_1"}}
	}
	blank := ""
	unset := failed("")
	unset.ErrorCode = &blank
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"no boundary ends a text of a missing CLI", failed("Cannot find module_x"), "cli_not_installed"},
		{"not installed, with more of a word", failed("opencode not installedError"), "cli_not_installed"},
		{"a spawn that fails needs its boundary", failed("spawn /bin/x ENOENTS"), "exit_code"},
		{"GBK read as UTF-8", failed("\ufffd\u04b2\ufffd\ufffd\ufffd\u05b8\ufffd\ufffd\ufffd\ufffd\u00b7\ufffd\ufffd"), "cli_not_installed"},
		{"the same in lower case", failed("\ufffd\u04b3\ufffd\ufffd\ufffd\u05b8\ufffd\ufffd\ufffd\ufffd\u00b7\ufffd\ufffd"), "cli_not_installed"},
		{"a dotted capital I is no i", failed("\u0130nsufficient credits"), "exit_code"},
		{"the Kelvin sign is a k, where letters are made small", failed("to\u212aen has expired"), "auth_required"},
		{"the Kelvin sign is no k, where a pattern ignores case", failed("bro\u212aen pipe"), "exit_code"},
		{"an empty code is a code", unset, "unknown"},
	} {
		if got := Classify(c.in).Detail; got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(`{"result":"failed","status":{"status":"failed"},"events":[{"event":"error","data":{"message":"HTTP 429","error":{"data":{"statusCode":404}}}}]}`)
	f.Add(`{"result":"cancelled","events":[{"event":"agent","data":{"type":"tool_use"}},{"event":"stderr","data":"x"}]}`)
	f.Add(`{"errorCode":"agent_signal_SIGKILL","status":{"error":"overloaded_error model .* stale profile"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var in Input
		if json.Unmarshal([]byte(text), &in) != nil {
			in = Input{Result: "failed", Status: Status{Error: text}, AgentID: "byok-opencode"}
		}
		got := Classify(in)
		if (got == nil) != (in.Result == "success") {
			t.Fatal("only a success has no classification")
		}
		if got != nil && in.CancelOrigin == "" && in.TerminalTrigger == "" && !got.Valid() {
			t.Fatalf("a word outside the enumerations: %+v", *got)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	in := Input{Result: "failed", Status: Status{Error: string(make([]byte, 4000)), ErrorCode: "AGENT_EXIT_1"}}
	for range 20 {
		in.Events = append(in.Events, Event{"stderr", json.RawMessage(`{"chunk":"a line of output without any word that a rule knows, eighty characters long or so\n"}`)})
	}
	b.ReportAllocs()
	for b.Loop() {
		Classify(in)
	}
}
