// Package leakgate decides whether files may be published: the leak scan, and
// gitleaks as a second, independent opinion, over the files and over the texts
// of their frames, decoded and joined.
package leakgate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
)

// Engine says who found something.
type Engine string

// The engines.
const (
	EngineLeak     Engine = "leak"
	EngineGitleaks Engine = "gitleaks"
)

// Finding is a place in a file that looks like a secret, without the secret.
type Finding struct {
	Engine Engine `json:"engine"`
	Rule   string `json:"rule"`
	File   string `json:"file"`
	Line   int    `json:"line"` // from 1; of the flattened text in the view "flattened"
	// Start and End are the byte range in the file; both 0 for gitleaks, which
	// tells lines only, and for what gzip holds.
	Start int    `json:"start"`
	End   int    `json:"end"`
	View  string `json:"view"`
}

// The views of gitleaks, and of what gzip holds.
const (
	viewRaw       = "raw"
	viewFlattened = "flattened"
	viewGzip      = "gzip"
)

// Gate checks files. It is for one goroutine.
type Gate struct {
	scanner *leak.Scanner
	second  *Second // nil: own scan only
}

// Open returns a gate that also asks this program, built from
// tools/redact/gitleaks; "" for the own scan only. Close ends the program.
func Open(program string) (*Gate, error) {
	g := &Gate{scanner: leak.NewScanner(nil)}
	if program == "" {
		return g, nil
	}
	var err error
	g.second, err = Start(program)
	return g, err
}

// Close ends the second opinion.
func (g *Gate) Close() error {
	if g.second == nil {
		return nil
	}
	return g.second.Close()
}

// maxSecond is the size up to which a file is also given to gitleaks, which
// reads it whole.
const maxSecond = 512 << 20

// errTooLarge says that only the own scan read a file.
var errTooLarge = errors.New("the file is larger than 512 MiB: gitleaks did not read it")

// SecondError says that the second opinion broke while it read a file. It has
// none of the next ones.
type SecondError struct {
	File string
	Err  error
}

// Error implements error.
func (e *SecondError) Error() string {
	return "checking " + e.File + " with gitleaks: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *SecondError) Unwrap() error { return e.Err }

// File checks one file, and what it holds if it is gzip. Findings are in the order of their places, the leak
// scan's first; with an error, *SecondError among them, they are those so far.
func (g *Gate) File(name string, r io.Reader) ([]Finding, error) {
	r, gz := unpacked(r)
	out, err := g.file(name, r)
	if gz != nil {
		out = gz.findings(name, out)
	}
	return out, err
}

func (g *Gate) file(name string, r io.Reader) ([]Finding, error) {
	var whole bytes.Buffer
	if g.second != nil {
		r = io.TeeReader(r, &limited{&whole, maxSecond})
	}
	list, err := g.scanner.ScanReader(r)
	var out []Finding
	for _, f := range list {
		out = append(out, Finding{EngineLeak, f.Rule, name, f.Line, f.Start, f.End, f.View})
	}
	if err != nil {
		return out, fmt.Errorf("checking %s: %w", name, err)
	}
	if g.second == nil {
		return out, nil
	}
	if whole.Len() > maxSecond {
		return out, fmt.Errorf("checking %s: %w", name, errTooLarge)
	}
	more, err := g.ask(name, whole.Bytes())
	if err != nil {
		return out, &SecondError{name, err}
	}
	return append(out, more...), nil
}

func (g *Gate) ask(name string, b []byte) ([]Finding, error) {
	raw, err := g.second.Judge(filepath.Base(name), b)
	if err != nil {
		return nil, err
	}
	flat, err := g.second.Judge(filepath.Base(name), leak.Flatten(b))
	if err != nil {
		return nil, err
	}
	var out []Finding
	rules := map[string]bool{}
	for _, f := range raw.Findings {
		rules[f.Rule] = true
		out = append(out, Finding{Engine: EngineGitleaks, Rule: f.Rule, File: name, Line: f.Line, View: viewRaw})
	}
	for _, f := range flat.Findings {
		if !rules[f.Rule] { // the same secret shows in the flattened text too
			out = append(out, Finding{Engine: EngineGitleaks, Rule: f.Rule, File: name, Line: f.Line, View: viewFlattened})
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	return slices.Compact(out), nil
}

// limited keeps one byte more than the limit at most.
type limited struct {
	*bytes.Buffer
	n int
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.n + 1 - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
