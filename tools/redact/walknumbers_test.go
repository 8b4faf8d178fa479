package redact

import (
	"strings"
	"testing"
)

// Numbers that tell of a time or an account become one, at every measured path
// of every dialect and where the member's name says so; zero stays, and so does
// what counts or tells a failure.
func TestWalkNumbers(t *testing.T) {
	f := loadFamilies(t)
	r := newRedactor(t)
	for i := range f.Dialects {
		d := &f.Dialects[i]
		places := append([]string{"total_cost", "data.accountId", "rate_limits.quota_used", "creditBalance", "x.usd", "billing_day"}, d.Redact.Measured...)
		for _, place := range places {
			for value, want := range map[string]string{"4711": "1", "-0.25": "-1", "0": "0", "12.5e3": "1"} {
				in := at(t, place, nil, value)
				if got, _ := redactText(t, r, Input{Dialect: d.ID}, in); lastNumber(got) != want {
					t.Errorf("%s: %s becomes %s", d.ID, in, got)
				}
			}
		}
		for _, place := range []string{"exit_code", "usage.input_tokens", "num_turns"} {
			if !measuredAt(r, d.ID, place) {
				in := at(t, place, nil, "4711")
				if got, _ := redactText(t, r, Input{Dialect: d.ID}, in); lastNumber(got) != "4711" {
					t.Errorf("%s: %s becomes %s", d.ID, in, got)
				}
			}
		}
	}
}

// lastNumber is the number that a frame of one value ends with.
func lastNumber(frame string) string {
	frame = strings.TrimRight(frame, "]}\n")
	return frame[strings.LastIndexAny(frame, ":[")+1:]
}

func measuredAt(r *Redactor, dialect, place string) bool {
	st := r.dialects[dialect].set.Root()
	for _, s := range strings.Split(place, ".") {
		st = st.Key(s)
	}
	return st.Flags()&fMeasured != 0
}

// Words of the vocabulary are no words of the CLI's where a person or a model
// chose them: in names of folders, titles of windows, and environments.
func TestPublicWordsAsNames(t *testing.T) {
	r := newRedactor(t)
	for _, c := range []struct{ in, want string }{
		{"failed: /PEOPLE/Model Error/limit/a.ts", "failed: /h/p1.ts"},
		{`failed: C:\PEOPLE\Model Error\limit\a.md`, `failed: C:\h\p1.md`},
		{"failed: ~model/error/limit", "failed: /h/p1"},
		{"failed: %2FPEOPLE%2Fmodel%2Ferror", "failed: /h/p1"},
		{"failed: /HOMES/model and /HOMES/error", "failed: /h/p1 and /h/p2"},
		{"\x1b]0;model error\x07failed", "\x1b]0;<text:1>\x07failed"},
		{"USER=model\x00PATH=error\x00", "USER=<text:1>\x00PATH=<text:2>\x00"},
		{"failed: credit of $1,234.56", "failed: credit of $<num:1>"},
		{"failed: fd00::12:34:56", "failed: <ip:1>"},
	} {
		in := stream("stderr", strings.NewReplacer("PEOPLE", "Users", "HOMES", "home").Replace(c.in)+"\n")
		out, _, err := r.Redact(in, Input{Dialect: "codex"})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSuffix(string(out.Records[0].Data), "\n")
		if padded.ReplaceAllString(got, "") != c.want {
			t.Errorf("%q becomes %q, want %q", c.in, got, c.want)
		}
	}
}
