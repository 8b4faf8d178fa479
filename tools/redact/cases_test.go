package redact

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

type redactorCase struct {
	Case    string `json:"case"`
	Agent   string `json:"agent"`
	Surface string `json:"surface"`
	Input   struct {
		Files  []string `json:"files"`
		Format string   `json:"format"`
	} `json:"input"`
	Expect struct {
		Redaction struct {
			MustNotContain []string `json:"must_not_contain"`
			MustContain    []string `json:"must_contain"`
		} `json:"redaction"`
	} `json:"expect"`
}

// Public reports of leaks: nothing that they name survives, neither in the
// sanitized bytes nor in what these decode to, and what is harmless stays.
func TestRedactorCases(t *testing.T) {
	dir := shared(t, "AGENT_CONTRACTS_CASES", "cases")
	files, err := filepath.Glob(filepath.Join(dir, "*", "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := withToolOutput(t)
	ran := 0
	for _, f := range files {
		var c redactorCase
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(b, &c) != nil || c.Surface != "redactor" {
			continue
		}
		ran++
		t.Run(c.Case, func(t *testing.T) {
			raw := c.printed(t, filepath.Dir(f))
			dialect := c.Agent
			if r.dialects[dialect] == nil {
				dialect = "tool-output"
			}
			out, rep := redactText(t, r, Input{Dialect: dialect}, raw)
			if rep.Status != contract.RedactionPassed {
				t.Errorf("status %s: %v %v", rep.Status, rep.Findings, rep.Unsure)
			}
			all := out + decodedStrings(out)
			for _, s := range c.Expect.Redaction.MustNotContain {
				if strings.Contains(all, s) {
					t.Errorf("entry of must_not_contain with %d bytes survives", len(s))
				}
			}
			for _, s := range c.Expect.Redaction.MustContain {
				if !strings.Contains(out, s) {
					t.Errorf("%q is lost", s)
				}
			}
		})
	}
	if ran == 0 {
		t.Error("no case with surface redactor")
	}
}

// printed is the stdout of a case whose input is in files that this test reads.
func (c *redactorCase) printed(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	for _, name := range c.Input.Files {
		b, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasPrefix(c.Input.Format, "transcript-jsonl"):
			run, err := transcript.ReadSanitized(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			out.Write(run.Bytes(transcript.CLIToServer, transcript.Stdout))
		case strings.HasSuffix(name, ".hex"):
			decoded, err := hex.DecodeString(strings.Join(strings.Fields(string(b)), ""))
			if err != nil {
				t.Fatal(err)
			}
			out.Write(decoded)
		case name == "chunks.json":
			var chunks []string
			if err := json.Unmarshal(b, &chunks); err != nil {
				t.Fatal(err)
			}
			decoded, err := hex.DecodeString(strings.Join(chunks, ""))
			if err != nil {
				t.Fatal(err)
			}
			out.Write(decoded)
		case strings.HasSuffix(name, ".gen.json"):
			t.Skipf("nothing here makes the input of %s", name)
		default:
			out.Write(b)
		}
	}
	return out.String()
}

// withToolOutput adds a dialect whose tool output is read as text of the CLI,
// as that of opencode is.
func withToolOutput(t testing.TB) *Redactor {
	t.Helper()
	f := loadFamilies(t)
	f.Dialects = append(f.Dialects, contract.Dialect{
		ID: "tool-output", ProtocolFamily: contract.FamilyEvents, Transport: contract.TransportJSONL, EventType: []string{"type"},
		Redact: contract.RedactRules{Vocabulary: []string{"part.state.output"}},
	})
	r, err := New(f, loadVocabulary(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// decodedStrings joins every string of every line, and every string of JSON
// inside strings.
func decodedStrings(s string) string {
	var b strings.Builder
	for line := range bytes.Lines([]byte(s)) {
		if v, err := rawjson.Parse(line); err == nil {
			appendStrings(&b, v, 0)
		}
	}
	return b.String()
}

func appendStrings(b *strings.Builder, v rawjson.Value, depth int) {
	if v.Kind() == rawjson.String {
		b.WriteString(v.Str())
		b.WriteByte('\n')
		if n, err := rawjson.Parse([]byte(v.Str())); err == nil && depth < 6 {
			appendStrings(b, n, depth+1)
		}
	}
	for c := range v.Children() {
		b.WriteString(c.Key())
		b.WriteByte('\n')
		appendStrings(b, c, depth)
	}
}

// Real streams of many CLIs keep their frames, keys and types; redacting them
// again changes nothing.
func TestSampleStreams(t *testing.T) {
	dir := shared(t, "AGENT_CONTRACTS_SAMPLES", "sample-streams")
	r := newRedactor(t)
	for _, s := range []struct{ glob, dialect string }{
		{"codex/*.jsonl", "codex"}, {"claude/*.jsonl", "claude"}, {"claude-2.1.259-sanitized/*.sanitized.jsonl", "claude"},
		{"amp/*.jsonl", "claude"}, {"opencode/*", "codex"}, {"gemini/*.jsonl", "codex"}, {"pi/*.jsonl", "claude"}, {"copilot/*.jsonl", "claude"},
		{"kimi/*.jsonl", "codex"}, {"qoder/*.jsonl", "claude"}, {"codex-app-server/*.jsonl", "codex-msg"},
	} {
		files, err := filepath.Glob(filepath.Join(dir, s.glob))
		if err != nil || len(files) == 0 {
			t.Errorf("no files for %s: %v", s.glob, err)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, hermetic := range []bool{false, true} {
				checkStream(t, r, Input{Dialect: s.dialect, Hermetic: hermetic}, filepath.Base(f), string(raw))
			}
		}
	}
}

func checkStream(t *testing.T, r *Redactor, in Input, name, raw string) {
	t.Helper()
	out, rep := redactText(t, r, in, raw)
	if rep.Status != contract.RedactionPassed {
		t.Errorf("%s: status %s: %v %v", name, rep.Status, rep.Findings, rep.Unsure)
	}
	if again, _ := redactText(t, r, in, out); again != out {
		t.Errorf("%s: redacting twice differs from redacting once in line %d", name, firstDifference(out, again))
	}
	if again, _ := redactText(t, r, in, raw); again != out {
		t.Errorf("%s: redacting is not deterministic", name)
	}
	if n, line := sameStructure(raw, out); !n {
		t.Errorf("%s: structure changes in line %d", name, line)
	}
}

func firstDifference(a, b string) int {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return i + 1
		}
	}
	return len(x)
}

// sameStructure compares lines, kinds of values and numbers of members.
func sameStructure(a, b string) (bool, int) {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	if len(x) != len(y) {
		return false, min(len(x), len(y))
	}
	for i := range x {
		v, err := rawjson.Parse([]byte(x[i]))
		w, err2 := rawjson.Parse([]byte(y[i]))
		if (err == nil) != (err2 == nil) || err == nil && !sameShape(v, w) {
			return false, i + 1
		}
	}
	return true, 0
}

func sameShape(v, w rawjson.Value) bool {
	if v.Kind() != w.Kind() || v.Len() != w.Len() {
		return false
	}
	if v.Kind() == rawjson.String && (v.Str() == "") != (w.Str() == "") {
		return false
	}
	var list []rawjson.Value
	for c := range w.Children() {
		list = append(list, c)
	}
	i := 0
	for c := range v.Children() {
		if !sameShape(c, list[i]) {
			return false
		}
		i++
	}
	return true
}

// A prompt on stdin is the probe's prompt file, not bytes.
func TestPromptOnStdin(t *testing.T) {
	r := newRedactor(t)
	raw := stdout("{\"type\":\"turn.started\"}\n")
	stdin := transcript.Record{Dir: transcript.ServerToCLI, Stream: transcript.Stdin}
	stdin.Data = []byte("first line\n")
	second := stdin
	second.Data = []byte("second line")
	raw.Records = append([]transcript.Record{stdin, second}, raw.Records...)
	out, _, err := r.Redact(raw, Input{Dialect: "codex", PromptOnStdin: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Records) != 2 || out.Records[0].DataRef != "prompt" || out.Records[0].Data != nil {
		t.Errorf("records %+v", out.Records)
	}
	var b bytes.Buffer
	if err := out.WriteSanitized(&b); err != nil {
		t.Error(err)
	}
}
