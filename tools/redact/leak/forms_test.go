package leak

import (
	"bytes"
	"compress/gzip"
	b64 "encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"
)

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		panic("a string is JSON")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func escapes(s string) (out string) {
	for _, c := range []byte(s) {
		out += fmt.Sprintf(`\u%04x`, c)
	}
	return out
}

func wide(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

func chunks(s string, n int) (out []string) {
	for ; len(s) > n; s = s[n:] {
		out = append(out, s[:n])
	}
	return append(out, s)
}

// deltas is a stream of frames, each with n bytes of the text.
func deltas(s string, n int, frame string) (out string) {
	for _, c := range chunks(s, n) {
		q := quote(c)
		out += strings.ReplaceAll(frame, "%s", q[1:len(q)-1]) + "\n"
	}
	return out
}

func records(s string, n int, dir, stream, between string) (out string) {
	for _, c := range chunks(s, n) {
		out += `{"dir":"` + dir + `","stream":"` + stream + `","at_ms":1,"data":` + quote(c) + "}\n" + between
	}
	return out
}

func bytesOf(s string) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]byte(s)), " ", ","), "[]")
}

func printable(s string) (out string) {
	for i, c := range []byte(s) {
		out += fmt.Sprintf("=%02X", c)
		if i%20 == 19 {
			out += "=\n"
		}
	}
	return out
}

// encodings are the forms in which a secret travels.
func encodings(s string) map[string]string {
	half := len(s) / 2
	claude := `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}}`
	other := `{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"zz"}}}` + "\n"
	interleaved := strings.ReplaceAll(deltas(s, 4, claude), "\n", "\n"+other)
	b64chunks := ""
	for _, c := range chunks(s, 6) {
		b64chunks += `{"type":"exec_command_output_delta","chunk":"` + b64.StdEncoding.EncodeToString([]byte(c)) + "\"}\n"
	}
	nested := s
	for range 9 {
		nested = quote("line\n" + nested)
	}
	percentAll := ""
	for _, c := range []byte(s) {
		percentAll += fmt.Sprintf("%%%02x", c)
	}
	return map[string]string{
		"plain":                  s,
		"json":                   quote("line\n" + s),
		"u escapes":              `{"a":"` + escapes(s) + `"}`,
		"u escapes in json":      quote(`{"a":"` + escapes(s) + `"}`),
		"json in json":           quote(quote(quote("line\n" + s))),
		"json nine deep":         nested,
		"cut json":               `{"a":"` + escapes(s),
		"x escapes":              "'" + strings.ReplaceAll(escapes(s), `\u00`, `\x`) + "'",
		"base64":                 b64.StdEncoding.EncodeToString([]byte("the key is " + s)),
		"base64 url":             b64.RawURLEncoding.EncodeToString([]byte("the key is >>>" + s)),
		"base64 in json":         `{"chunk":"` + b64.StdEncoding.EncodeToString([]byte(s+"\n")) + `"}`,
		"base64 in a word":       "ab" + b64.RawStdEncoding.EncodeToString([]byte(" "+s+" ")) + "xyz",
		"base64 behind escape":   `{"a":"x\n` + b64.RawStdEncoding.EncodeToString([]byte(s)) + `"}`,
		"base64 twice":           b64.StdEncoding.EncodeToString([]byte(b64.StdEncoding.EncodeToString([]byte("k " + s)))),
		"base64 wrapped":         strings.Join(chunks(b64.StdEncoding.EncodeToString([]byte("the key is "+s)), 16), "\n"),
		"hex":                    hex.EncodeToString([]byte(s)),
		"hex in a word":          "zx" + strings.ToUpper(hex.EncodeToString([]byte(s))) + "q",
		"percent":                "q=" + strings.ReplaceAll(url.QueryEscape(s), "_", "%5F"),
		"percent everywhere":     "q=" + percentAll,
		"percent twice":          "q=" + strings.ReplaceAll(percentAll, "%", "%25"),
		"quoted-printable":       printable(s),
		"soft breaks":            "key " + strings.Join(chunks(s, 9), "=\n"),
		"soft breaks in json":    quote("key " + strings.Join(chunks(s, 9), "=\r\n")),
		"utf16":                  wide("key " + s),
		"utf16 in json":          quote(wide("key " + s)),
		"utf16 base64":           b64.StdEncoding.EncodeToString([]byte(wide("key " + s))),
		"gzip base64":            b64.StdEncoding.EncodeToString([]byte(zipped("the key is " + s + " and no other"))),
		"gzip hex":               hex.EncodeToString([]byte(zipped("the key is " + s + " and no other"))),
		"ansi":                   s[:half] + "\x1b[31m" + s[half:],
		"ansi before":            "\x1b[1;31m" + s + "\x1b[0m",
		"ansi in json":           quote(s[:half] + "\x1b[31;1m" + s[half:]),
		"ansi link":              "\x1b]8;;http://x.example\x1b\\" + s[:half] + "\x1b]8;;\x1b\\" + s[half:],
		"wrapped":                "the key is " + s[:half] + "\n" + s[half:] + "\n",
		"wrapped narrow":         strings.Join(chunks(s, 8), "\r\n    "),
		"wrapped in json":        `{"text":` + quote("the key is "+s[:half]+"\n  "+s[half:]+"\nmore") + "}\n",
		"wrapped in json twice":  quote(`{"text":` + quote(s[:half]+"\n"+s[half:]) + "}"),
		"wrapped by the shell":   "curl " + s[:half] + "\\\n" + s[half:],
		"byte array":             `{"chunk":[` + bytesOf("key "+s) + `]}`,
		"deltas of two":          deltas(s, len(s)-len(s)/2, claude),
		"deltas of four":         deltas(s, 4, claude),
		"deltas of one":          deltas(s, 1, claude),
		"deltas apart":           interleaved,
		"deltas of an unknown":   deltas(s, 4, `{"kind":"zz","v":{"piece":"%s"},"n":3}`),
		"deltas of arguments":    deltas(`{"cmd":`+quote("echo "+s)+`}`, 5, `{"type":"x","delta":{"partial_json":"%s"}}`),
		"deltas behind data:":    deltas(s, 4, `data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}`),
		"deltas of base64":       b64chunks,
		"deltas of one base64":   deltas(b64.StdEncoding.EncodeToString([]byte("key "+s)), 4, claude),
		"deltas in records":      strings.ReplaceAll(records(deltas(s, 4, claude), 1<<20, "cli->server", "stdout", ""), "zz", "zz"),
		"stdout chunks":          records("key "+s+"\n", 7, "cli->server", "stdout", ""),
		"stdout chunks of json":  records(`{"type":"t","text":`+quote(s)+"}\n", 11, "cli->server", "stdout", ""),
		"stdout against stderr":  records("key "+s+"\n", 7, "cli->server", "stdout", `{"dir":"cli->server","stream":"stderr","at_ms":1,"data":"warn\n"}`+"\n"),
		"stdin chunks":           records("key "+s+"\n", 7, "server->cli", "stdin", ""),
		"stdout then stderr":     records(s[:half], 1<<20, "cli->server", "stdout", "") + records(s[half:], 1<<20, "cli->server", "stderr", ""),
		"strings of one array":   `{"argv":["` + strings.Join(chunks(s, 6), `","`) + `"]}`,
		"long before and behind": deltas(strings.Repeat("word ", 900)+s+strings.Repeat(" word", 900), 4500+half, claude),
	}
}

// A secret is found in whatever form it travels, and the finding's range is
// where it stands in that form.
func TestForms(t *testing.T) {
	s := NewScanner(nil)
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		for _, secret := range []string{"ghp_" + token(r, 36), "sk-ant-api03-" + token(r, 60), "AKIA" + strings.ToUpper(token(r, 16))} {
			for name, text := range encodings(secret) {
				found := s.Scan([]byte(text))
				if len(found) == 0 {
					t.Errorf("%s of %.4s… is not found", name, secret)
				}
				for _, f := range found {
					if f.Start < 0 || f.End > len(text) || f.Start >= f.End || f.Line != 1+strings.Count(text[:f.Start], "\n") {
						t.Errorf("%s: %v of %d bytes", name, f, len(text))
					}
				}
			}
		}
	}
}

// The range of a finding is that of the secret's encoded form, byte for byte
// where the form allows it.
func TestPlaces(t *testing.T) {
	s := NewScanner(nil)
	secret := "ghp_" + token(rand.New(rand.NewPCG(6, 6)), 36)
	hexed := hex.EncodeToString([]byte(secret))
	for _, c := range []struct{ name, before, form, after, view string }{
		{"plain", "a\nkey ", secret, " b", "raw"},
		{"escapes", `{"a":"x `, escapes(secret), `"}`, "json"},
		{"hex", "dump " + hex.EncodeToString([]byte("key ")), hexed, hex.EncodeToString([]byte(" ")), "hex"},
		{"base64", "", b64.StdEncoding.EncodeToString([]byte(secret[:39])), "", "base64"},
		{"base64 later", "x " + b64.StdEncoding.EncodeToString([]byte("key")), b64.StdEncoding.EncodeToString([]byte(secret[:39])), "", "base64"},
		{"ansi", "a ", secret[:9] + "\x1b[1m" + secret[9:], " b", "ansi"},
		{"wrapped", "a ", secret[:9] + "\n  " + secret[9:], " b", "wrapped"},
		{"joined", `{"d":"`, secret[:9] + "\"}\n{\"d\":\"" + secret[9:], `"}`, "joined"},
		{"base64 in escapes", `{"a":"\u000a`, b64.StdEncoding.EncodeToString([]byte(secret[:39])), `"}`, "base64"},
	} {
		found := s.Scan([]byte(c.before + c.form + c.after))
		if len(found) == 0 {
			t.Errorf("%s: nothing found", c.name)
			continue
		}
		f := found[0]
		if f.Start != len(c.before) || f.End != len(c.before)+len(c.form) || f.View != c.view {
			t.Errorf("%s: %v, want %s, bytes %d-%d", c.name, found, c.view, len(c.before), len(c.before)+len(c.form))
		}
	}
}

// Values of the child's environment are found whatever they look like.
func TestKnownSecrets(t *testing.T) {
	s := NewScanner([]string{"plain words", "short", `quo"te/and\back`})
	if f := s.Scan([]byte("a\nb plain words c")); len(f) != 1 || f[0].Rule != KnownSecret || f[0].Line != 2 || f[0].Start != 4 || f[0].End != 15 {
		t.Errorf("findings %v", f)
	}
	for name, text := range encodings("plain words of ten") {
		if strings.Contains(name, "wrapped") || name == "soft breaks" || name == "percent" || strings.HasPrefix(name, "soft") {
			continue // white space is where words end
		}
		if len(s.Scan([]byte(text))) == 0 {
			t.Errorf("not found as %s", name)
		}
	}
	for _, text := range []string{quote(`quo"te/and\back`), quote(quote(`quo"te/and\back`)), "x=" + url.QueryEscape(`quo"te/and\back`)} {
		if len(s.Scan([]byte(text))) == 0 {
			t.Errorf("not found in %s", text)
		}
	}
	if f := s.Scan([]byte("short")); len(f) != 0 {
		t.Errorf("a value of five letters stands everywhere: %v", f)
	}
}

// Blocks of a stream hide nothing at their borders.
func TestBlockBorders(t *testing.T) {
	s := NewScanner(nil)
	secret := "ghp_" + token(rand.New(rand.NewPCG(7, 7)), 36)
	for _, off := range []int{-80, -45, -20, -5, 0, 5} {
		pad := strings.Repeat(strings.Repeat("x y ", 24)+"abc\n", blockSize/100+1)[:blockSize+off-1]
		text := pad + "\n" + secret[:20] + "\n" + secret[20:] + "\n" + pad
		f := s.Scan([]byte(text))
		if len(f) != 1 || f[0].Start != len(pad)+1 || f[0].Line != strings.Count(pad, "\n")+2 {
			t.Errorf("offset %d: %v, want start %d in line %d", off, f, len(pad)+1, strings.Count(pad, "\n")+2)
		}
	}
}

// What cannot be read to its end is a finding.
func TestUnread(t *testing.T) {
	deep := "0123456789"
	for range maxDepth + 2 {
		deep = hex.EncodeToString([]byte(deep))
	}
	bomb := b64.StdEncoding.EncodeToString([]byte(zipped(strings.Repeat("a ", maxInflated/2+1))))
	for name, text := range map[string]string{"too deep": deep, "too large": bomb, "a line too long": strings.Repeat("a ", maxLine/2+1)} {
		f := NewScanner(nil).Scan([]byte(text))
		if len(f) == 0 || f[0].Rule != Unread {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, e := range encodings("ghp_" + strings.Repeat("aB3", 12)) {
		f.Add([]byte(e))
	}
	s := NewScanner([]string{"a known value"})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, x := range s.Scan(b) {
			if x.Start < 0 || x.End > len(b) || x.Start > x.End || x.Line != 1+bytes.Count(b[:x.Start], []byte("\n")) {
				t.Fatalf("%v of %d bytes", x, len(b))
			}
		}
	})
}
