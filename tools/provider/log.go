package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"
)

// Dialect is the API that a request speaks.
type Dialect string

// The dialects.
const (
	DialectResponses Dialect = "openai-responses"
	DialectChat      Dialect = "openai-chat"
	DialectMessages  Dialect = "anthropic-messages"
	DialectGemini    Dialect = "gemini"
)

// RequestKind says what the provider took a request for.
type RequestKind string

// The request kinds.
const (
	KindModel      RequestKind = "model"      // part of the scenario
	KindSide       RequestKind = "side"       // the CLI's own question, answered harmlessly
	KindCheck      RequestKind = "check"      // connectivity check
	KindUpgrade    RequestKind = "upgrade"    // WebSocket upgrade, refused with 426
	KindUnexpected RequestKind = "unexpected" // nothing the scenario has an answer for
)

// RequestLog says what was asked. It holds no content of the request.
type RequestLog struct {
	Kind    RequestKind `json:"kind"`
	Method  string      `json:"method"`
	Path    string      `json:"path"` // without the query
	Dialect Dialect     `json:"dialect,omitempty"`
	Stream  bool        `json:"stream,omitempty"`
	Model   string      `json:"model,omitempty"`
	// Tools are the names of the tools on offer, in the request's order.
	Tools       []string `json:"tools,omitempty"`
	ToolResults int      `json:"tool_results"`
	// Answers counts the model's former answers that the request carries, and
	// Images the images.
	Answers int `json:"answers,omitempty"`
	Images  int `json:"images,omitempty"`
	// Attempt counts the requests of this turn, from 1; 0 outside the scenario.
	Attempt int `json:"attempt,omitempty"`
	// Picked are the tools that the answer calls.
	Picked []string `json:"picked,omitempty"`
	// Authorized says that the request carried a credential.
	Authorized bool `json:"authorized"`
	// Status is the HTTP status of the answer.
	Status int `json:"status,omitempty"`
	// Reason and Shape are set for unexpected requests: what did not fit, and
	// the members of the body by type.
	Reason string `json:"reason,omitempty"`
	Shape  string `json:"shape,omitempty"`
}

// String is one line for an error message.
func (r RequestLog) String() string {
	return fmt.Sprintf("%s %s: %s; body %s", r.Method, r.Path, r.Reason, r.Shape)
}

// Requests returns the requests so far, in order of arrival.
func (s *Server) Requests() []RequestLog {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]RequestLog, len(s.log))
	for i, e := range s.log {
		out[i] = *e
		out[i].Tools, out[i].Picked = slices.Clone(e.Tools), slices.Clone(e.Picked)
	}
	return out
}

// Unexpected returns the requests that the scenario has no answer for. A
// capture with any is void: the CLI got an answer that no probe describes.
func (s *Server) Unexpected() []RequestLog {
	return slices.DeleteFunc(s.Requests(), func(r RequestLog) bool { return r.Kind != KindUnexpected })
}

// record adds an entry; change it later only through update.
func (s *Server) record(r *http.Request) *RequestLog {
	e := &RequestLog{Method: printable(r.Method, 16), Path: printable(r.URL.Path, 120), Authorized: authorized(r.Header)}
	s.mu.Lock()
	s.log = append(s.log, e)
	s.mu.Unlock()
	return e
}

func (s *Server) update(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func authorized(h http.Header) bool {
	return h.Get("Authorization") != "" || h.Get("X-Api-Key") != "" || h.Get("X-Goog-Api-Key") != ""
}

// shapeOf describes a body without its values: `{input:[3] model:string}`.
func shapeOf(body []byte) string {
	if len(body) == 0 {
		return "empty"
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return fmt.Sprintf("%d bytes, not a JSON object", len(body))
	}
	const most = 40
	var parts []string
	for k, v := range members {
		parts = append(parts, printable(k, 40)+":"+typeOf(v))
	}
	sort.Strings(parts)
	if len(parts) > most {
		parts = append(parts[:most], "…")
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func typeOf(v json.RawMessage) string {
	switch v[0] {
	case '{':
		return "object"
	case '[':
		var a []json.RawMessage
		if json.Unmarshal(v, &a) != nil {
			return "array"
		}
		return fmt.Sprintf("[%d]", len(a))
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// printable keeps a foreign word short and on one line.
func printable(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
