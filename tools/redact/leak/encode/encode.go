// Package encode puts a secret into the forms in which it travels in agent
// transcripts, for the tests and the benchmark of the leak scan.
package encode

import (
	"bytes"
	"compress/gzip"
	b64 "encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"unicode/utf16"
)

// Quote returns s as a JSON string.
func Quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		panic("a string is JSON")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Escapes returns every byte of s as a JSON escape.
func Escapes(s string) (out string) {
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

// Zipped returns s compressed with gzip.
func Zipped(s string) string {
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
		q := Quote(c)
		out += strings.ReplaceAll(frame, "%s", q[1:len(q)-1]) + "\n"
	}
	return out
}

func records(s string, n int, dir, stream, between string) (out string) {
	for _, c := range chunks(s, n) {
		out += `{"dir":"` + dir + `","stream":"` + stream + `","at_ms":1,"data":` + Quote(c) + "}\n" + between
	}
	return out
}

func bytesOf(s string) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]byte(s)), " ", ","), "[]")
}

func softBreaks(s string) string {
	lines := chunks(s, 9)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "=", "=3D")
	}
	return strings.Join(lines, "=\r\n")
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

// Forms returns texts that hold the secret, by the name of the form.
func Forms(s string) map[string]string {
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
		nested = Quote("line\n" + nested)
	}
	percentAll := ""
	for _, c := range []byte(s) {
		percentAll += fmt.Sprintf("%%%02x", c)
	}
	out := map[string]string{
		"plain":                  s,
		"json":                   Quote("line\n" + s),
		"u escapes":              `{"a":"` + Escapes(s) + `"}`,
		"u escapes in json":      Quote(`{"a":"` + Escapes(s) + `"}`),
		"json in json":           Quote(Quote(Quote("line\n" + s))),
		"json nine deep":         nested,
		"cut json":               `{"a":"` + Escapes(s),
		"x escapes":              "'" + strings.ReplaceAll(Escapes(s), `\u00`, `\x`) + "'",
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
		"soft breaks":            "key " + strings.ReplaceAll(softBreaks(s), "\r\n", "\n"),
		"soft breaks in json":    Quote("key " + softBreaks(s)),
		"utf16":                  wide("key " + s),
		"utf16 in json":          Quote(wide("key " + s)),
		"utf16 base64":           b64.StdEncoding.EncodeToString([]byte(wide("key " + s))),
		"gzip base64":            b64.StdEncoding.EncodeToString([]byte(Zipped("the key is " + s + " and no other"))),
		"gzip hex":               hex.EncodeToString([]byte(Zipped("the key is " + s + " and no other"))),
		"ansi":                   s[:half] + "\x1b[31m" + s[half:],
		"ansi before":            "\x1b[1;31m" + s + "\x1b[0m",
		"ansi in json":           Quote(s[:half] + "\x1b[31;1m" + s[half:]),
		"ansi link":              "\x1b]8;;http://x.example\x1b\\" + s[:half] + "\x1b]8;;\x1b\\" + s[half:],
		"wrapped":                "the key is " + s[:half] + "\n" + s[half:] + "\n",
		"wrapped narrow":         strings.Join(chunks(s, 8), "\r\n    "),
		"wrapped in json":        `{"text":` + Quote("the key is "+s[:half]+"\n  "+s[half:]+"\nmore") + "}\n",
		"wrapped in json twice":  Quote(`{"text":` + Quote(s[:half]+"\n"+s[half:]) + "}"),
		"wrapped by the shell":   "curl " + s[:half] + "\\\n" + s[half:],
		"byte array":             `{"chunk":[` + bytesOf("key "+s) + `]}`,
		"deltas of two":          deltas(s, len(s)-len(s)/2, claude),
		"deltas of four":         deltas(s, 4, claude),
		"deltas of one":          deltas(s, 1, claude),
		"deltas apart":           interleaved,
		"deltas of an unknown":   deltas(s, 4, `{"kind":"zz","v":{"piece":"%s"},"n":3}`),
		"deltas of arguments":    deltas(`{"cmd":`+Quote("echo "+s)+`}`, 5, `{"type":"x","delta":{"partial_json":"%s"}}`),
		"deltas behind data:":    deltas(s, 4, `data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}`),
		"deltas of base64":       b64chunks,
		"deltas of one base64":   deltas(b64.StdEncoding.EncodeToString([]byte("key "+s)), 4, claude),
		"deltas in records":      strings.ReplaceAll(records(deltas(s, 4, claude), 1<<20, "cli->server", "stdout", ""), "zz", "zz"),
		"stdout chunks":          records("key "+s+"\n", 7, "cli->server", "stdout", ""),
		"stdout chunks of json":  records(`{"type":"t","text":`+Quote(s)+"}\n", 11, "cli->server", "stdout", ""),
		"stdout against stderr":  records("key "+s+"\n", 7, "cli->server", "stdout", `{"dir":"cli->server","stream":"stderr","at_ms":1,"data":"warn\n"}`+"\n"),
		"stdin chunks":           records("key "+s+"\n", 7, "server->cli", "stdin", ""),
		"stdout then stderr":     records(s[:half], 1<<20, "cli->server", "stdout", "") + records(s[half:], 1<<20, "cli->server", "stderr", ""),
		"strings of one array":   `{"argv":["` + strings.Join(chunks(s, 6), `","`) + `"]}`,
		"long before and behind": deltas(strings.Repeat("word ", 900)+s+strings.Repeat(" word", 900), 4500+half, claude),
	}
	maps.Copy(out, dumps(s))
	return out
}
