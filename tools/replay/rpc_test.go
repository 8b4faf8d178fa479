package replay_test

import (
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// session makes a two-way run; lines of the client start with ">".
func session(agent, dialect string, family contract.ProtocolFamily, lines ...string) replay.Input {
	in := input(agent, dialect, dialect, family, 0)
	var records []transcript.Record
	for _, l := range lines {
		rec := transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Frame: []byte(l)}
		if ours, ok := strings.CutPrefix(l, ">"); ok {
			rec = transcript.Record{Dir: transcript.ServerToCLI, Stream: transcript.Stdin, Frame: []byte(ours)}
		}
		records = append(records, rec)
	}
	exit := in.Transcript.Records[len(in.Transcript.Records)-1]
	in.Transcript.Records = append(records, exit)
	return in
}

// TestSessionsAreCompared: the consumer's tool ids are not the CLI's, and what
// the client sent decides which answer is which.
func TestSessionsAreCompared(t *testing.T) {
	note := func(update string) string { return `{"method":"session/update","params":{"update":{` + update + `}}}` }
	chunk := func(text string) string {
		return note(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}`)
	}
	open := []string{`>{"id":1,"method":"initialize"}`, `{"id":1,"result":{}}`, `>{"id":2,"method":"session/new"}`, `{"id":2,"result":{"sessionId":"S"}}`,
		`>{"id":3,"method":"session/prompt"}`}
	done := `{"id":3,"result":{"stopReason":"end_turn"}}`
	read := note(`"sessionUpdate":"tool_call","toolCallId":"c","kind":"read","title":"Read a.txt"`)
	ended := note(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"`)
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a turn with a tool", append(open[:5:5], read, ended, chunk("Hello there"), done), "compatible"},
		{"a model is set first", append(open[:4:4], `>{"id":3,"method":"session/set_model","params":{"modelId":"m"}}`, `{"id":3,"result":{}}`,
			`>{"id":4,"method":"session/prompt"}`, chunk("Hello there"), `{"id":4,"result":{"stopReason":"end_turn"}}`), "compatible"},
		{"two equal chunks become one", append(open[:5:5], chunk("ha"), chunk("ha"), done), "incompatible missing_text invented_text"},
		{"a refusal counts as an answer", append(open[:5:5], `{"id":3,"result":{"stopReason":"refusal"}}`), "incompatible missing_failure"},
		{"cancelled", append(open[:5:5], chunk("Hello there"), `>{"id":4,"method":"session/cancel"}`, `{"id":3,"result":{"stopReason":"cancelled"}}`), "compatible"},
	} {
		ref, consumer := both(t, session("kimi", "acp", contract.FamilyACP, tt.lines...))
		c := replay.Compatible(ref, consumer)
		got := []string{string(c.Status)}
		for _, f := range c.Findings {
			got = append(got, string(f.Kind))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, s, tt.want)
		}
	}
}

func TestPiSessionIsCompared(t *testing.T) {
	in := session("pi", "pi-rpc", contract.FamilyPi, `>{"id":1,"type":"prompt"}`, `{"id":1,"type":"response","command":"prompt","success":true}`, `{"type":"agent_start"}`,
		`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"Hello"}}`,
		`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Hello"}],"stopReason":"stop","usage":{"input":11,"output":7}}}`,
		`{"type":"turn_end","message":{"usage":{"input":11,"output":7}}}`, `{"type":"agent_end"}`)
	ref, consumer := both(t, in)
	if c := replay.Compatible(ref, consumer); c.Status != contract.ReplayCompatible || consumer.RunResult != contract.RunSuccess {
		t.Errorf("got %s %v, %s", c.Status, c.Findings, consumer.RunResult)
	}
}
