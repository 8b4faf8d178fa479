package redact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	longest                                    int             // length of the longest entry, or of a literal
}

// newLexicon collects the groups for one dialect.
func newLexicon(v *Vocabulary, dialect string) (*lexicon, error) {
	l := &lexicon{longest: maxLiteral, exact: map[string]bool{}}
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
			l.longest = max(l.longest, len(e))
		}
	}
	return l, nil
}

// word says that a run of letters (and inner apostrophes) is public. Written
// in lower case, Capitalised or in CAPITALS, a word of the list counts; with
// other capitals its parts must (TerminalQuotaError).
func (l *lexicon) word(w string) bool {
	w = strings.ReplaceAll(w, "’", "'")
	if l.names[w] || l.codes[w] || l.keys[w] {
		return true
	}
	low := strings.ToLower(w)
	if w == low || w[1:] == low[1:] || w == strings.ToUpper(w) {
		return l.words[low] || l.plainForm(low)
	}
	parts := camelParts(w)
	for _, p := range parts {
		if p = strings.ToLower(p); !l.words[p] && !l.plainForm(p) {
			return false
		}
	}
	return len(parts) > 1
}

// plainForm knows a listed word with 's.
func (l *lexicon) plainForm(w string) bool {
	return strings.HasSuffix(w, "'s") && l.words[w[:len(w)-2]]
}

// camelParts cuts TerminalQuotaError into Terminal, Quota, Error, and
// JSONError into JSON, Error.
func camelParts(w string) []string {
	var parts []string
	from := 0
	upper := func(i int) bool { return w[i] >= 'A' && w[i] <= 'Z' }
	for i := 1; i < len(w); i++ {
		if upper(i) && (!upper(i-1) || i+1 < len(w) && !upper(i+1)) {
			parts = append(parts, w[from:i])
			from = i
		}
	}
	return append(parts, w[from:])
}

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
