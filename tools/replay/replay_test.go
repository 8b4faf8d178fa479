package replay_test

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

var update = flag.Bool("update", false, "write the golden files anew")

func input(agent, dialect, parser string, family contract.ProtocolFamily, code int, lines ...string) replay.Input {
	t := &transcript.Transcript{Records: records(transcript.Stdout, []byte(strings.Join(lines, "\n")+"\n"))}
	t.Records = append(t.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &code})
	return replay.Input{Transcript: t, Agent: agent, Dialect: &contract.Dialect{ID: dialect, Parser: parser, ProtocolFamily: family}}
}

func claude(code int, lines ...string) replay.Input {
	return input("claude", "claude", "claude", contract.FamilyClaude, code, append([]string{`{"type":"system","subtype":"init","session_id":"s","model":"m"}`}, lines...)...)
}

func codex(code int, lines ...string) replay.Input {
	return input("codex", "codex", "codex", contract.FamilyEvents, code, append([]string{`{"type":"thread.started","thread_id":"t"}`, `{"type":"turn.started"}`}, lines...)...)
}

func both(t testing.TB, in replay.Input) (ref, consumer *replay.Reading) {
	t.Helper()
	ref, err := replay.Run(replay.AdapterReference, in)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err = replay.Run(replay.AdapterOpenDesign, in)
	if err != nil {
		t.Fatal(err)
	}
	return ref, consumer
}

const (
	codexHello = `{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"Hello."}}`
	codexDone  = `{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":5}}`
	claudeDone = `{"type":"result","subtype":"success","is_error":false,"result":"Hello.","usage":{"input_tokens":3,"output_tokens":4}}`
)

func say(id, text string) string {
	return `{"type":"assistant","message":{"id":"` + id + `","content":[{"type":"text","text":"` + text + `"}]}}`
}

func stream(body string) string { return `{"type":"stream_event","event":{` + body + `}}` }

// TestCompatible: what OpenDesign v0.19.2 loses, doubles or invents on
// streams that real releases print.
func TestCompatible(t *testing.T) {
	call := `{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`
	back := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}}`
	for _, tt := range []struct {
		name string
		in   replay.Input
		want string // status and findings
	}{
		{"plain text", input("qwen", "plain", "plain", contract.FamilyPlain, 0, "Hello.", "", "All is well."), "compatible"},
		{"codex text", codex(0, codexHello, codexDone), "compatible"},
		{"codex texts are joined with a line break", codex(0, codexHello, codexHello, codexDone), "compatible"},
		{"codex command", codex(0,
			`{"type":"item.started","item":{"id":"c","type":"command_execution","command":"ls","status":"in_progress"}}`,
			`{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"ls","aggregated_output":"x","exit_code":3,"status":"failed"}}`,
			codexHello, codexDone), "compatible"},
		{"codex plan: the list comes again whole", codex(0,
			`{"type":"item.started","item":{"id":"p","type":"todo_list","items":[{"text":"a","completed":false}]}}`,
			`{"type":"item.completed","item":{"id":"p","type":"todo_list","items":[{"text":"a","completed":true}]}}`,
			codexHello, codexDone), "compatible"},
		{"codex patch is lost", codex(0, `{"type":"item.completed","item":{"id":"f","type":"file_change","changes":[],"status":"completed"}}`, codexHello, codexDone),
			"incompatible: missing tool use (apply_patch); unexpected raw (item.completed file_change)"},
		{"codex item that nobody knows", codex(0, `{"type":"item.completed","item":{"id":"f","type":"new_item"}}`, codexHello, codexDone),
			"compatible: unknown raw (item.completed new_item)"},
		{"codex error that the turn survived", codex(0, `{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}`, codexHello, codexDone),
			"incompatible: invented failure"},
		{"codex says nothing: a weak success that OpenDesign takes for a failure", codex(0, codexDone), "compatible: invented failure"},
		{"codex failure", codex(1, `{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: no"}}`), "compatible"},
		{"codex early dialect: no text at all", codex(0, `{"type":"item.completed","item":{"id":"i","item_type":"assistant_message","text":"Hello."}}`, codexDone),
			"incompatible: invented failure; missing text; unexpected raw (item.completed assistant_message)"},
		{"claude text", claude(0, say("m1", "Hello."), claudeDone), "compatible"},
		{"claude tool", claude(0, call, back, say("m2", "Hello."), claudeDone), "compatible"},
		{"claude partial: the whole block before its stop doubles the call", claude(0,
			stream(`"type":"message_start","message":{"id":"m1"}`),
			stream(`"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"Bash","input":{}}`),
			stream(`"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"ls\"}"}`),
			call, stream(`"type":"content_block_stop","index":0`), back, say("m2", "Hello."), claudeDone),
			"incompatible: doubled tool use (Bash)"},
		{"claude partial without ids doubles the text", claude(0,
			stream(`"type":"message_start","message":{}`),
			stream(`"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}`),
			`{"type":"assistant","message":{"content":[{"type":"text","text":"Hello."}]}}`, claudeDone),
			"incompatible: doubled text"},
		{"claude partial: a retry says again what was streamed", claude(0,
			stream(`"type":"message_start","message":{"id":"m1"}`),
			stream(`"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}`),
			say("m2", "Hello."), claudeDone),
			"incompatible: doubled text"},
		{"claude that says nothing is wrong", claude(0, `{"type":"result","subtype":"error_during_execution","is_error":false}`),
			"incompatible: missing failure (process_exit)"},
		{"claude answers in the result only", claude(0, claudeDone), "incompatible: missing text"},
		{"claude's own error text is shown as an answer", claude(1,
			`{"type":"assistant","message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"Not logged in · Please run /login"}]},"error":"authentication_failed"}`,
			`{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login","usage":{"input_tokens":0,"output_tokens":0}}`),
			"compatible: invented text"},
		{"no parser for the dialect", input("claude", "claude-json", "", contract.FamilyClaude, 0, claudeDone),
			"not_run"},
		{"no reader for the dialect", input("droid", "droid", "", contract.FamilyEvents, 0, claudeDone), "not_run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := replay.Compatible(both(t, tt.in))
			var words []string
			for _, f := range c.Findings {
				words = append(words, f.String())
			}
			got := string(c.Status)
			if len(words) > 0 {
				got += ": " + strings.Join(words, "; ")
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if c.Status == contract.ReplayNotRun && c.Reason == "" {
				t.Error("no reason given")
			}
			if (len(c.Breaking()) > 0) != (c.Status == contract.ReplayIncompatible) {
				t.Errorf("status %s with %d breaking findings", c.Status, len(c.Breaking()))
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	if _, err := replay.Run("mine", codex(0)); err == nil || !strings.Contains(err.Error(), "open-design-parser") {
		t.Errorf("an unknown adapter gives %v", err)
	}
	if _, err := replay.Run(replay.AdapterReference, replay.Input{}); err == nil {
		t.Error("an empty input is read")
	}
}

// TestAgentStartedAnotherWay: OpenDesign has a parser for the format but runs
// that agent by another protocol; the reading says so.
func TestAgentStartedAnotherWay(t *testing.T) {
	in := codex(0, codexHello, codexDone)
	in.Agent = "kimi"
	_, consumer := both(t, in)
	if consumer.Status != replay.StatusOK || consumer.RunResult != contract.RunSuccess || !strings.Contains(consumer.Reason, "does not start") {
		t.Errorf("got %s %s %q", consumer.Status, consumer.RunResult, consumer.Reason)
	}
}

// TestGoldens: the documents that stand for a reading, byte for byte.
func TestGoldens(t *testing.T) {
	for name, in := range map[string]replay.Input{
		"codex-text":  codex(0, codexHello, `{"type":"item.completed","item":{"id":"x","type":"new<item>"}}`, codexDone),
		"claude-fail": claude(0, say("m1", "Hel <b>"), `{"type":"result","subtype":"error_during_execution","is_error":false}`),
		"not-run":     input("claude", "claude-json", "", contract.FamilyClaude, 0, claudeDone),
	} {
		ref, consumer := both(t, in)
		for _, r := range []*replay.Reading{ref, consumer} {
			got, err := replay.GoldenBytes(r)
			if err != nil {
				t.Fatal(err)
			}
			again, err := replay.GoldenBytes(r)
			if err != nil || !bytes.Equal(got, again) {
				t.Errorf("%s: the same reading has two goldens (%v)", name, err)
			}
			file := filepath.Join("testdata", name+"."+r.Adapter+".json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%s is missing: run go test -update", file)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs: run go test -update and look at the change", file)
			}
		}
	}
}
