package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// RequestKind says what a Request asks for.
type RequestKind string

// The kinds of Requests (spec ADR 0026, FINE-PRINT 20).
const (
	RequestPermission    RequestKind = "permission"    // an agent asks to use a tool
	RequestApproval      RequestKind = "approval"      // a maintainer's yes or no: redaction, promotion
	RequestInput         RequestKind = "input"         // a value that only a person has
	RequestAuthorization RequestKind = "authorization" // a sign-in that a person does elsewhere
)

// RequestKinds lists every kind.
var RequestKinds = []RequestKind{RequestPermission, RequestApproval, RequestInput, RequestAuthorization}

// Request is a question that a step of a run cannot go on without. It is
// plain JSON with string keys, so that a durable host can store it anywhere.
type Request struct {
	SchemaVersion int `json:"schema_version"`
	// ID is ComputeID's result: the same question of the same step has the
	// same id on every run of the step (FINE-PRINT 21).
	ID   Digest `json:"id"`
	Run  string `json:"run"`
	Step string `json:"step"`
	// Ordinal counts the questions of a step from 0.
	Ordinal int         `json:"ordinal"`
	Kind    RequestKind `json:"kind"`
	Prompt  string      `json:"prompt"`
	// DataSchema is the JSON Schema of the Answer's data; an answer is
	// recognised when its data validates.
	DataSchema json.RawMessage `json:"data_schema"`
	CreatedAt  string          `json:"created_at"` // UTC, RFC 3339 with Z
	ExpiresAt  *string         `json:"expires_at"` // null: never
	// WireID is the id under which the agent asked, if an agent did. It
	// changes from run to run and identifies nothing.
	WireID  *string `json:"wire_id"`
	Agent   string  `json:"agent,omitempty"`
	Subject *string `json:"subject"` // place of the record in question, null if none
	// Raw says that the prompt holds text that was not redacted: then the
	// Request stays in the private state folder.
	Raw        bool           `json:"raw"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// ComputeID returns the hash of run, step, ordinal, kind and prompt.
func (r *Request) ComputeID() (Digest, error) {
	return Hash(map[string]any{"run": r.Run, "step": r.Step, "ordinal": r.Ordinal, "kind": r.Kind, "prompt": r.Prompt})
}

// AnswerStatus says what became of a Request.
type AnswerStatus string

// The statuses of Answers.
const (
	AnswerAnswered AnswerStatus = "answered"
	AnswerDeclined AnswerStatus = "declined"
	AnswerExpired  AnswerStatus = "expired"
	// AnswerUnresolved fills a partial answer: others of the same step were
	// answered and this one was left out (FINE-PRINT 20).
	AnswerUnresolved AnswerStatus = "unresolved"
)

// AnswerStatuses lists every status.
var AnswerStatuses = []AnswerStatus{AnswerAnswered, AnswerDeclined, AnswerExpired, AnswerUnresolved}

// Answer is a person's reply to one Request.
type Answer struct {
	SchemaVersion int          `json:"schema_version"`
	RequestID     Digest       `json:"request_id"`
	Kind          RequestKind  `json:"kind"` // the Request's
	Status        AnswerStatus `json:"status"`
	// Data goes to the step as it is; no key is special. An object for an
	// answered Request, absent otherwise.
	Data       json.RawMessage `json:"data,omitempty"`
	Reason     string          `json:"reason,omitempty"` // why it was declined
	AnsweredAt string          `json:"answered_at"`      // UTC, RFC 3339 with Z
	AnsweredBy string          `json:"answered_by"`
	Extensions map[string]any  `json:"extensions,omitempty"`
}

// CheckAnswer says whether an Answer fits its Request: it names the Request
// and its kind, and its data validates against the Request's data_schema. file
// is only named in the problems. An answer with a problem changes nothing
// (DESIGN D11).
func CheckAnswer(r *Request, a *Answer, file string) []Problem {
	c := &checker{}
	c.checkAnswer(r, a)
	return problemsOf(file, c.findings)
}

func (c *checker) checkAnswer(r *Request, a *Answer) {
	if a.RequestID != r.ID {
		c.report("ANS-REQUEST", "/request_id", "the answer is for %s, the request is %s", a.RequestID.Short(), r.ID.Short())
		return
	}
	if a.Kind != r.Kind {
		c.report("ANS-KIND", "/kind", "the answer is of kind %s, the request of kind %s", quoted(string(a.Kind)), r.Kind)
	}
	if a.Status == AnswerAnswered {
		c.checkData(r, a.Data)
	}
}

func (c *checker) checkData(r *Request, data []byte) {
	s, err := compileDataSchema(r.DataSchema)
	if err != nil {
		_, message := schemaFault(err)
		c.report("REQ-DATA-SCHEMA", "", "the request's data_schema: %s", message)
		return
	}
	v, findings, ok := decode(KindAnswer, data)
	if ok {
		findings = append(findings, s.check(v)...)
	}
	for _, f := range findings {
		c.report("ANS-DATA", "/data"+f.pointer, "%s", f.message)
	}
}

// compileDataSchema compiles the schema of an answer's data, which must be
// complete in itself.
func compileDataSchema(text []byte) (*schema, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("it is empty")
	}
	none := func(name string) ([]byte, error) { return nil, fmt.Errorf("it refers to %s", quoted(name)) }
	s, err := compileSchema("https://open-design-agent-contracts.invalid/data-schema", text, none)
	if err != nil {
		return nil, fmt.Errorf("compiling a data_schema: %w", err)
	}
	return s, nil
}

func checkRequest(c *checker, r *Request) {
	if id, err := r.ComputeID(); err == nil && r.ID != "" && r.ID != id {
		c.report("REQ-ID", "/id", "the hash of run, step, ordinal, kind and prompt is %s", id)
	}
	if len(r.DataSchema) > 0 {
		if _, err := compileDataSchema(r.DataSchema); err != nil {
			pointer, message := schemaFault(err)
			c.report("REQ-DATA-SCHEMA", "/data_schema"+pointer, "%s", message)
		}
	}
	if r.ExpiresAt != nil && !after(*r.ExpiresAt, r.CreatedAt) {
		c.report("REQ-EXPIRY", "/expires_at", "the request expires before it is made")
	}
}

func checkAnswer(c *checker, a *Answer) {
	has := len(a.Data) > 0
	switch a.Status {
	case AnswerAnswered:
		if !has {
			c.report("ANS-DATA-MISSING", "/data", "an answered request needs data")
		}
	case AnswerDeclined, AnswerExpired, AnswerUnresolved:
		if has {
			c.report("ANS-DATA-UNEXPECTED", "/data", "a request that was %s has no data", a.Status)
		}
	}
}
