package reference

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// lost counts a frame that nobody knows and keeps it visible.
func (r *run) lost(kind string, frame []byte) {
	if kind == "" {
		kind = "no type"
	}
	r.out.unknown(kind)
	r.raw(frame)
}

// announce records a call. Families repeat a call to report its progress, which
// is no second announcement.
func (r *run) announce(id, name string, input event.Value) {
	if id == "" || !r.known(id) {
		r.toolUse(id, name, input, "")
	}
}

// tokenPath is one count of the daemon's vocabulary and where a family keeps it.
type tokenPath struct {
	name string
	path []string
}

// counts replaces the run's token counts by those of u, or with add adds to
// them. It does nothing when u has none.
func (r *run) counts(u rawjson.Value, paths []tokenPath, add bool) {
	var before map[string]int64
	if add {
		before = r.out.Usage
	}
	var few [maxTokens]tokenCount
	counts := few[:0]
	seen := false
	for _, p := range paths {
		n, ok := whole(u.At(p.path...))
		seen = seen || ok
		if _, had := before[p.name]; ok || had {
			counts = append(counts, tokenCount{p.name, n + before[p.name]})
		}
	}
	if seen {
		r.count(counts)
	}
}

// pendingErrors are error frames that the run may still survive.
type pendingErrors struct {
	texts []string
	code  *verdict
}

// maxErrorTexts bounds the error texts that a run keeps.
const maxErrorTexts = 64

func (p *pendingErrors) add(code *verdict, texts ...string) {
	for _, t := range texts {
		if t != "" && len(p.texts) < maxErrorTexts {
			p.texts = append(p.texts, t)
		}
	}
	if code != nil {
		p.code = code
	}
	if len(p.texts) == 0 {
		p.texts = append(p.texts, "an error without a message")
	}
}

func (p *pendingErrors) any() bool { return len(p.texts) > 0 }

// survived turns errors that the run outlived into a warning.
func (p *pendingErrors) survived(r *run) {
	if !p.any() {
		return
	}
	r.warn(p.texts[0])
	r.out.signal(SignalRecoveredError)
	*p = pendingErrors{}
}

// fail puts the errors into the outcome and shows the first one. Together they
// are read first: the table of texts goes from the particular to the general,
// and a provider's body often says more than "Bad Request" above it.
func (p *pendingErrors) fail(r *run, o *outcome) {
	if !p.any() {
		return
	}
	o.texts = append(o.texts, strings.Join(p.texts, "\n"))
	o.texts, o.code = append(o.texts, p.texts...), p.code
	r.failed(p.texts[0])
}

// statusCode is what an HTTP status says without words, or nil.
func statusCode(v rawjson.Value) *verdict {
	n, ok := whole(v)
	if !ok {
		return nil
	}
	return httpVerdict(n)
}

// statusWords spells a status so that the table of error texts knows it.
func statusWords(status int64) string { return fmt.Sprintf(" status %d", status) }

func httpVerdict(status int64) *verdict {
	var v verdict
	switch {
	case status == 401 || status == 403:
		v = auth("auth_required")
	case status == 402:
		v = outOfCredits
	case status == 413:
		v = tooLarge("request_too_large")
	case status == 429:
		v = rateLimited
	case status == 529:
		v = upstream("provider_high_demand", "")
	case status >= 500 && status <= 599:
		v = upstream("upstream_5xx", "")
	case status >= 400 && status <= 499:
		v = clientError
	default:
		return nil
	}
	return &v
}

// sole returns the texts of a list of {type:"text",text} blocks, or a string
// itself, joined by line breaks.
func sole(v rawjson.Value) string {
	switch v.Kind() {
	case rawjson.String:
		return v.Str()
	case rawjson.Array:
		return blockTexts(v)
	case rawjson.Null, rawjson.Invalid:
		return ""
	}
	return v.Stringify()
}

// parsed returns a value that a CLI wrote as JSON inside a string, or the
// value as it is.
func parsed(v rawjson.Value) event.Value {
	if v.Kind() != rawjson.String {
		return event.OrNull(v)
	}
	in := inner.Get().(*innerDoc)
	defer inner.Put(in)
	in.text = v.AppendStr(in.text[:0])
	if bytes.HasPrefix(bytes.TrimSpace(in.text), []byte("{")) && in.doc.Parse(in.text) == nil {
		return event.Of(in.doc.Root())
	}
	return event.OrNull(v)
}

// innerDoc is what reading a JSON document inside a string needs.
type innerDoc struct {
	text []byte
	doc  rawjson.Doc
}

var inner = sync.Pool{New: func() any { return new(innerDoc) }}

// speech is the text that the model streams at the moment: pieces until
// something else happens.
type speech struct {
	seg    *segment
	from   int // index of its first item
	pieces []string
}

// piece adds a streamed piece.
func (s *speech) piece(r *run, text string) {
	if text == "" {
		return
	}
	if s.seg == nil {
		s.seg, s.from = r.newSegment(), r.items.n
	}
	if len(s.pieces) == cap(s.pieces) {
		s.pieces = slices.Grow(s.pieces, len(s.pieces)+16) // append alone would copy a long text's more often
	}
	s.pieces = append(s.pieces, text)
	r.delta(s.seg, text)
}

// end ends the text; what a silent retry said again counts once.
func (s *speech) end(r *run) {
	if s.seg != nil {
		r.dropRepeats(s)
		s.seg.settled = true
	}
	*s = speech{pieces: s.pieces[:0]}
}

// broken takes back attempts of one piece each before the text ends: a model may
// say a word twice, but behind equal pieces alone stands an error.
func (s *speech) broken(r *run) {
	if n := len(s.pieces) - 1; n > 0 && !slices.ContainsFunc(s.pieces, func(p string) bool { return p != s.pieces[0] }) {
		r.split(s, n)
		s.pieces = s.pieces[n:]
	}
}

// dropRepeats takes back the attempts that a retry without a notice repeated
// piece by piece (gemini 0.40 and later after a broken stream).
func (r *run) dropRepeats(s *speech) {
	gone := 0
	for {
		n := repeated(s.pieces[gone:])
		if n == 0 {
			break
		}
		gone += n
	}
	if gone > 0 {
		r.split(s, gone)
	}
}

// maxRepeat bounds the search: a broken attempt is short against the answer.
const maxRepeat = 2000

// repeated returns the smallest n such that the first n pieces come again right
// after them, or 0. One piece that comes twice proves nothing, nor do several
// equal ones: a model may say a word twice.
func repeated(pieces []string) int {
	various := false
	for n := 2; 2*n <= len(pieces) && n <= maxRepeat; n++ {
		various = various || pieces[n-1] != pieces[0]
		if various && pieces[n] == pieces[0] && slices.Equal(pieces[:n], pieces[n:2*n]) {
			return n
		}
	}
	return 0
}

// split moves the first n pieces of a text into one of its own and takes that
// back.
func (r *run) split(s *speech, n int) {
	old := &segment{}
	var kept strings.Builder
	for i := s.from; i < r.items.n; i++ {
		it := r.items.at(i)
		if it.seg != s.seg {
			continue
		}
		if n > 0 {
			n--
			it.seg = old
			old.text.WriteString(it.delta)
			continue
		}
		kept.WriteString(it.delta)
	}
	s.seg.text.Reset()
	s.seg.text.WriteString(kept.String())
	r.drop(old)
}
