package redact

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
)

// wordEdits redacts a text that the CLI or the provider wrote: public words,
// short numbers and punctuation stay, every other word gets a placeholder.
// Settled says that of the text with these edits nothing but what secretsStay
// looks at can be replaced.
func (r *run) wordEdits(s string) (edits []edit, settled bool) {
	edits = r.spare.take()
	taken, settled := r.secretRanges(s)
	for i := 0; i < len(s); {
		if len(taken) > 0 && taken[0].start <= i {
			edits = append(edits, taken[0])
			i = taken[0].end
			taken = taken[1:]
			continue
		}
		limit := len(s)
		if len(taken) > 0 {
			limit = taken[0].start
		}
		if isSpace(s[i]) {
			i++
			continue
		}
		var sure bool
		edits, i, sure = r.wordsAt(edits, s[:limit], i)
		settled = settled && sure
	}
	return edits, settled
}

// wordsAt redacts a few words, one, or what else stands at s[i], and says whether
// that cannot change any more.
func (r *run) wordsAt(edits []edit, s string, i int) (_ []edit, end int, sure bool) {
	start := i == 0 || isSpace(s[i-1])
	sure = true
	if start {
		if edits, i, sure = r.plainText(edits, s, i); i == len(s) {
			return edits, i, sure
		}
	}
	if end := inertAt(s, i); end > 0 {
		return edits, end, sure && endsWord(s, end)
	}
	if start {
		if end, es, ok := r.chunkAt(s, i); ok {
			return appendShifted(edits, es, i), end, sure && len(es) == 0
		}
	} else if end := r.quickID(s, i); end > 0 && !r.plodding {
		return append(edits, edit{start: i, end: end, text: r.names.get("id", s[i:end])}), end, false
	}
	if c := s[i]; c == '+' || c == '/' && i > 0 && isPathByte(s[i-1]) { // nothing begins with it
		return edits, i + 1, false
	}
	end, text := r.tokenAt(s, i)
	if text != "" {
		edits = append(edits, edit{start: i, end: end, text: text})
	}
	return edits, end, false
}

// tokenAt returns the end of the token at i and what replaces it, or "" if it
// stays.
func (r *run) tokenAt(s string, i int) (int, string) {
	c := s[i]
	if end := inertAt(s, i); end > 0 {
		return end, ""
	}
	if c == 0x1b {
		return max(escapeAt(s, i), i+1), ""
	}
	if c == '\\' && i+1 < len(s) && strings.IndexByte(`nrtbf"\/`, s[i+1]) >= 0 && !isUNC(s[i:]) {
		return i + 2, ""
	}
	if end := urlAt(s, i); end > 0 {
		return end, r.names.get("url", s[i:end])
	}
	if isHex(c) {
		if end := ipv6At(s, i); end > 0 {
			return end, r.names.get("ip", s[i:end])
		}
	}
	if end := timeAt(s, i); end > 0 {
		return end, leak.TimePlaceholder
	}
	if end := r.commandAt(s, i); end > 0 {
		return end, ""
	}
	if isAlnum(c) || c == '_' || c == '.' {
		if end := r.nameAt(s, i); end > 0 {
			return end, ""
		}
	}
	if end := pathAt(s, i); end > 0 {
		return end, r.mapPath(s[i:end])
	}
	switch {
	case isAlnum(c):
		return r.wordAt(s, i)
	case c < utf8.RuneSelf:
		return i + 1, ""
	}
	return r.foreignAt(s, i)
}

func isUNC(s string) bool { return strings.HasPrefix(s, `\\`) && pathAt(s, 0) > 0 }

// nameAt finds a listed name with dots or dashes in it: config.toml.
func (r *run) nameAt(s string, i int) int {
	if i > 0 && (isAlnum(s[i-1]) || s[i-1] == '/' || s[i-1] == '_') {
		return 0
	}
	j := i
	for j < len(s) && j < i+maxToken && (isAlnum(s[j]) || strings.IndexByte("_-.", s[j]) >= 0) {
		j++
	}
	for j > i && (s[j-1] == '.' || s[j-1] == '-') {
		j--
	}
	if n := s[i:j]; len(n) <= r.lex.longest && (r.lex.exact[n] || r.survive[n]) {
		return j
	}
	return 0
}

// commandAt finds a listed slash command: /login.
func (r *run) commandAt(s string, i int) int {
	if s[i] != '/' || i > 0 && (isPathByte(s[i-1]) || s[i-1] == '>') {
		return 0
	}
	j := i + 1
	for j < len(s) && (isLetter(s[j]) || s[j] == '-') {
		j++
	}
	if j < len(s) && isPathByte(s[j]) && s[j] != '.' || !r.lex.commands[s[i:j]] {
		return 0
	}
	return j
}

// maxToken bounds what is looked at as one identifier or name.
const maxToken = 256

// wordAt handles a run of letters and digits with what belongs to it.
func (r *run) wordAt(s string, i int) (int, string) {
	run := i
	for run < len(s) && run < i+maxToken && (isAlnum(s[run]) || s[run] == '_' || s[run] == '-') {
		run++
	}
	for s[run-1] == '-' || s[run-1] == '_' {
		run--
	}
	if looksLikeID(s[i:run]) {
		return run, r.placeID(s[i:run])
	}
	if end := hostAt(s, i); end > 0 && !r.publicDotted(s[i:end]) {
		return end, r.place(s[i:end])
	}
	j := i
	letters, digits := false, false
	for j < len(s) && isAlnum(s[j]) {
		letters = letters || isLetter(s[j])
		digits = digits || isDigit(s[j])
		j++
	}
	if letters && !digits {
		j = apostrophes(s, j)
	}
	w := s[i:j]
	switch {
	case j < len(s) && s[j] >= utf8.RuneSelf && isLetterRune(s, j):
		return r.foreignWord(s, i)
	case !letters:
		return r.numberAt(s, i, j)
	case digits && len(w) <= r.lex.longest && (r.lex.mixed(w) || ordinal(w)):
		return j, ""
	case !digits && r.lex.word(w), r.survive[w]:
		return j, ""
	case digits && duration(w):
		return j, leak.TimePlaceholder
	}
	key := keyOf(w)
	r.unknown(w, key)
	return j, r.names.of(key, func() string {
		if j == run { // nothing but letters and digits, and no identifier
			return "text"
		}
		return kindOf(w)
	})
}

// apostrophes extends a word over 's, 've, ’t.
func apostrophes(s string, j int) int {
	for _, q := range []string{"'", "’"} {
		if strings.HasPrefix(s[j:], q) {
			k := j + len(q)
			for k < len(s) && isLetter(s[k]) {
				k++
			}
			if k > j+len(q) && k-j-len(q) <= 2 {
				return k
			}
		}
	}
	return j
}

// foreignAt handles bytes above ASCII: listed phrases and punctuation stay,
// letters get a placeholder.
func (r *run) foreignAt(s string, i int) (int, string) {
	if end := r.lex.phraseAt(s, i); end > 0 {
		return end, ""
	}
	c, n := utf8.DecodeRuneInString(s[i:])
	if c == utf8.RuneError && n <= 1 {
		j := i
		for j < len(s) {
			if c, n := utf8.DecodeRuneInString(s[j:]); c != utf8.RuneError || n > 1 {
				break
			}
			j++
		}
		return j, r.names.get("bytes", s[i:j])
	}
	if !unicode.IsLetter(c) && !unicode.IsNumber(c) && !unicode.IsMark(c) {
		return i + n, ""
	}
	return r.foreignWord(s, i)
}

// foreignWord replaces a word that holds letters beyond ASCII, up to the next
// listed phrase.
func (r *run) foreignWord(s string, i int) (int, string) {
	j := i
	for j < len(s) && (isAlnum(s[j]) || s[j] >= utf8.RuneSelf && isLetterRune(s, j)) {
		if j > i && r.lex.phraseAt(s, j) > 0 {
			break
		}
		_, n := utf8.DecodeRuneInString(s[j:])
		j += n
	}
	r.unknown(s[i:j], keyOf(s[i:j]))
	return j, r.place(s[i:j])
}

func isLetterRune(s string, j int) bool {
	c, n := utf8.DecodeRuneInString(s[j:])
	return n > 1 && (unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c))
}

// spokenText marks a range that the model said.
const spokenText = "spoken"

// secretRanges finds what must go whatever its words are: secrets, by grammar
// or known, and texts of the scenario. None says that it is sure that there is
// nothing of that kind, but where r.looks has a place.
func (r *run) secretRanges(s string) (out []edit, none bool) {
	var found []edit
	r.looks = r.scanner.MatchesAgain(s, r.looks[:0], func(m leak.Match) {
		found = append(found, edit{start: m.Start, end: m.End, text: m.Kind})
	})
	for _, t := range r.scenario.long {
		for from := 0; ; {
			n := strings.Index(s[from:], t)
			if n < 0 {
				break
			}
			found = append(found, edit{start: from + n, end: from + n + len(t), text: spokenText})
			from += n + len(t)
		}
	}
	found = appendForeignRanges(found, s)
	if len(found) == 0 {
		return nil, len(r.scenario.long) == 0 && !mayRequest(s)
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].start < found[j].start })
	at := 0
	for _, e := range found {
		if e.start < at || leak.HasPlaceholder(s[e.start:e.end]) {
			continue
		}
		at = e.end
		if e.text == spokenText { // as where it stands alone, with its paths
			out = appendShifted(out, r.denyEdits(s[e.start:e.end], maxNesting), e.start)
			continue
		}
		e.text = r.names.get(e.text, s[e.start:e.end])
		out = append(out, e)
	}
	return out, false
}
