package replay_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/transcripttest"
)

// What both readings lack of a newer run loses nothing against the reference,
// and everything against the release before.
func TestLost(t *testing.T) {
	run := `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"done"}}
{"type":"item.started","item":{"id":"2","type":"command_execution","command":"ls","status":"in_progress"}}
{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0,"status":"completed"}}
{"type":"turn.completed","usage":{"input_tokens":3,"cached_input_tokens":0,"output_tokens":2}}
`
	failed := `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"turn.failed","error":{"message":"overloaded"}}
`
	families := familiesOf(t)
	read := func(stdout string) *replay.Golden {
		t.Helper()
		r, err := replay.OpenDesign(replay.Input{Transcript: ended(stdout), Agent: "codex", Dialect: families.Dialect("codex")})
		if err != nil {
			t.Fatal(err)
		}
		return r.Golden()
	}
	for name, tt := range map[string]struct {
		older, newer string
		fails        bool
		want         []string
	}{
		"nothing":                {older: run, newer: run, fails: true},
		"the tokens":             {older: run, newer: strings.Replace(run, `"output_tokens"`, `"completion_tokens"`, 1), want: []string{"output_tokens"}},
		"the tools":              {older: run, newer: strings.ReplaceAll(run, `"command_execution"`, `"command"`), want: []string{"tool uses", "tool results"}},
		"the run":                {older: run, newer: failed, fails: true, want: []string{"success"}},
		"a run that is to fail":  {older: run, newer: failed},
		"a run that failed once": {older: failed, newer: run, fails: true},
	} {
		if got := replay.Lost(read(tt.older), read(tt.newer), tt.fails); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := replay.Lost(read(run), nil, true); got != nil {
		t.Errorf("of a run that nobody read: %q", got)
	}
}

// ended is a run that printed the lines and ended well.
func ended(stdout string) *transcript.Transcript {
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	for i := range lines {
		lines[i] = "> " + lines[i]
	}
	return transcripttest.Of(append(lines, "exit 0")...)
}

// A run fails by its probe, and only one that did not fail before.
func TestFails(t *testing.T) {
	wrong := []contract.ContractViolation{{Kind: "must_see"}, {Kind: "run_result"}}
	if !replay.Fails(nil, wrong) || replay.Fails(wrong, wrong) || replay.Fails(nil, wrong[:1]) {
		t.Error("Fails does not follow the violations of run_result")
	}
}
