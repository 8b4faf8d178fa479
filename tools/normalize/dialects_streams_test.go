package normalize_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// otherSamples returns streams of the one-way dialects beside those of Codex
// and Claude: ours in testdata/streams, named by dialect, and those of other
// projects where they are there.
func otherSamples(t testing.TB) []sample {
	t.Helper()
	f := families(t)
	var out []sample
	ours, err := filepath.Glob(filepath.Join("testdata", "streams", "*.jsonl"))
	if err != nil || len(ours) == 0 {
		t.Fatal("no streams in testdata: ", err)
	}
	for _, name := range ours {
		id, _, _ := strings.Cut(filepath.Base(name), "_")
		out = append(out, readSample(t, name, f.Dialect(id)))
	}
	dir := os.Getenv("AGENT_CONTRACTS_SAMPLES")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "sample-streams")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Log("the sample streams of other projects are not there; set AGENT_CONTRACTS_SAMPLES to test with them too")
		return out
	}
	for glob, id := range map[string]string{
		"amp/*.jsonl": "amp", "copilot/*_session.jsonl": "copilot", "copilot/malformed_lines.jsonl": "copilot", "gemini/*.jsonl": "gemini",
		"kimi/*.jsonl": "kimi", "opencode/*": "opencode", "pi/*.jsonl": "pi-json", "qoder/*.jsonl": "qoder",
	} {
		names, err := filepath.Glob(filepath.Join(dir, glob))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			out = append(out, readSample(t, name, f.Dialect(id)))
		}
	}
	return append(out, geminiSnapshots(t, filepath.Join(dir, "gemini", "nonInteractiveCli.test.ts.snap"), f.Dialect("gemini"))...)
}

func readSample(t testing.TB, name string, d *contract.Dialect) sample {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d == nil {
		t.Fatalf("%s: families.json has no such dialect", name)
	}
	return sample{filepath.Base(name), string(bytes.TrimRight(b, "\n")) + "\n", d}
}

var snapshotStream = regexp.MustCompile("(?s)`\n\"(\\{.*?\\}\n)\"\n`;")

// geminiSnapshots returns the streams in a snapshot of the vendor's own tests.
func geminiSnapshots(t testing.TB, name string, d *contract.Dialect) []sample {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	var out []sample
	for _, m := range snapshotStream.FindAllStringSubmatch(string(b), -1) {
		out = append(out, sample{filepath.Base(name), strings.NewReplacer("<DURATION>", "12", "<TIMESTAMP>", "2026-08-21T10:00:00.000Z").Replace(m[1]), d})
	}
	if len(out) == 0 {
		t.Errorf("%s: no stream found", name)
	}
	return out
}

func TestOtherDialectsAreDetected(t *testing.T) {
	f := families(t)
	for _, s := range otherSamples(t) {
		if d, err := normalize.DetectDialect(f, stdout(s.text)); err != nil || d.ID != s.d.ID {
			t.Errorf("%s: dialect %v, %v; want %s", s.name, d, err, s.d.ID)
		}
	}
	for _, tt := range []struct{ text, want string }{
		// What the first frame alone tells, when the run ends there.
		{`{"type":"error","timestamp":1,"sessionID":"ses_1","error":{"name":"UnknownError","data":{"message":"x"}}}`, "opencode"},
		{`{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"No auth type is selected."}}`, "qwen"},
		{`{"type":"assistant","message":{"content":[]},"error":{"code":"E_QODER"}}`, "qoder"},
		{`{"type":"error","source":"cli","message":"x","timestamp":1,"session_id":"s"}`, "droid"},
		{`{"role":"assistant","content":"x"}`, "kimi"},
		{`{"role":"meta","type":"turn.step.retrying"}`, "kimi"},
		{"MCP issues detected.{\"type\":\"init\"}\n" + `{"type":"message","timestamp":"2026-04-01T10:00:02.000Z","role":"assistant","content":"Hi","delta":true}`, "gemini"},
		{`{"type":"agent_start"}`, "pi-json"},
		// Neighbours that look alike.
		{`{"type":"error","message":"x"}`, "codex"},
		{`{"type":"turn.started"}`, "codex"},
		{`{"type":"system","subtype":"init","session_id":"s","model":"m"}`, "claude"},
		{`{"type":"system","subtype":"init","session_id":"s","tools":[],"apiKeySource":"none","uuid":"u"}`, "claude"},
		{`{"type":"result","subtype":"success","is_error":false,"session_id":"s"}`, "claude"},
		{`{"type":"assistant","message":{"content":[]},"error":"authentication_failed"}`, "claude"},
		{`[{"type":"system","subtype":"init"},{"type":"result","subtype":"success"}]`, "claude-json"},
		{"Error: Not authenticated. Please run `copilot login`.\n", "plain"},
	} {
		if d, err := normalize.DetectDialect(f, stdout(tt.text)); err != nil || d.ID != tt.want {
			t.Errorf("%s: dialect %v, %v; want %s", tt.text, d, err, tt.want)
		}
	}
	// Codex and Claude keep theirs.
	for _, s := range samples(t) {
		if id := s.d.ID; id != "codex" && id != "codex-msg" && id != "claude" && id != "claude-json" {
			t.Errorf("%s: dialect %s", s.name, id)
		}
	}
}

// A raw transcript and its sanitized form have one shape, in a hermetic run
// and in a live one.
func TestRedactionKeepsTheShapeOfOtherDialects(t *testing.T) {
	r := redactor(t)
	for _, s := range otherSamples(t) {
		raw := stdout(s.text)
		before, _ := shape(t, raw, s.d)
		for _, hermetic := range []bool{true, false} {
			clean, rep, err := r.Redact(raw, redact.Input{Dialect: s.d.ID, Hermetic: hermetic})
			if err != nil || rep.Status != contract.RedactionPassed {
				t.Fatalf("%s: %s %v %v %v", s.name, rep.Status, rep.Findings, rep.Unsure, err)
			}
			if after, _ := shape(t, clean, s.d); before.Signature != after.Signature {
				t.Errorf("%s: redaction changed the shape (%d kinds, then %d)", s.name, before.FrameCount, after.FrameCount)
			}
		}
	}
}

// What a healthy run may print on stderr or not is in no shape, raw or
// sanitized; what an unhealthy one prints is.
func TestChatterOnStderr(t *testing.T) {
	r := redactor(t)
	f := families(t)
	chatty := 0
	for i := range f.Dialects {
		d := &f.Dialects[i]
		silent, _ := shape(t, stdout("{}\n"), d)
		for _, phrase := range d.StderrChatter {
			chatty++
			raw := stdout("{}\n")
			add(raw, transcript.CLIToServer, transcript.Stderr, phrase+": 4 tools, see the quota of /home/user\n")
			clean, _, err := r.Redact(raw, redact.Input{Dialect: d.ID, Hermetic: true})
			if err != nil {
				t.Fatal(err)
			}
			for what, tr := range map[string]*transcript.Transcript{"raw": raw, "sanitized": clean} {
				if s, _ := shape(t, tr, d); s.Signature != silent.Signature {
					t.Errorf("%s: %q is in the %s shape", d.ID, phrase, what)
				}
			}
		}
		failed := stdout("{}\n")
		add(failed, transcript.CLIToServer, transcript.Stderr, "Error: quota exceeded\n")
		if s, _ := shape(t, failed, d); s.Signature == silent.Signature {
			t.Errorf("%s: an error on stderr is not in the shape", d.ID)
		}
	}
	if chatty == 0 {
		t.Error("no dialect has chatter")
	}
}
