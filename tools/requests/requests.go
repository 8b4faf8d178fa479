// Package requests owns questions to people (DESIGN D11): it keeps a Request
// before anybody is asked, refuses an Answer that does not fit, and runs the
// step that asked again with the answer in hand. It does not matter whether a
// person at the terminal answered or somebody through a file a day later: both
// are Answers in the same folder, and the step sees the same.
package requests

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Question is what a step wants to know. The constructors below make one of
// each kind; a step may then set the other members.
type Question struct {
	Kind contract.RequestKind
	// Prompt is the question, as shown to people. It identifies the question:
	// it must read the same whenever the step runs again.
	Prompt string
	// DataSchema is the JSON Schema of the Answer's data.
	DataSchema json.RawMessage
	// Expires is how long an answer is waited for; 0 is for ever.
	Expires time.Duration
	// WireID is the id under which an agent asked. It identifies nothing.
	WireID string
	// Agent is the agent of the run, Subject the place of a record in question.
	Agent, Subject string
	// Extensions go with the Request, for the step and for tools.
	Extensions map[string]any
	// Raw says that it holds text that was not redacted.
	Raw bool
	// Public keeps the Request in the registry, for everybody who has it
	// (FINE-PRINT 21); not together with Raw.
	Public bool
}

// Scope says how far a permission goes.
type Scope string

// The scopes. An agent offers options for one or both of them.
const (
	Once   Scope = "once"
	Always Scope = "always"
)

// PermissionQuestion asks whether an agent may use a tool. scopes are those
// that the agent offers, none for Once.
func PermissionQuestion(prompt string, scopes ...Scope) Question {
	if len(scopes) == 0 {
		scopes = []Scope{Once}
	}
	return Question{Kind: contract.RequestPermission, Prompt: prompt, DataSchema: objectSchema([]string{"granted"}, map[string]any{
		"granted": map[string]any{"type": "boolean", "description": "whether the agent may"},
		"scope":   map[string]any{"enum": scopes, "description": "how far that goes; absent: once if offered"},
	})}
}

// ApprovalQuestion asks a maintainer for a yes or no.
func ApprovalQuestion(prompt string) Question {
	return Question{Kind: contract.RequestApproval, Prompt: prompt, DataSchema: objectSchema([]string{"approved"}, map[string]any{
		"approved": map[string]any{"type": "boolean", "description": "yes or no"},
		"comment":  map[string]any{"type": "string", "minLength": 1, "description": "why"},
	})}
}

// InputQuestion asks for a value that only a person has. dataSchema describes
// the whole data, an object; the step gets it as it was given.
func InputQuestion(prompt string, dataSchema json.RawMessage) Question {
	return Question{Kind: contract.RequestInput, Prompt: prompt, DataSchema: dataSchema}
}

// AuthorizationQuestion asks a person to sign in elsewhere and to say so. The
// answer holds no credential.
func AuthorizationQuestion(prompt string) Question {
	return Question{Kind: contract.RequestAuthorization, Prompt: prompt, DataSchema: objectSchema([]string{"authorized"}, map[string]any{
		"authorized": map[string]any{"const": true, "description": "the sign-in is done"},
	})}
}

func objectSchema(required []string, properties map[string]any) json.RawMessage {
	b, err := json.Marshal(map[string]any{
		"type": "object", "additionalProperties": false, "required": required, "properties": properties,
	})
	if err != nil {
		panic("requests: the schemas of the kinds are constant: " + err.Error())
	}
	return b
}

// request makes the Request of a question, asked by a step of a run at a time.
func (q Question) request(run, step string, ordinal int, now time.Time) (*contract.Request, error) {
	if q.Public && q.Raw {
		return nil, fmt.Errorf("asking in step %s: a question with text that was not redacted cannot be public", step)
	}
	r := &contract.Request{
		SchemaVersion: contract.SchemaVersion, Run: run, Step: step, Ordinal: ordinal, Kind: q.Kind, Prompt: q.Prompt,
		DataSchema: q.DataSchema, CreatedAt: timestamp(now), Agent: q.Agent, Raw: q.Raw, Extensions: q.Extensions,
	}
	if q.Expires > 0 {
		at := timestamp(now.Add(q.Expires))
		r.ExpiresAt = &at
	}
	if q.WireID != "" {
		r.WireID = &q.WireID
	}
	if q.Subject != "" {
		r.Subject = &q.Subject
	}
	var err error
	if r.ID, err = r.ComputeID(); err != nil {
		return nil, fmt.Errorf("asking in step %s: %w", step, err)
	}
	b, err := contract.Encode(r)
	if err != nil {
		return nil, fmt.Errorf("asking in step %s: %w", step, err)
	}
	if p := contract.Validate(contract.KindRequest, "the question", b); contract.HasErrors(p) {
		return nil, fmt.Errorf("asking in step %s: %s", step, p[0])
	}
	return r, nil
}

// timestamp has milliseconds, like every time in the records.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Text is what an agent or a caller is told about a Request that got no data,
// word for word (FINE-PRINT 20); "" for an answered one.
func Text(status contract.AnswerStatus, prompt string) string {
	switch status {
	case contract.AnswerDeclined, contract.AnswerExpired:
		return "declined/expired: " + prompt
	case contract.AnswerUnresolved:
		return "unresolved: " + prompt
	}
	return ""
}
