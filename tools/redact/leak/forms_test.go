package leak

import (
	"bytes"
	b32 "encoding/base32"
	b64 "encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak/encode"
)

// A secret is found in whatever form it travels, and the finding's range is
// where it stands in that form.
func TestForms(t *testing.T) {
	s := NewScanner(nil)
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		for _, secret := range []string{"ghp_" + token(r, 36), "sk-ant-api03-" + token(r, 60), "AKIA" + strings.ToUpper(token(r, 16))} {
			for name, text := range encode.Forms(secret) {
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
		{"escapes", `{"a":"x `, encode.Escapes(secret), `"}`, "json"},
		{"hex", "dump " + hex.EncodeToString([]byte("key ")), hexed, hex.EncodeToString([]byte(" ")), "hex"},
		{"base64", "", b64.StdEncoding.EncodeToString([]byte(secret[:39])), "", "base64"},
		{"base64 later", "x " + b64.StdEncoding.EncodeToString([]byte("key")), b64.StdEncoding.EncodeToString([]byte(secret[:39])), "", "base64"},
		{"ansi", "a ", secret[:9] + "\x1b[1m" + secret[9:], " b", "ansi"},
		{"invisible", "a ", secret[:9] + "\u200b" + secret[9:20] + "\u00ad" + secret[20:], " b", "invisible"},
		{"references", "<p a='", references(secret), "'>", "entities"},
		{"references in JSON", `{"a":"x\n`, references(secret), `"}`, "entities"},
		{"wrapped", "a ", secret[:9] + "\n  " + secret[9:], " b", "wrapped"},
		{"joined", `{"d":"`, secret[:9] + "\"}\n{\"d\":\"" + secret[9:], `"}`, "joined"},
		{"spaced", "bytes: 00 ", fmt.Sprintf("% x ", secret), "0a", "dump"},
		{"in an array", `{"a":"x[] = {0x`, strings.ReplaceAll(fmt.Sprintf("% x", secret), " ", ", 0x"), `};"}`, "dump"},
		{"base32", "", strings.TrimRight(b32.StdEncoding.EncodeToString([]byte(secret)), "="), "", "base32"},
		{"full width", "see ", fullWidthOf(secret), " there", "full-width"},
		{"concatenated", `x := "`, secret[:9] + `" + "` + secret[9:20] + "\" +\n\t\"" + secret[20:], `"`, "concatenated"},
		{"concatenated in JSON", `{"a":"x = '`, secret[:9] + `'\n  '` + secret[9:20] + `' + '` + secret[20:], `'"}`, "concatenated"},
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

func fullWidthOf(s string) (out string) {
	for _, c := range s {
		out += string(c - '!' + '！')
	}
	return out
}

func references(s string) (out string) {
	for _, c := range []byte(s) {
		out += fmt.Sprintf("&#%d;", c)
	}
	return out
}

// Values of the child's environment are found whatever they look like.
func TestKnownSecrets(t *testing.T) {
	s := NewScanner([]string{"plain words", "short", `quo"te/and\back`})
	if f := s.Scan([]byte("a\nb plain words c")); len(f) != 1 || f[0].Rule != KnownSecret || f[0].Line != 2 || f[0].Start != 4 || f[0].End != 15 {
		t.Errorf("findings %v", f)
	}
	for name, text := range encode.Forms("plain words of ten") {
		if strings.Contains(name, "wrapped") || name == "soft breaks" || name == "percent" || strings.HasPrefix(name, "soft") {
			continue // white space is where words end
		}
		if len(s.Scan([]byte(text))) == 0 {
			t.Errorf("not found as %s", name)
		}
	}
	for _, text := range []string{encode.Quote(`quo"te/and\back`), encode.Quote(encode.Quote(`quo"te/and\back`)), "x=" + url.QueryEscape(`quo"te/and\back`)} {
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
	bomb := b64.StdEncoding.EncodeToString([]byte(encode.Zipped(strings.Repeat("a ", maxInflated/2+1))))
	for name, text := range map[string]string{"too deep": deep, "too large": bomb, "a line too long": strings.Repeat("a ", maxLine/2+1)} {
		f := NewScanner(nil).Scan([]byte(text))
		if len(f) == 0 || f[0].Rule != Unread {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, e := range encode.Forms("ghp_" + strings.Repeat("aB3", 12)) {
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
