package redact

import (
	"math"
	"regexp"
	"strings"
)

// rule finds one kind of secret. Keywords are searched first, in lower case
// and at full speed; the expression then runs on a window around the hit.
type rule struct {
	id       string
	kind     string // placeholder kind
	keywords []string
	re       *regexp.Regexp
	// group is the part of the match that is the secret; the match must
	// contain the keyword.
	group int
	back  int // how far before the keyword a match may begin
	check func(secret string) bool
	// quick refuses a keyword's place without running the expression.
	quick func(s string, start, end int) bool
}

// Windows around a keyword: nothing that identifies a secret is longer.
const ruleWindow = 1024

func prefixRule(id, keyword, expr string) rule {
	back := 1
	if keyword[0] == '_' {
		back = 8
	}
	return rule{id: id, kind: "token", keywords: strings.Split(keyword, "|"), back: back, re: regexp.MustCompile(`(?:^|[^A-Za-z0-9])(` + expr + `)`), group: 1, quick: tokenStart}
}

// tokenStart says that no letter or digit stands before the keyword, unless
// the keyword itself stands inside the token.
func tokenStart(s string, start, _ int) bool {
	return start == 0 || s[start] == '_' || !isAlnum(s[start-1])
}

// hexAround says that n hexadecimal digits stand at s[from:].
func hexAt(s string, from, n int) bool {
	if from < 0 || from+n > len(s) {
		return false
	}
	for i := from; i < from+n; i++ {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// rules is the catalogue of the leak scan: token grammars as their vendors
// document them, and the forms of the public reports 082, 083, 085, 086, 088.
var rules = append([]rule{
	prefixRule("anthropic-key", "sk-ant-", `sk-ant-[A-Za-z0-9_-]{8,}`),
	prefixRule("openrouter-key", "sk-or-", `sk-or-(?:v1-)?[A-Za-z0-9]{16,}`),
	prefixRule("openai-key", "sk-", `sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{16,}`),
	prefixRule("masked-key", "sk-", `sk-[A-Za-z0-9_-]*(?:\*{2,}|…|\.{3})[A-Za-z0-9_-]*`),
	prefixRule("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", `gh[pousr]_[A-Za-z0-9]{16,}`),
	prefixRule("github-pat", "github_pat_", `github_pat_[A-Za-z0-9_]{16,}`),
	prefixRule("gitlab-token", "glpat-|gldt-|glrt-|glsoat-", `gl(?:pat|dt|rt|soat)-[A-Za-z0-9_-]{16,}`),
	prefixRule("aws-access-key", "akia|asia|abia|acca", `(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}`),
	prefixRule("google-api-key", "aiza", `AIza[A-Za-z0-9_-]{30,}`),
	prefixRule("google-oauth", "ya29.|gocspx-", `(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{16,}`),
	prefixRule("slack-token", "xox|xapp-", `x(?:ox[a-z]|app)-[A-Za-z0-9-]{8,}`),
	prefixRule("stripe-key", "_live_|_test_|whsec_", `(?:[srp]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,}`),
	prefixRule("npm-token", "npm_", `npm_[A-Za-z0-9]{30,}`),
	prefixRule("pypi-token", "pypi-", `pypi-[A-Za-z0-9_-]{40,}`),
	prefixRule("huggingface-token", "hf_", `hf_[A-Za-z0-9]{20,}`),
	prefixRule("groq-key", "gsk_", `gsk_[A-Za-z0-9]{20,}`),
	prefixRule("xai-key", "xai-", `xai-[A-Za-z0-9]{20,}`),
	prefixRule("replicate-token", "r8_", `r8_[A-Za-z0-9]{20,}`),
	prefixRule("perplexity-key", "pplx-", `pplx-[A-Za-z0-9]{20,}`),
	prefixRule("fireworks-key", "fw_", `fw_[A-Za-z0-9]{20,}`),
	prefixRule("sendgrid-key", "sg.", `SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
	prefixRule("mailgun-key", "key-", `key-[0-9a-f]{32}`),
	prefixRule("digitalocean-token", "_v1_", `do[opr]_v1_[a-f0-9]{32,}`),
	prefixRule("shopify-token", "shpat_|shpca_|shppa_|shpss_", `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`),
	prefixRule("linear-key", "lin_api_", `lin_api_[A-Za-z0-9]{20,}`),
	prefixRule("notion-token", "secret_|ntn_", `(?:secret_|ntn_)[A-Za-z0-9]{30,}`),
	prefixRule("atlassian-token", "atatt3", `ATATT3[A-Za-z0-9_=-]{20,}`),
	prefixRule("vault-token", "hvs.|hvb.", `hv[sb]\.[A-Za-z0-9_-]{20,}`),
	prefixRule("age-key", "age-secret-key-", `AGE-SECRET-KEY-1[A-Z0-9]{20,}`),
	prefixRule("docker-token", "dckr_pat_", `dckr_pat_[A-Za-z0-9_-]{20,}`),
	prefixRule("tailscale-key", "tskey-", `tskey-[a-z]+-[A-Za-z0-9-]{16,}`),
	prefixRule("databricks-token", "dapi", `dapi[a-f0-9]{32}`),
	prefixRule("doppler-token", "dp.", `dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9]{30,}`),
	prefixRule("figma-token", "figd_", `figd_[A-Za-z0-9_-]{20,}`),
	prefixRule("supabase-token", "sbp_", `sbp_[a-f0-9]{32,}`),
	prefixRule("sentry-token", "sntrys_|sntryu_", `sntry[su]_[A-Za-z0-9_=+/-]{20,}`),
	prefixRule("grafana-token", "glsa_|glc_", `gl(?:sa|c)_[A-Za-z0-9_=+/-]{20,}`),
	prefixRule("newrelic-key", "nrak-", `NRAK-[A-Z0-9]{20,}`),
	prefixRule("cursor-key", "key_", `key_[a-f0-9]{40,}`),
	prefixRule("jwt", "eyj", `eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?`),
}, formRules...)

// formRules find secrets by the form around them.
var formRules = []rule{
	{id: "twilio-key", kind: "token", keywords: []string{"sk", "ac"}, re: regexp.MustCompile(`(?:SK|AC)[0-9a-f]{32}`), quick: func(s string, start, end int) bool {
		return tokenStart(s, start, end) && hexAt(s, end, 32)
	}},
	{id: "zhipu-key", kind: "token", keywords: []string{"."}, back: 32, re: regexp.MustCompile(`[0-9a-f]{32}\.[A-Za-z0-9]{12,}`), quick: func(s string, start, _ int) bool { return hexAt(s, start-32, 32) && !hexAt(s, start-33, 1) }},
	{id: "pem-key", kind: "token", keywords: []string{"private key-----"}, back: 40, re: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\]|-{1,4}[A-Za-z])*`)},
	{id: "auth-header", kind: "token", keywords: []string{"bearer ", "basic "}, back: 1, group: 1, check: mixed, re: regexp.MustCompile(`(?i)(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{8,})`)},
	{id: "url-userinfo", kind: "url", keywords: []string{"://"}, back: 20, quick: func(s string, _, end int) bool { return strings.IndexByte(s[end:min(len(s), end+256)], '@') > 0 }, re: regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@"'<>\\]+:[^/\s@"'<>\\]+@[^\s"'<>\\]*`)},
	{id: "signed-url", kind: "url", keywords: []string{"sig=", "signature=", "credential=", "access_token=", "user_code=", "token=", "key="}, back: 24, group: 1, check: mixed, re: regexp.MustCompile(`(?i)[?&][A-Za-z-]{0,20}(?:sig|signature|credential|access_token|user_code|token|key)=([^&\s"'<>\\]{8,})`)},
	{id: "slack-webhook", kind: "url", keywords: []string{"hooks.slack.com/"}, back: 8, re: regexp.MustCompile(`(?:https://)?hooks\.slack\.com/[A-Za-z]+/[A-Za-z0-9/_-]{8,}`)},
	{id: "feishu-webhook", kind: "url", keywords: []string{"/open-apis/bot/"}, back: 40, re: regexp.MustCompile(`(?:https://)?[a-z.]+/open-apis/bot/[A-Za-z0-9/_-]{8,}`)},
	{id: "wecom-webhook", kind: "url", keywords: []string{"qyapi.weixin.qq.com"}, back: 8, re: regexp.MustCompile(`(?:https://)?qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[A-Za-z0-9-]{8,}`)},
	{id: "discord-webhook", kind: "url", keywords: []string{"/api/webhooks/"}, back: 24, re: regexp.MustCompile(`(?:https://)?(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{8,}`)},
	{id: "telegram-bot", kind: "url", keywords: []string{"/bot"}, back: 40, re: regexp.MustCompile(`(?:https://)?[A-Za-z0-9.-]*/bot[0-9]{5,}:[A-Za-z0-9_-]{8,}[^\s"'<>\\]*`)},
	{id: "cookie", kind: "token", keywords: []string{"cookie:"}, back: 4, group: 1, check: notInert, re: regexp.MustCompile(`(?i)cookie:\s*([A-Za-z0-9_.-]+=[^\s"\\]{6,}[^"\\\r\n]*)`)},
	{id: "azure-key", kind: "token", keywords: []string{"accountkey="}, re: regexp.MustCompile(`(?i)AccountKey=[A-Za-z0-9+/=]{40,}`)},
	{id: "email", kind: "email", keywords: []string{"@"}, back: 64, quick: func(s string, start, end int) bool {
		return start > 0 && end < len(s) && s[start-1] > ' ' && isAlnum(s[end])
	}, re: regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)},
	{id: "home-posix", kind: "path", keywords: []string{"/home/", "/users/", "/root/"}, back: 8, check: notInert, re: regexp.MustCompile(`(?:/mnt/[a-z])?(?:/home/|/Users/|/users/)[A-Za-z0-9._-]{1,64}|/root/[^\s"'<>]{1,128}`)},
	{id: "home-windows", kind: "path", keywords: []string{`\users`, `:/users/`}, back: 70, re: regexp.MustCompile(`(?i)(?:[a-z]:|\\\\{1,8}[a-z0-9.-]{1,63})(?:\\{1,8}|/)Users(?:\\{1,8}|/)[^\\/\s"'<>]{1,64}`)},
	{id: "home-slug", kind: "path", keywords: []string{"-users-", "-home-", "-root-"}, back: 4, re: regexp.MustCompile(`(?:^|[^A-Za-z0-9-])(?:[A-Z]-)?-(?:Users|home|root)-[A-Za-z0-9]+[A-Za-z0-9._-]*`)},
	{id: "secret-value", kind: "token", keywords: secretWords, check: nil},
}

// secretWords end or stand in the name of a variable or member that holds a
// secret.
var secretWords = []string{"token", "secret", "password", "passwd", "pwd", "passphrase", "apikey", "api_key", "api-key", "credential", "private_key", "access_key", "auth_key", "_key", "authorization", "session_key", "client_secret"}

// mixed says that a value does not look like a word of prose.
func mixed(s string) bool {
	var upper, lower, digit, other bool
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= 'a' && c <= 'z':
			lower = true
		case isDigit(c):
			digit = true
		default:
			other = true
		}
	}
	return notInert(s) && (digit && (lower || upper) || upper && lower && entropy(s) >= 3 || other && (lower || upper) && entropy(s) >= 3)
}

func notInert(s string) bool { return !strings.Contains(s, "<") || !containsPlaceholder(s) }

func containsPlaceholder(s string) bool {
	for i := strings.IndexByte(s, '<'); i >= 0 && i < len(s); i++ {
		if s[i] == '<' && placeholderAt(s, i) > 0 {
			return true
		}
	}
	return false
}

// entropy is the Shannon entropy of the bytes of s, in bits a byte.
func entropy(s string) float64 {
	var n [256]int
	for i := range len(s) {
		n[s[i]]++
	}
	h := 0.0
	for _, c := range n {
		if c > 0 {
			p := float64(c) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}
