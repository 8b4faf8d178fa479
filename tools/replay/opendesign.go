package replay

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/classify"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/run"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// summarize reads the events of a consumer's parser as its user sees them:
// text, tools, tokens. Every tool_use counts, doubled ones too.
func (r *Reading) summarize() {
	r.Unknown, r.Deviations = map[string]int{}, map[string]int{}
	seen := map[string]int{}
	var text strings.Builder
	for _, e := range r.Events {
		switch e.Type() {
		case "text_delta":
			text.WriteString(e.Get("delta").Str())
		case "stdout": // a plain agent's output is its text
			text.WriteString(e.Get("chunk").Str())
		case "tool_use":
			id := e.Get("id").Str()
			if _, again := seen[id]; again && !e.Get("name").IsStr("TodoWrite") {
				r.DuplicateToolUses++
			}
			seen[id] = len(r.Tools)
			r.Tools = append(r.Tools, reference.Tool{ID: id, Name: e.Get("name").Str(), Input: e.Get("input"), State: reference.ToolOpen})
		case "tool_result":
			if i, ok := seen[e.Get("toolUseId").Str()]; ok {
				r.Tools[i].State = reference.ToolDone
				if e.Get("isError").True() {
					r.Tools[i].State = reference.ToolFailed
				}
			}
		case "usage":
			r.takeUsage(e.Get("usage"))
		case "raw":
			r.Unknown["raw"]++
		}
	}
	r.Usefulness = said(r.Events)
	r.Text = text.String()
	if r.Text != "" {
		r.Texts = []string{r.Text}
	}
}

// takeUsage replaces the counts: what the consumer shows is its last usage
// event.
func (r *Reading) takeUsage(u event.Value) {
	v, err := rawjson.Parse([]byte(u.JSON()))
	if err != nil || v.Kind() != rawjson.Object {
		return
	}
	r.Usage = map[string]int64{}
	for m := range v.Children() {
		if f := m.Float(); m.Kind() == rawjson.Number && f >= 0 && f <= 1<<53 {
			r.Usage[m.Key()] = int64(f)
		}
	}
}

// closeOpenDesign decides the run as the daemon does when the child closes.
// Where OpenDesign starts the agent another way, only the parser and the exit
// are left to judge by, and Reason says so.
func (r *Reading) closeOpenDesign(in Input) {
	runtime, known := opendesign.RuntimeOf(in.Agent)
	if !known || !sameParser(runtime, in.Dialect.Parser) {
		r.Reason = "OpenDesign v" + opendesign.Version + " parses this format but does not start the agent " + in.Agent + " in a way that gives it"
		r.closeByExit(in)
		return
	}
	end := reference.EndingOf(in.Transcript)
	out, err := run.Close(run.Input{Config: run.Config{Agent: in.Agent, Session: sessionOptions(in)}, Steps: steps(in.Transcript), End: ending(end)})
	if err != nil { // not for an agent whose runtime is known
		r.closeByExit(in)
		return
	}
	r.RunResult = contract.RunResult(opendesign.Result(out.Status))
	if out.Rerun { // another attempt decides
		return
	}
	r.Classifier = &out.Classifier
	if r.RunResult != contract.RunSuccess {
		r.Failure = classify.Classify(out.Classifier)
	}
}

// sameParser reports whether the agent's own parser is the dialect's.
func sameParser(r opendesign.Runtime, parser string) bool {
	switch r.StreamFormat {
	case "json-event-stream":
		return r.Kind == parser
	case "claude-stream-json":
		return parser == "claude"
	case "acp-json-rpc":
		return parser == parserACP
	case "pi-rpc":
		return parser == parserPi
	}
	return strings.TrimSuffix(r.StreamFormat, "-stream-json") == parser
}

func steps(t *transcript.Transcript) []run.Step {
	var out []run.Step
	var client clientFrames
	for i := range t.Records {
		rec := &t.Records[i]
		switch {
		case client.cancels(rec):
			out = append(out, run.Step{Kind: run.Cancel})
		case rec.Dir == transcript.CLIToServer && rec.Stream == transcript.Stdout:
			out = append(out, run.Step{Kind: run.Stdout, Data: rec.Line()})
		case rec.Dir == transcript.CLIToServer && rec.Stream == transcript.Stderr:
			out = append(out, run.Step{Kind: run.Stderr, Data: rec.Line()})
		}
	}
	return out
}

// watchdogSeconds is the daemon's own limit for silence. Ours is another one,
// but a run that trips it would trip the daemon's too.
const watchdogSeconds = 600

func ending(e reference.Ending) run.Ending {
	out := run.Ending{Code: e.ExitCode, Signal: e.Signal}
	if e.Idle {
		out.StalledSeconds = watchdogSeconds
	}
	return out
}

// closeByExit judges by error events and the exit alone.
func (r *Reading) closeByExit(in Input) {
	end := reference.EndingOf(in.Transcript)
	status := opendesign.CloseStatus(opendesign.Exit{
		CancelRequested: end.Cancelled, Code: end.ExitCode, Signal: end.Signal, ACPCleanCompletion: r.completed && in.Dialect.Parser == parserACP,
	})
	for _, e := range r.Events {
		if e.Type() == "error" && !end.Cancelled {
			status = opendesign.Failed
		}
	}
	r.RunResult = contract.RunResult(opendesign.Result(status))
}
