package normalize_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"pgregory.net/rapid"
)

func redactor(t *testing.T) *redact.Redactor {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), "registry", "vocabulary.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := redact.ParseVocabulary(b)
	if err != nil {
		t.Fatal(err)
	}
	r, err := redact.New(families(t), v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A raw transcript and its sanitized form have one shape (DESIGN D5).
func TestRedactionKeepsTheShape(t *testing.T) {
	r := redactor(t)
	for _, s := range samples(t) {
		raw := stdout(s.text)
		clean, _, err := r.Redact(raw, redact.Input{Dialect: s.d.ID})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		before, _ := shape(t, raw, s.d)
		after, _ := shape(t, clean, s.d)
		if before.Signature != after.Signature {
			t.Errorf("%s: redaction changed the shape (%d kinds, then %d)", s.name, before.FrameCount, after.FrameCount)
		}
	}
}

// Every word that stderr is classified by survives redaction.
func TestRedactionKeepsTheStderrClass(t *testing.T) {
	r := redactor(t)
	d := dialect(t, "codex")
	run := func(line string) *transcript.Transcript {
		tr := &transcript.Transcript{}
		add(tr, transcript.CLIToServer, transcript.Stderr, line+"\n")
		return exit(tr, 1)
	}
	words := normalize.StderrWords()
	lines := slices.Clone(words)
	for _, p := range stderrLines {
		lines = append(lines, p.line)
	}
	for i, line := range lines {
		raw := run(line)
		clean, _, err := r.Redact(raw, redact.Input{Dialect: d.ID})
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		_, before := shape(t, raw, d)
		_, after := shape(t, clean, d)
		if before.StderrDetail != after.StderrDetail {
			t.Errorf("%q: class %s, after redaction %s", line, before.StderrDetail, after.StderrDetail)
		}
		if kept := string(clean.Bytes(transcript.CLIToServer, transcript.Stderr)); i < len(words) && kept != line+"\n" {
			t.Errorf("the word %q does not survive redaction", line)
		}
	}
}

// What a shape takes for an enum value, redaction keeps.
func TestRedactionKeepsEnumValues(t *testing.T) {
	r := redactor(t)
	words := rapid.StringMatching(`[a-zA-Z]{1,10}[0-9]{0,2}([_./:-]([a-zA-Z]{1,10}[0-9]{0,2}|[0-9]{1,4})){0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		s := words.Filter(contract.IsEnumLiteral).Draw(t, "value")
		line := `{"type":"item.started","item":{"status":"` + s + `"}}` + "\n"
		clean, _, err := r.Redact(stdout(line), redact.Input{Dialect: "codex"})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(clean.Bytes(transcript.CLIToServer, transcript.Stdout)); got != line {
			t.Fatalf("%q does not survive redaction", s)
		}
	})
}
