// Package classify says why a run failed, with the 27 rules of OpenDesign
// v0.19.2 in their order, faults included (report on OpenDesign v0.19.2,
// section 5). Reference says what is right, with the rules of package
// reference.
package classify

import (
	"encoding/json"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/service"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Input is what OpenDesign's daemon knows about a run that has ended.
type Input struct {
	Result          string  `json:"result"` // success, failed or cancelled
	Status          Status  `json:"status"`
	ErrorCode       *string `json:"errorCode,omitempty"` // nil: Status.ErrorCode counts
	AgentID         string  `json:"agentId"`
	Events          []Event `json:"events"`
	CancelOrigin    string  `json:"cancelOrigin,omitempty"`
	TerminalTrigger string  `json:"terminalTrigger,omitempty"`
}

// Status is the state of the run itself. Null and absent members are alike.
type Status struct {
	Status    string `json:"status"` // succeeded, failed or canceled
	Error     string `json:"error,omitempty"`
	ErrorCode string `json:"errorCode,omitempty"`
	ExitCode  *int   `json:"exitCode"`
	Signal    string `json:"signal,omitempty"`
}

// Event is one event that the daemon sent: start, agent, stdout, stderr,
// diagnostic, error, end and others.
type Event struct {
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

// textParts is how many pieces of text are read at most, newest first.
const textParts = 24

// Classify returns the classification of a run, or nil for one that
// succeeded.
func Classify(in Input) *contract.FailureClassification {
	if in.Result == "success" {
		return nil
	}
	r := newRun(in)
	var f contract.FailureClassification
	if in.Result == "cancelled" {
		f = r.cancelled()
	} else {
		f = r.failed()
	}
	if in.TerminalTrigger != "" {
		f.TerminalTrigger = in.TerminalTrigger
	}
	return &f
}

// run is the evidence that the rules read.
type run struct {
	in     Input
	events []record // of the last attempt
	code   string   // upper case
	text   string   // the corpus: error texts, newest first
	t      jstext.Text
	hint   *bool // the newest explicit retryable
}

type record struct {
	event string
	data  rawjson.Value
}

func newRun(in Input) *run {
	r := &run{in: in}
	events := in.Events
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Event == "start" {
			events = events[i:]
			break
		}
	}
	for _, e := range events {
		v, _ := rawjson.Parse(e.Data) // what is not JSON holds no evidence
		r.events = append(r.events, record{e.Event, v})
	}
	code := in.Status.ErrorCode
	if in.ErrorCode != nil {
		code = *in.ErrorCode
	}
	r.code = strings.ToUpper(jstext.Trim(code))
	r.text = r.corpus()
	r.t = jstext.Fold(r.text)
	r.hint = r.retryable()
	return r
}

// corpus joins the run's error, its code, and the texts of errors and stderr
// from the newest event on. Stdout and what the model wrote are not read.
func (r *run) corpus() string {
	var parts []string
	add := func(s string) {
		if s = jstext.Trim(s); s != "" {
			parts = append(parts, s)
		}
	}
	add(r.in.Status.Error)
	add(r.code)
	for i := len(r.events) - 1; i >= 0 && len(parts) < textParts; i-- {
		data := r.events[i].data
		switch r.events[i].event {
		case "error", "agent":
			failure := data.Get("error")
			add(data.Get("message").Str())
			add(data.Get("code").Str())
			add(failure.Get("message").Str())
			add(failure.Get("code").Str())
			add(failure.At("data", "message").Str())
			if status := failure.At("data", "statusCode"); status.Kind() == rawjson.Number {
				add("statusCode:" + jstext.ToString(status))
			}
		case "stderr":
			add(data.Str())
			add(data.Get("chunk").Str())
			add(data.Get("text").Str())
		}
	}
	return strings.Join(parts, "\n")
}

// retryable returns the newest explicit word on whether to try again.
func (r *run) retryable() *bool {
	for i := len(r.events) - 1; i >= 0; i-- {
		data := r.events[i].data
		for _, v := range [...]rawjson.Value{data.Get("retryable"), data.At("error", "retryable"), data.At("error", "data", "isRetryable")} {
			if v.Kind() == rawjson.Boolean {
				b := v.Bool()
				return &b
			}
		}
	}
	return nil
}

// hinted returns the hint, or the default without one.
func (r *run) hinted(def bool) bool {
	if r.hint != nil {
		return *r.hint
	}
	return def
}

// stage infers how far the run came from its events.
func (r *run) stage(fallback contract.FailureStage) contract.FailureStage {
	var artifact, token bool
	var tools progress
	for _, e := range r.events {
		typ := e.data.Get("type").Str()
		tools.see(typ, e.data)
		agent := e.event == "agent"
		artifact = artifact || e.event == "live_artifact" || agent && (typ == "artifact" || typ == "live_artifact")
		token = token || agent && (typ == "text_delta" || typ == "thinking_delta")
	}
	switch {
	case artifact:
		return contract.StageArtifactWrite
	case tools.outstanding():
		return contract.StageToolOutstanding
	case tools.called:
		return contract.StagePostToolResume
	case token:
		return contract.StageChildClose
	}
	return fallback
}

// progress pairs tool calls with their results: by id, or by number where
// there are no ids.
type progress struct {
	called         bool
	open           map[string]bool
	idless, solved int
}

func (p *progress) see(typ string, data rawjson.Value) {
	switch typ {
	case "tool_use":
		p.called = true
		if id := data.Get("id"); id.Kind() != rawjson.String {
			p.idless++
		} else {
			if p.open == nil {
				p.open = map[string]bool{}
			}
			p.open[id.Str()] = true
		}
	case "tool_result":
		if id := data.Get("toolUseId"); id.Kind() == rawjson.String {
			delete(p.open, id.Str())
		} else {
			p.solved++
		}
	}
}

func (p *progress) outstanding() bool { return len(p.open) > 0 || p.solved < p.idless }

// closeReason returns why the child closed, by the newest runtime_close
// diagnostic, or "".
func (r *run) closeReason() string {
	for i := len(r.events) - 1; i >= 0; i-- {
		data := r.events[i].data
		if reason := data.Get("rpc_close_reason"); r.events[i].event == "diagnostic" &&
			data.Get("type").IsStr("runtime_close") && reason.Kind() == rawjson.String {
			return reason.Str()
		}
	}
	return ""
}

func (r *run) cancelled() contract.FailureClassification {
	origin := r.in.CancelOrigin
	if origin == "" {
		origin = "unknown"
	}
	return contract.FailureClassification{
		Category: contract.CategoryUserCancel, Detail: "user_cancelled", Stage: r.stage(contract.StageFirstTokenWait),
		UserAction: contract.ActionNone, CancelOrigin: origin, TerminalTrigger: origin,
	}
}

// fixed is a classification that no hint changes.
func fixed(c contract.FailureCategory, detail string, s contract.FailureStage, a contract.UserAction) contract.FailureClassification {
	return contract.FailureClassification{Category: c, Detail: detail, Stage: s, UserAction: a}
}

// retry is a classification whose action follows from whether to try again.
func retry(c contract.FailureCategory, detail string, s contract.FailureStage, again bool) contract.FailureClassification {
	f := fixed(c, detail, s, contract.ActionNone)
	if again {
		f.Retryable, f.UserAction = true, contract.ActionRetry
	}
	return f
}

// failed applies the rules. Text beats code in most of them.
func (r *run) failed() contract.FailureClassification {
	service := service.Code(r.text)
	for _, rule := range [...]func(string) (contract.FailureClassification, bool){
		r.account, r.request, r.installation, r.protocol, r.limits, r.upstream, r.silence, r.tool, r.process,
	} {
		if f, ok := rule(service); ok {
			return f
		}
	}
	return retry(contract.CategoryUnknown, "unknown", contract.StageFinalize, r.hinted(false))
}
