package encode

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	b32 "encoding/base32"
	b64 "encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// dumps are the forms in which programs show the bytes of a text, and source code
// its letters.
func dumps(secret string) map[string]string {
	s, sentence := secret+"\n", "the key is "+secret+" and no other"
	half := len(secret) / 2
	out := map[string]string{
		"hex with spaces":         "bytes: " + bytesAs(s, "%02x", " "),
		"hex with colons":         bytesAs(s, "%02x", ":"),
		"hex with dashes":         bytesAs(s, "%02X", "-"),
		"hex array":               "const char key[] = {\n  " + inLines(s, 12, "0x%02x", ", ", ",\n  ") + "\n};\n",
		"xxd":                     xxd(s),
		"hexdump -C":              hex.Dump([]byte(s)),
		"hexdump":                 words(s),
		"od -c":                   odLetters(s),
		"base32":                  b32.StdEncoding.EncodeToString([]byte(s)),
		"base32 wrapped":          strings.Join(chunks(b32.StdEncoding.EncodeToString([]byte(s)), 76), "\n"),
		"zlib base64":             b64.StdEncoding.EncodeToString([]byte(zlibbed(sentence))),
		"zlib hex":                hex.EncodeToString([]byte(zlibbed(sentence))),
		"deflate base64":          b64.StdEncoding.EncodeToString([]byte(deflated(sentence))),
		"full width":              "see " + wideLetters(secret),
		"concatenated":            `const key = "` + secret[:half] + `" + "` + secret[half:] + `";`,
		"concatenated over lines": "key = ('" + secret[:half/2] + "' +\n       '" + secret[half/2:half] + "'\n       '" + secret[half:] + "')\n",
	}
	for _, form := range []string{"hex array", "xxd", "hexdump -C", "hexdump", "od -c", "deflate base64", "full width", "concatenated", "concatenated over lines"} {
		out[form+" in json"] = `{"type":"tool_result","content":` + Quote("$ run\n"+out[form]) + "}\n"
	}
	return out
}

func bytesAs(s, format, between string) string { return inLines(s, len(s), format, between, "") }

// inLines formats the bytes of s, n a line.
func inLines(s string, n int, format, between, lines string) (out string) {
	for i, c := range []byte(s) {
		switch {
		case i > 0 && i%n == 0:
			out += lines
		case i > 0:
			out += between
		}
		out += fmt.Sprintf(format, c)
	}
	return out
}

// xxd is what the program of that name prints.
func xxd(s string) (out string) {
	for i, line := range chunks(s, 16) {
		groups := ""
		for j, c := range []byte(line) {
			if groups += fmt.Sprintf("%02x", c); j%2 == 1 {
				groups += " "
			}
		}
		out += fmt.Sprintf("%08x: %-40s %s\n", 16*i, groups, line)
	}
	return out
}

// words is what hexdump prints on a processor that keeps the lower byte first.
func words(s string) (out string) {
	for i, line := range chunks(s, 16) {
		out += fmt.Sprintf("%07x", 16*i)
		for _, pair := range chunks(line, 2) {
			if pair += "\x00"; pair[:2] != "" {
				out += fmt.Sprintf(" %02x%02x", pair[1], pair[0])
			}
		}
		out += "\n"
	}
	return out + fmt.Sprintf("%07x\n", len(s))
}

// odLetters is what od -c prints.
func odLetters(s string) (out string) {
	for i, line := range chunks(s, 16) {
		out += fmt.Sprintf("%07o", 16*i)
		for _, c := range []byte(line) {
			switch {
			case c == '\n':
				out += `  \n`
			case c < ' ':
				out += fmt.Sprintf(" %03o", c)
			default:
				out += "   " + string(c)
			}
		}
		out += "\n"
	}
	return out + fmt.Sprintf("%07o\n", len(s))
}

func zlibbed(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

func deflated(s string) string {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic("the level is one")
	}
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

func wideLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r + 0xff01 - '!'
		}
		return r
	}, s)
}
