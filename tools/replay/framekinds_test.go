package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// fixture is a committed fixture, as an observation names it.
type fixture struct {
	path string
	in   replay.Input
	o    contract.Observation
}

// fixtures returns the fixtures of a version's observations, by probe.
func fixtures(t testing.TB, agent, version string) map[string]fixture {
	t.Helper()
	var families contract.Families
	readJSON(t, "../../registry/families.json", &families)
	names, err := filepath.Glob(filepath.Join("../../observations", agent, version, "*", "*.observation.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no observations of %s %s (%v)", agent, version, err)
	}
	out := map[string]fixture{}
	for _, name := range names {
		var f fixture
		readJSON(t, name, &f.o)
		f.path = f.o.Extensions.Fixture
		b, err := os.ReadFile(filepath.Join("../..", f.path))
		if err != nil {
			t.Fatal(err)
		}
		tr, err := transcript.ReadSanitized(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		f.in = replay.Input{Transcript: tr, Agent: agent, Dialect: families.Dialect(f.o.Extensions.Dialect)}
		out[f.o.Probe] = f
	}
	return out
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func byFrame(t testing.TB, in replay.Input) string {
	t.Helper()
	ref, consumer := both(t, in)
	frames, err := replay.FindingsByFrame(in, ref, consumer)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	total := map[string]int{}
	for _, f := range frames {
		var words []string
		for _, x := range f.Findings {
			words = append(words, x.String())
			n := x.Count
			x.Count = 0
			total[fmt.Sprint(x.Finding)] += n
		}
		out = append(out, f.FrameKind+": "+strings.Join(words, ", "))
	}
	for _, x := range replay.Compatible(ref, consumer).Findings {
		n := x.Count
		x.Count = 0
		if total[fmt.Sprint(x)] != n {
			t.Errorf("the frames have %d of %v, the whole run has %d", total[fmt.Sprint(x)], x, n)
		}
	}
	return strings.Join(out, "; ")
}

// TestFindingsOfClaude: on Claude 2.1.x the assistant frame says a call whole
// before its streamed block stops, and the stop says it again.
func TestFindingsOfClaude(t *testing.T) {
	for _, version := range []string{"2.1.200", "2.1.332"} {
		got := byFrame(t, fixtures(t, "claude", version)["chat-tool-success"].in)
		const want = "stream_event event.type=content_block_stop parent_tool_use_id=null: doubled tool use (Bash), " +
			"given before by assistant message.content[].type=tool_use parent_tool_use_id=null"
		if got != want {
			t.Errorf("claude %s: %s\nwant %s", version, got, want)
		}
	}
}

func TestFindingsByFrame(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		in         replay.Input
	}{
		{"nothing is lost", "", codex(0, codexHello, codexDone)},
		{"a lost item is its frame's", "item.completed: missing tool use (apply_patch), unexpected raw (item.completed file_change)",
			codex(0, `{"type":"item.completed","item":{"id":"f","type":"file_change","changes":[],"status":"completed"}}`, codexHello, codexDone)},
		{"an error frame that the turn survived", "error: invented failure",
			codex(0, `{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}`, codexHello, codexDone)},
		{"what no frame says", "(end of run): invented failure", codex(0, codexDone)},
		{"a doubled text is the second one's", "assistant: doubled text, given before by stream_event",
			claude(0, stream(`"type":"message_start","message":{}`),
				stream(`"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}`),
				`{"type":"assistant","message":{"content":[{"type":"text","text":"Hello."}]}}`, claudeDone)},
		{"a text that was taken back is the frames' that gave it", "stream_event: doubled text",
			claude(0, stream(`"type":"message_start","message":{"id":"m1"}`),
				stream(`"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}`),
				say("m2", "Hello."), claudeDone)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Dialect.EventType = []string{"type"}
			if got := byFrame(t, tt.in); got != tt.want {
				t.Errorf("findings by frame: %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestFindingsAreThoseOfTheWhole: on every committed claude and codex fixture
// the frames' findings add up to those of the run.
func TestFindingsAreThoseOfTheWhole(t *testing.T) {
	for _, v := range [][2]string{{"claude", "2.1.112"}, {"claude", "2.1.332"}, {"codex", "0.171.0"}, {"codex", "0.133.0"}} {
		for probe, f := range fixtures(t, v[0], v[1]) {
			t.Run(v[0]+" "+v[1]+" "+probe, func(t *testing.T) { byFrame(t, f.in) })
		}
	}
}
