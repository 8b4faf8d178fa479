package normalize_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// session makes a two-way run of lines; those of the client start with ">".
func session(lines ...string) *transcript.Transcript {
	t := &transcript.Transcript{}
	for _, l := range lines {
		rec := transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(l + "\n")}
		if ours, ok := strings.CutPrefix(l, ">"); ok {
			rec = transcript.Record{Dir: transcript.ServerToCLI, Stream: transcript.Stdin, Data: []byte(ours + "\n")}
		}
		t.Records = append(t.Records, rec)
	}
	zero := 0
	t.Records = append(t.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &zero})
	return t
}

const (
	rpcHello  = `>{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	rpcReady  = `{"jsonrpc":"2.0","id":1,"result":{}}`
	rpcNew    = `>{"jsonrpc":"2.0","id":2,"method":"session/new","params":{}}`
	rpcMade   = `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"S"}}`
	rpcPrompt = `>{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{}}`
	rpcDone   = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`
	rpcInfo   = `{"jsonrpc":"2.0","method":"_vendor/info","params":{}}`
	rpcAskA   = `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"a"}}}`
	rpcAskB   = `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"b"}}}`
	rpcYesA   = `>{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}`
	rpcYesB   = `>{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}`
	rpcCallA  = `{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"a","status":"pending"}}}`
	rpcCallB  = `{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"b","status":"pending"}}}`
)

// Cause, not timing: when our frames were written, and which of the agent's
// frames came in between, is chance.
func TestOrderOfATwoWayRunIsItsCause(t *testing.T) {
	d := dialect(t, "acp")
	plain := []string{rpcHello, rpcReady, rpcNew, rpcMade, rpcInfo, rpcPrompt, rpcCallA, rpcAskA, rpcYesA, rpcCallB, rpcAskB, rpcYesB, rpcDone}
	want, _ := shape(t, session(plain...), d)
	for name, lines := range map[string][]string{
		"the prompt is written earlier":      {rpcHello, rpcReady, rpcNew, rpcMade, rpcPrompt, rpcInfo, rpcCallA, rpcAskA, rpcYesA, rpcCallB, rpcAskB, rpcYesB, rpcDone},
		"an answer waits for the next frame": {rpcHello, rpcReady, rpcNew, rpcMade, rpcInfo, rpcPrompt, rpcCallA, rpcAskA, rpcCallB, rpcYesA, rpcAskB, rpcYesB, rpcDone},
		"other ids": {
			rpcHello, rpcReady, rpcNew, rpcMade, rpcInfo, rpcPrompt, rpcCallA, strings.Replace(rpcAskA, `"id":0`, `"id":71`, 1), strings.Replace(rpcYesA, `"id":0`, `"id":71`, 1),
			rpcCallB, rpcAskB, rpcYesB, rpcDone,
		},
		"frames after the answer": append(slices.Clone(plain), rpcInfo),
	} {
		if got, _ := shape(t, session(lines...), d); got.Signature != want.Signature {
			t.Errorf("%s: another signature", name)
		}
	}
	for name, lines := range map[string][]string{
		"no answer":                   {rpcHello, rpcReady, rpcNew, rpcMade, rpcInfo, rpcPrompt, rpcCallA, rpcAskA, rpcCallB, rpcAskB, rpcYesB, rpcDone},
		"the prompt is refused":       append(slices.Clone(plain[:len(plain)-1]), `{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"x"}}`),
		"the agent asks for less":     {rpcHello, rpcReady, rpcNew, rpcMade, rpcInfo, rpcPrompt, rpcCallA, rpcCallB, rpcAskB, rpcYesB, rpcDone},
		"another answer":              append(slices.Clone(plain[:8]), append([]string{strings.Replace(rpcYesA, "selected", "cancelled", 1)}, plain[9:]...)...),
		"the turn was cut":            append(slices.Clone(plain[:len(plain)-1]), strings.Replace(rpcDone, "end_turn", "max_tokens", 1)),
		"info comes before a new one": {rpcHello, rpcReady, rpcInfo, rpcNew, rpcMade, rpcPrompt, rpcCallA, rpcAskA, rpcYesA, rpcCallB, rpcAskB, rpcYesB, rpcDone},
	} {
		if got, _ := shape(t, session(lines...), d); got.Signature == want.Signature {
			t.Errorf("%s: the same signature", name)
		}
	}
}

func TestAnswersHaveTheNameOfTheirRequest(t *testing.T) {
	s, _ := shape(t, session(rpcHello, rpcReady, rpcNew, rpcMade, rpcPrompt, rpcAskA, rpcYesA, rpcDone), dialect(t, "acp"))
	want := []string{"initialize", "initialize:result", "session/new", "session/new:result", "session/prompt", "session/prompt:result",
		"session/request_permission", "session/request_permission:result"}
	if !slices.Equal(s.EventTypes, want) {
		t.Errorf("got %q", s.EventTypes)
	}
}

// Case 070: the flat form of an old draft has the same type and another shape.
func TestFlatUpdates(t *testing.T) {
	dir := os.Getenv("AGENT_CONTRACTS_CASES")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "cases")
	}
	f, err := os.Open(filepath.Join(dir, "070-acp-flat-params-misparse", "input.jsonl"))
	if err != nil {
		t.Skipf("no folder of cases, or no such case: %v", err)
	}
	defer f.Close()
	run, err := transcript.ReadSanitized(f)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := shape(t, run, dialect(t, "acp"))
	var kinds []contract.FrameShape
	for _, f := range s.FrameShapes {
		if f.EventType == "session/update:agent_message_chunk" {
			kinds = append(kinds, f)
		}
	}
	if len(kinds) != 2 || slices.EqualFunc(kinds[0].Paths, kinds[1].Paths, func(a, b contract.PathShape) bool { return a.Path == b.Path }) {
		t.Errorf("%d kinds of chunks in %q", len(kinds), s.EventTypes)
	}
}
