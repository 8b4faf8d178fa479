package recordings

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

func committed(t testing.TB) *store.Registry {
	t.Helper()
	reg, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// printedBy returns what a captured run of a version printed.
func printedBy(t *testing.T, reg *store.Registry, agent, version, probe string) string {
	t.Helper()
	all, err := reg.Observations(agent)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		o := &all[i]
		if o.CLIVersion != version || o.Probe != probe {
			continue
		}
		b, err := reg.ReadFile(o.Extensions.Fixture)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := transcript.ReadSanitized(strings.NewReader(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		return string(parsed.Bytes(transcript.CLIToServer, transcript.Stdout))
	}
	t.Fatalf("no capture of %s@%s %s", agent, version, probe)
	return ""
}

func check(t *testing.T, reg *store.Registry, files map[string]string) map[string]Row {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := Check(context.Background(), reg, dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Row{}
	for _, r := range rows {
		out[filepath.Base(r.File)+r.At] = r
	}
	return out
}

func TestStates(t *testing.T) {
	reg := committed(t)
	current := printedBy(t, reg, "codex", "0.171.0", "chat-tool-success")
	old := printedBy(t, reg, "codex", "0.42.0", "chat-tool-success") // the {"id", "msg"} envelope
	cassette, err := json.Marshal(map[string]any{"interactions": []any{
		map[string]any{"request": map[string]any{"argv": []string{"codex"}}, "response": map[string]any{"stdout": current}},
		map[string]any{"response": map[string]any{"lines": strings.Split(strings.TrimSpace(current), "\n")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var cast strings.Builder
	cast.WriteString("{\"version\": 2, \"width\": 80, \"height\": 24}\n")
	for line := range strings.Lines(current) {
		event, _ := json.Marshal([]any{0.5, "o", strings.TrimSuffix(line, "\n") + "\r\n"})
		cast.Write(append(event, '\n'))
	}
	vcr := "interactions:\n- request: {argv: [codex]}\n  response:\n    stdout: |\n      " + strings.ReplaceAll(strings.TrimSpace(current), "\n", "\n      ") + "\n"
	rows := check(t, reg, map[string]string{
		"vcr.yaml":      vcr,
		"broken.yml":    "a: [",
		"after.jsonl":   current + `{"type":"item.exploded","boom":1}` + "\n",
		"current.jsonl": current,
		"old.jsonl":     old,
		"new.jsonl":     strings.Replace(current, `"type":"turn.started"`, `"type":"turn.started","future_member":1`, 1),
		"cassette.json": string(cassette),
		"cast.cast":     cast.String(),
		"broken.cast":   "{\"version\": 2, \"width\": 80}\n{}\n",
		"mock.jsonl":    `{"type":"meta","agent":"codex","source":{"provider":"x"}}` + "\n",
		"notes.txt":     "nothing of the kind\n",
		"empty.jsonl":   "",
	})
	for name, want := range map[string]struct {
		state  State
		format Format
	}{
		"current.jsonl": {StateCurrent, FormatJSONL},
		"old.jsonl":     {StateStale, FormatJSONL},
		"new.jsonl":     {StateUnknown, FormatJSONL},
		"cassette.json/interactions/0/response/stdout": {StateCurrent, FormatCassette},
		"cassette.json/interactions/1/response/lines":  {StateCurrent, FormatCassette},
		"vcr.yaml/interactions/0/response/stdout":      {StateCurrent, FormatCassette},
		"broken.yml":  {StateNoStream, FormatJSONL},
		"after.jsonl": {StateUnknown, FormatJSONL},
		"cast.cast":   {StateCurrent, FormatCast},
		"broken.cast": {StateNoStream, FormatCast},
		"mock.jsonl":  {StateNoStream, FormatMock},
		"notes.txt":   {StateNoStream, FormatJSONL},
		"empty.jsonl": {StateNoStream, FormatJSONL},
	} {
		r, ok := rows[name]
		if !ok || r.State != want.state || r.Format != want.format {
			t.Errorf("%s: %s %s (%s), gone %v, never %v", name, r.Format, r.State, r.Reason, r.Gone, r.Never)
		}
	}
	if r := rows["current.jsonl"]; !strings.Contains(strings.Join(r.Versions, " "), "codex@0.171.0") {
		t.Errorf("versions of a current recording: %v", r.Versions)
	}
	if r := rows["new.jsonl"]; len(r.Never) != 1 || r.Never[0] != "turn.started future_member:number" || len(r.Versions) == 0 {
		t.Errorf("what nobody captured: %v, versions %v", r.Never, r.Versions)
	}
	if r := rows["after.jsonl"]; len(r.Never) == 0 || r.Never[0] != "item.exploded" {
		t.Errorf("after the last frame nobody captured %q", r.Never)
	}
	if v := rows["current.jsonl"].Versions; v[len(v)-1] != "codex@0.171.0" {
		t.Errorf("versions are not in their order: %v", v)
	}
	if r := rows["old.jsonl"]; len(r.Gone) == 0 || !strings.Contains(strings.Join(r.Versions, " "), "codex@0.42.0") || strings.Contains(strings.Join(r.Versions, " "), "0.171.0") {
		t.Errorf("an old recording: %+v", r)
	}
}

// A transcript of the registry is known by its signature.
func TestTranscriptIsKnownByItsShape(t *testing.T) {
	reg := committed(t)
	all, err := reg.Observations("codex")
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if o := &all[i]; o.CLIVersion == "0.171.0" && o.Probe == "chat-tool-success" {
			b, err := reg.ReadFile(o.Extensions.Fixture)
			if err != nil {
				t.Fatal(err)
			}
			if r := check(t, reg, map[string]string{"a.jsonl": string(b)})["a.jsonl"]; r.Shape != o.Shape.Signature || r.State != StateCurrent || r.Format != FormatTranscript {
				t.Errorf("%+v", r)
			}
			return
		}
	}
	t.Fatal("no capture to read")
}

// Whatever a file holds, it is sorted into a state, and nothing panics.
func FuzzFile(f *testing.F) {
	k, err := learn(committed(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"type":"turn.started"}` + "\n"))
	f.Add([]byte(`{"interactions":[{"response":{"body":{"string":"{\"type\":\"turn.started\"}\n"}}}]}`))
	f.Add([]byte("a: &a [*a]\nstdout: |\n  {}\n"))
	f.Add([]byte("{\"version\": 2, \"width\": 80}\n[1, \"o\", \"{}\"]\n"))
	f.Add([]byte(`{"dir":"process","at_ms":0,"event":"spawn"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, r := range append(k.file("x", b), k.file("x.yaml", b)...) {
			if r.State == "" || r.State == StateNoStream && r.Reason == "" {
				t.Errorf("%+v", r)
			}
		}
	})
}
