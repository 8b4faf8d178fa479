package leak

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"
)

// Finding is a place where something looks like a secret. It never holds the
// secret.
type Finding struct {
	// Rule is the id of a rule, KnownSecret, or Unread for something that could
	// not be read to its end, which may hold anything.
	Rule string
	// View is how the bytes had to be read, outermost first, joined by "+":
	// raw, json, base64, base32, hex, dump, dump-words, dump-letters, percent,
	// quoted-printable, ansi, utf16, gzip, invisible, full-width, entities, bytes,
	// wrapped, joined, concatenated.
	View string
	Line int // from 1
	// Start and End are the byte range of the secret in what was scanned, in
	// its encoded form.
	Start, End int
}

// String names rule, view and place, which is safe to log.
func (f Finding) String() string {
	return fmt.Sprintf("%s (%s) in line %d, bytes %d-%d", f.Rule, f.View, f.Line, f.Start, f.End)
}

// The rules beside the catalogue.
const (
	// KnownSecret is the rule of the values that the scanner was given.
	KnownSecret = "known-secret"
	// Unread is the rule of what is too long or too deep to be read.
	Unread = "unread"
)

// minSecret is the length from which a known value counts as a secret; shorter
// ones stand everywhere.
const minSecret = 6

// Scanner is the leak scan. It is safe for use by several goroutines.
type Scanner struct {
	cat      *catalogue
	words    *finder // the catalogue's keywords, and those of the secrets behind them
	secrets  []string
	escapes  bool // a secret holds what JSON escapes
	plodding bool // take no short cuts, so that tests can say that they change nothing
}

// NewScanner returns a leak scan that also looks for these secrets, the values
// of the child's environment.
func NewScanner(secrets []string) *Scanner {
	s := &Scanner{cat: theCatalogue()}
	for _, v := range secrets {
		if len(v) >= minSecret && !slices.Contains(s.secrets, v) {
			s.secrets = append(s.secrets, v)
			s.escapes = s.escapes || strings.ContainsFunc(v, func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' || c == '/' })
		}
	}
	s.words = s.cat.words
	if len(s.secrets) > 0 {
		list := s.cat.keywords()
		for _, v := range s.secrets {
			list = append(list, []string{lowerASCII(v[:min(len(v), 16)])})
		}
		s.words = newFinder(list)
	}
	return s
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lower(b[i])
	}
	return string(b)
}

// Match is a secret inside a text as it stands.
type Match struct {
	Start, End int
	Rule       string // id of the rule
	Kind       string // the placeholder's kind; "path" for a home folder
}

// kindPath is the kind of home folders, which redaction finds as paths.
const kindPath = "path"

// Matches calls f with every secret in the text as it stands. Deny is the
// form for redaction: any value behind a secret-like name and "=" counts, and no
// home folder.
func (s *Scanner) Matches(text string, deny bool, f func(m Match)) {
	s.matches(text, 0, deny, nil, func(r *rule, start, end int) {
		if r.view == nil {
			f(Match{start, end, r.id, r.kind})
		}
	})
}

var knownRule = &rule{id: KnownSecret, kind: "token"}

// matches notes in looked, unless that is nil, where something was looked at.
func (s *Scanner) matches(text string, glue int, deny bool, looked *[]Look, f func(r *rule, start, end int)) {
	s.find(text, glue, deny, looked, f)
	eachRun(text, 24, func(i, j int) {
		if looked != nil {
			*looked = append(*looked, Look{i, j, aRun})
		}
		runKeys(text, i, j, func(id string, a, b int) { f(s.cat.byID(id), a, b) })
	})
}

// find finds the secrets that a keyword gives away.
func (s *Scanner) find(text string, glue int, deny bool, looked *[]Look, f func(r *rule, start, end int)) {
	s.words.each(text, func(n, start, end int) {
		if looked != nil && s.finds(n) {
			*looked = append(*looked, Look{start, end, n})
		}
		s.keyword(text, n, start, end, glue, deny, f)
	})
}

// finds says that the n-th rule finds secrets, and not only another view.
func (s *Scanner) finds(n int) bool { return n >= len(s.cat.rules) || s.cat.rules[n].view == nil }

// keyword finds the secret of the n-th rule, or the n-th known one behind them,
// around its keyword.
func (s *Scanner) keyword(text string, n, start, end, glue int, deny bool, f func(r *rule, start, end int)) {
	if n >= len(s.cat.rules) {
		if v := s.secrets[n-len(s.cat.rules)]; strings.HasPrefix(text[start:], v) {
			f(knownRule, start, start+len(v))
		}
		return
	}
	r := s.cat.rules[n]
	if deny && r.kind == kindPath {
		return
	}
	if r.view != nil {
		if !deny {
			f(r, start, end)
		}
		return
	}
	if a, b := r.find(text, start, end, glue, deny); b > a {
		f(r, a, b)
	}
}

// Blocks: what is read at once, what of the block before is read again, and
// the length from which a line is no longer read whole.
const (
	blockSize = 1 << 20
	overlap   = 4 << 10
	maxLine   = 32 << 20
)

// Scan looks for secrets in the bytes and in everything they decode to. The
// findings are in the order of their places; one place is reported once a
// rule.
func (s *Scanner) Scan(b []byte) []Finding {
	x := newScan(s)
	for from, kept := 0, 0; ; {
		end := min(len(b), from+kept+blockSize)
		if end < len(b) {
			if n := bytes.LastIndexByte(b[from+kept:end], '\n'); n >= 0 {
				end = from + kept + n + 1
			} else if n := bytes.IndexByte(b[end:min(len(b), from+maxLine)], '\n'); n >= 0 {
				end += n + 1
			} else if end = min(len(b), from+maxLine); end < len(b) {
				x.unread(end - from)
			}
		}
		x.block(b[from:end], kept)
		if end == len(b) {
			return x.result()
		}
		kept = min(overlap, end-from)
		x.advance(end - kept - from)
		from = end - kept
	}
}

// ScanReader is Scan for a stream. Memory does not grow with its length. The
// error is the reader's; findings up to there come with it.
func (s *Scanner) ScanReader(r io.Reader) ([]Finding, error) {
	x := newScan(s)
	buf := make([]byte, 0, blockSize+blockSize/4)
	kept := 0 // bytes of buf that were scanned before
	for {
		n := len(buf)
		buf = slices.Grow(buf, blockSize)
		got, err := io.ReadFull(r, buf[n:n+blockSize])
		buf = buf[:n+got]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return x.result(), fmt.Errorf("reading what to scan: %w", err)
		}
		end := len(buf)
		if !last {
			end = bytes.LastIndexByte(buf[kept:], '\n') + 1 + kept
			if end == kept && len(buf) < maxLine {
				continue
			}
			if end == kept {
				end = len(buf)
				x.unread(len(buf))
			}
		}
		x.block(buf[:end], kept)
		if last {
			return x.result(), nil
		}
		from := max(0, end-overlap)
		x.advance(from)
		buf = append(buf[:0], buf[from:]...)
		kept = end - from
	}
}

// scan is the state of one scan.
type scan struct {
	s     *Scanner
	found []Finding
	seen  map[[3]int]bool // rule's number, start and end
	base  int             // offset of the block in what is scanned
	lines int             // line breaks before the block
	text  string          // the block
	frames
	countedTo, counted int    // line breaks of the block up to a byte
	budget             int    // bytes that the block may still be decoded to
	spans              []span // of the block, which are viewed
	room               wrapRoom
	flate              io.ReadCloser // of compressed data without a header, made when it is needed
}

func newScan(s *Scanner) *scan {
	x := &scan{s: s, seen: map[[3]int]bool{}}
	x.frames.init()
	return x
}

// block scans b, of which kept bytes were scanned before. Its text is b itself and
// not a copy: nothing of it may be kept when the block is done, since b is then
// read into again.
func (x *scan) block(b []byte, kept int) {
	text := unsafe.String(unsafe.SliceData(b), len(b))
	x.text = text
	x.countedTo, x.counted = 0, 0
	x.budget = 64*len(text) + 1<<20
	x.lineViews(text, b, kept)
}

// advance moves the block's start by n bytes.
func (x *scan) advance(n int) {
	x.lines += strings.Count(x.text[:n], "\n")
	x.base += n
	x.text, x.countedTo, x.counted = "", 0, 0
}

func (x *scan) unread(n int) {
	x.found = append(x.found, Finding{Rule: Unread, View: "raw", Line: x.lines + 1, Start: x.base, End: x.base + n})
}

// result ends the scan: the findings in the order of their places, without
// those that lie in another one of the same rule.
func (x *scan) result() []Finding {
	x.flushAll()
	slices.SortStableFunc(x.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	last := map[string]int{} // rule → end
	out := x.found[:0]
	for _, f := range x.found {
		if end, ok := last[f.Rule]; ok && f.End <= end {
			continue
		}
		last[f.Rule] = f.End
		out = append(out, f)
	}
	return out
}
