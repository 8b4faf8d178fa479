package redact_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
)

// The consumer's own parser tests, redacted, give its parsers the same events.
func TestVectorsReadAlike(t *testing.T) {
	dir := os.Getenv("AGENT_CONTRACTS_VECTORS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "vectors")
	}
	name := filepath.Join(dir, "stream-parser.json")
	if _, err := os.Stat(name); err != nil {
		t.Skip("the vectors are not there; set AGENT_CONTRACTS_VECTORS")
	}
	var file struct {
		Vectors []struct {
			Family, Kind, Name string
			Chunks             []string `json:"stdout_chunks"`
		}
	}
	if err := json.Unmarshal(read(t, name), &file); err != nil {
		t.Fatal(err)
	}
	f, v := registry(t)
	r, err := redact.New(f, v)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, x := range file.Vectors {
		id := map[string]string{"mimo": "opencode", "": strings.TrimSuffix(x.Family, "-stream-json")}[x.Kind]
		if id == "" {
			id = x.Kind
		}
		d := f.Dialect(id)
		if d == nil || id == "codex" || id == "claude" {
			continue
		}
		ran++
		raw := printed(strings.Join(x.Chunks, ""))
		clean, rep, err := r.Redact(raw, redact.Input{Dialect: id, Hermetic: true})
		if err != nil || rep.Status != contract.RedactionPassed {
			t.Errorf("%s: %s %v", x.Name, rep.Status, err)
			continue
		}
		a, errA := replay.OpenDesign(replay.Input{Transcript: raw, Agent: id, Dialect: d})
		b, errB := replay.OpenDesign(replay.Input{Transcript: clean, Agent: id, Dialect: d})
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if err := redact.EventsEquivalent(eventLines(a), eventLines(b)); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
	}
	if ran < 10 {
		t.Errorf("only %d vectors of these dialects", ran)
	}
}

// A text that goes on behind the pieces of a turn begins with their
// placeholders, whatever else begins like one of them.
func TestTextBehindPieces(t *testing.T) {
	f, v := registry(t)
	r, err := redact.New(f, v)
	if err != nil {
		t.Fatal(err)
	}
	line := func(text, more string) string {
		return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]}` + more + "}\n"
	}
	raw := printed(line("In ", `,"timestamp_ms":1`) + line("two", `,"timestamp_ms":2`) + line("In two parts", "") +
		`{"type":"result","subtype":"error","is_error":true,"error":{"message":"In two attempts"},"session_id":"In two"}` + "\n")
	clean, _, err := r.Redact(raw, redact.Input{Dialect: "cursor-agent"})
	if err != nil {
		t.Fatal(err)
	}
	want := line("<text:1> ", `,"timestamp_ms":1`) + line("<text:2>", `,"timestamp_ms":1`) + line("<text:1> <text:2> <text:3>", "")
	got := string(stdoutOf(clean))
	if !strings.HasPrefix(got, want) || !strings.Contains(got, `"message":"In two attempts"`) {
		t.Errorf("got %s", got)
	}
}
