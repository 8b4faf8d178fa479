package expect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/expect"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
)

const (
	thread  = `{"type":"thread.started","thread_id":"t"}` + "\n" + `{"type":"turn.started"}` + "\n"
	text    = `{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"Hi"}}` + "\n"
	begin   = `{"type":"item.started","item":{"id":"c","type":"command_execution","command":"ls","status":"in_progress"}}` + "\n"
	end     = `{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"ls","aggregated_output":"x","exit_code":0,"status":"completed"}}` + "\n"
	usage   = `{"type":"turn.completed","usage":{"input_tokens":3,"output_tokens":1}}` + "\n"
	failure = `{"type":"turn.failed","error":{"message":"boom"}}` + "\n"
)

// listed is the end of the call with what its command printed.
func listed(output string) string {
	b, _ := json.Marshal(output)
	return strings.Replace(end, `"x"`, string(b), 1)
}

func reading(t testing.TB, stdout string) *reference.Reading {
	t.Helper()
	r, err := reference.NewReader(&contract.Dialect{ID: reference.DialectCodex}, "codex")
	if err != nil {
		t.Fatal(err)
	}
	r.Stdout([]byte(stdout))
	zero := 0
	return r.Close(reference.Ending{ExitCode: &zero})
}

func expectation(t testing.TB, members string) *contract.Expectation {
	t.Helper()
	e := &contract.Expectation{}
	doc := `{"schema_version":1,"must_see":[],"optional":[],"forbidden":[],"constraints":[{"kind":"pairing"}]}`
	var base, extra map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &base); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte("{"+members+"}"), &extra); err != nil {
		t.Fatal(err)
	}
	for k, v := range extra {
		base[k] = v
	}
	b, err := json.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, e); err != nil {
		t.Fatal(err)
	}
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestViolations(t *testing.T) {
	done := thread + text + usage
	for _, tt := range []struct {
		name, stdout, members string
		leaks                 expect.Leaks
		want                  string // "kind path: expected | actual", or ""
	}{
		{name: "all is there", stdout: thread + begin + end + text + usage, members: `"must_see":["init_or_status","assistant_text","tool_use","tool_result","usage","done"],"forbidden":["raw_secret","local_home_path","duplicate_tool_use","unknown_raw"]`},
		{name: "must see", stdout: done, members: `"must_see":["done","tool_use"]`, want: "must_see /must_see/1: at least one tool_use | none"},
		{name: "optional is not checked", stdout: done, members: `"optional":["tool_use"]`},
		{name: "secret", stdout: done, members: `"forbidden":["raw_secret"]`, leaks: expect.Leaks{RawSecrets: 2}, want: "forbidden /forbidden/0: no raw_secret | 2 found"},
		{name: "home", stdout: done, members: `"forbidden":["local_home_path"]`, leaks: expect.Leaks{LocalHomePaths: 1}, want: "forbidden /forbidden/0: no local_home_path | 1 found"},
		{name: "doubled call", stdout: thread + begin + begin + end + text + usage, members: `"forbidden":["duplicate_tool_use"]`, want: "forbidden /forbidden/0: no duplicate_tool_use | 1 call announced again"},
		{name: "unknown frames", stdout: thread + "{\"type\":\"new\"}\noops\n" + text + usage, members: `"forbidden":["unknown_raw"]`, want: "forbidden /forbidden/0: no unknown_raw | new ×1, lines that are no frames ×1"},
		{name: "min", stdout: done, members: `"constraints":[{"kind":"min_count","event":"assistant_text","count":2}]`, want: "min_count /constraints/0: at least 2 assistant_text | 1"},
		{name: "max", stdout: done, members: `"constraints":[{"kind":"max_count","event":"usage","count":0}]`, want: "max_count /constraints/0: at most 0 usage | 1"},
		{name: "filled", stdout: done, members: `"constraints":[{"kind":"non_empty","event":"assistant_text","field":"delta"},{"kind":"non_empty","event":"usage","field":"usage.input_tokens"}]`},
		{name: "not filled", stdout: thread + strings.Replace(text, "Hi", " ", 1) + usage, members: `"constraints":[{"kind":"non_empty","event":"assistant_text","field":"delta"}]`, want: "non_empty /constraints/0: assistant_text with delta filled | empty in event 1 of 1"},
		{name: "nothing to be filled", stdout: done, members: `"constraints":[{"kind":"non_empty","event":"error","field":"message"}]`, want: "non_empty /constraints/0: error with message filled | no such event"},
		{name: "fields", stdout: thread + begin + end + text + usage, members: `"constraints":[{"kind":"required_fields","event":"tool_use","fields":["id","name","input.command"]}]`},
		{name: "a field is missing", stdout: thread + begin + end + text + usage, members: `"constraints":[{"kind":"required_fields","event":"tool_use","fields":["id","input.path"]}]`, want: "required_fields /constraints/0: every tool_use with id, input.path | no input.path in event 1 of 1"},
		{name: "fields of no event", stdout: done, members: `"constraints":[{"kind":"required_fields","event":"tool_use","fields":["id"]}]`},
		{name: "an empty list", stdout: thread + begin + listed("[]") + text + usage, members: `"constraints":[{"kind":"min_items","event":"tool_result","field":"content","count":1}]`, want: "min_items /constraints/0: tool_result with at least 1 in content | 0 in event 1 of 1"},
		{name: "a list that is long enough", stdout: thread + begin + listed(` [1,2] `) + text + usage, members: `"constraints":[{"kind":"min_items","event":"tool_result","field":"content","count":2},{"kind":"max_items","event":"tool_result","field":"content","count":2}]`},
		{name: "a list inside what the tool printed", stdout: thread + begin + listed(`{"status":"success_no_parse","movies":[]}`) + text + usage, members: `"constraints":[{"kind":"min_items","event":"tool_result","field":"content.movies","count":1}]`, want: "min_items /constraints/0: tool_result with at least 1 in content.movies | 0 in event 1 of 1"},
		{name: "no list", stdout: thread + begin + end + text + usage, members: `"constraints":[{"kind":"min_items","event":"tool_result","field":"content","count":1}]`, want: "min_items /constraints/0: tool_result with at least 1 in content | no list in event 1 of 1"},
		{name: "no event with a list", stdout: done, members: `"constraints":[{"kind":"min_items","event":"tool_result","field":"content","count":1}]`, want: "min_items /constraints/0: tool_result with at least 1 in content | no such event"},
		{name: "the second list is too short", stdout: thread + begin + listed("[1]") + strings.ReplaceAll(begin+listed("[]"), `"c"`, `"d"`) + text + usage, members: `"constraints":[{"kind":"min_items","event":"tool_result","field":"content","count":1}]`, want: "min_items /constraints/0: tool_result with at least 1 in content | 0 in event 2 of 2"},
		{name: "a list that is too long", stdout: thread + begin + listed("[1,2,3]") + text + usage, members: `"constraints":[{"kind":"max_items","event":"tool_result","field":"content","count":2}]`, want: "max_items /constraints/0: tool_result with at most 2 in content | 3 in event 1 of 1"},
		{name: "nothing is not too long", stdout: done, members: `"constraints":[{"kind":"max_items","event":"tool_result","field":"content.files","count":0}]`},
		{name: "text is no list", stdout: thread + begin + end + text + usage, members: `"constraints":[{"kind":"max_items","event":"tool_result","field":"content","count":2}]`, want: "max_items /constraints/0: tool_result with at most 2 in content | no list in event 1 of 1"},
		{name: "filled inside what the tool printed", stdout: thread + begin + listed(`{"name":""}`) + text + usage, members: `"constraints":[{"kind":"required_fields","event":"tool_result","fields":["content.name"]},{"kind":"non_empty","event":"tool_result","field":"content.name"}]`, want: "non_empty /constraints/1: tool_result with content.name filled | empty in event 1 of 1"},
		{name: "one terminal", stdout: thread + text + usage + "{\"type\":\"turn.started\"}\n" + text + usage, members: `"constraints":[{"kind":"one_terminal"}]`, want: "one_terminal /constraints/0: one terminal frame | 2"},
		{name: "no terminal", stdout: thread + text, members: `"constraints":[{"kind":"one_terminal"}]`, want: "one_terminal /constraints/0: one terminal frame | 0"},
		{name: "run result", stdout: thread + failure, members: `"constraints":[{"kind":"run_result","equals":"success"}]`, want: "run_result /constraints/0: success | failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reading(t, tt.stdout)
			reported, result := r.ReportedResult, r.RunResult
			got := expect.Check(expectation(t, tt.members), r, tt.leaks)
			var lines []string
			for _, v := range got.Violations {
				lines = append(lines, v.Kind+" "+v.Path+": "+v.Expected+" | "+v.Actual)
			}
			if s := strings.Join(lines, "\n"); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
			if r.ReportedResult != reported || r.RunResult != result {
				t.Error("the check changed the reading")
			}
		})
	}
}

// TestPairing: a result without its call, as a stream shows it that lost the
// call.
// A failure is told wherever the CLI told it: formats without error frames
// have only stderr and plain lines for it. Silence tells nothing.
func TestFailureTold(t *testing.T) {
	e := expectation(t, `"must_see":["error"],"constraints":[{"kind":"min_count","event":"error","count":1},{"kind":"non_empty","event":"error","field":"message"}]`)
	for _, tt := range []struct {
		name, stdout, stderr string
		exit, violations     int
	}{
		{"on stderr", thread, "Error loading config.toml: unknown variant\n", 1, 0},
		{"on stdout, beside the frames", thread + "Error: not logged in\n", "", 1, 0},
		{"in a frame", thread + failure, "", 1, 0},
		{"nowhere", thread, "", 1, 3},
		{"only what every run prints", thread, "Reading prompt from stdin...\n", 1, 3},
		{"stderr of a success is no error", thread + text + usage, "warning: something\n", 0, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := reference.NewReader(&contract.Dialect{ID: reference.DialectCodex}, "codex")
			if err != nil {
				t.Fatal(err)
			}
			r.Stdout([]byte(tt.stdout))
			r.Stderr([]byte(tt.stderr))
			if got := expect.Check(e, r.Close(reference.Ending{ExitCode: &tt.exit}), expect.Leaks{}).Violations; len(got) != tt.violations {
				t.Errorf("violations %+v, want %d", got, tt.violations)
			}
		})
	}
}

func TestPairing(t *testing.T) {
	r, err := reference.NewReader(&contract.Dialect{ID: reference.DialectClaude}, "claude")
	if err != nil {
		t.Fatal(err)
	}
	r.Stdout([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":"y"}]}}` + "\n"))
	got := expect.Check(expectation(t, ""), r.Close(reference.Ending{}), expect.Leaks{})
	if len(got.Violations) != 1 || got.Violations[0].Actual != "result 1 has no call" {
		t.Errorf("got %+v", got.Violations)
	}
}

// TestWeakSuccess: a success stays one, and its lack of substance is recorded
// beside it.
func TestWeakSuccess(t *testing.T) {
	for _, tt := range []struct {
		name, stdout, members string
		want                  bool
	}{
		{"substance", thread + text + usage, `"must_see":["assistant_text"]`, false},
		{"tokens only", thread + usage, ``, true},
		{"text, but the tool that the probe asks for is missing", thread + text + usage, `"must_see":["tool_use"]`, true},
		{"a tool whose list is empty", thread + begin + listed("[]") + text + usage, `"constraints":[{"kind":"min_items","event":"tool_result","field":"content","count":1}]`, true},
		{"a violation that is none of substance", thread + text + usage, `"constraints":[{"kind":"max_count","event":"usage","count":0}]`, false},
		{"a failure is no weak success", thread + failure, `"must_see":["assistant_text"]`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reading(t, tt.stdout)
			before := r.RunResult
			if got := expect.Check(expectation(t, tt.members), r, expect.Leaks{}); got.WeakSuccess != tt.want {
				t.Errorf("weak success is %v, want %v", got.WeakSuccess, tt.want)
			}
			if r.RunResult != before {
				t.Error("the run result changed")
			}
		})
	}
}

// FuzzItems: what a tool printed may be anything; counting in it neither fails
// nor finds less than nothing.
func FuzzItems(f *testing.F) {
	for _, s := range []string{"[]", `{"a":[1,{"b":[]}]}`, "[1,", `"[1]"`, "{", "\xff", `{"a":"[1,2]"}`} {
		f.Add(s, "content.a.b")
	}
	f.Fuzz(func(t *testing.T, output, field string) {
		zero := 0
		e := &contract.Expectation{Constraints: []contract.Constraint{
			{Kind: contract.ConstraintMinItems, Event: contract.EventToolResult, Field: field, Count: &zero},
			{Kind: contract.ConstraintMaxItems, Event: contract.EventToolResult, Field: field, Count: &zero},
			{Kind: contract.ConstraintNonEmpty, Event: contract.EventToolResult, Field: field},
		}}
		r := reading(t, thread+begin+listed(output)+text+usage)
		if got := expect.Check(e, r, expect.Leaks{}); r.RunResult != contract.RunSuccess || len(got.Violations) > 3 {
			t.Errorf("%d violations, run %s", len(got.Violations), r.RunResult)
		}
	})
}
