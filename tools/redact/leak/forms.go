package leak

import (
	"math"
	"strings"
)

// secretWords end or stand in the name of a variable or member that holds a
// secret.
var secretWords = []string{"token", "secret", "password", "passwd", "pwd", "passphrase", "apikey", "api_key", "api-key", "credential", "private_key", "access_key", "auth_key", "_key", "authorization", "session_key", "client_secret",
	"pass", "api key", "access key", "secret key", "private key", "authkey", "auth-key", "accesskey", "secretkey", "privatekey", "signingkey", "presharedkey", "subscription-key", "x-jfrog-art-api", "connection_string", "connectionstring", "code_verifier", "device_code"}

// formRules find secrets by the form around them: the forms of the public
// reports 082, 083, 085, 086 and 088. A form's value has plus signs for spaces;
// where no percent escape stands beside them, no view decodes them.
func formRules() []*rule {
	return []*rule{
		{id: "masked-key", kind: "token", keywords: []string{"sk-"}, expr: `sk-[A-Za-z0-9_-]*(?:\*{2,}|…|\.{3})[A-Za-z0-9_-]*`, alone: true},
		{id: "twilio-key", kind: "token", expr: `(?:SK|AC)[0-9a-f]{32}`},         // found by runKeys
		{id: "zhipu-key", kind: "token", expr: `[0-9a-f]{32}\.[A-Za-z0-9]{12,}`}, // found by runKeys
		{id: "discord-bot-token", kind: "token"},                                 // found by runKeys
		{id: "pem-key", kind: "token", keywords: []string{"private key-----", "private+key-----"}, back: 40, quick: anywhere, expr: `-----BEGIN[ +][A-Z0-9 +]{0,30}PRIVATE[ +]KEY-----(?:[A-Za-z0-9+/=\s\\]|-{1,4}[A-Za-z])*`},
		{id: "pgp-key", kind: "token", keywords: []string{"private key block-----", "private+key+block-----"}, back: 20, quick: anywhere, expr: `-----BEGIN[ +]PGP[ +]` + `PRIVATE[ +]KEY[ +]BLOCK-----(?:[A-Za-z0-9+/=\s\\:.]|-{1,4}[A-Za-z])*`},
		{id: "ssh2-key", kind: "token", keywords: []string{"private key ----"}, back: 40, quick: anywhere, expr: `---- BEGIN SSH2 [A-Z0-9 ]{0,30}PRIVATE KEY ----[A-Za-z0-9+/=\s\\:".@-]{20,}`},
		{id: "putty-key", kind: "token", keywords: []string{"private-lines:"}, quick: anywhere, expr: `(?i)Private-Lines: ?[0-9]+(?:[A-Za-z0-9+/=\s\\])*`},
		{id: "auth-header", kind: "token", keywords: []string{"bearer ", "basic ", "bearer+", "basic+"}, group: 1, check: mixed, expr: `(?i)(?:bearer|basic)(?:\s+|\+)([A-Za-z0-9._~+/=-]{8,})`},
		{id: "auth-scheme", kind: "token", keywords: []string{"authorization"}, group: 1, check: digitsOrRandom, quick: anywhere, expr: `(?i)authorization["'\\]*\s*[:=]\s*["'\\]*(?:[a-z][a-z0-9-]{1,24}\s+)?([A-Za-z0-9._~+/=:-]{16,})`},
		{id: "aws-signature", kind: "token", keywords: []string{"signature="}, group: 1, quick: anywhere, expr: `(?i)signature=([0-9a-f]{64})`},
		{id: "netrc", kind: "token", keywords: []string{"login "}, group: 1, check: digitsOrRandom, quick: anywhere, expr: `(?i)login[ \t]+[^\s"'<>]{1,64}\s+password[ \t]+([^\s"'<>\\]{6,})`},
		{id: "user-flag", kind: "token", keywords: []string{"-u ", "-u'", "-u\"", "--user ", "--user=", "--proxy-user"}, back: 1, group: 1, check: secretLike, quick: anywhere, expr: `(?:^|[\s"'\\=])(?:-u|--user|--proxy-user)[ =]?["'\\]*[A-Za-z0-9._%+@-]{1,64}:([^\s"'<>\\:@/]{8,})`},
		{id: "password-flag", kind: "token", keywords: []string{"sshpass", "docker login", "podman login", "az login", "mysql ", "mysqldump ", "redis-cli "}, group: 1, check: secretLike, quick: anywhere, expr: `(?:sshpass|docker login|podman login|az login|mysql|mysqldump|redis-cli)[^\n;&|]{0,160}? (?:-p|-a|--password)[ =]?["'\\]*([^\s"'<>\\-][^\s"'<>\\]{7,})`},
		{id: "cookie-flag", kind: "token", keywords: []string{"-b ", "--cookie "}, back: 1, group: 1, check: secretLike, quick: anywhere, expr: `(?:^|\s)(?:-b|--cookie) ["'\\]*[A-Za-z0-9_.-]{1,64}=([^\s"'<>\\;]{16,})`},
		{id: "registry-auth", kind: "token", keywords: []string{"auth\"", "auth\\\"", "_auth"}, group: 1, check: userAndPassword, quick: anywhere, expr: `(?i)_?auth["'\\]*\s*[:=]\s*["'\\]*([A-Za-z0-9+/]{12,}={0,2})`},
		{id: "url-token", kind: "url", keywords: []string{"://"}, back: 20, group: 1, quick: func(s string, _, end int) bool {
			return strings.IndexByte(s[end:min(len(s), end+256)], '@') >= 16
		}, check: secretLike, expr: `[A-Za-z][A-Za-z0-9+.-]*://([^\s/:@"'<>\\]{16,})@[^\s"'<>\\]*`},
		{id: "oauth-code", kind: "token", keywords: []string{"code="}, back: 8, group: 1, check: random, quick: anywhere, expr: `(?i)[?&](?:[a-z]{1,6}_)?code=([A-Za-z0-9._~%/+-]{16,})`},
		{id: "url-userinfo", kind: "url", keywords: []string{"://"}, back: 20, quick: func(s string, _, end int) bool {
			return strings.IndexByte(s[end:min(len(s), end+256)], '@') > 0
		}, check: notInert, expr: `[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@"'<>\\]+:[^/\s@"'<>\\]+@[^\s"'<>\\]*`},
		{id: "signed-url", kind: "url", keywords: []string{"sig=", "signature=", "credential=", "access_token=", "user_code=", "token=", "key="}, back: 24, group: 1, check: func(v string) bool { return mixed(v) && !reference(v, true) }, quick: anywhere, expr: `(?i)[?&][A-Za-z-]{0,20}(?:sig|signature|credential|access_token|user_code|token|key)=([^&\s"'<>\\]{8,})`},
		{id: "slack-webhook", kind: "url", keywords: []string{"hooks.slack.com/"}, back: 8, quick: anywhere, expr: `(?:https://)?hooks\.slack\.com/[A-Za-z]+/[A-Za-z0-9/_-]{8,}`},
		{id: "feishu-webhook", kind: "url", keywords: []string{"/open-apis/bot/"}, back: 40, quick: anywhere, expr: `(?:https://)?[a-z.]+/open-apis/bot/[A-Za-z0-9/_-]{8,}`},
		{id: "wecom-webhook", kind: "url", keywords: []string{"qyapi.weixin.qq.com"}, back: 8, quick: anywhere, expr: `(?:https://)?qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[A-Za-z0-9-]{8,}`},
		{id: "discord-webhook", kind: "url", keywords: []string{"/api/webhooks/"}, back: 24, quick: anywhere, expr: `(?:https://)?(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{8,}`},
		{id: "telegram-bot", kind: "url", keywords: []string{"/bot"}, back: 40, quick: digitBehind, expr: `(?:https://)?[A-Za-z0-9.-]*/bot[0-9]{5,}:[A-Za-z0-9_-]{8,}[^\s"'<>\\]*`},
		{id: "cookie", kind: "token", keywords: []string{"cookie:"}, back: 4, group: 1, check: notInert, quick: anywhere, expr: `(?i)cookie:\s*([A-Za-z0-9_.-]+=[^\s"\\]{6,}[^"\\\r\n]*)`},
		{id: "azure-key", kind: "token", keywords: []string{"accountkey="}, quick: anywhere, expr: `(?i)AccountKey=[A-Za-z0-9+/=]{40,}`},
		{id: "email", kind: "email", inWord: true, keywords: []string{"@"}, back: 64, quick: func(s string, start, end int) bool {
			return start > 0 && end < len(s) && s[start-1] > ' ' && isAlnum(s[end])
		}, expr: `[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`},
		{id: "home-posix", kind: kindPath, keywords: []string{"/home/", "/users/", "/root/"}, back: 8, check: somebody, quick: anywhere, expr: `(?:/mnt/[a-z])?(?:/home/|/Users/|/users/)[A-Za-z0-9._-]{1,64}(?: [A-Z][A-Za-z0-9._-]{0,31}(?:/|$)){0,1}|/root/[^\s"'<>]{1,128}`},
		{id: "home-windows", kind: kindPath, keywords: []string{`\users`, `:/users/`}, back: 70, check: somebody, quick: anywhere, expr: `(?i)(?:[a-z]:|\\\\{1,8}[a-z0-9.-]{1,63})(?:\\{1,8}|/)Users(?:\\{1,8}|/)(?:[^\\/\s"'<>:,;]{1,64}(?: [^\\/\s"'<>:,;]{1,32}){1,2}[\\/]|[^\\/\s"'<>]{1,64})`},
		{id: "home-wsl", kind: kindPath, keywords: []string{`\home\`, `settings\`}, back: 70, check: somebody, quick: anywhere, expr: `(?i)\\{1,8}[a-z0-9.$-]{1,63}\\{1,8}[a-z0-9.-]{1,63}\\{1,8}home\\{1,8}[a-z0-9._-]{1,64}|[a-z]:\\{1,8}Documents and Settings\\{1,8}[^\\/\s"'<>]{1,64}`},
		{id: "home-slug", kind: kindPath, keywords: []string{"-users-", "-home-", "-root-"}, back: 4, quick: anywhere, expr: `(?:^|[^A-Za-z0-9-])(?:[A-Z]-)?-(?:Users|home|root)-[A-Za-z0-9]+[A-Za-z0-9._-]*`},
		{id: "invisible", keywords: []string{"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad"}, view: visible},
		{id: "entities", keywords: []string{"&#", "&quot;", "&lt;"}, view: entities},
		{id: "full-width", keywords: fullWidth(), part: lineOf, view: halfWidth},
		{id: "concatenated", keywords: joinedLiterals, part: literals, view: unquote, joins: true},
		{id: "dump", keywords: dumpKeywords(), part: dumpPart, view: dumped},
		{id: "dump-words", keywords: []string{"0000010 ", "0000020 "}, part: wordsPart, view: swapped},
		{id: "dump-letters", keywords: []string{"0000010 ", "0000020 "}, part: odPart, view: od},
		{id: "secret-value", kind: "token", keywords: secretWords, value: secretValue},
	}
}

// somebody says that a home folder's name may be a person's: "user" stands for
// nobody.
func somebody(path string) bool {
	path = strings.TrimRight(path, `/\`)
	name := strings.TrimRight(path[strings.LastIndexAny(path, `/\`)+1:], ".")
	return notInert(path) && !pattern(path) && name != "user" && name != "username"
}

// digitsOrRandom is for values that a name makes likely: words have no digits.
func digitsOrRandom(v string) bool {
	return mixed(v) && (strings.ContainsAny(v, "0123456789") || randomLetters(v))
}

// userAndPassword says that a value is a name and a password in base64, as
// registries keep them.
func userAndPassword(v string) bool {
	b := letters64(strings.TrimRight(v, "="))
	colon := strings.IndexByte(b, ':')
	for i := range len(b) {
		if b[i] < ' ' || b[i] > '~' {
			return false
		}
	}
	return colon > 0 && len(b)-colon > 6
}

// anywhere accepts a keyword wherever it stands.
func anywhere(string, int, int) bool { return true }

func digitBehind(s string, _, end int) bool { return end < len(s) && isDigit(s[end]) }

// runKeys finds the secrets that only the form of a run of letters and digits
// gives away. It calls f with the rule's id.
func runKeys(s string, i, j int, f func(id string, start, end int)) {
	n := j - i
	switch {
	case n >= 24 && n <= 26 && s[i] >= 'M' && s[i] <= 'O' && j+34 < len(s) && s[j] == '.' && s[j+7] == '.':
		end := j + 8
		for end < len(s) && runByte[s[end]] {
			end++
		}
		if end-j >= 8+27 && mixed(s[i:end]) {
			f("discord-bot-token", i, end)
		}
	case n >= 34 && (s[i:i+2] == "SK" || s[i:i+2] == "AC") && hexAt(s, i+2, 32) && lowerHex(s[i+2:i+34]):
		f("twilio-key", i, i+34)
	case n == 32 && j+12 < len(s) && s[j] == '.' && hexAt(s, i, 32) && lowerHex(s[i:j]):
		end := j + 1
		for end < len(s) && isAlnum(s[end]) {
			end++
		}
		if end-j > 12 {
			f("zhipu-key", i, end)
		}
	}
}

func lowerHex(s string) bool {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'F' {
			return false
		}
	}
	return true
}

// bytesOf says which kinds of bytes s has.
func bytesOf(s string) (upper, lower, digit, other bool) {
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
	return
}

// mixed says that a value does not look like a word of prose.
func mixed(s string) bool {
	upper, lower, digit, other := bytesOf(s)
	return notInert(s) && (digit && (lower || upper) || upper && lower && entropy(s) >= 3 || other && (lower || upper) && entropy(s) >= 3)
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
