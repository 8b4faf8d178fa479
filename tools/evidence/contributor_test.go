package evidence

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Whoever captures is no contributor, in whatever spelling, and nothing of their
// bundle is published before that is said.
func TestMaintainersDoNotReproduce(t *testing.T) {
	b, reg := submitted(t, "chat-text-success")
	write(t, reg, store.PolicyFile, `{"schema_version":1,"maintainers":[{"handle":"jo"}],"agents":[]}`)
	full := sampled(t)
	o := one(t, full, "chat-text-success")
	before := everything(t, reg)
	for _, by := range []string{"jo", "Jo", "JO", "@jo", " jo", "jo ", "jo\u200b", "jо", "", "jo\n"} { // the o of the eighth is Cyrillic
		var refused *RefusedError
		if by != "" {
			a, asked := acceptor(t, reg, true)
			if _, err := a.Accept(t.Context(), b, Contributor{by, "https://example.org/1"}); !errors.As(err, &refused) || *asked > 0 {
				t.Errorf("accepted from %q: %v", by, err)
			}
		}
		r := reproduction(&o)
		r.By = by
		if _, _, err := Reproduce(t.Context(), full, r, later); !errors.As(err, &refused) {
			t.Errorf("reproduced by %q: %v", by, err)
		}
	}
	if added := onlyAdded(t, before, everything(t, reg)); len(added) > 0 {
		t.Errorf("new are %q", added)
	}
}

// Two runs of one contributor are no independent reproduction of each other.
func TestNobodyReproducesThemselves(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	b, err := Submit(reg, o.Path)
	must(t, err)
	send := func(run, who string) *Accepted {
		t.Helper()
		a, _ := acceptor(t, reg, true)
		sent := changed(t, b, func(o *contract.Observation) { o.Capture.RawClientTranscriptSHA256 = contract.Sum([]byte(run)) })
		out, err := a.Accept(t.Context(), sent, Contributor{who, "https://example.org/" + run})
		must(t, err)
		return out
	}
	first := send("1", "sam")
	r := reproduction(&o)
	r.Observation, r.By = first.Observation, "Sam"
	var refused *RefusedError
	if _, _, err := Reproduce(t.Context(), reg, r, later); !errors.As(err, &refused) {
		t.Errorf("their own: %v", err)
	}
	_, _, err = Withdraw(t.Context(), reg, Withdrawal{Record: o.Path, Reason: "The scenario was another one.", By: "jo"}, later)
	must(t, err)
	if second := send("2", "sam"); second.Reproduction != "" {
		t.Errorf("sam reproduces sam: %s", second.Reproduction)
	}
	if third := send("3", "kim"); third.Reproduction == "" {
		t.Error("kim reproduces nobody")
	}
	valid(t, reg)
}

// A published run that is sent again as of another time or machine would confirm
// itself.
func TestARunSentTwice(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	b, err := Submit(reg, o.Path)
	must(t, err)
	before := everything(t, reg)
	at, err := time.Parse(time.RFC3339, o.Capture.CapturedAt)
	must(t, err)
	for name, change := range map[string]func(*contract.Observation){
		"another runner":  func(o *contract.Observation) { o.Capture.Runner = "sams-laptop" },
		"another finding": func(o *contract.Observation) { o.Extensions.Findings = []string{"all is well"} },
	} {
		a, asked := acceptor(t, reg, true)
		var refused *RefusedError
		if _, err := a.Accept(t.Context(), moved(t, b, change), Contributor{"sam", "https://example.org/1"}); !errors.As(err, &refused) || *asked > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, by := range []time.Duration{-2 * time.Hour, -time.Second, 0, 3 * time.Millisecond} {
		a, _ := acceptor(t, reg, true)
		out, err := a.Accept(t.Context(), moved(t, b, func(o *contract.Observation) {
			o.Capture.CapturedAt = at.Add(by).Format("2006-01-02T15:04:05.000Z")
		}), Contributor{"sam", "https://example.org/1"})
		var refused *RefusedError
		if err == nil && (out.IsNew || out.Observation != o.Path || out.Reproduction != "") || err != nil && !errors.As(err, &refused) {
			t.Errorf("moved by %s: %+v, %v", by, out, err)
		}
	}
	if added := onlyAdded(t, before, everything(t, reg)); len(added) > 0 {
		t.Errorf("new are %q", added)
	}
}

// moved is changed for an observation whose place changes with it.
func moved(t testing.TB, b *Bundle, change func(*contract.Observation)) *Bundle {
	t.Helper()
	out := changed(t, b, change)
	o, problems := contract.Decode[contract.Observation](&contract.Validator{}, b.Manifest.Observation, out.Files[b.Manifest.Observation])
	if contract.HasErrors(problems) {
		t.Fatal(problems)
	}
	place, err := placeIn(o)
	must(t, err)
	files := map[string][]byte{}
	for f, content := range out.Files {
		text := strings.ReplaceAll(string(content), b.Manifest.Observation, place)
		files[strings.ReplaceAll(f, stem(b.Manifest.Observation), stem(place))] = []byte(text)
	}
	return newBundle(place, files)
}

func stem(observation string) string {
	return strings.TrimSuffix(strings.TrimPrefix(observation, "observations"), ".observation.json")
}

// A maintainer reads what nothing can derive again before they answer.
func TestAcceptTells(t *testing.T) {
	b, reg := submitted(t, "chat-text-success")
	url := "https://example.org/buy"
	b = changed(t, b, func(o *contract.Observation) {
		o.Capture.WorkflowRunURL, o.Command.ArgvTemplate, o.Extensions.Launcher = &url, []string{"--buy", "now"}, "a launcher"
	})
	a, asked := acceptor(t, reg, true)
	var told string
	a.Note = func(texts []string) {
		if *asked > 0 {
			t.Error("told after the answer")
		}
		told = strings.Join(texts, "\n")
	}
	_, err := a.Accept(t.Context(), b, Contributor{})
	must(t, err)
	for _, want := range []string{url, "--buy now", "a launcher"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told: %s", want, told)
		}
	}
}
