package reference

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
)

// sample is a run and what the reading of it must be. Empty expectations of
// text, tools and events are expectations too.
type sample struct {
	name     string
	agent    string   // "agent" if empty
	lines    []string // of stdout; > is the client's
	stderr   string
	end      Ending
	result   string // "success", or "failed category/detail stage", or "cancelled"
	reported string
	text     string
	tools    string // names with state, space-separated
	events   string // types of events, space-separated; "*" does not check
	signals  string
}

func exited(code int) Ending { return Ending{ExitCode: &code} }

func read(t testing.TB, dialect string, s *sample) *Reading {
	t.Helper()
	agent := s.agent
	if agent == "" {
		agent = "agent"
	}
	r, err := NewReader(&contract.Dialect{ID: dialect}, agent)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.lines {
		if ours, ok := strings.CutPrefix(l, ">"); ok {
			r.Stdin([]byte(ours + "\n"))
			continue
		}
		r.Stdout([]byte(l + "\n"))
	}
	r.Stderr([]byte(s.stderr))
	return r.Close(s.end)
}

func check(t *testing.T, dialect string, samples []sample) {
	t.Helper()
	for i := range samples {
		s := &samples[i]
		t.Run(s.name, func(t *testing.T) {
			r := read(t, dialect, s)
			for _, c := range []struct{ what, got, want string }{
				{"result", result(r), s.result},
				{"reported", r.ReportedResult, s.reported},
				{"text", r.Text, s.text},
				{"tools", tools(r), s.tools},
				{"signals", strings.Join(r.Signals, " "), s.signals},
				{"events", types(r.Events), s.events},
			} {
				if c.got != c.want && c.want != "*" {
					t.Errorf("%s is %q, want %q", c.what, c.got, c.want)
				}
			}
		})
	}
}

func result(r *Reading) string {
	if f := r.Failure; f != nil && r.RunResult == contract.RunFailed {
		return fmt.Sprintf("failed %s/%s %s", f.Category, f.Detail, f.Stage)
	}
	return string(r.RunResult)
}

func tools(r *Reading) string {
	var out []string
	for _, t := range r.Tools {
		out = append(out, t.Name+":"+string(t.State))
	}
	return strings.Join(out, " ")
}

// types joins the types of events; a status has its label.
func types(events []event.Event) string {
	var out []string
	for _, e := range events {
		typ := strings.TrimSuffix(e.Type(), "_delta")
		if typ == "status" {
			typ += ":" + strings.ReplaceAll(e.Get("label").Str(), " ", "_")
		}
		out = append(out, typ)
	}
	return strings.Join(out, " ")
}
