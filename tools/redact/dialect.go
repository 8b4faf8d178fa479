package redact

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
)

// What a path means for its value.
const (
	fLiteral paths.Flags = 1 << iota
	fName
	fVocabulary
	fOutput // beside fVocabulary
	fModel
	fMeasured
	fEncoded
	fMap
	fOpaque
	fPiece
)

// dialect is the compiled form of contract.Dialect.
type dialect struct {
	id        string
	lex       *lexicon
	plain     bool // stdout is the model's text
	rpc       bool
	jsonrpc   bool
	set       paths.Set
	pieces    []*pieceRule
	synthetic []condition
	asked     [][]string // the paths that conditions ask for
	// askedLists are those of them with several values.
	askedLists [][]string
}

func compileDialect(c *contract.Dialect) (*dialect, error) {
	d := &dialect{
		id: c.ID, plain: c.Transport == contract.TransportPlain,
		rpc: c.ProtocolFamily.IsRPC(), jsonrpc: c.ProtocolFamily == contract.FamilyACP,
	}
	rr := &c.Redact
	if d.jsonrpc {
		for _, p := range []string{"jsonrpc", "$[].jsonrpc"} {
			if err := d.set.Add(p, fLiteral); err != nil {
				return nil, err
			}
		}
	}
	// Every discriminator and enum of the normalizer is a literal, or
	// normalize(raw) and normalize(sanitized) would differ (DESIGN D5).
	for _, k := range c.Kind {
		if k.Mode == "value" || k.Mode == "set" {
			if err := d.set.Add(k.Path, fLiteral); err != nil {
				return nil, err
			}
		}
	}
	for _, l := range []struct {
		list []string
		flag paths.Flags
	}{
		{c.EventType, fLiteral}, {c.Enums, fLiteral}, {rr.Literals, fLiteral}, {rr.Names, fName},
		{rr.Vocabulary, fVocabulary}, {rr.Outputs, fVocabulary | fOutput}, {rr.Model, fModel}, {rr.Measured, fMeasured}, {rr.Encoded, fEncoded},
		{c.Maps, fMap}, {c.Opaque, fOpaque},
	} {
		for _, p := range l.list {
			if err := d.set.Add(p, l.flag); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range rr.Pieces {
		if err := d.set.Add(p.Path, fPiece); err != nil {
			return nil, err
		}
		compiled, err := d.compilePiece(p)
		if err != nil {
			return nil, err
		}
		d.pieces = append(d.pieces, compiled)
	}
	var err error
	d.synthetic, err = d.compileMatches(rr.Synthetic)
	return d, err
}

// scenario knows what the provider sent as the model.
type scenario struct {
	exact map[string]bool // whole texts and their lines, trimmed
	whole []string        // whole texts
	long  []string        // whole texts long enough to be looked for inside others
}

// Lengths from which a text counts when it stands inside another one.
const (
	minInside    = 8
	minSubstring = 8
)

func newScenario(texts []string) scenario {
	s := scenario{exact: map[string]bool{}}
	for _, t := range texts {
		t = strings.TrimSpace(t)
		if t == "" {
			continue
		}
		s.exact[t] = true
		s.whole = append(s.whole, t)
		if len(t) >= minInside {
			s.long = append(s.long, t)
		}
		for _, line := range strings.Split(t, "\n") {
			if line = strings.TrimSpace(line); len(line) >= 4 {
				s.exact[line] = true
			}
		}
	}
	return s
}

// has says that the model wrote the text: a scenario text, a line of one, or a
// part that is long enough.
func (s *scenario) has(text string) bool {
	t := strings.TrimSpace(text)
	if s.exact[t] {
		return true
	}
	if len(t) < minSubstring {
		return false
	}
	for _, w := range s.whole {
		if strings.Contains(w, t) {
			return true
		}
	}
	return false
}

// maxLiteral is the length of the longest text that looks like a constant.
const maxLiteral = 64

// enumLikeAgain is enumLike, which remembers.
func (r *run) enumLikeAgain(v string) bool {
	is, ok := r.enums.get(v)
	if !ok {
		is = r.enumLike(v)
		r.enums.put(v, is)
	}
	return is
}

// enumLike says that a value looks like a constant of a protocol: short,
// without white space at the edges, and no identifier, token, path or address.
func (r *run) enumLike(v string) bool {
	if v == "" || len(v) > maxLiteral || isInert(v) {
		return false
	}
	digits := 0
	for i := range len(v) {
		c := v[i]
		if isDigit(c) {
			digits++
		}
		if !isAlnum(c) && strings.IndexByte("_-.:/ <>+", c) < 0 {
			return false
		}
	}
	if digits > 10 || v[0] == ' ' || v[0] == '/' || v[0] == '.' || v[len(v)-1] == ' ' || strings.Count(v, " ") > 3 {
		return false
	}
	if strings.Contains(v, "//") || isAddress(v) || isFile(v) || isSlug(v) || isEncodedHome(v) || looksLikeID(v) && !isVersion(v) || holdsLongID(v) {
		return false
	}
	return !r.secret(v)
}

// longID is the length from which a part of a value is no word of a constant if it
// looks like an identifier.
const longID = 16

// holdsLongID says that a part of v is an identifier or a secret: no constant is
// made of one.
func holdsLongID(v string) bool {
	if len(v) < longID {
		return false
	}
	for _, part := range strings.FieldsFunc(v, func(c rune) bool { return strings.ContainsRune(".:/ <>+", c) }) {
		if len(part) >= longID && len(part) < len(v) && looksLikeID(part) {
			return true
		}
	}
	return false
}

// secret says that the leak scan would find something in v.
func (r *run) secret(v string) bool {
	found := false
	r.scanner.Matches(v, false, func(leak.Match) { found = true })
	return found
}

// isVersion knows 2.1.332, 0.148.0-alpha.9 and 2025.11.06-8fe8a63.
func isVersion(v string) bool {
	return len(v) > 2 && (isDigit(v[0]) || v[0] == 'v') && strings.Count(v, ".") >= 1 && len(v) <= 32
}
