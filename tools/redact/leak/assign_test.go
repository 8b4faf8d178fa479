package leak

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A secret is found behind its name in whatever language the two stand, and the
// finding's range is that of the secret.
func TestNamedSecrets(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	s := NewScanner(nil)
	for _, form := range []string{
		"set -gx ACME_TO~KEN %s", "setenv ACME_TO~KEN %s", "setx ACME_SEC~RET %s", "ENV API_TO~KEN %s", "$env:ACME_TO~KEN = \"%s\"", "set \"ACME_SEC~RET=%s\"", "declare -x ACME_TO~KEN=\"%s\"",
		"<pass~word>%s</pass~word>", "<add key=\"ApiSec~ret\" value=\"%s\"/>", "<input name=\"pass~word\" value=\"%s\">", "<div data-api-k~ey=\"%s\">",
		"let to~ken: &str = \"%s\";", "const to~ken: string = \"%s\"", "val apiK~ey: String = \"%s\"", "#define API_K~EY \"%s\"", "apiK~ey := \"%s\"", "'pass~word' => '%s',", "withPass~word(\"%s\")",
		"-pass~word %s", "--api-k~ey=%s", "aws configure set aws_sec~ret_access_key %s", "aws ssm put-parameter --name /db/pass~word --value %s",
		"\"db_pass~word\": {\"value\": \"%s\", \"type\": \"string\"}", "{\"name\":\"API_TO~KEN\",\"value\":\"%s\"}", "{\"key\":\"pass~word\",\"value\":\"%s\"}", "- name: API_TO~KEN\n  value: %s",
		"| API_K~EY | %s |", "| `API_K~EY` | `%s` |", "**API k~ey:** `%s`", "The pass~word is %s", "Secret access k~ey: %s", "DB_PA~SS=%s", "smtp_pa~ss = \"%s\"",
		"ALTER ROLE bob WITH PASS~WORD '%s'", "SharedAccessK~ey=%s", "X-Auth-K~ey: %s", "Ocp-Apim-Subscription-K~ey: %s", "X-JFrog-A~rt-Api: %s", "code_ver~ifier=%s", "CONNECTION_ST~RING=%s",
	} {
		secret := scattered(r, 30)
		before, after, _ := strings.Cut(strings.ReplaceAll(form, "~", ""), "%s")
		found := s.Scan([]byte("x\n" + before + secret + after + "\n"))
		hit := false
		for _, f := range found {
			hit = hit || f.Start == len(before)+2 && f.End == len(before)+2+len(secret)
		}
		if !hit {
			t.Errorf("%s: findings %v", form, found)
		}
	}
}

// Code, prose and tables that talk of secrets hold none.
func TestNamedNothing(t *testing.T) {
	s := NewScanner(nil)
	for _, text := range []string{
		"authorization: \"answerAuthorization\",", "contract.RequestAuthorization: \"AnswerAuthorization\",", "case \"authorization\":\n\t\treturn AnswerAuthorization(r, b2)", "PrivateKey: testRSA2048PrivateKey,",
		"login string\n\tpassword string", "login nobody\n password nothing", "token is expired", "the token sha256-of-the-file is", "password must have 8 characters", "| token | what it is |", "(?:access_token|user_code|token|key)=([^&",
		"bypass: 0123abcdZZ99", "passed: 12ab34cd56ef", "compass=N52E13WxYz12", "pass: 1234 fail: 2", "key \"<timestamp>\\n<secret>\", in base64.", "-u 1000:1000", "docker run -u node:node x", "git push -u origin HEAD",
		"const token: string = readToken(env2)", "{\"name\":\"max_tokens\",\"value\":\"128000abc\"}", "{\"name\":\"token\",\"value\":\"<text:1>\"}", "<password><token:1></password>", "password <text:4>", "Authorization: <text:1> <token:1>",
		"{\"auth\":\"oauth2client\"}", "?code=ERR_BAD_REQUEST_12", "exit code=0123456789012345678", "https://packages.example/@scope/name", "mysql -u root -p db",
	} {
		if f := s.Scan([]byte(text)); len(f) > 0 {
			t.Errorf("%q: %v", text, f)
		}
	}
}

// A home folder with a name of two words is found with both.
func TestHomesOfTwoWords(t *testing.T) {
	for _, c := range []struct{ text, home string }{
		{`C:\Us~ers\Jo Public\Documents`, `C:\Us~ers\Jo Public`}, {"/Us~ers/Jo Public/Desktop", "/Us~ers/Jo Public"},
		{`C:\Us~ers\jop and more`, `C:\Us~ers\jop`}, {"/Us~ers/jop and more", "/Us~ers/jop"},
	} {
		text, home := strings.ReplaceAll(c.text, "~", ""), strings.ReplaceAll(c.home, "~", "")
		f := NewScanner(nil).Scan([]byte(text))
		if len(f) == 0 || f[0].Start != 0 || strings.TrimRight(text[:f[0].End], `/\`) != home {
			t.Errorf("%q: %v", c.text, f)
		}
	}
}
