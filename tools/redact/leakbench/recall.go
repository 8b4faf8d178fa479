package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak/encode"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leakgate"
)

type bench struct {
	options
	scanner *leak.Scanner
	second  *leakgate.Second
	out     io.Writer
}

// kinds are the token kinds with their grammars, as the vendors make them.
var kinds = []struct{ name, grammar string }{
	{"GitHub token", `gh[pousr]_[A-Za-z0-9]{36}`},
	{"GitHub fine-grained token", `github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`},
	{"Anthropic key", `sk-ant-api03-[A-Za-z0-9_-]{93}AA`},
	{"OpenAI project key", `sk-proj-[A-Za-z0-9_-]{74}T3BlbkFJ[A-Za-z0-9_-]{74}`},
	{"OpenAI legacy key", `sk-[A-Za-z0-9]{48}`},
	{"AWS access key", `AKIA[A-Z2-7]{16}`},
	{"Google key", `AIza[A-Za-z0-9_-]{35}`},
	{"Slack token", `xoxb-[0-9]{12}-[0-9]{12}-[A-Za-z0-9]{24}`},
	{"Slack webhook", `https://hooks\.slack\.com/services/T[A-Z0-9]{10}/B[A-Z0-9]{10}/[A-Za-z0-9]{24}`},
	{"Feishu webhook", `https://open\.feishu\.cn/open-apis` + `/bot/v2/hook/[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}`},
	{"Stripe key", `sk_live_[A-Za-z0-9]{24}`},
	{"npm token", `npm_[A-Za-z0-9]{36}`},
	{"GitLab token", `glpat-[A-Za-z0-9_-]{20}`},
	{"JWT", `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\.eyJzdWIiOiIx[A-Za-z0-9_-]{40}\.[A-Za-z0-9_-]{43}`},
	{"Hugging Face token", `hf_[A-Za-z]{34}`},
	{"Telegram token", `[1-9][0-9]{9}:AA[A-Za-z0-9_-]{33}`},
	{"Datadog key by name", `DATADOG_API_KEY=[a-f0-9]{32}`},
	{"AWS secret by name", `aws_secret_access_key = [A-Za-z0-9/+]{40}`},
	{"password by name", `DB_PASSWORD=[A-Za-z0-9!@%^*]{18}[0-9a-z]{2}`},
	{"bearer header", `Authorization: Bearer [A-Za-z0-9._~-]{38}[0-9a-z]{2}`},
	{"private key", `-----BEGIN RSA ` + `PRIVATE KEY-----[A-Za-z0-9+/]{64}`},
	{"URL with password", `postgres://app` + `:[A-Za-z0-9]{20}@db\.corp-mail\.net/x`},
	{"cookie", `Set-Cookie: ` + `session=[A-Za-z0-9]{32}`},
	{"e-mail address", `[a-z]{3,8}\.[a-z]{3,8}@corp-mail\.net`},
	{"home folder", `/home/[a-z]{5,9}/work`},
}

type score struct{ cases, ours, theirs int }

func percent(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(of, 1))) }

// recall counts the cases of every kind in every form in which something is
// found.
func (b *bench) recall() error {
	r := rand.New(rand.NewPCG(uint64(b.seed), 0))
	forms, kindScores, all := map[string]*score{}, map[string]*score{}, score{}
	var names []string
	for _, kind := range kinds {
		names = append(names, kind.name)
		kindScores[kind.name] = &score{}
		for range b.each {
			s, err := leak.Generate(kind.grammar, r)
			if err != nil {
				return err
			}
			for form, text := range encode.Forms(s) {
				if forms[form] == nil {
					forms[form] = &score{}
				}
				ours := len(b.scanner.Scan([]byte(text))) > 0
				theirs := false
				if b.second != nil {
					found, err := b.second.Judge("", []byte(text))
					if err != nil {
						return err
					}
					theirs = len(found.Findings) > 0
				}
				for _, x := range []*score{forms[form], kindScores[kind.name], &all} {
					x.add(ours, theirs)
				}
				if !ours {
					fmt.Fprintf(b.out, "missed: %s in the form %s\n", kind.name, form)
				}
			}
		}
	}
	fmt.Fprintf(b.out, "Seed %d: %d kinds, %d forms, %d cases.\n\n", b.seed, len(kinds), len(forms), all.cases)
	b.table("form", slices.Sorted(maps.Keys(forms)), forms)
	b.table("kind", names, kindScores)
	fmt.Fprintf(b.out, "| | leak scan | gitleaks |\n|---|---|---|\n| all | %s | %s |\n\n", percent(all.ours, all.cases), b.theirs(&all))
	return nil
}

func (x *score) add(ours, theirs bool) {
	x.cases++
	if ours {
		x.ours++
	}
	if theirs {
		x.theirs++
	}
}

func (b *bench) theirs(x *score) string {
	if b.second == nil {
		return "not run"
	}
	return percent(x.theirs, x.cases)
}

func (b *bench) table(what string, names []string, scores map[string]*score) {
	fmt.Fprintf(b.out, "| %s | leak scan | gitleaks |\n|---|---|---|\n", what)
	for _, n := range names {
		x := scores[n]
		fmt.Fprintf(b.out, "| %s | %s | %s |\n", n, percent(x.ours, x.cases), b.theirs(x))
	}
	fmt.Fprintln(b.out)
}
