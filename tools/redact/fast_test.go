package redact

import (
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"pgregory.net/rapid"
)

// Parts of texts, in which words touch what they might be confused with.
var textParts = []string{
	"error", "Error:", "foo", "Frobnicate,", "tokens", "limit of", "12345", "42", "2026", "27th", "182ms", "$12,500.00", "a/b/c.ts:12:3:", "src/x.ts", "./y.go", "../z",
	"/HOMES/jane doe/x", "/PEOPLE/Jane Doe/x y", "~/w", "~bob/w", "C:\\PEOPLE\\Jane\\x", "\\\\host\\share", "/login", "https://x.corp-mail.net/a?b=1", "localhost:8080", "10.0.3.1", "fe80::1:2:3",
	"2026-01-02 10:11:12.5Z", "2026-01-02", "10:11", "<text:3>", "<time>", "p3.html", "/w/p3", "msg_01AbCd23Ef45", "-HOMES-jane-w", "C--PEOPLE-jane", "-rw-r--r--", "A=b\nC=d\nE=f", "KEY=x\x00PATH=y",
	"näher", "don't", "don’t", "…", "\x1b[0m", "\x1b]0;title\x07", "{\"a\":1}", "[x]", "(foo.bar)", "response.completed", "config.toml", "3.14", "v1.2.3", "100%", "%2FHOMES%2Fjane", "xSIGNcorp-mail.net", "\n", "\t", ".", ",", " ", "\"", "'",
}

// homes writes the home folders and the address that no file here may hold.
var homes = strings.NewReplacer("PEOPLE", "Users", "HOMES", "home", "SIGN", "@")

func drawText(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(1, 9).Draw(t, "parts") {
		b.WriteString(homes.Replace(rapid.SampledFrom(textParts).Draw(t, "part")))
		b.WriteString(rapid.SampledFrom([]string{" ", " ", "", "\n", ":"}).Draw(t, "gap"))
	}
	return b.String()
}

func freshRun(r *Redactor) *run {
	s := newRun(r.dialects["codex"], Input{Dialect: "codex", Cwd: homes.Replace("/HOMES/jane/w"), Home: homes.Replace("/HOMES/jane")}, leak.NewScanner(nil))
	s.finish()
	return s
}

// A word that is remembered has the edits that it has in its text.
func TestRememberedWordsAreReadAsBefore(t *testing.T) {
	r := newRedactor(t)
	remembers := freshRun(r)
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		remembers.names = newNames() // numbers begin anew; what is remembered would have old ones
		remembers.chunks = recent[[]edit]{}
		remembers.short, remembers.plain, remembers.named = nil, nil, recent[nameEdits]{}
		remembers.mapped = recent[string]{}
		for range 2 { // the second time from memory
			edits, _ := remembers.wordEdits(text)
			got := apply(text, edits)
			slow := freshRun(r)
			if want := apply(text, slow.slowWordEdits(text)); got != want {
				t.Fatalf("%q became\n%q, want\n%q", text, got, want)
			}
		}
	})
}

// A text that is not looked at again would stay as it is.
func TestSettledTextsStay(t *testing.T) {
	r := newRedactor(t)
	secrets := []string{"token", "password=", "key: ", "Bearer ", "sk-", "=", "abcDEF1234567890", "AC" + strings.Repeat("0123456789abcdef", 2), "<token:3>", "limit", "tokens", "4096", "the", "cannot", "account", "system_prompt: ", "request", "_x", "frob.nicate", "a_b", "`", "(", "\\"}
	settled := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 14).Draw(t, "parts") {
			b.WriteString(homes.Replace(rapid.SampledFrom(append(secrets, textParts...)).Draw(t, "part")))
			b.WriteString(rapid.SampledFrom([]string{" ", " ", " ", "", "\n", ":", ", "}).Draw(t, "gap"))
		}
		text := b.String()
		quick, slow := freshRun(r), freshRun(r)
		slow.plodding = true
		if got, want := quick.settle(text, true, 0), slow.settle(text, true, 0); got != want {
			t.Fatalf("%q became\n%q, want\n%q", text, got, want)
		}
		if edits, sure := quick.wordEdits(text); sure && len(edits) > 0 && quick.secretsStay(apply(text, edits), edits) {
			settled++
		}
	})
	if settled == 0 {
		t.Error("every text is looked at again")
	}
}

// slowWordEdits is wordEdits token by token.
func (r *run) slowWordEdits(s string) []edit {
	var edits []edit
	taken, _ := r.secretRanges(s)
	for i := 0; i < len(s); {
		if len(taken) > 0 && taken[0].start <= i {
			edits = append(edits, taken[0])
			i = taken[0].end
			taken = taken[1:]
			continue
		}
		limit := len(s)
		if len(taken) > 0 {
			limit = taken[0].start
		}
		end, text := r.tokenAt(s[:limit], i)
		if text != "" {
			edits = append(edits, edit{start: i, end: end, text: text})
		}
		i = end
	}
	return edits
}

// A name that is passed over without a closer look is nothing but a name.
func TestPlainNamesArePlain(t *testing.T) {
	r := newRedactor(t)
	s := freshRun(r)
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		for i := range len(text) {
			if textClass[text[i]] != nameByte || i > 0 && textClass[text[i-1]] == nameByte {
				continue
			}
			j, has := nameEnd(text, i)
			if end, _ := s.nameOrPlaceAt(text, i); end > 0 && plainName(text[i:j], has) {
				t.Fatalf("%q at %d is more than a name", text, i)
			}
		}
	})
}

// A simple text is what the long way makes of it.
func TestSimpleTextsAreStretches(t *testing.T) {
	r := newRedactor(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[A-Za-z0-9_-]{2,64}`).Draw(t, "text")
		if !isSimple(text) {
			return
		}
		if got, want := freshRun(r).simple(text), freshRun(r).compute(text, 0); got != want {
			t.Fatalf("%q became %q, want %q", text, got, want)
		}
	})
}

// What was forgotten is made again as it was.
func TestForgottenTextsComeBack(t *testing.T) {
	var c recent[int]
	c.put("first", 1)
	for i := range 3 * manySlots {
		c.put(strings.Repeat("x", i%40+1)+string(rune('a'+i%26))+strings.Repeat("y", i/40), i)
	}
	if len(c.slots) > manySlots {
		t.Errorf("%d texts are remembered", len(c.slots))
	}
	if v, ok := c.get("first"); ok && v != 1 {
		t.Error("another text's value came back")
	}
}
