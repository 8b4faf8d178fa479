package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
	"pgregory.net/rapid"
)

// generators make true positives for rules whose expression alone would give
// texts that the rule's own check refuses.
var generators = map[string]func(t *rapid.T) string{
	"auth-header":  func(t *rapid.T) string { return "Authorization: Bearer " + token(t, 24) },
	"signed-url":   func(t *rapid.T) string { return "https://store.example/k?X-Amz-Signature=" + token(t, 32) },
	"cookie":       func(t *rapid.T) string { return "Set-Cookie: sid=" + token(t, 20) + "; Path=/" },
	"secret-value": func(t *rapid.T) string { return "DB_PASSWORD=" + token(t, 16) },
	"pem-key": func(t *rapid.T) string {
		return "-----BEGIN RSA " + "PRIVATE KEY-----\n" + token(t, 40) + "\n-----END"
	},
	"azure-key":    func(t *rapid.T) string { return "AccountKey=" + token(t, 60) },
	"home-slug":    func(t *rapid.T) string { return "in -Users-" + word(t) + "-work" },
	"home-posix":   func(t *rapid.T) string { return "/home/" + word(t) + "/work" },
	"home-windows": func(t *rapid.T) string { return `C:\Users\` + word(t) + `\work` },
}

// token generates text of the alphabet of real tokens, with every class in it.
func token(t *rapid.T, n int) string {
	return rapid.StringMatching(fmt.Sprintf("[a-z]{2}[A-Z]{2}[0-9]{2}[A-Za-z0-9]{%d}", n-6)).Draw(t, "token")
}

func word(t *rapid.T) string { return rapid.StringMatching("[a-z]{5,9}").Draw(t, "word") }

// positive generates a text that the rule must find.
func positive(t *rapid.T, r *rule) string {
	if g := generators[r.id]; g != nil {
		return g(t)
	}
	s := rapid.StringMatching(strings.ReplaceAll(r.re.String(), "(?:^|[^A-Za-z0-9])", "")).Draw(t, r.id)
	return s[:min(len(s), 300)]
}

// Every rule finds what its grammar generates, alone and inside prose, and
// tells where.
func TestRulesFindTheirSecrets(t *testing.T) {
	s := newScanner(t)
	for i := range rules {
		r := &rules[i]
		t.Run(r.id, rapid.MakeCheck(func(t *rapid.T) {
			secret := positive(t, r)
			for _, text := range []string{secret, "see " + secret + " there", `{"k":"x","v":` + quote(secret) + "}\n"} {
				if !has(s.Scan([]byte(text)), r.id) && !has(s.Scan([]byte(text)), "") {
					t.Fatal("not found")
				}
			}
		}))
	}
}

// No rule takes its own keyword, a cut token, a placeholder, a variable's name
// or prose for a secret.
func TestRulesLeaveTheRestAlone(t *testing.T) {
	s := newScanner(t)
	plain := []string{
		"tokens used: 19,542", `"input_tokens":1234567890,"output_tokens":98`, "invalid x-api-key", "token: expired, please log in", "Bearer token is missing",
		"basic authentication failed", "password is required", "monkey=banana", `"apiKeySource":"ANTHROPIC_API_KEY"`, `"api_key":"<token:1>"`, "secret=<text:12>",
		"Authorization: Bearer <token:3>", "<email:1> wrote", "see /w/p3.html and C:\\w\\p1.ts", "https://<host:1>/v1", "key_id is unknown", "sk-", "ghp_", "eyJ",
		"AKIA", "the access_token field", `{"token_type":"bearer","expires_in":3600}`, "cookie: none", "reset password link", "a@b", "user@host", "1.5 tokens = 2 credits",
		"stop_sequence", "skip-trust", "msg.info.total_token_usage", "codex_core::auth: token refresh failed", `"overageDisabledReason":"org_level_disabled"`,
	}
	for _, p := range plain {
		if f := s.Scan([]byte(p)); len(f) > 0 {
			t.Errorf("%q: %v", p, f)
		}
	}
	for i := range rules {
		for _, k := range rules[i].keywords {
			if rules[i].kind == "path" { // any name below a home is one too many
				continue
			}
			for _, near := range []string{k, "x" + k + "yz", k + "<token:1>", `"` + k + `":"<text:4>"`, k + " is not set", strings.ToUpper(k) + "=" + strings.ToUpper("${name}")} {
				if f := s.Scan([]byte(near)); len(f) > 0 {
					t.Errorf("%s: %q: %v", rules[i].id, near, f)
				}
			}
		}
	}
}

// A secret is found in whatever form it travels.
func TestDecodedViews(t *testing.T) {
	s := newScanner(t)
	rapid.Check(t, func(t *rapid.T) {
		secret := "ghp_" + token(t, 36)
		for name, text := range encodings(secret) {
			if !has(s.Scan([]byte(text)), "github-token") {
				t.Errorf("not found as %s", name)
			}
		}
	})
}

func encodings(secret string) map[string]string {
	escaped := ""
	for _, c := range []byte(secret) {
		escaped += fmt.Sprintf(`\u%04x`, c)
	}
	units := utf16.Encode([]rune("key " + secret))
	wide := ""
	for _, u := range units {
		wide += string([]byte{byte(u), byte(u >> 8)})
	}
	numbers := strings.Trim(strings.ReplaceAll(fmt.Sprint([]byte("key "+secret)), " ", ","), "[]")
	half := len(secret) / 2
	return map[string]string{
		"plain":         secret,
		"json":          quote("line\n" + secret),
		"escapes":       `{"a":"` + escaped + `"}`,
		"json in json":  quote(quote(quote("line\n" + secret))),
		"cut json":      `{"a":"` + escaped,
		"base64":        base64.StdEncoding.EncodeToString([]byte("the key is " + secret)),
		"base64 url":    base64.RawURLEncoding.EncodeToString([]byte("the key is >>>" + secret)),
		"base64 inside": `{"chunk":"` + base64.StdEncoding.EncodeToString([]byte(secret+"\n")) + `"}`,
		"hex":           hex.EncodeToString([]byte(secret)),
		"percent":       "q=" + strings.ReplaceAll(url.QueryEscape(secret), "_", "%5F"),
		"ansi":          secret[:half] + "\x1b[31m" + secret[half:],
		"utf16":         wide,
		"bytes":         `{"chunk":[` + numbers + `]}`,
		"deltas": `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + quote(secret[:half]) + "}}}\n" +
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + quote(secret[half:]) + "}}}\n",
	}
}

// Values of the child's environment are found whatever they look like.
func TestKnownSecrets(t *testing.T) {
	s, err := NewScanner(nil, []string{"plain words", "short"})
	if err != nil {
		t.Fatal(err)
	}
	if f := s.Scan([]byte("a\nb plain words c")); len(f) != 1 || f[0].Rule != knownSecret || f[0].Line != 2 || f[0].Start != 4 || f[0].End != 15 {
		t.Errorf("findings %v", f)
	}
	if f := s.Scan([]byte("short")); len(f) != 0 {
		t.Errorf("a value of five letters stands everywhere: %v", f)
	}
}

func FuzzScan(f *testing.F) {
	for _, e := range encodings("ghp_" + strings.Repeat("aB3", 12)) {
		f.Add([]byte(e))
	}
	s := newScanner(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, x := range s.Scan(b) {
			if x.Start < 0 || x.End > len(b) || x.Start > x.End {
				t.Fatalf("range %d-%d of %d", x.Start, x.End, len(b))
			}
		}
	})
}

func newScanner(t testing.TB) *Scanner {
	t.Helper()
	s, err := NewScanner(loadFamilies(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// has looks for a finding of the rule; "" takes any.
func has(list []Finding, rule string) bool {
	for _, f := range list {
		if f.Rule == rule || rule == "" {
			return true
		}
	}
	return false
}

func quote(s string) string { return string(rawjson.AppendQuote(nil, s)) }
