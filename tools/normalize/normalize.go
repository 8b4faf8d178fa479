// Package normalize turns a transcript into its shape: the structure of a run
// without its content (DESIGN D6; specification, "Shape Normalization"). What
// identifies a frame of a protocol, what folds and what comes by chance is data
// (registry/families.json); there is no code for one CLI here.
//
// A shape depends only on what redaction keeps, so that a raw transcript and
// its sanitized form have the same one.
package normalize

import (
	"errors"
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Version is the version of the rules in this package. A change that gives any
// transcript another shape raises it, re-normalizes every fixture and leaves an
// alias from each old signature to the new one (DESIGN D6).
const Version = "1.0.0"

// Notes is what a run tells beside its shape.
type Notes struct {
	// StderrDetail is the class before diagnostic and debug fold to none.
	StderrDetail contract.StderrClass
	// Terminal says that a frame was seen that ends a run.
	Terminal bool
	// OptionalKinds and AfterTerminal are the frames outside the identity:
	// kinds that come by chance, and what followed the last terminal frame.
	// Both in order of first appearance.
	OptionalKinds []contract.FrameShape
	AfterTerminal []contract.FrameShape
	// Frames is the number of frames read, noise included.
	Frames int
	// NotJSON counts lines on a JSON stream that are not JSON objects,
	// Duplicates the members that a later one of the same name replaced.
	NotJSON, Duplicates int
}

// Normalizer makes shapes by the rules of one dialect. It is safe for concurrent
// use.
type Normalizer struct{ rules *rules }

// New compiles the rules of a dialect. The error names the dialect and the
// rule that does not hold.
func New(d *contract.Dialect) (*Normalizer, error) {
	if d == nil {
		return nil, errors.New("normalizing: no dialect given; name one of registry/families.json")
	}
	r, err := compile(d)
	if err != nil {
		return nil, err
	}
	return &Normalizer{r}, nil
}

// Shape returns the shape of a run in a dialect, signed, and what lies outside
// the shape. level is copied into the shape and is not part of its identity.
// The error names the record that cannot be read.
func Shape(t *transcript.Transcript, d *contract.Dialect, level contract.ValidityLevel) (*contract.Shape, Notes, error) {
	n, err := New(d)
	if err != nil {
		return nil, Notes{}, err
	}
	return n.Shape(t, level)
}

// Shape is Shape with rules that were compiled before.
func (n *Normalizer) Shape(t *transcript.Transcript, level contract.ValidityLevel) (*contract.Shape, Notes, error) {
	r := newRun(n.rules)
	if err := r.read(t); err != nil {
		return nil, Notes{}, err
	}
	s, err := r.shape()
	if err != nil {
		return nil, Notes{}, fmt.Errorf("spelling a shape of dialect %q: %w", n.rules.dialect.ID, err)
	}
	notes := r.notes()
	code := t.ExitClass()
	if _, _, ended := t.Exit(); r.terminal && (ended == transcript.EventTimeout || ended == transcript.EventKill) {
		code = contract.ExitSuccess // our termination ladder ended a CLI whose turn was complete
	}
	notes.StderrDetail = StderrClass(t.Lines(transcript.CLIToServer, transcript.Stderr), n.rules.dialect.StderrChatter...)
	d := n.rules.dialect
	s.SchemaVersion = contract.SchemaVersion
	s.ProtocolFamily, s.Transport, s.ValidityLevel = d.ProtocolFamily, d.Transport, level
	s.StderrClass, s.Exit = identityClass(notes.StderrDetail), code
	s.Extensions.Dialect, s.Extensions.Normalizer = d.ID, Version
	sig, err := s.ComputeSignature()
	if err != nil {
		return nil, Notes{}, fmt.Errorf("signing a shape of dialect %q: %w", d.ID, err)
	}
	s.Signature = sig
	return s, notes, nil
}

// identityClass folds what a healthy CLI may say on stderr to none.
func identityClass(c contract.StderrClass) contract.StderrClass {
	if c == "diagnostic" || c == "debug" {
		return "none"
	}
	return c
}
