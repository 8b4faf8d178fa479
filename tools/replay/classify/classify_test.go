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
	in := Input{Result: "failed", ErrorCode: "AGENT_EXIT_1", Status: Status{Error: string(make([]byte, 4000))}}
	for range 20 {
		in.Events = append(in.Events, Event{"stderr", json.RawMessage(`{"chunk":"a line of output without any word that a rule knows, eighty characters long or so\n"}`)})
	}
	b.ReportAllocs()
	for b.Loop() {
		Classify(in)
	}
}
