package redact

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
)

// at returns a frame that holds a value at a path and nothing else but what
// when demands.
func at(t testing.TB, path string, when contract.Match, value string) string {
	t.Helper()
	frame := map[string]any{}
	for p, literals := range when {
		if !strings.Contains(literals[0], "*") && literals[0] != "" {
			put(t, frame, p, literals[0])
		}
	}
	put(t, frame, path, json.RawMessage(value))
	b, err := json.Marshal(frame)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

func put(t testing.TB, frame map[string]any, path string, value any) {
	t.Helper()
	steps, err := paths.Split(path)
	if err != nil {
		t.Fatal(err)
	}
	var in func(v any, steps []string) any
	in = func(v any, steps []string) any {
		if len(steps) == 0 {
			return value
		}
		if steps[0] == "[]" {
			l, _ := v.([]any)
			if len(l) == 0 {
				l = []any{nil}
			}
			l[0] = in(l[0], steps[1:])
			return l
		}
		m, _ := v.(map[string]any)
		if m == nil {
			m = map[string]any{}
		}
		k := steps[0]
		if k == "<key>" || k == "**" {
			k = "total"
		}
		m[k] = in(m[k], steps[1:])
		return m
	}
	in(frame, steps)
}

// textPaths are the places of a dialect at which a text may stand, by what its
// rules say of them, and some of which they say nothing.
func textPaths(c *contract.Dialect) (free, constant []string) {
	rr := &c.Redact
	free = slices.Concat(rr.Vocabulary, rr.Model, rr.Names, c.Opaque, c.Maps,
		[]string{"brand_new", "params.brand.new", "data.brandNew[]", "result.brand_new[].name", "mcp_servers[].name", "plugins[].path", "signature"})
	constant = slices.Concat(c.EventType, c.Enums, rr.Literals)
	for _, k := range c.Kind {
		if k.Mode == "value" || k.Mode == "set" {
			constant = append(constant, k.Path)
		}
	}
	return free, constant
}

// around are the ways in which a value stands in a string.
var around = []struct{ before, after string }{
	{"", ""}, {"Error: cannot open ", " for you"}, {"(", ")"}, {"a='", "'"}, {"x\n", "\ny"},
}

// spellings are a value as it stands, in a sentence, and as JSON in a string.
func spellings(k walkKind, p planted) []string {
	var out []string
	for _, a := range around {
		out = append(out, quote(a.before+p.text+a.after))
	}
	member := `{"error":{"message":` + quote(p.text) + `,` + quote(p.text) + `:[` + quote("of "+p.text) + `]}}`
	out = append(out, quote(member), quote("failed: "+member), quote(quote(member)))
	if k.word {
		return out // a word that names a member of a frame is taken for the protocol's
	}
	return append(out, member)
}

// Whatever the kind of a value and wherever it stands, in every dialect, the
// original is gone, frames and members are as before, and redacting again
// changes nothing (issue 5, point 1).
func TestWalk(t *testing.T) {
	f := loadFamilies(t)
	r := newRedactor(t)
	for i := range f.Dialects {
		d := &f.Dialects[i]
		t.Run(d.ID, func(t *testing.T) {
			for n, k := range walkKinds {
				if Raced && (n+i)%8 != 0 {
					continue
				}
				g := &made{rand.New(rand.NewPCG(uint64(n), uint64(i)))}
				walkKindIn(t, r, d, k, k.make(g))
			}
		})
	}
}

// walkKindIn looks at all values of a kind in one dialect. Each stands at every
// place, in one spelling after the other.
func walkKindIn(t *testing.T, r *Redactor, d *contract.Dialect, k walkKind, list []planted) {
	t.Helper()
	var raw, pieces string
	var cores, whole []string
	turn := 0
	for _, p := range list {
		cores, whole = append(cores, p.cores...), append(whole, p.text)
		free, constant := textPaths(d)
		for _, path := range free {
			if k.word && slices.Contains(constant, path) {
				continue
			}
			all := spellings(k, p)
			raw += at(t, path, nil, all[0]) + at(t, path, nil, all[1+turn%(len(all)-1)])
			turn++
		}
		for _, path := range constant {
			if !k.word {
				raw += at(t, path, nil, quote(p.text))
			}
		}
		for _, rule := range d.Redact.Pieces {
			if k.word {
				break // public words and short numbers of the CLI stay, in pieces of a word too
			}
			for s := p.text; s != ""; {
				n := min(4, len(s))
				pieces += at(t, rule.Path, rule.When, quote(s[:n]))
				s = s[n:]
			}
		}
	}
	for _, in := range []Input{{}, {Hermetic: true}, {Hermetic: true, ScenarioTexts: whole}} {
		in.Dialect = d.ID
		looseEnds(t, r, in, k, raw, list, cores)
	}
	out, _ := redactText(t, r, Input{Dialect: d.ID, Hermetic: true}, pieces)
	joined := strings.ReplaceAll(decodedStrings(out), "\n", "")
	gone(t, k, joined, cores, pieces, out)
}

// looseEnds redacts frames, and every value as a line of each stream.
func looseEnds(t *testing.T, r *Redactor, in Input, k walkKind, raw string, list []planted, cores []string) {
	t.Helper()
	all := stdout(raw)
	for n, p := range list {
		a := around[n%len(around)]
		for _, s := range []transcript.Stream{transcript.Stderr, transcript.Stdout, transcript.Stdin} {
			all.Records = append(all.Records, stream(s, a.before+p.text+a.after+"\n").Records...)
		}
	}
	out, _, err := r.Redact(all, in)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := r.Redact(out, in)
	if err != nil {
		t.Fatal(err)
	}
	for n := range all.Records {
		a, b, c := string(all.Records[n].Line()), string(out.Records[n].Line()), string(again.Records[n].Line())
		if gone(t, k, b+decodedStrings(b), cores, a, b); t.Failed() {
			return
		}
		if same, _ := sameStructure(a, b); !same && a[0] == '{' {
			t.Errorf("%s: the structure of a frame changes:\n%s%s", k.name, a, b)
		}
		if b != c {
			t.Errorf("%s: redacting twice differs from redacting once:\n%s%s%s", k.name, a, b, c)
		}
	}
}

func gone(t *testing.T, k walkKind, text string, cores []string, a, b string) {
	t.Helper()
	for _, core := range cores {
		if strings.Contains(text, core) {
			t.Errorf("%s: %q survives:\n%s%s", k.name, core, a, b)
			return
		}
	}
}

// What readers read of a value stays: a path is a path of its kind, an id an id.
func TestWalkKeepsTheKind(t *testing.T) {
	r := newRedactor(t)
	for n, k := range walkKinds {
		for _, p := range k.make(&made{rand.New(rand.NewPCG(uint64(n), 0))}) {
			line := `{"type":"item.completed","item":{"text":%}}`
			got, _ := redactText(t, r, Input{Dialect: "codex"}, strings.Replace(line, "%", quote(p.text), 1))
			if want := strings.Replace(line, "%", quote(p.want), 1); p.want != "" && numberless.ReplaceAllString(padded.ReplaceAllString(got, ""), "$1") != want {
				t.Errorf("%s: %q becomes %s, want %s", k.name, p.text, got, want)
			}
		}
	}
}

var (
	numberless = regexp.MustCompile(`(\bp|[a-z]:)\d+`)
	padded     = regexp.MustCompile(`<pad_*>`)
)
