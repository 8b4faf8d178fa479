package leak

import (
	"bytes"
	b64 "encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak/encode"
)

// Every rule of the table finds what its grammar generates and leaves what is
// nearly that alone; the generator refuses to build one that does not.
func TestRulesPassTheirSamples(t *testing.T) {
	b, err := os.ReadFile("rules.json")
	if err != nil {
		t.Fatal(err)
	}
	list, err := ParseEntries(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if err := list[i].Check(rand.New(rand.NewPCG(2, uint64(i)))); err != nil {
			t.Error(err)
		}
	}
	if _, n := Providers(); n < 150 {
		t.Errorf("%d providers, want 150 or more", n)
	}
}

// The table that is built is the one of rules.json.
func TestTableIsFresh(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile("rules.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rules.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "gen")
	if out, err := exec.Command("go", "build", "-o", bin, "./gen").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(bin)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "ruletable.go"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("ruletable.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("ruletable.go is stale (%v): run go generate ./tools/redact/leak", err)
	}
}

// The generator refuses a rule that fails its own samples.
func TestGeneratorRefusesBrokenRules(t *testing.T) {
	for what, e := range map[string]Entry{
		"a token that the boundary check cuts": {ID: "x", Provider: "X", Token: `xyz-[A-Za-z0-9_-]{20}\b`},
		"no keyword":                           {ID: "x", Provider: "X", Token: `[a-f0-9]{32}`},
		"an expression that is none":           {ID: "x", Provider: "X", Token: `xyz-[`},
		"a value that any longer one is":       {ID: "x", Provider: "X", Names: []string{"xyz"}, Value: `[A-Za-z0-9]{20,}`},
	} {
		if e.Check(rand.New(rand.NewPCG(3, 3))) == nil {
			t.Errorf("%s passes", what)
		}
	}
}

// token generates text of the alphabet of real tokens, with every class in it.
func token(r *rand.Rand, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	b := []byte("aB3")
	for len(b) < n {
		b = append(b, letters[r.IntN(len(letters))])
	}
	return string(b)
}

// feishuHook stands between the host and the token of a webhook.
const feishuHook = "open-apis/bot/v2/hook/"

// forms make true positives of the rules that are written in Go.
var forms = map[string]func(r *rand.Rand) string{
	"masked-key":        func(r *rand.Rand) string { return "sk-" + token(r, 4) + "***" + token(r, 4) },
	"twilio-key":        func(r *rand.Rand) string { return "SK" + hexText(r, 32) },
	"discord-bot-token": func(r *rand.Rand) string { return "N" + token(r, 23) + "." + token(r, 6) + "." + token(r, 30) },
	"zhipu-key":         func(r *rand.Rand) string { return hexText(r, 32) + "." + token(r, 16) },
	"pem-key": func(r *rand.Rand) string {
		return "-----BEGIN RSA " + "PRIVATE KEY-----\n" + token(r, 40) + "\n-----END"
	},
	"pgp-key":        func(r *rand.Rand) string { return "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\n\n" + token(r, 40) },
	"putty-key":      func(r *rand.Rand) string { return fmt.Sprintf("Private-%s: 14\n", "Lines") + token(r, 60) },
	"auth-header":    func(r *rand.Rand) string { return "Authorization: Bearer " + token(r, 24) },
	"url-userinfo":   func(r *rand.Rand) string { return "postgres://u:" + token(r, 12) + "@db.example/x" },
	"signed-url":     func(r *rand.Rand) string { return "https://store.example/k?X-Amz-Signature=" + token(r, 32) },
	"slack-webhook":  func(r *rand.Rand) string { return "https://hooks.slack.com/" + "services/T" + token(r, 8) },
	"feishu-webhook": func(r *rand.Rand) string { return "https://open.feishu.cn/" + feishuHook + token(r, 20) },
	"wecom-webhook": func(r *rand.Rand) string {
		return "https://qyapi.weixin.qq.com" + "/cgi-bin/webhook/send?key=" + token(r, 20)
	},
	"discord-webhook": func(r *rand.Rand) string { return "https://discord.com/api" + "/webhooks/123456/" + token(r, 20) },
	"telegram-bot":    func(r *rand.Rand) string { return "https://api.telegram.org" + "/bot123456:" + token(r, 20) + "/send" },
	"cookie":          func(r *rand.Rand) string { return "Set-Cookie: " + "sid=" + token(r, 20) + "; Path=/" },
	"azure-key":       func(r *rand.Rand) string { return "Account" + "Key=" + token(r, 60) },
	"email":           func(r *rand.Rand) string { return "jo." + token(r, 6) + "@" + "mail.example" },
	"home-posix":      func(r *rand.Rand) string { return "/home" + "/" + token(r, 6) + "/work" },
	"home-windows":    func(r *rand.Rand) string { return `C:\Users` + `\` + token(r, 6) + `\work` },
	"home-slug":       func(r *rand.Rand) string { return "in -Users" + "-" + token(r, 6) + "-work" },
	"secret-value":    func(r *rand.Rand) string { return "DB_PASSWORD" + "=" + token(r, 16) },
	"auth-scheme":     func(r *rand.Rand) string { return "Authorization: " + "Acme-V2 " + token(r, 24) },
	"aws-signature":   func(r *rand.Rand) string { return "SignedHeaders=host, Signature" + "=" + hexText(r, 64) },
	"netrc":           func(r *rand.Rand) string { return "machine x.example login jo " + "password " + token(r, 10) },
	"user-flag":       func(r *rand.Rand) string { return "curl -u " + "jo:" + token(r, 14) },
	"password-flag":   func(r *rand.Rand) string { return "docker login -u jo " + "-p " + token(r, 14) },
	"cookie-flag":     func(r *rand.Rand) string { return "curl -b " + "'sid=" + token(r, 20) + "'" },
	"registry-auth": func(r *rand.Rand) string {
		return `{"auths":{"x.example":{"au` + `th":"` + base64Of("jo:"+token(r, 15)) + `"}}}`
	},
	"url-token":  func(r *rand.Rand) string { return "https://" + token(r, 30) + "@git.example/x" },
	"oauth-code": func(r *rand.Rand) string { return "/callback?co" + "de=" + scattered(r, 32) + "&state=1" },
	"home-wsl":   func(r *rand.Rand) string { return `\\wsl$\Ubuntu\ho` + `me\` + token(r, 6) + `\x` },
	"invisible": func(r *rand.Rand) string {
		return "ghp_" + token(r, 12) + []string{"\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad"}[r.IntN(5)] + token(r, 24)
	},
	"entities": func(r *rand.Rand) string {
		out := ""
		for _, c := range []byte("ghp_" + token(r, 36)) {
			out += fmt.Sprintf([]string{"&#%d;", "&#x%x;"}[r.IntN(2)], c)
		}
		return out
	},
	"full-width":   func(r *rand.Rand) string { return encode.Forms("ghp_" + token(r, 36))["full width"] },
	"dump":         func(r *rand.Rand) string { return encode.Forms("ghp_" + token(r, 36))["hex array"] },
	"dump-words":   func(r *rand.Rand) string { return encode.Forms("ghp_" + token(r, 36))["hexdump"] },
	"dump-letters": func(r *rand.Rand) string { return encode.Forms("ghp_" + token(r, 36))["od -c"] },
	"concatenated": func(r *rand.Rand) string { return `x = "ghp_` + token(r, 12) + `" + "` + token(r, 24) + `"` },
	"ssh2-key": func(r *rand.Rand) string {
		return "---- BEGIN SSH2 ENCRYPTED " + "PRIVATE KEY ----\n" + token(r, 40) + "\n---- END"
	},
}

func base64Of(s string) string { return b64.StdEncoding.EncodeToString([]byte(s)) }

// scattered makes a token in which large and small letters and digits alternate as
// no name has them.
func scattered(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = []string{"abcdefgh", "23456789", "QRSTUVWX"}[(i+i/7)%3][r.IntN(8)]
	}
	return string(b)
}

func hexText(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[r.IntN(16)]
	}
	return string(b)
}

// Every rule finds its secrets alone, inside prose and inside JSON.
func TestEveryRuleFindsItsSecrets(t *testing.T) {
	s := NewScanner(nil)
	r := rand.New(rand.NewPCG(4, 4))
	for _, rule := range s.cat.rules {
		make := forms[rule.id]
		if make == nil {
			make = func(r *rand.Rand) string {
				x, err := Samples(rule.id, 1, r)
				if err != nil {
					t.Fatal(err)
				}
				return x[0].Text
			}
		}
		for range 20 {
			secret := make(r)
			for _, text := range []string{secret, "see " + secret + " there", `{"k":"x","v":` + encode.Quote(secret) + "}\n"} {
				if len(s.Scan([]byte(text))) == 0 {
					t.Errorf("%s: not found in a text of %d bytes", rule.id, len(text))
				}
			}
		}
	}
}

// A secret may have no digits, percent signs as a variable has them, a slash as
// a path has it, or plus signs for its spaces.
func TestOddSecrets(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	letters := func(n int) string { return lettersOf(r, n) }
	s := NewScanner(nil)
	for range 200 {
		for _, text := range []string{
			"DB_PASSWORD" + "=aB" + letters(9) + "Zq" + letters(9),
			"DB_PASSWORD" + "=" + letters(4) + "%R%" + letters(4) + "%" + token(r, 6),
			"aws_secret_access_key" + " = Uu" + letters(38),
			"secret_key" + " = /tM" + token(r, 8) + "\n  " + token(r, 29) + "\nmore",
			"q=-----BEGIN+EC+" + "PRIVATE+KEY-----" + token(r, 40),
			"q=Bearer+" + token(r, 30),
		} {
			if len(s.Scan([]byte(text))) == 0 {
				t.Errorf("not found: a made secret in %q…", text[:12])
			}
		}
	}
}

// lettersOf makes letters that no word is made of.
func lettersOf(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ"[r.IntN(40)]
	}
	return string(b)
}

// No rule takes its own keyword, a placeholder, a variable's name, a template
// or prose for a secret.
func TestRulesLeaveTheRestAlone(t *testing.T) {
	s := NewScanner(nil)
	plain := []string{
		"tokens used: 19,542", `"input_tokens":1234567890,"output_tokens":98`, "invalid x-api-key", "token: expired, please log in", "Bearer token is missing",
		"basic authentication failed", "password is required", "monkey=banana", `"apiKeySource":"ANTHROPIC_API_KEY"`, `"api_key":"<token:1>"`, "secret=<text:12>",
		"Authorization: Bearer <token:3>", "<email:1> wrote", "see /w/p3.html and C:\\w\\p1.ts", "https://<host:1>/v1", "key_id is unknown", "sk-", "ghp_", "eyJ",
		"AKIA", "the access_token field", "token=%TOKEN%", "secret_key=/etc/Shared/Key1.pem", `"tokenSource":"fromEnvironmentVariable"`, "API_KEY=readFromKeychain()", `{"token_type":"bearer","expires_in":3600}`, "cookie: none", "reset password link", "a@b", "user@host", "1.5 tokens = 2 credits",
		"stop_sequence", "skip-trust", "msg.info.total_token_usage", "codex_core::auth: token refresh failed", `"overageDisabledReason":"org_level_disabled"`,
		`"ANTHROPIC_API_KEY": "sk-ant-api03-{api_key}"`, `\"apiKey\": \"{env:LOCAL_API_KEY2}\"`, "export TOKEN=$GITHUB_TOKEN_2", "token := env[k2]", "secret = load(file1)", "token: tokens[0]",
		"sk-xxxxxxxxxxxxxxxxxxxxxxxx", "sk-ant-00000000000000", "AKIAXXXXXXXXXXXXXXXX",
		"--token <token:1> --api-key string", "user:p@ss", "git@github", strings.Repeat("word\n", 40), "[1,2,3,4,5,6,7,8,9]", "100%25 %20", "a=10 b=20",
		"00:1a:2b:3c:4d:5e 10:02:33 2026-12-01", "10 20 30 40 50 60 70 80 90 10 20 30", "00000010: 0001 0203 0405 0607 0809 0a0b 0c0d 0e0f  ................",
		"0000000 000001 000002 000003\n0000020 000004 000005\n", "0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03", "deadbeef-dead-4ade-8bad-f00dcafe1234",
		`mail := "jo.doe@" + "corp-mail.net"`, `key := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + body`, `home = "/home/" + "jane" + "/x"`, `"Bearer " + token1 + "x"`, "Ｔｏｋｅｎ：ｎｏｎｅ", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
	}
	for _, p := range plain {
		if f := s.Scan([]byte(p)); len(f) > 0 {
			t.Errorf("%q: %v", p, f)
		}
	}
	for _, rule := range s.cat.rules {
		for _, k := range rule.keywords {
			if rule.kind == "path" { // any name below a home is one too many
				continue
			}
			for _, near := range []string{k, "x" + k + "yz", k + "<token:1>", `"` + k + `":"<text:4>"`, k + " is not set", strings.ToUpper(k) + "=" + strings.ToUpper("${name}")} {
				if rule.id == "pem-key" || rule.id == "pgp-key" || rule.id == "putty-key" {
					continue
				}
				if f := s.Scan([]byte(near)); len(f) > 0 {
					t.Errorf("%s: %q: %v", rule.id, near, f)
				}
			}
		}
	}
}
