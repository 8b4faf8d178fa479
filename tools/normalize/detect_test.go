package normalize_test

import (
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
)

func TestDetectDialect(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"codex", codexTool, "codex"},
		{"codex of 0.42", `{"type":"session.created","session_id":"x"}` + "\n", "codex"},
		{"noise first", "Loading\n[]\n7\n" + codexTool, "codex"},
		{"codex before 0.42", codexMsg, "codex-msg"},
		{"the same from its second line", strings.SplitN(codexMsg, "\n", 2)[1], "codex-msg"},
		{"claude", claudePartial, "claude"},
		{"a claude array", `[{"type":"system","subtype":"init"},{"type":"result","subtype":"success"}]`, "claude-json"},
		{"text", "codex-cli 0.133.0\n", "plain"},
		{"text with JSON over several lines", "Here it is:\n{\n  \"a\": 1\n}\n", "plain"},
		{"a stream with a cut line", `{"type":"item.com` + "\n" + codexTool, "codex"},
	}
	for _, tt := range tests {
		d, err := normalize.DetectDialect(families(t), stdout(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if d.ID != tt.want {
			t.Errorf("%s: dialect %s, want %s", tt.name, d.ID, tt.want)
		}
	}
	for _, text := range []string{"", "\n", `{"hello":"secret"}`, `{"type":"secret`, `[{"type":"secret`, "secret\x00\x01\n"} {
		d, err := normalize.DetectDialect(families(t), stdout(text))
		if err == nil {
			t.Errorf("%q: dialect %s, want an error", text, d.ID)
		} else if strings.Contains(err.Error(), "secret") {
			t.Error("the error quotes the transcript")
		}
	}
}

func TestBrokenRules(t *testing.T) {
	tests := []struct {
		name string
		d    *contract.Dialect
		want string
	}{
		{"none", nil, "no dialect"},
		{"mode", &contract.Dialect{ID: "x", Kind: []contract.Discriminator{{Path: "type", Mode: "hash"}}}, `unknown mode "hash"`},
		{"pattern", &contract.Dialect{ID: "x", Opaque: []string{"a..b"}}, `"a..b"`},
		{"condition beside the kind", &contract.Dialect{ID: "x", Stream: []contract.Match{{"foo": {"y"}}}}, `"foo", which is not a discriminator`},
		{"transport", &contract.Dialect{ID: "x", Transport: "smoke"}, `unknown transport "smoke"`},
	}
	for _, tt := range tests {
		_, _, err := normalize.Shape(stdout("x"), tt.d, contract.LevelSyntheticMock)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %s", tt.name, err, tt.want)
		}
	}
}

// Nesting that no reader follows is refused by the record's number.
func TestTooDeep(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000)
	_, _, err := normalize.Shape(stdout(codexTool+deep), dialect(t, "codex"), contract.LevelSyntheticMock)
	if err == nil || !strings.Contains(err.Error(), "record 8") {
		t.Errorf("error %v, want one that names record 8", err)
	}
	// What is readable but deep keeps a small shape.
	deep = strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	s, _ := shape(t, stdout(deep), dialect(t, "codex"))
	if n := len(s.FrameShapes[0].Paths); n > 100 {
		t.Errorf("%d paths", n)
	}
}

// A long run gives a small shape, and the time that its repeats take grows
// with its length, not with its square: this test would not end otherwise.
func TestLongRun(t *testing.T) {
	s, notes := shape(t, longRun(codexTool, 25000), dialect(t, "codex"))
	if notes.Frames != 100002 {
		t.Errorf("%d frames", notes.Frames)
	}
	if got := sequence(t, s); got != `[0,[1,2,3,4],5]` {
		t.Errorf("sequence %s", got)
	}
}
