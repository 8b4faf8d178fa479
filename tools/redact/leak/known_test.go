package leak

import (
	std64 "encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak/encode"
	"pgregory.net/rapid"
)

// A frame of a known form is read as if its form were new.
func TestKnownFormsAreReadAsBefore(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	slow := NewScanner([]string{"known value"})
	slow.plodding = true
	quick := NewScanner([]string{"known value"})
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		texts := []string{"", "a", "word", token, "<text:2> <id:7>", "<text:9>\n", "pass" + "word", token[4:24], "<text:1>", "<id:2>", "see ", "known ", "value", `{"a":"` + token[:20], token[20:] + `"}`, std64.StdEncoding.EncodeToString([]byte(token)), "line\nbreak", strings.Repeat("long text ", 80) + token,
			"\n", "\t" + token[:9], token[9:] + "\n", "\"" + token[:30] + "\\", "\x01{\"a\"", strings.Repeat("long\n\"text\" ", 90) + token, token + strings.Repeat("\u0007 long ", 160)}
		for rest := token; rest != ""; {
			n := min(len(rest), rapid.IntRange(3, 30).Draw(t, "cut"))
			texts = append(texts, rest[:n])
			rest = rest[n:]
		}
		next := 0
		q := func() string {
			if next++; rapid.IntRange(0, 3).Draw(t, "order") > 0 {
				return encode.Quote(texts[next%len(texts)])
			}
			return encode.Quote(rapid.SampledFrom(texts).Draw(t, "text"))
		}
		var b strings.Builder
		for range rapid.IntRange(2, 40).Draw(t, "lines") {
			b.WriteString(rapid.SampledFrom([]func() string{
				func() string { return `{"type":"delta","index":0,"delta":{"text":` + q() + `},"id":` + q() + `}` },
				func() string { return `{"type":"delta","index":1,"delta":{"text":` + q() + `},"id":"<uuid:1>"}` },
				func() string {
					return `{"type":"delta","sessionId":` + q() + `,"n":` + rapid.SampledFrom([]string{"1", "234"}).Draw(t, "n") + `,"text":` + q() + `}`
				},
				func() string { return `{"a":[` + q() + `,` + q() + `],"model":"some-model-4-5"}` },
				func() string {
					return `{"name":` + q() + `,"value":` + q() + `,"n":` + rapid.SampledFrom([]string{"1", "99", "123456789012", "4"}).Draw(t, "count") + `}`
				},
				func() string { return `{"bytes":[103,104,112,95],"text":` + q() + `}` },
				func() string { return ` {"type" : "delta","text":` + q() + `}` },
				func() string { return `data: {"text":` + q() + `}` },
				func() string { return q() },
			}).Draw(t, "line")() + "\n")
		}
		want, got := places(slow.Scan([]byte(b.String()))), places(quick.Scan([]byte(b.String())))
		if found += len(want); !slices.Equal(got, want) {
			t.Fatalf("%s", fmt.Sprint(b.String(), got, "\nwant\n", want))
		}
	})
	if found == 0 {
		t.Error("nothing was found at all")
	}
}

// Of a secret that comes again in a line like one before each place is reported,
// and lines in which only placeholders differ hide none.
func TestSecretsInLinesLikeOthers(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	line := func(text string) string { return `{"type":"delta","text":"` + text + `","index":1}` + "\n" }
	for name, b := range map[string]string{
		"again":            line(token) + line(token) + line(token),
		"late":             strings.Repeat(line("<text:1>"), 50) + line(token) + line("<text:2>") + line(token),
		"in a later block": strings.Repeat(line("<text:1>"), blockSize/30) + line(token) + line(token),
		"between others":   strings.Repeat(line("<text:1>")+line("word")+line("<text:12> <id:3>")+line(token), 3),
	} {
		slow := NewScanner(nil)
		slow.plodding = true
		want, got := slow.Scan([]byte(b)), NewScanner(nil).Scan([]byte(b))
		if !slices.Equal(got, want) || len(want) != strings.Count(b, token) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A text that line breaks cut is read as if nobody had looked whether it may hold
// something.
func TestWrapsAreReadAsBefore(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	slow, quick := NewScanner([]string{"known value"}), NewScanner([]string{"known value"})
	slow.plodding = true
	secrets := []string{token, "known value", "AC" + strings.Repeat("0123456789abcdef", 2), strings.Repeat("0123456789abcdef", 2) + ".abcdefghijklmnop",
		std64.StdEncoding.EncodeToString([]byte("see " + token)), fmt.Sprintf("%x", token), strings.ReplaceAll(token, "3", "%33"), strings.ReplaceAll(token, "3", "=33"), strings.ReplaceAll(token, "3", `\u0033`), strings.ReplaceAll(fmt.Sprint([]byte(token)), " ", ","),
		"pass" + "word: " + token[4:24], "MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde." + strings.Repeat("aB3dE6gH9", 4)}
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "parts") {
			part := rapid.SampledFrom(append(secrets, "plain words", "const x = await y[1,2];", "-rw-r--r--", "error: the token", `"quoted"`)).Draw(t, "part")
			for n := rapid.IntRange(0, 3).Draw(t, "cuts"); n > 0; n-- {
				i := rapid.IntRange(0, len(part)).Draw(t, "cut")
				part = part[:i] + rapid.SampledFrom([]string{"\n", "\r\n", "\n  ", `\n`, "\\\n", "\n> ", "\n\n", `\r\n\t`}).Draw(t, "break") + part[i:]
			}
			b.WriteString(part + rapid.SampledFrom([]string{"\n", " ", `\n`, ""}).Draw(t, "gap"))
		}
		text := b.String()
		if rapid.Bool().Draw(t, "frame") {
			text = `{"text":` + encode.Quote(text) + "}\n"
		}
		want, got := places(slow.Scan([]byte(text))), places(quick.Scan([]byte(text)))
		if found += len(want); !slices.Equal(got, want) {
			t.Fatalf("%q has %v, want %v", text, got, want)
		}
	})
	if found == 0 {
		t.Error("nothing was found at all")
	}
}

// Forms stay known while joined texts are closed, because there are too many.
func TestKnownFormsOutliveTheirTexts(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	var b strings.Builder
	for i := range 3 * maxJoined {
		fmt.Fprintf(&b, `{"text":%q,"to":"x"}`+"\n"+`{"text":"%d","index":%d}`+"\n", []string{"a b ", token[:14], token[14:]}[i%3], i, i)
	}
	slow := NewScanner(nil)
	slow.plodding = true
	want := places(slow.Scan([]byte(b.String())))
	if got := places(NewScanner(nil).Scan([]byte(b.String()))); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("%d findings, want %d", len(got), len(want))
	}
}

// places are findings without their views: which of two joined texts that have
// one secret is scanned first is by chance.
func places(list []Finding) []Finding {
	for i := range list {
		list[i].View = ""
	}
	return list
}
