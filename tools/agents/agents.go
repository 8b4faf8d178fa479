// Package agents reads registry/agents.json and turns an agent's definition
// into what a capture needs: the version that a binary names, and argv,
// environment, HOME files and stdin mode of one run. It starts nothing.
//
// Rules: DESIGN D1 (profiles), D2 (an agent is data), D3 (a version is what
// the binary says).
package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Read decodes and checks an agents file. name stands for the file in errors,
// which list every broken rule.
func Read(r io.Reader, name string) (*contract.AgentsFile, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var f contract.AgentsFile
	if err := d.Decode(&f); err != nil {
		return nil, &FileError{name, fmt.Errorf("reading %s%s: %w", name, position(b, err), err)}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &FileError{name, fmt.Errorf("reading %s: there is text after the JSON value", name)}
	}
	if err := f.Validate(); err != nil {
		return nil, &FileError{name, fmt.Errorf("checking %s: %w", name, err)}
	}
	return &f, nil
}

// FileError says that an agents file is not one, or breaks a rule. Its text
// names the file, too.
type FileError struct {
	Name string
	err  error
}

// Error implements error.
func (e *FileError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.err }

// position returns ":LINE" for an error with an offset.
func position(b []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(-1)
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	} else if errors.As(err, &kind) {
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(b)) {
		return ""
	}
	return fmt.Sprintf(":%d", 1+bytes.Count(b[:offset], []byte("\n")))
}

// UnknownAgentError says that an agent id is not in the registry.
type UnknownAgentError struct {
	ID string
	// Suggestion is the id that was probably meant, or "".
	Suggestion string
	Known      []string // in the file's order
}

// Error names the suggestion, or all known ids.
func (e *UnknownAgentError) Error() string {
	if e.Suggestion != "" {
		return fmt.Sprintf("unknown agent %.80q; did you mean %q", e.ID, e.Suggestion)
	}
	return fmt.Sprintf("unknown agent %.80q; known are %s", e.ID, strings.Join(e.Known, ", "))
}

// Find returns the agent with the given id. Its error is an
// *UnknownAgentError.
func Find(f *contract.AgentsFile, id string) (*contract.Agent, error) {
	if a := f.Agent(id); a != nil {
		return a, nil
	}
	e := &UnknownAgentError{ID: id}
	best := 3 // two typing errors at most
	for i := range f.Agents {
		a := &f.Agents[i]
		e.Known = append(e.Known, a.ID)
		if d := likeness(strings.ToLower(id), a); d < best {
			best, e.Suggestion = d, a.ID
		}
	}
	return nil, e
}

// likeness returns how many typing errors turn id into one of the agent's
// names. An id that contains the agent's (claude-code), or is its package's
// name, counts as one error.
func likeness(id string, a *contract.Agent) int {
	if len(id) > 64 {
		return 64
	}
	d := contract.EditDistance(id, a.ID)
	sameProduct := a.Install != nil && (id == a.Install.NPM.Package || id == a.Install.NPM.Bin)
	if sameProduct || len(a.ID) >= 4 && strings.Contains(id, a.ID) || id == strings.ToLower(a.Name) {
		d = min(d, 1)
	}
	if d >= len(a.ID) {
		return 64 // nothing in common
	}
	return d
}
