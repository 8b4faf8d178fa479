package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// What cannot be read is replaced and needs a person, whose yes lets the rest
// pass; no byte of it is in the result or the report.
func TestFailClosed(t *testing.T) {
	r := newRedactor(t)
	maxLine = 1 << 20
	defer func() { maxLine = 64 << 20 }()
	x, err := leak.Samples("github-pat", 1, rand.New(rand.NewPCG(7, 7)))
	if err != nil {
		t.Fatal(err)
	}
	s := x[0].Text
	said := "the key " + s + " failed again"
	deep := strings.Repeat("[", rawjson.MaxDepth+2)
	nested := `{"error":` + quote(said) + "}"
	for range maxNesting + 1 {
		nested = `{"error":` + quote(nested) + "}"
	}
	for _, c := range []struct {
		name, line, why string
		hermetic        bool // also in a run with our own provider
	}{
		{"broken JSON", `{"type":"item.completed","item":{"text":` + quote(said) + `}}}`, "begins like JSON and is none", false},
		{"two frames in a line", `{"type":"turn.started"}{"text":` + quote(said) + `}`, "begins like JSON and is none", false},
		{"no UTF-8", "error \xff\xfe " + said, "is not UTF-8", false},
		{"too deep", deep + quote(said) + strings.Repeat("]", rawjson.MaxDepth+2), "nests too deeply", true},
		{"too long", `{"type":"error","message":` + quote(said+strings.Repeat(" model", maxLine/6)) + "}", "too long", true},
		{"JSON too deep in strings", `{"type":"error","message":` + quote(nested) + "}", "more than 4 deep", false},
	} {
		for _, hermetic := range []bool{false, true} {
			in := Input{Dialect: "codex", Hermetic: hermetic}
			out, rep, err := r.Redact(stdout(c.line+"\n"), in)
			if err != nil {
				t.Fatal(err)
			}
			text := string(out.Bytes(transcript.CLIToServer, transcript.Stdout))
			if told := text + decodedStrings(text) + fmt.Sprint(rep.Unsure, rep.Preview, rep.UnknownWords, rep.Findings); strings.Contains(told, s[8:16]) {
				t.Errorf("%s, hermetic %v: the secret is in the result", c.name, hermetic)
			}
			if hermetic && !c.hermetic {
				continue
			}
			if rep.Status != contract.RedactionReview || !strings.Contains(strings.Join(rep.Unsure, ""), c.why) || len(rep.Preview) == 0 {
				t.Errorf("%s: %s %v %v", c.name, rep.Status, rep.Unsure, rep.Preview)
			}
			if strings.Contains(text, "failed") || strings.Contains(text, "model") {
				t.Errorf("%s: words that nobody knows to be public stay", c.name)
			}
			in.Accepted = rep.Unsure
			again, rep, err := r.Redact(stdout(c.line+"\n"), in)
			if err != nil || rep.Status != contract.RedactionPassed || string(again.Bytes(transcript.CLIToServer, transcript.Stdout)) != text {
				t.Errorf("%s: after a yes: %v %v %v", c.name, err, rep.Status, rep.Findings)
			}
		}
	}
}

// Lines that begin with a bracket and are no JSON, and lines that were cut, are
// what CLIs print.
func TestPlainLinesAreNoDoubt(t *testing.T) {
	r := newRedactor(t)
	for _, line := range []string{"[INFO] started", "[2026-09-03 02:41] error", `{"type":"error","message":"cut o`, "error: failed", "<text:1>"} {
		if _, rep := redactText(t, r, Input{Dialect: "codex"}, line); rep.Status != contract.RedactionPassed {
			t.Errorf("%s: %s %v", line, rep.Status, rep.Unsure)
		}
	}
}

// A mistake of ours in the middle of a transcript is an error without any byte of
// it, also if the panic carries some.
func TestFaultsSayNothing(t *testing.T) {
	r := newRedactor(t)
	broken := *r
	d := *r.dialects["codex"]
	d.pieces = []*pieceRule{{marker: "type", path: []string{"item"}}, nil}
	broken.dialects = map[string]*dialect{"codex": &d}
	word := (&made{rand.New(rand.NewPCG(1, 2))}).word()
	_, rep, err := broken.Redact(stdout(`{"type":"error","message":"`+word+`"}`+"\n"), Input{Dialect: "codex"})
	if err == nil || rep.Status != contract.RedactionFailed || strings.Contains(err.Error(), word) {
		t.Errorf("%v %v", rep.Status, err)
	}
	if err := (&run{}).fault("panic at " + word); strings.Contains(err.Error(), word) {
		t.Error(err)
	}
}
