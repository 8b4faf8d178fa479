// Package redact turns a raw transcript into one that may be published. It
// denies by default: what the rules of a dialect and the public vocabulary do
// not name is replaced, token by token and in place, by a placeholder that
// depends on the value alone (DESIGN D5). The same package has the leak scan
// that runs over everything that leaves the private store, and the comparison
// that proves that readers see no difference.
//
// No error, report or finding of this package holds a byte of the transcript;
// the words in a Report are masked.
package redact

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Version is redaction.tool_version of an observation. It changes when the
// same raw transcript gives other sanitized bytes.
const Version = "1.4.0"

// maxNesting is how deep JSON inside strings is read.
const maxNesting = 4

// Redactor redacts transcripts of every dialect. It is safe for use by several
// goroutines.
type Redactor struct {
	families *contract.Families
	dialects map[string]*dialect
	logs     []sessionLog
	plodding bool // take no short cuts, so that tests can say that they change nothing
}

// Input says what is known about one run.
type Input struct {
	// Dialect is the id of a dialect in registry/families.json.
	Dialect string
	// Hermetic says that the model provider was ours, so that ScenarioTexts is
	// all that the model said. Text at model paths that is not among it was
	// written by the CLI.
	Hermetic bool
	// ScenarioTexts are the texts that the provider sent as the model, each
	// whole.
	ScenarioTexts []string
	// Prompt is the probe's prompt. It is nobody's message, wherever a CLI
	// echoes it.
	Prompt string
	// Secrets are the values of the child's environment that must not survive.
	Secrets []string
	// Cwd, Home and TempDir are the child's folders.
	Cwd, Home, TempDir string
	// PromptOnStdin says that stdin is the prompt as plain text; the sanitized
	// transcript then refers to the probe's prompt.
	PromptOnStdin bool
	// Accepted are reasons of an earlier Report.Unsure that a person has looked
	// at. What was unclear is replaced all the same.
	Accepted []string `json:",omitempty"`
}

// Report is the outcome of one redaction.
type Report struct {
	Status contract.RedactionStatus
	// UnknownWords are words of texts of the CLI or provider that the
	// vocabulary does not have, masked (first letter and length), sorted.
	UnknownWords []string
	// Findings are what the leak scan found in the sanitized transcript. The
	// line of a finding is the record's number.
	Findings []leak.Finding
	// Unsure says why a person must look, without any byte of the transcript.
	Unsure []string
	// Preview are words of what was unclear, masked like UnknownWords, in the
	// order of the transcript.
	Preview []string

	words []string
}

// Words are the UnknownWords as the CLI spelled them: for the private state and
// for whoever decides whether they are public, and for nobody else.
func (r *Report) Words() []string { return r.words }

// New compiles the rules of the families.
func New(f *contract.Families, v *Vocabulary) (*Redactor, error) {
	r := &Redactor{families: f, dialects: map[string]*dialect{}}
	for i := range f.Dialects {
		d, err := compileDialect(&f.Dialects[i])
		if err != nil {
			return nil, fmt.Errorf("compiling redaction rules of dialect %q: %w", f.Dialects[i].ID, err)
		}
		if d.lex, err = newLexicon(v, d.id); err != nil {
			return nil, err
		}
		r.dialects[f.Dialects[i].ID] = d
	}
	for i := range f.SessionLogs {
		l, err := compileSessionLog(&f.SessionLogs[i])
		if err != nil {
			return nil, fmt.Errorf("compiling redaction rules of session log %q: %w", f.SessionLogs[i].ID, err)
		}
		r.logs = append(r.logs, l)
	}
	return r, nil
}

// run is the state of one redaction.
type run struct {
	d        *dialect
	lex      *lexicon
	in       Input
	names    *names
	scanner  *leak.Scanner
	scenario scenario
	known    []knownPath
	survive  map[string]bool    // whole strings that stay wherever they stand
	written  textSet            // whole strings that the CLI or provider wrote
	model    textSet            // whole strings that the model wrote
	spoken   textSet            // whole strings at model paths that may go on behind pieces
	memo     memo               // sanitized form of a string
	tokens   memo               // sanitized form of a string token, "" if it stays
	alones   memo               // form of a piece
	enums    recent[bool]       // whether a value looks like a constant
	chunks   recent[[]edit]     // what is replaced in a word of a text
	short    shortWords         // the same for short words
	plain    plainWords         // what becomes of words that touch nothing
	parts    nameParts          // of names with dots
	named    recent[nameEdits]  // the same for names and paths
	mapped   recent[string]     // sanitized form of a path
	members  map[string]*member // by name
	spelled  map[string]*member // by name as it is written
	last     *member            // the one met last
	groups   groups
	frame    int // number of the record that is being read or written
	unknowns map[string]bool
	unsure   map[string]bool
	preview  []string
	quiet    bool // do not report unknown words
	doc      rawjson.Doc
	forms    forms
	room     []byte // of the line that is being rewritten
	slab     []byte // where lines are kept
	quoted   []byte // a text as a JSON string
	edits    []edit // of a frame, again and again
	spare    spareEdits
	looked   lookups
	looks    []leak.Look // where rules looked in the text of wordEdits
	plodding bool        // take no short cuts
}

type knownPath struct{ path, class string }

// Redact returns the sanitized transcript. The error says that the input
// cannot be redacted at all; whether the result may be published is for the
// report's status to say: failed and manual_review_required may not.
func (r *Redactor) Redact(raw *transcript.Transcript, in Input) (clean *transcript.Transcript, rep Report, err error) {
	d := r.dialects[in.Dialect]
	if d == nil {
		return nil, Report{Status: contract.RedactionFailed}, fmt.Errorf("redacting: no dialect %q in families.json", in.Dialect)
	}
	s := newRun(d, in, leak.NewScanner(in.Secrets))
	s.forms.off, s.plodding = r.plodding, r.plodding
	defer func() {
		if p := recover(); p != nil {
			clean, rep, err = nil, Report{Status: contract.RedactionFailed}, s.fault(p)
		}
	}()
	for i := range raw.Records {
		s.frame = i
		if s.d = r.rules(d, &raw.Records[i]); s.d != nil {
			s.collect(&raw.Records[i])
		}
	}
	s.d = d
	s.finish()
	out := &transcript.Transcript{Records: make([]transcript.Record, 0, len(raw.Records))}
	prompt := false
	for i := range raw.Records {
		s.frame = i
		rec := raw.Records[i]
		if s.d = r.rules(d, &rec); s.d == nil {
			continue
		}
		if rec.Stream == transcript.Stdin && in.PromptOnStdin {
			if prompt {
				continue
			}
			prompt = true
			rec.Data, rec.Frame, rec.DataRef, rec.Deviations = nil, nil, "prompt", nil
		} else if rec.Dir != transcript.Process && rec.DataRef == "" {
			s.rewrite(&rec)
		}
		rec.At = time.Duration(len(out.Records)) * time.Millisecond
		out.Records = append(out.Records, rec)
	}
	return out, s.report(out), nil
}

func newRun(d *dialect, in Input, scanner *leak.Scanner) *run {
	s := &run{
		d: d, lex: d.lex, in: in, scanner: scanner, names: newNames(), scenario: newScenario(append(slices.Clip(in.ScenarioTexts), in.Prompt)),
		survive: map[string]bool{}, members: map[string]*member{}, spelled: map[string]*member{},
		unknowns: map[string]bool{}, unsure: map[string]bool{}, last: &member{}, looked: newLookups(d),
	}
	s.groups.open = map[string]*group{}
	for _, k := range []knownPath{{in.Cwd, "w"}, {in.Home, "h"}, {in.TempDir, "t"}} {
		if k.path = strings.TrimRight(k.path, `/\`); len(k.path) > 1 {
			s.known = append(s.known, k)
		}
	}
	sort.SliceStable(s.known, func(i, j int) bool { return len(s.known[i].path) > len(s.known[j].path) })
	return s
}

func (r *run) report(out *transcript.Transcript) Report {
	rep := Report{Status: contract.RedactionPassed}
	rep.Findings = r.scan(out)
	for w := range r.unknowns {
		rep.UnknownWords = append(rep.UnknownWords, mask(w))
		rep.words = append(rep.words, w)
	}
	sort.Strings(rep.words)
	sort.Strings(rep.UnknownWords)
	for u := range r.unsure {
		if !slices.Contains(r.in.Accepted, u) {
			rep.Unsure = append(rep.Unsure, u)
		}
	}
	sort.Strings(rep.Unsure)
	rep.Preview = r.preview
	switch {
	case len(rep.Findings) > 0:
		rep.Status = contract.RedactionFailed
	case len(rep.Unsure) > 0:
		rep.Status = contract.RedactionReview
	}
	return rep
}

// scan runs the leak scan over the sanitized records.
func (r *run) scan(out *transcript.Transcript) []leak.Finding {
	lines := &lineReader{records: out.Records}
	size := 0
	for i := range out.Records {
		size += len(out.Records[i].Data) + len(out.Records[i].Frame) + 1
	}
	if size > smallScan {
		found, _ := r.scanner.ScanReader(lines) // a lineReader does not fail
		return found
	}
	b := make([]byte, size)
	n, _ := io.ReadFull(lines, b) // fewer where lines lost their break
	return r.scanner.Scan(b[:n])
}

// smallScan is up to how many bytes are scanned in one piece.
const smallScan = 1 << 20

// lineReader reads records as lines, so that a finding's line is the record's
// number.
type lineReader struct {
	records []transcript.Record
	rest    []byte // of the line that is being read
	open    bool   // its line break is due
}

func (l *lineReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		switch {
		case len(l.rest) > 0:
			k := copy(p[n:], l.rest)
			l.rest = l.rest[k:]
			n += k
		case l.open:
			p[n] = '\n'
			n++
			l.open = false
		case len(l.records) == 0:
			return n, io.EOF
		default:
			rec := &l.records[0]
			l.records, l.open = l.records[1:], true
			if l.rest = rec.Frame; rec.Frame == nil {
				l.rest = bytes.TrimRight(rec.Data, "\n")
			}
		}
	}
	return n, nil
}

func (r *run) unknown(w string, key textKey) {
	if !r.quiet && !r.names.dry && len(r.unknowns) < 1000 && !r.names.byValue.has(key) {
		r.unknowns[w] = true
	}
}

// mask keeps the first letter and the length of a word.
func mask(w string) string {
	c, n := utf8.DecodeRuneInString(w)
	if c == utf8.RuneError {
		return fmt.Sprintf("? (%d)", len(w))
	}
	return fmt.Sprintf("%c%s (%d)", c, strings.Repeat("*", min(utf8.RuneCountInString(w[n:]), 12)), utf8.RuneCountInString(w))
}
