package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
	"pgregory.net/rapid"
)

// text draws something that a model, a tool or a CLI may have said.
func text(t *rapid.T, depth int) string {
	gens := []*rapid.Generator[string]{
		rapid.StringN(0, 40, 120),
		rapid.SampledFrom([]string{"", " ", "\n", "ok", "user", "error", "## user\nhi", "a\n## assistant:\nb", "<artifact type=\"text/html\" title=\"My Page\">\n<h1>x</h1></artifact>", "tail <artif",
			"\x1b[1mbold\x1b[0m", "\x1b]0;title\x07rest", "/home/user/w/src/a.html", "Read src/app.ts", `C:\Users\user\w\b.md`, "http://127.0.0.1:4411/v1/responses", "<text:3>", "/w/p2.html", "<time>",
			"2026-09-03T02:41:28.800Z", "Reconnecting... 2/5 (stream disconnected before completion)", "429 too many requests", "tokens used: 19,542", "msg_01AbCdEf2345", "0198f0aa-0000-7000-8000-0000000000aa", "1760000400", "alice" + "@example.com"}),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.StringMatching("[a-z ]{20,60}").Draw(t, "long"), 40)
		}),
	}
	if depth < 3 {
		gens = append(gens, rapid.Custom(func(t *rapid.T) string { return object(t, depth+1) }))
	}
	return rapid.OneOf(gens...).Draw(t, "text")
}

// object draws a JSON object as text.
func object(t *rapid.T, depth int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range rapid.IntRange(0, 3).Draw(t, "members") {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{",", ", "}).Draw(t, "comma"))
		}
		key := rapid.OneOf(rapid.SampledFrom([]string{"type", "message", "file_path", "content", "password", "x y", "alice" + "@corp.example", "cwd"}), rapid.StringN(1, 8, 20)).Draw(t, "key")
		b.WriteString(quote(key) + ":")
		if depth < 3 && rapid.IntRange(0, 4).Draw(t, "nest") == 0 {
			b.WriteString(object(t, depth+1))
			continue
		}
		b.WriteString(rapid.OneOf(rapid.SampledFrom([]string{"0", "1", "-3.50", "1e3", "1760000400123", "true", "null", "[]", "[1,2]"}), rapid.Custom(func(t *rapid.T) string { return quote(text(t, depth)) })).Draw(t, "value"))
	}
	return b.String() + "}"
}

// frame draws a line of a dialect with a text at some place.
func frame(t *rapid.T, said string) string {
	q := quote(said)
	return rapid.SampledFrom([]string{
		`{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":` + q + `}}`,
		`{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":` + q + `,"aggregated_output":` + q + `,"exit_code":0,"status":"completed"}}`,
		`{"type":"error","message":` + q + `}`,
		`{"type":"turn.failed","error":{"message":` + q + `}}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":` + q + `}]},"session_id":` + q + `}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":` + q + `}]}}`,
		`{"type":"result","subtype":"success","is_error":true,"result":` + q + `,"duration_ms":12}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Write","input":{"file_path":` + q + `,` + q + `:1}}]}}`,
		`{"type":` + q + `}`,
		object(t, 0),
		said,
	}).Draw(t, "frame") + "\n"
}

func input(t *rapid.T) Input {
	return Input{
		Dialect:  rapid.SampledFrom([]string{"codex", "claude", "codex-msg", "plain"}).Draw(t, "dialect"),
		Hermetic: rapid.Bool().Draw(t, "hermetic"), ScenarioTexts: []string{"Here is the answer."},
		Cwd: "/home/user/w", Home: "/home/user",
	}
}

// Frames, members and kinds stay; redacting is deterministic, changes nothing
// the second time, and gives what WriteSanitized accepts.
func TestRedactKeepsStructure(t *testing.T) {
	r := newRedactor(t)
	rapid.Check(t, func(t *rapid.T) {
		in := input(t)
		raw := ""
		for range rapid.IntRange(1, 4).Draw(t, "lines") {
			raw += frame(t, text(t, 0))
		}
		checkInvariants(t, r, in, raw)
	})
}

type failer interface {
	Fatalf(string, ...any)
}

func checkInvariants(t failer, r *Redactor, in Input, raw string) {
	redact := func(x *transcript.Transcript) (*transcript.Transcript, string) {
		out, _, err := r.Redact(x, in)
		if err != nil {
			t.Fatalf("redacting: %v", err)
		}
		return out, string(out.Bytes(transcript.CLIToServer, transcript.Stdout))
	}
	out, text := redact(stdout(raw))
	if _, again := redact(stdout(raw)); again != text {
		t.Fatalf("not deterministic")
	}
	if _, twice := redact(out); twice != text {
		t.Fatalf("twice differs from once:\n%q\n%q", text, twice)
	}
	if !utf8.ValidString(text) {
		t.Fatalf("not UTF-8")
	}
	if ok, line := sameStructure(raw, text); !ok && in.Dialect != "plain" {
		t.Fatalf("structure changes in line %d:\n%q\n%q", line, raw, text)
	}
	if err := out.WriteSanitized(&bytes.Buffer{}); err != nil {
		t.Fatalf("writing: %v", err)
	}
}

// The padding of a long text that ends in the beginning of a control sequence or a
// tag does not become a part of that, and takes nothing from it.
func TestPaddedTextsThatEndInTheMiddleStay(t *testing.T) {
	r := newRedactor(t)
	for _, end := range []string{"\x1b", "\x1b[", "\x1b[3", "\x1b[?", "\x1b]", "\x1b]0;", "\x1b\x1b", "<t", "</", "</artifac", "<artifact", "<artifact ", "<ar ", "<tool_call"} {
		for _, n := range []int{65, 2001, 8001} {
			long := strings.Repeat("7", n) + end
			checkInvariants(t, r, Input{Dialect: "plain"}, long)
			checkInvariants(t, r, Input{Dialect: "codex"}, `{"type":"error","message":`+quote(long)+"}\n")
			checkInvariants(t, r, Input{Dialect: "codex", Hermetic: true}, `{"type":"item.completed","item":{"type":"agent_message","text":`+quote(long)+"}}\n")
		}
	}
}

// A line that is no JSON does not become JSON when what is wrong with it is a part
// of what is replaced.
func TestNoJSONStaysNone(t *testing.T) {
	r := newRedactor(t)
	for _, wrong := range []string{`\F`, `k\F`, `\u00zz`, `kQ\x41`, "k\x01z", "\t", "\x00"} {
		for _, form := range []string{`{"type":"error","message":"Qzx-%sxQ said"}`, `["zzq %s", "b"]`, `"zzqx%sxqz"`, `{"zzQ%s/home/user/%s/q":1}`} {
			raw := strings.ReplaceAll(form, "%s", wrong)
			for _, d := range []string{"codex", "claude", "plain"} {
				checkInvariants(t, r, Input{Dialect: d, Hermetic: true}, raw+"\n")
			}
		}
	}
	raw := `{"type":"error","message":"/home/user\F/zz"}`
	out, _, err := r.Redact(stdout(raw+"\n"), Input{Dialect: "codex", Hermetic: true})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(out.Bytes(transcript.CLIToServer, transcript.Stdout)); json.Valid([]byte(text)) {
		t.Fatalf("%q became %q", raw, text)
	}
}

// formSecrets are secrets that their form gives away, beside the token grammars
// of the leak scan's table.
var formSecrets = []func(t *rapid.T) string{
	func(t *rapid.T) string { return "Authorization: Bearer " + token(t, 24) },
	func(t *rapid.T) string { return "https://store.example/k?X-Amz-Signature=" + token(t, 32) },
	func(t *rapid.T) string { return "Set-Cookie: sid=" + token(t, 20) + "; Path=/" },
	func(t *rapid.T) string { return "DB_PASSWORD" + "=" + token(t, 16) },
	func(t *rapid.T) string {
		return "-----BEGIN RSA " + "PRIVATE KEY-----\n" + token(t, 40) + "\n-----END"
	},
	func(t *rapid.T) string { return "Account" + "Key=" + token(t, 60) },
	func(t *rapid.T) string { return "in -Users" + "-" + word(t) + "-work" },
	func(t *rapid.T) string { return "/home" + "/" + word(t) + "/work" },
	func(t *rapid.T) string { return `C:\Users` + `\` + word(t) + `\work` },
	func(t *rapid.T) string { return word(t) + "." + word(t) + "@" + "mail.example" },
}

// token generates text of the alphabet of real tokens, with every class in it.
func token(t *rapid.T, n int) string {
	return rapid.StringMatching(fmt.Sprintf("[a-z]{2}[A-Z]{2}[0-9]{2}[A-Za-z0-9]{%d}", n-6)).Draw(t, "token")
}

func word(t *rapid.T) string { return rapid.StringMatching("[a-z]{5,9}").Draw(t, "word") }

// anySecret generates a secret of any rule of the leak scan.
func anySecret(t *rapid.T) string {
	ids, _ := leak.Providers()
	n := rapid.IntRange(0, len(ids)+len(formSecrets)-1).Draw(t, "rule")
	if n >= len(ids) {
		return formSecrets[n-len(ids)](t)
	}
	x, err := leak.Samples(ids[n], 1, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
	if err != nil {
		t.Fatal(err)
	}
	return x[0].Text
}

// A secret survives nowhere, however deep it stands, and the same text has the
// same placeholder on every stream.
func TestPlantedSecretsDisappear(t *testing.T) {
	r := newRedactor(t)
	rapid.Check(t, func(t *rapid.T) {
		in := input(t)
		secret := anySecret(t)
		if !utf8.ValidString(secret) || len(secret) < 10 {
			t.Skip("too short to look for")
		}
		core := secret[len(secret)/3:]
		said := rapid.SampledFrom([]string{"%s", "error: %s", `{"type":"error","error":{"message":"failed: %s"}}`, "API key %s is invalid", "line\n%s\n"}).Draw(t, "around")
		if strings.HasPrefix(said, "{") {
			q := quote(secret)
			said = strings.ReplaceAll(said, "%s", q[1:len(q)-1])
		} else {
			said = strings.ReplaceAll(said, "%s", secret)
		}
		raw := stdout(frame(t, said))
		raw.Records = append(raw.Records, stream(transcript.Stderr, said).Records...)
		out, rep, err := r.Redact(raw, in)
		if err != nil {
			t.Fatal(err)
		}
		all := string(out.Bytes(transcript.CLIToServer, transcript.Stdout)) + string(out.Bytes(transcript.CLIToServer, transcript.Stderr))
		if strings.Contains(all+decodedStrings(all), core) {
			t.Errorf("a secret survives with status %s", rep.Status)
		}
	})
}

// A text in pieces and the same text whole have the same form, whatever the
// pieces are; pieces with something in them stay so.
func TestPiecesAndWhole(t *testing.T) {
	r := newRedactor(t)
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.OneOf(rapid.Custom(func(t *rapid.T) string { return text(t, 1) }), rapid.Just(`{"file_path": "/home/user/w/a.html", "content": "<p>x</p>\n"}`)).Draw(t, "said")
		if !utf8.ValidString(said) || strings.Contains(said, "\ufffd") {
			t.Skip("not what a stream holds")
		}
		field, kind := "text", "text_delta"
		if looksJSON(said) {
			field, kind = "partial_json", "input_json_delta"
		}
		pieces := cutRandomly(t, said)
		var b strings.Builder
		for _, p := range pieces {
			fmt.Fprintf(&b, `{"type":"stream_event","session_id":"s","event":{"type":"content_block_delta","index":0,"delta":{"type":%q,%q:%s}}}`+"\n", kind, field, quote(p))
		}
		fmt.Fprintf(&b, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%s}]}}`+"\n", quote(said))
		in := Input{Dialect: "claude", Hermetic: rapid.Bool().Draw(t, "hermetic"), Cwd: "/home/user/w", Home: "/home/user"}
		written := in.Hermetic && rapid.Bool().Draw(t, "written")
		if !written {
			in.ScenarioTexts = []string{said}
		}
		res, _, err := r.Redact(stdout(b.String()), in)
		if err != nil {
			t.Fatal(err)
		}
		out := string(res.Bytes(transcript.CLIToServer, transcript.Stdout))
		joined, whole, form := "", "", map[string]string{}
		for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
			v, err := rawjson.Parse([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if i == len(pieces) {
				for c := range v.At("message").Get("content").Children() {
					whole = c.Get("text").Str()
				}
				continue
			}
			p := v.At("event", "delta", field).Str()
			if (p == "") != (pieces[i] == "") {
				t.Fatalf("piece %d: emptiness changes", i)
			}
			joined += p
			if old, ok := form[pieces[i]]; ok && old != p && !written && !strings.ContainsAny(said, "#<{\x1b") && i < len(pieces)-1 {
				t.Fatalf("piece %d: equal pieces have two forms: %q, %q", i, old, p)
			}
			form[pieces[i]] = p
		}
		if looksJSON(said) && json.Valid([]byte(said)) {
			joined, whole = compact(joined), compact(whole)
		} else if looksJSON(said) {
			return // cut JSON and the same bytes as prose
		}
		if joined != whole {
			t.Fatalf("pieces and whole differ:\n%q\n%q", joined, whole)
		}
	})
}

// compact removes white space between tokens.
func compact(s string) string {
	v, err := rawjson.Parse([]byte(s))
	if err != nil {
		return err.Error()
	}
	return v.Stringify()
}

func cutRandomly(t *rapid.T, s string) []string {
	var pieces []string
	for s != "" {
		n := rapid.IntRange(1, 12).Draw(t, "piece")
		n = min(n, len(s))
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		pieces = append(pieces, s[:n])
		s = s[n:]
		if len(pieces) > 60 {
			return append(pieces, s)
		}
	}
	return pieces
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{`{"type":"error","message":"a\u0000b"}`, "plain /home/user/y.html text", `{"a":"b`, "{\"a\":\"\xff\"}", `{"type":"x","a":[1,{"b":"{\"c\":1}"}]}`, "[1,2]", `"x"`, "\x1b]0;t\x07", `{"k":tru`} {
		f.Add(s, true)
	}
	dir, err := filepath.Glob(filepath.Join(root(f), "..", "shared", "cases", "*", "input.jsonl"))
	if err == nil {
		for _, p := range dir {
			if b, err := os.ReadFile(p); err == nil {
				f.Add(string(b), false)
			}
		}
	}
	r := newRedactor(f)
	f.Fuzz(func(t *testing.T, s string, hermetic bool) {
		for _, d := range []string{"codex", "claude", "plain"} {
			checkInvariants(t, r, Input{Dialect: d, Hermetic: hermetic}, s)
		}
	})
}
