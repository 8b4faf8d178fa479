package cli

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// inputKind says what a FILE turned out to hold.
type inputKind int

const (
	rawStdout inputKind = iota // what the CLI printed, without its process
	rawBundle                  // a recording of the private store
	sanitized                  // a sanitized transcript
)

// input is a FILE read as a transcript.
type input struct {
	name       string
	kind       inputKind
	transcript *transcript.Transcript
	// utf16 and marked say of a CLI's stdout that a shell rewrote it: all of it,
	// or with a byte order mark before it.
	utf16, marked bool
}

func (a *app) readTranscript(name string) (*input, error) {
	b, err := a.readInput(name)
	if err != nil {
		return nil, err
	}
	return parseInput(name, b)
}

// parseInput tells the three forms apart by their first bytes.
func parseInput(name string, b []byte) (*input, error) {
	in := &input{name: name}
	var err error
	switch {
	case bytes.HasPrefix(b, []byte("agent-contracts bundle\x00")):
		in.kind = rawBundle
		var r *transcript.BundleReader
		if r, err = transcript.ReadBundle(bytes.NewReader(b)); err == nil {
			in.transcript, err = transcript.Assemble(r)
		}
	case isSanitized(b):
		in.kind = sanitized
		if in.transcript, err = transcript.ReadSanitized(bytes.NewReader(b)); err == nil {
			in.transcript = in.transcript.Relined()
		}
	default:
		in.transcript = stdoutTranscript(b)
		in.utf16 = bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff"))
		in.marked = bytes.HasPrefix(b, []byte("\xef\xbb\xbf"))
	}
	if err != nil {
		return nil, &inputError{fmt.Errorf("reading %s: %w", name, err)}
	}
	return in, nil
}

// inputError says that a FILE looks like a transcript or a recording and is
// none.
type inputError struct{ err error }

// Error implements error.
func (e *inputError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *inputError) Unwrap() error { return e.err }

// stdoutOnly reports that nothing tells of the process: its exit and stderr.
func (in *input) stdoutOnly() bool {
	return !slices.ContainsFunc(in.transcript.Records, func(r transcript.Record) bool { return r.Dir == transcript.Process })
}

// isSanitized reports whether the first line is a transcript's record.
func isSanitized(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	v, err := rawjson.Parse(line)
	if err != nil || v.Kind() != rawjson.Object {
		return false
	}
	dir := transcript.Dir(v.Get("dir").Str())
	return slices.Contains([]transcript.Dir{transcript.ServerToCLI, transcript.CLIToServer, transcript.Process, transcript.CLIToFile}, dir) && v.Get("at_ms").Kind() == rawjson.Number
}

func stdoutTranscript(b []byte) *transcript.Transcript {
	t := &transcript.Transcript{Records: make([]transcript.Record, 0, bytes.Count(b, []byte("\n"))+1)}
	for line := range bytes.Lines(b) {
		t.Records = append(t.Records, transcript.Record{
			Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: line, Deviations: transcript.ByteDeviations(line),
		})
	}
	return t
}

// dialectError says that nobody can tell how to read a file.
type dialectError struct{ err error }

// Error implements error.
func (e *dialectError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *dialectError) Unwrap() error { return e.err }

// dialect returns the dialect that the flags name or the content tells, and
// says on stderr when it was guessed.
func (a *app) dialect(families *contract.Families, in *input, f dialectFlags) (*contract.Dialect, error) {
	candidates, err := matching(families, f)
	switch {
	case err != nil:
		return nil, err
	case in.utf16: // no CLI speaks it; a verdict would be about the shell
		return nil, &Exit{Code: ExitCannotKnow, Err: &inputError{fmt.Errorf("%s is UTF-16, as Windows PowerShell writes what it redirects", in.name)}, Hint: "write it as the CLI printed it: cmd /c \"CLI ARGS > FILE\", or PowerShell 7"}
	case in.marked:
		a.talk("%s begins with a byte order mark, which spoils its first line; Windows PowerShell puts one before what it redirects", in.name)
	}
	if len(candidates.Dialects) == 1 && f != (dialectFlags{}) {
		return &candidates.Dialects[0], nil
	}
	d, err := normalize.DetectDialect(candidates, in.transcript)
	if err != nil {
		if named := candidates.Dialect(f.kind); named != nil {
			return named, nil
		}
		return nil, &Exit{Code: ExitCannotKnow, Err: &dialectError{fmt.Errorf("%s: %w", in.name, err)}, Hint: "--kind takes " + strings.Join(kinds(candidates), ", ")}
	}
	a.talk("%s: guessed dialect %s (%s)", in.name, d.ID, d.ProtocolFamily)
	return d, nil
}

// matching returns the dialects that the flags allow.
func matching(families *contract.Families, f dialectFlags) (*contract.Families, error) {
	if f.family != "" && !slices.Contains(contract.ProtocolFamilies, contract.ProtocolFamily(f.family)) {
		known := fmt.Sprint(contract.ProtocolFamilies)
		return nil, &Exit{Code: ExitUsage, Err: fmt.Errorf("unknown --family %q: want one of %s", f.family, strings.Trim(known, "[]")), Hint: ""}
	}
	out := &contract.Families{SchemaVersion: families.SchemaVersion}
	for _, d := range families.Dialects {
		if f.family != "" && string(d.ProtocolFamily) != f.family || f.kind != "" && f.kind != d.Parser && f.kind != d.ID {
			continue
		}
		out.Dialects = append(out.Dialects, d)
	}
	if len(out.Dialects) > 0 {
		return out, nil
	}
	all := kinds(families)
	if f.kind != "" && !slices.Contains(all, f.kind) {
		return nil, &Exit{Code: ExitUsage, Err: fmt.Errorf("unknown --kind %q: want one of %s", f.kind, strings.Join(all, ", ")), Hint: didYouMean(f.kind, all)}
	}
	if f.kind != "" {
		return nil, usage("--kind %s is not of --family %s", f.kind, f.family)
	}
	return nil, &dialectError{errors.New("registry/families.json has no dialect of " + f.family)}
}

// kinds lists the words for --kind: parsers and dialects, sorted.
func kinds(families *contract.Families) []string {
	var out []string
	for _, d := range families.Dialects {
		out = append(out, d.ID)
		if d.Parser != "" {
			out = append(out, d.Parser)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
