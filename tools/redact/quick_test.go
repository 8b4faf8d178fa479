package redact

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Names, ids and numbers of the shapes that have a quick way, and near them.
var quickShapes = []string{
	`(/[a-zA-Z0-9_-]{1,6}){1,4}(/[a-z]{1,6}[0-9]{0,5}(\.(ts|go|md|x|com|jpeg))?)?`,
	`/(HOMES|PEOPLE|tmp|w|h|t|usr|login|model)(/|\.|-)[a-z0-9.]{0,6}`,
	`(/HOMES/jane/w|/HOMES/jane|/w|C:)(/[a-z0-9]{1,5}){0,3}(\.(ts|go|md))?`,
	`([a-z0-9_-]{1,6}/){0,3}[a-zA-Z]{1,8}[0-9]{0,5}\.(ts|go|md|toml|json|x|com)`,
	`p[0-9]{1,10}(\.(ts|x))?`, `[a-z]-{1,2}[a-z]{1,5}(-[a-z]{1,3})?\.ts`,
	`([A-Za-z]{1,13}\.){1,3}[A-Za-z]{1,13}`, `(response|item|error|foo|deadbeefdead|config|a)\.(completed|failed|created|toml|x|beefdeadbeef)`,
	`[A-Za-z0-9+/]{1,200}={0,2}`, `([A-Za-z0-9]{1,40}[+/]){1,5}[A-Za-z0-9]{0,40}`, `([0-9a-f]{1,30}[+/:]){1,5}[0-9a-f]{0,9}`, `[A-Za-z0-9/+_.:-]{1,60}`,
	`[0-9]{1,10}( (tokens|bytes|apples))?`, `(limit|of|max) [0-9]{1,10}`, `\$[0-9]{1,6}[.,]?[0-9]{0,3}`, `[0-9]{1,4}(st|th|pm|xx|h|d|ms|min|s|q)`,
	`[0-9]{1,4}:[0-9]{1,4}(:[0-9]{1,4})?`, `[a-z]{1,7}[0-9]{1,3}`, `[a-z]{2,9}`,
}

// drawShapes draws a text of names, ids and numbers, of which a few bytes were
// changed.
func drawShapes(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(1, 8).Draw(t, "parts") {
		b.WriteString(homes.Replace(rapid.StringMatching(rapid.SampledFrom(quickShapes).Draw(t, "shape")).Draw(t, "part")))
		b.WriteString(rapid.SampledFrom([]string{" ", " ", " ", "", "\n", ":", ": ", "://", "'s ", ",", ")", "/", "+", "<text:3>", "é", "\"", "=", "$", "%"}).Draw(t, "gap"))
	}
	text := []byte(b.String())
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		text[rapid.IntRange(0, len(text)-1).Draw(t, "place")] = rapid.SampledFrom([]byte("/+-_.:@~\\$%<> \n'0aZp\x1b\xc3")).Draw(t, "byte")
	}
	return string(text)
}

// A quick way gives the edits that tokenAt gives, and where it says that a text
// stays as it is, it does.
func TestQuickWaysSayWhatTokensSay(t *testing.T) {
	r := newRedactor(t)
	rapid.Check(t, func(t *rapid.T) {
		text := drawShapes(t)
		quick, slow, plods := freshRun(r), freshRun(r), freshRun(r)
		plods.plodding = true
		edits, _ := quick.wordEdits(text)
		if got, want := apply(text, edits), apply(text, slow.slowWordEdits(text)); got != want {
			t.Fatalf("%q became\n%q, want\n%q", text, got, want)
		}
		quick = freshRun(r)
		if got, want := quick.settle(text, true, 0), plods.settle(text, true, 0); got != want {
			t.Fatalf("%q settles as\n%q, want\n%q", text, got, want)
		}
	})
}

// Each shape is met and has its quick way.
func TestQuickWaysAreTaken(t *testing.T) {
	r := freshRun(newRedactor(t))
	for _, w := range []string{homes.Replace("/HOMES/jane/w/src/the/map12.ts"), "/usr/share/x", "src/the/map12.ts", "list12345.ts", "response.completed", "frob.nicate"} {
		if _, shape := nameOf(w, 0); shape == 0 {
			t.Errorf("%q is no name", w)
		} else if text, ok := r.quickName(w, shape); !ok {
			t.Errorf("%q has no quick way", w)
		} else if _, want := r.tokenAt(w, 0); text != want {
			t.Errorf("%q became %q, want %q", w, text, want)
		}
	}
	for _, s := range []string{"+Ab3dE5gH/", "/0a1b2c3d4e5f6a7b8c9d0e1f"} {
		if end, want := r.quickID(s, 1), len(strings.TrimRight(s, "/")); end != want {
			t.Errorf("the id in %q ends at %d, want %d", s, end, want)
		} else if slow, _ := r.tokenAt(s, 1); end != slow {
			t.Errorf("the id in %q ends at %d, tokenAt says %d", s, end, slow)
		}
	}
}

// A word is public the quick way if it is the long way.
func TestQuickWordsArePublicAlike(t *testing.T) {
	l := newRedactor(t).dialects["opencode"].lex
	some := []string{"error", "the", "terminal", "quota", "json", "zq", "it", "x", "don't", "token's", "’s", "é", "sandbox_mode", "Bash", "ENOENT", "4"}
	public := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "parts") {
			w := rapid.SampledFrom(some).Draw(t, "word")
			switch rapid.IntRange(0, 3).Draw(t, "case") {
			case 0:
				w = strings.ToUpper(w)
			case 1:
				w = strings.ToUpper(w[:1]) + w[1:]
			}
			b.WriteString(w)
		}
		w := strings.Repeat(b.String(), rapid.SampledFrom([]int{1, 1, 1, 9}).Draw(t, "times"))
		got := l.word(w)
		if want := l.anyWord(w); got != want {
			t.Fatalf("%q is public: %v, want %v", w, got, want)
		}
		if got {
			public++
		}
		if got, want := l.mixed(w), l.words[strings.ToLower(w)] || l.names[w]; got != want && !strings.ContainsRune(w, 'É') {
			t.Fatalf("%q is listed: %v, want %v", w, got, want)
		}
	})
	if public == 0 {
		t.Error("no word was public")
	}
}

// What is passed over in a text of the model's is nothing that would be looked at.
func TestCalmTextsAreRead(t *testing.T) {
	r := newRedactor(t)
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t) + drawShapes(t)
		if rapid.Bool().Draw(t, "JSON") {
			text += `{"a":"/x/y.ts","b":1}` + drawText(t)
		}
		quick, slow := freshRun(r), freshRun(r)
		slow.plodding = true
		if got, want := apply(text, quick.denyEdits(text, 0)), apply(text, slow.denyEdits(text, 0)); got != want {
			t.Fatalf("%q became\n%q, want\n%q", text, got, want)
		}
	})
}
