// Package machine is the machine-result contract (specification 000): the one
// JSON object that a command writes to stdout under --machine, and how a reader
// checks it. It knows nothing of the commands.
//
// The exit status answers at the transport level only (D8): 0 with every
// envelope, 78 without one when this installation is damaged and nothing was
// executed, anything else without one is a fault of the transport.
package machine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The versions of the contract (D2). ContractVersion changes only with what
// could break a conforming consumer.
const (
	ContractVersion     = 1
	MinSupportedVersion = 1
)

// ExitInstallation is the exit status without an envelope: a required part of
// this program's own installation is missing, and nothing was executed (D8).
const ExitInstallation = 78

// ErrorKind is why a request was refused. The set is closed: a new kind needs a
// new ContractVersion (D3).
type ErrorKind string

// The kinds of refusal.
const (
	NotFound     ErrorKind = "not_found"
	InvalidInput ErrorKind = "invalid_input"
	Conflict     ErrorKind = "conflict"
	Unavailable  ErrorKind = "unavailable"
	Internal     ErrorKind = "internal"
)

// ErrorKinds lists every ErrorKind.
var ErrorKinds = []ErrorKind{NotFound, InvalidInput, Conflict, Unavailable, Internal}

// Error is a refusal to answer. Message is for people; Detail's members are not
// part of the contract.
type Error struct {
	Kind    ErrorKind      `json:"kind"`
	Message string         `json:"message"`
	Detail  map[string]any `json:"detail"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Errorf makes a refusal.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Envelope is the answer to one request (D3). Exactly one of Data and Error is
// not null.
type Envelope struct {
	OK              bool            `json:"ok"`
	ContractVersion int             `json:"contract_version"`
	Data            json.RawMessage `json:"data"`
	Error           *Error          `json:"error"`
}

// Success wraps the data of an answer, which must not encode to null.
func Success(data any) (*Envelope, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return nil, fmt.Errorf("encoding the data of an envelope: %w", err)
	}
	raw := bytes.TrimSpace(b.Bytes())
	if bytes.Equal(raw, []byte("null")) {
		return nil, errors.New("encoding the data of an envelope: it is null")
	}
	return &Envelope{OK: true, ContractVersion: ContractVersion, Data: raw}, nil
}

// Refusal wraps the reason why there is no answer.
func Refusal(e *Error) *Envelope {
	return &Envelope{ContractVersion: ContractVersion, Error: e}
}

// Write writes the envelope as one line.
func (e *Envelope) Write(w io.Writer) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return fmt.Errorf("encoding an envelope: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing an envelope: %w", err)
	}
	return nil
}

// VersionError says that an envelope speaks another version of the contract. Its
// data must not be decoded: the program behind the path may have been replaced
// (D2).
type VersionError struct{ Got int }

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the envelope has contract_version %d, this reader understands %d", e.Got, ContractVersion)
}

// MalformedError says that bytes are no envelope, or break one of its rules.
type MalformedError struct{ What string }

// Error implements error.
func (e *MalformedError) Error() string { return "malformed envelope: " + e.What }

// ParseEnvelope reads what a command wrote to stdout. It checks the version
// before anything else is looked at, ignores members that it does not know, and
// returns a *VersionError or a *MalformedError.
func ParseEnvelope(stdout []byte) (*Envelope, error) {
	if !json.Valid(stdout) {
		return nil, &MalformedError{"stdout is not exactly one JSON value"}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(stdout, &members); err != nil || members == nil {
		return nil, &MalformedError{"stdout is not a JSON object"}
	}
	var version *int
	if err := json.Unmarshal(members["contract_version"], &version); err != nil || version == nil {
		return nil, &MalformedError{"contract_version is not an integer"}
	}
	if *version != ContractVersion {
		return nil, &VersionError{*version}
	}
	e := &Envelope{ContractVersion: *version}
	var ok *bool
	if err := json.Unmarshal(members["ok"], &ok); err != nil || ok == nil {
		return nil, &MalformedError{"ok is not a boolean"}
	}
	e.OK = *ok
	if d, found := members["data"]; found && !bytes.Equal(d, []byte("null")) {
		e.Data = d
	}
	if err := e.parseError(members["error"]); err != nil {
		return nil, err
	}
	switch {
	case (e.Data == nil) == (e.Error == nil):
		return nil, &MalformedError{"exactly one of data and error must be set"}
	case e.OK != (e.Error == nil):
		return nil, &MalformedError{"ok contradicts what is set"}
	}
	return e, nil
}

func (e *Envelope) parseError(raw json.RawMessage) error {
	if raw == nil || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(raw, &e.Error); err != nil {
		return &MalformedError{"error is not an object of kind, message and detail"}
	}
	for _, k := range ErrorKinds {
		if e.Error.Kind == k {
			return nil
		}
	}
	return &MalformedError{"error.kind is outside the closed set"}
}
