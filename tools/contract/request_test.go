package contract

import (
	"encoding/json"
	"testing"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	r := Request{Run: "r", Step: "s", Ordinal: 1, Kind: RequestInput, Prompt: "which?"}
	id, err := r.ComputeID()
	if err != nil {
		t.Fatal(err)
	}
	wire := "call_7"
	same := r
	same.WireID, same.CreatedAt = &wire, "2026-06-27T10:00:00Z"
	if got, _ := same.ComputeID(); got != id {
		t.Error("another wire id or time made another request of the same question")
	}
	for _, change := range []func(*Request){
		func(r *Request) { r.Run = "r2" }, func(r *Request) { r.Step = "s2" }, func(r *Request) { r.Ordinal = 2 },
		func(r *Request) { r.Kind = RequestApproval }, func(r *Request) { r.Prompt = "which one?" },
	} {
		other := r
		change(&other)
		if got, _ := other.ComputeID(); got == id {
			t.Errorf("%+v has the id of another question", other)
		}
	}
}

// No key is special and nothing is coerced: an answer is recognised when its
// data validates against the request's data_schema.
func TestCheckAnswer(t *testing.T) {
	t.Parallel()
	request := func(kind RequestKind, schema string) *Request {
		r := &Request{Run: "r", Step: "s", Kind: kind, Prompt: "p", DataSchema: json.RawMessage(schema)}
		r.ID, _ = r.ComputeID()
		return r
	}
	const value = `{"type":"object","required":["value"],"properties":{"value":{"type":"string"}},"additionalProperties":false}`
	const approved = `{"type":"object","required":["approved"],"properties":{"approved":{"type":"boolean"}}}`
	for _, c := range []struct {
		name   string
		r      *Request
		status AnswerStatus
		data   string
		want   string
	}{
		{"fits", request(RequestInput, value), AnswerAnswered, `{"value":"staging"}`, ""},
		{"single value under another key", request(RequestInput, value), AnswerAnswered, `{"output":"staging"}`, "ANS-DATA /data/output"},
		{"wrong type", request(RequestApproval, approved), AnswerAnswered, `{"approved":"yes"}`, "ANS-DATA /data/approved"},
		{"false is an answer", request(RequestApproval, approved), AnswerAnswered, `{"approved":false}`, ""},
		{"declined", request(RequestApproval, approved), AnswerDeclined, ``, ""},
		{"expired", request(RequestAuthorization, approved), AnswerExpired, ``, ""},
		{"no data", request(RequestInput, value), AnswerAnswered, ``, "ANS-DATA /data"},
		{"duplicate key", request(RequestInput, value), AnswerAnswered, `{"value":"a","value":"b"}`, "ANS-DATA /data/value"},
		{"request without schema", request(RequestInput, ``), AnswerAnswered, `{}`, "REQ-DATA-SCHEMA "},
	} {
		a := &Answer{RequestID: c.r.ID, Kind: c.r.Kind, Status: c.status, Data: json.RawMessage(c.data)}
		got := ""
		if ps := CheckAnswer(c.r, a, "answer"); len(ps) > 0 {
			got = ps[0].Code + " " + ps[0].Pointer
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	r := request(RequestInput, value)
	stale := &Answer{RequestID: Sum([]byte("other")), Kind: RequestInput, Status: AnswerAnswered, Data: json.RawMessage(`{"value":"x"}`)}
	if ps := CheckAnswer(r, stale, "answer"); len(ps) != 1 || ps[0].Code != "ANS-REQUEST" {
		t.Errorf("a misrouted answer: %v", ps)
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]RecordKind{
		"registry/agents.json": KindAgents,
		"observations/codex/0.1.0/linux-x64/2026-06-27T100000.000Z.p.observation.json": KindObservation,
		"evidence/codex/x.source-evidence.json":                                        KindSourceEvidence,
		"evidence/codex/0.1.0/linux-x64/2026-06-27T100000.000Z.p.evidence.json":        KindEvidence,
		"errors/codex/p.error.json":                                                    KindErrorCase,
		"shapes/aliases.json":                                                          KindAliases,
		"shapes/plain/sha256-0.shape.json":                                             KindShape,
		"probes/p/scenario.json":                                                       KindScenario,
		"probes/p/env-policy.json":                                                     KindProbe,
		"probes/p/fixture-files/scenario.json":                                         "",
		"probes/p/prompt.md":                                                           "",
		"goldens/reference/plain/sha256-0.events.json":                                 "",
		"fixtures/plain/sha256-0.sanitized.jsonl":                                      "",
	} {
		got, ok := KindOf(place)
		if got != want || ok != (want != "") {
			t.Errorf("KindOf(%q) = %q, %v", place, got, ok)
		}
	}
}
