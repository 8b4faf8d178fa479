package external

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// vocabulary has the daemon's events and, for each, the members without which
// it says nothing, with their type.
var vocabulary = map[string]map[string]rawjson.Kind{
	"status":                 {"label": rawjson.String},
	"text_delta":             {"delta": rawjson.String},
	"thinking_start":         {},
	"thinking_delta":         {"delta": rawjson.String},
	"tool_use":               {"id": rawjson.String, "name": rawjson.String},
	"tool_input_delta":       {},
	"tool_result":            {"toolUseId": rawjson.String},
	"usage":                  {"usage": rawjson.Object},
	"turn_end":               {},
	"error":                  {"message": rawjson.String},
	"raw":                    {"line": rawjson.String},
	"stdout":                 {"chunk": rawjson.String},
	"fabricated_role_marker": {},
}

// EventTypes lists the events that an adapter may write, sorted.
func EventTypes() []string {
	var out []string
	for t := range vocabulary {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

// answers collects what an adapter writes about one run.
type answers struct {
	lines   []int // stdout line by chunk
	at      int   // of the events to come
	events  []event.Event
	origins []int
	result  replay.Result
	done    bool
	notRun  bool
	more    bool // the program takes more runs
}

func newAnswers(lines []int) *answers {
	a := &answers{lines: lines, at: reference.Untold}
	return a
}

// take reads one line. The error says what is wrong with it and never quotes
// it: it may hold the run's text.
func (a *answers) take(line []byte) error {
	v, err := rawjson.Parse(line)
	if err != nil {
		return err
	}
	if v.Kind() != rawjson.Object {
		return fmt.Errorf("want a JSON object, found %s", v.Kind())
	}
	if v.Get("type").Exists() {
		return a.event(v, line)
	}
	switch kind := v.Get("kind").Str(); kind {
	case "read":
		return a.read(v)
	case "result":
		a.done, a.more = true, v.Get("more_runs").Bool()
		return a.takeResult(v)
	case "not_run":
		a.done, a.notRun, a.more = true, true, v.Get("more_runs").Bool()
		return nil
	case "":
		return fmt.Errorf("want an event with a type, or a kind: read, result or not_run")
	default:
		return fmt.Errorf("unknown kind %.40q: want read, result or not_run", kind)
	}
}

func (a *answers) event(v rawjson.Value, line []byte) error {
	typ := v.Get("type").Str()
	members, ok := vocabulary[typ]
	if !ok {
		return fmt.Errorf("unknown event type %.40q: the types are %v", typ, EventTypes())
	}
	for name, kind := range members {
		if got := v.Get(name).Kind(); got != kind {
			return fmt.Errorf("%s without %s (a JSON %s)", typ, name, kind)
		}
	}
	var e event.Event
	if err := e.UnmarshalJSON(line); err != nil {
		return err
	}
	a.events, a.origins = append(a.events, e), append(a.origins, a.at)
	return nil
}

// read notes which chunk the events to come were read from.
func (a *answers) read(v rawjson.Value) error {
	n := v.Get("n")
	f := n.Float()
	switch {
	case v.Get("end").Bool():
		a.at = reference.EndOfRun
	case n.Kind() == rawjson.Number && f >= 0 && f < float64(len(a.lines)) && f == float64(int(f)):
		a.at = a.lines[int(f)]
	default:
		return fmt.Errorf("read without the n of a chunk that was sent")
	}
	return nil
}

func (a *answers) takeResult(v rawjson.Value) error {
	r := &a.result
	if x := v.Get("reported_result"); x.Exists() && x.Kind() != rawjson.Null {
		if x.Kind() != rawjson.String {
			return fmt.Errorf("result: reported_result is not a string")
		}
		r.ReportedResult = x.Str()
	}
	if x := v.Get("run_result"); x.Exists() && x.Kind() != rawjson.Null {
		r.RunResult = contract.RunResult(x.Str())
		if !slices.Contains(contract.RunResults, r.RunResult) {
			return fmt.Errorf("result: run_result is none of %v", contract.RunResults)
		}
	}
	if x := v.Get("failure"); x.Exists() && x.Kind() != rawjson.Null {
		r.Failure = &contract.FailureClassification{}
		if err := json.Unmarshal(x.Raw(), r.Failure); err != nil || !r.Failure.Valid() {
			return fmt.Errorf("result: failure is no classification (failure_category, failure_detail, failure_stage, retryable, user_action)")
		}
	}
	if x := v.Get("usage"); x.Exists() && x.Kind() != rawjson.Null {
		if x.Kind() != rawjson.Object {
			return fmt.Errorf("result: usage is not an object")
		}
		r.Usage = map[string]int64{}
		for m := range x.Children() {
			if f := m.Float(); m.Kind() == rawjson.Number && f >= 0 && f <= 1<<53 {
				r.Usage[m.Key()] = int64(f)
			}
		}
	}
	return nil
}
