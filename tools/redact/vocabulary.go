package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Vocabulary is registry/vocabulary.json: public words that survive redaction
// where the CLI or the provider wrote a text (DESIGN D5).
type Vocabulary struct {
	SchemaVersion int               `json:"schema_version"`
	Groups        []VocabularyGroup `json:"groups"`
}

// VocabularyGroup is a list of words with the public source that they come
// from.
type VocabularyGroup struct {
	ID string `json:"id"`
	// Kind says what the entries are: words (of prose, case does not matter),
	// names (tools, models, variables, flags: exact, also at Names paths),
	// keys (member names in payloads and in JSON inside strings), phrases
	// (matched inside text without word borders, for scripts without spaces),
	// verbs (first words of a tool's title), codes (survive anywhere as a
	// whole string), commands (/login).
	Kind   string `json:"kind"`
	Source string `json:"source"` // URL or document
	// Dialects are the ids of those dialects of families.json whose CLIs use
	// the entries; empty for all. What one CLI says survives there alone.
	Dialects []string `json:"dialects,omitempty"`
	Entries  []string `json:"entries"`
}

// ParseVocabulary reads registry/vocabulary.json.
func ParseVocabulary(b []byte) (*Vocabulary, error) {
	v := &Vocabulary{}
	if err := json.Unmarshal(b, v); err != nil {
		return nil, fmt.Errorf("reading vocabulary: %w", err)
	}
	if v.SchemaVersion != 1 {
		return nil, fmt.Errorf("reading vocabulary: schema_version is %d, this program knows 1: update agent-contracts", v.SchemaVersion)
	}
	return v, nil
}

// lexicon is a Vocabulary made fast.
type lexicon struct {
	words, names, keys, verbs, codes, commands map[string]bool
	phrases                                    []string
	exact                                      map[string]bool // names and codes
	public                                     map[string]bool // names, codes and keys
	longest                                    int             // length of the longest entry, or of a literal
}

// newLexicon collects the groups for one dialect.
func newLexicon(v *Vocabulary, dialect string) (*lexicon, error) {
	l := &lexicon{longest: maxLiteral, exact: map[string]bool{}, public: map[string]bool{}}
	sets := map[string]*map[string]bool{"words": &l.words, "names": &l.names, "keys": &l.keys, "verbs": &l.verbs, "codes": &l.codes, "commands": &l.commands}
	for _, s := range sets {
		*s = map[string]bool{}
	}
	for _, g := range v.Groups {
		if len(g.Dialects) > 0 && !slices.Contains(g.Dialects, dialect) {
			continue
		}
		if g.Kind == "phrases" {
			l.phrases = append(l.phrases, g.Entries...)
			continue
		}
		set, ok := sets[g.Kind]
		if !ok {
			return nil, fmt.Errorf("vocabulary group %q: unknown kind %q", g.ID, g.Kind)
		}
		for _, e := range g.Entries {
			if g.Kind == "words" {
				e = strings.ToLower(e)
			}
			(*set)[e] = true
			if g.Kind == "names" || g.Kind == "codes" {
				l.exact[e] = true
			}
			if g.Kind == "names" || g.Kind == "codes" || g.Kind == "keys" {
				l.public[e] = true
			}
			l.longest = max(l.longest, len(e))
		}
	}
	return l, nil
}

// word says that a run of letters (and inner apostrophes) is public. Written
// in lower case, Capitalised or in CAPITALS, a word of the list counts; with
// other capitals its parts must (TerminalQuotaError).
func (l *lexicon) word(w string) bool {
	var room [64]byte
	if len(w) > len(room) {
		return l.anyWord(w)
	}
	low := room[:len(w)] // w in small letters
	capitals, small := false, false
	for i := range len(w) {
		c := w[i]
		switch {
		case c >= utf8.RuneSelf:
			return l.anyWord(w)
		case c >= 'A' && c <= 'Z':
			capitals = capitals || i > 0
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z':
			small = true
		}
		low[i] = c
	}
	if l.public[w] {
		return true
	}
	if !capitals || !small {
		return l.listed(low)
	}
	from := 0
	for i := 1; i < len(w); i++ {
		if beginsPart(w, i) {
			if !l.listed(low[from:i]) {
				return false
			}
			from = i
		}
	}
	return from > 0 && l.listed(low[from:])
}

// anyWord is word for what may be long, or have letters beyond ASCII.
func (l *lexicon) anyWord(w string) bool {
	w = strings.ReplaceAll(w, "’", "'")
	if l.public[w] {
		return true
	}
	longest := l.longest + len("'s")
	if len(w) <= longest { // a longer one may be megabytes, of which this makes copies
		low := strings.ToLower(w)
		if w == low || w[1:] == low[1:] || w == strings.ToUpper(w) {
			return l.listed([]byte(low))
		}
	}
	parts := camelParts(w)
	for _, p := range parts {
		if len(p) > longest || !l.listed([]byte(strings.ToLower(p))) {
			return false
		}
	}
	return len(parts) > 1
}

// listed says that a word in small letters is in the list, or is with 's.
func (l *lexicon) listed(w []byte) bool {
	return l.words[string(w)] || bytes.HasSuffix(w, []byte("'s")) && l.words[string(w[:len(w)-2])]
}

// camelParts cuts TerminalQuotaError into Terminal, Quota, Error, and
// JSONError into JSON, Error.
func camelParts(w string) []string {
	var parts []string
	from := 0
	for i := 1; i < len(w); i++ {
		if beginsPart(w, i) {
			parts = append(parts, w[from:i])
			from = i
		}
	}
	return append(parts, w[from:])
}

func beginsPart(w string, i int) bool {
	return isUpper(w[i]) && (!isUpper(w[i-1]) || i+1 < len(w) && !isUpper(w[i+1]))
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// key says that a member name of a payload is public: listed, or made of
// listed words.
func (l *lexicon) key(k string) bool {
	if l.keys[k] || l.names[k] || l.codes[k] {
		return true
	}
	if k == "" || len(k) > 64 {
		return false
	}
	for _, part := range strings.FieldsFunc(k, func(c rune) bool { return c == '_' || c == '-' || c == '.' || c == '$' }) {
		if !isLetter(part[0]) || !l.word(part) {
			return false
		}
	}
	return true
}

// phraseAt returns the end of the longest phrase at s[i:], or 0.
func (l *lexicon) phraseAt(s string, i int) int {
	best := 0
	for _, p := range l.phrases {
		if len(p) > best && strings.HasPrefix(s[i:], p) {
			best = len(p)
		}
	}
	if best == 0 {
		return 0
	}
	return i + best
}

// mixed says that a word of letters and digits is listed.
func (l *lexicon) mixed(w string) bool {
	var room [64]byte
	low := room[:0]
	for i := range len(w) {
		c := w[i]
		if isUpper(c) {
			c += 'a' - 'A'
		}
		low = append(low, c)
	}
	return l.words[string(low)] || l.names[w]
}
