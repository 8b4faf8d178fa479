package redact_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// What a CLI says of the usefulness of its own work is counted from the
// sanitized transcript, so the words survive where each dialect has them.
func TestRedactionKeepsWhatACLISaysOfItsWork(t *testing.T) {
	f, v := registry(t)
	r, err := redact.New(f, v)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dialect, agent, stdout string }{
		{"codex", "codex", `{"type":"turn.failed","error":{"message":"too little","type":"WORD"}}`},
		{"codex", "codex", `{"type":"turn.failed","error":{"message":"too little","code":"WORD"}}`},
		{"codex", "codex", `{"type":"turn.failed","error":{"message":"one statement in two places","type":"WORD","code":"WORD"}}`},
		{"claude", "claude", `{"type":"result","subtype":"WORD","is_error":true,"result":"Two of nine.","session_id":"s"}`},
		{"claude", "claude", `{"type":"assistant","error":"WORD","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Two."}]},"session_id":"s"}`},
		{"qwen", "qwen", `{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"type":"WORD","message":"Two of nine."},"session_id":"s"}`},
		{"gemini", "gemini", `{"type":"result","timestamp":"2026-08-02T10:00:01Z","status":"error","error":{"type":"WORD","message":"Two of nine."},"stats":{}}`},
		{"opencode", "opencode", `{"type":"error","timestamp":1784819289900,"sessionID":"ses_1","error":{"name":"WORD","data":{"message":"Two of nine."}}}`},
		{"copilot", "copilot", `{"type":"session.error","data":{"errorType":"WORD","message":"Two of nine."},"id":"e","timestamp":"2026-08-02T10:00:00Z","parentId":"p"}`},
		{"cursor-agent", "cursor-agent", `{"type":"result","subtype":"WORD","is_error":true,"result":"Two of nine.","session_id":"s"}`},
		{"droid", "droid", `{"type":"error","source":"WORD","message":"Two of nine.","timestamp":1784819289607,"session_id":"s"}`},
	} {
		for _, word := range []string{contract.WordLowUtility, contract.WordWrongToolBoundary} {
			raw := printed(strings.ReplaceAll(c.stdout, "WORD", word) + "\n")
			clean, rep, err := r.Redact(raw, redact.Input{Dialect: c.dialect})
			if err != nil || rep.Status != contract.RedactionPassed {
				t.Fatalf("%s: %s %v", c.dialect, rep.Status, err)
			}
			before, errA := replay.Reference(replay.Input{Transcript: raw, Agent: c.agent, Dialect: f.Dialect(c.dialect)})
			after, errB := replay.Reference(replay.Input{Transcript: clean, Agent: c.agent, Dialect: f.Dialect(c.dialect)})
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if want := map[string]int{word: 1}; !maps.Equal(before.Usefulness, want) || !maps.Equal(after.Usefulness, want) {
				t.Errorf("%s says %s: counted %v, after redaction %v", c.dialect, word, before.Usefulness, after.Usefulness)
			}
			if before.RunResult != after.RunResult || before.ReportedResult != after.ReportedResult {
				t.Errorf("%s: redaction changes the result", c.dialect)
			}
		}
	}
}

// Expectations count the entries of lists inside what a tool printed
// (docs/EXPECTATIONS.md); these member names survive for them, and an empty
// list stays one.
func TestRedactionKeepsListsOfTools(t *testing.T) {
	f, v := registry(t)
	r, err := redact.New(f, v)
	if err != nil {
		t.Fatal(err)
	}
	for dialect, frame := range map[string]string{
		"codex":  `{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"x","aggregated_output":%s,"exit_code":0,"status":"completed"}}`,
		"claude": `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":%s}]},"session_id":"s"}`,
	} {
		for _, name := range []string{"items", "files", "list", "data"} {
			output, err := json.Marshal(`{"` + name + `":[],"secretish":["one","two"]}`)
			if err != nil {
				t.Fatal(err)
			}
			clean, _, err := r.Redact(printed(strings.Replace(frame, "%s", string(output), 1)+"\n"), redact.Input{Dialect: dialect})
			if err != nil {
				t.Fatal(err)
			}
			line := string(clean.Bytes(transcript.CLIToServer, transcript.Stdout))
			if !strings.Contains(line, `{\"`+name+`\":[],`) || strings.Contains(line, "secretish") {
				t.Errorf("%s, %s: %s", dialect, name, line)
			}
		}
	}
}
