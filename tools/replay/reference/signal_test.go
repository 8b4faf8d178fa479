package reference_test

import (
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Ctrl-C is a person's wish; SIGTERM and SIGKILL of a script stand for a
// system that ends the process, and nobody wanted that.
func TestWhoSentTheSignal(t *testing.T) {
	for _, tt := range []struct {
		signal, reason string
		result         contract.RunResult
		detail         string
	}{
		{"SIGINT", transcript.ReasonInterrupt, contract.RunCancelled, "user_cancelled"},
		{"SIGTERM", transcript.ReasonCancelled, contract.RunCancelled, "user_cancelled"},
		{"SIGTERM", transcript.ReasonInterrupt, contract.RunFailed, "signal_killed"},
		{"SIGKILL", transcript.ReasonInterrupt, contract.RunFailed, "signal_killed"},
	} {
		t.Run(tt.signal+" "+tt.reason, func(t *testing.T) {
			tr := &transcript.Transcript{Records: []transcript.Record{
				{Dir: transcript.Process, Event: transcript.EventSpawn},
				{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(`{"type":"thread.started","thread_id":"t"}` + "\n")},
				{Dir: transcript.Process, Event: transcript.EventKill, Signal: tt.signal, Reason: tt.reason},
				{Dir: transcript.Process, Event: transcript.EventExit, Signal: tt.signal},
			}}
			r, err := reference.Read(tr, &contract.Dialect{ID: reference.DialectCodex}, "codex")
			if err != nil {
				t.Fatal(err)
			}
			if r.RunResult != tt.result || string(r.Failure.Detail) != tt.detail {
				t.Errorf("%s %s, want %s %s", r.RunResult, r.Failure.Detail, tt.result, tt.detail)
			}
		})
	}
}
