package redact

import (
	"hash/maphash"
	"strings"
)

// textKey stands for a text that is remembered without being kept: a transcript
// has more distinct texts than should stay in memory. Two texts of one run have
// one key by a chance of 2⁻¹²⁸.
type textKey [2]uint64

var keySeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func keyOf(s string) textKey {
	return textKey{maphash.String(keySeeds[0], s), maphash.String(keySeeds[1], s)}
}

// textSet is a set of texts.
type textSet map[textKey]struct{}

func (t textSet) add(s string) { t[keyOf(s)] = struct{}{} }

func (t textSet) has(s string) bool {
	if len(t) == 0 {
		return false
	}
	_, ok := t[keyOf(s)]
	return ok
}

// recent remembers what was made of texts lately, in a fixed amount of memory.
// Only what would be made of a text again in the same way may be forgotten.
type recent[T any] struct{ slots []slot[T] }

type slot[T any] struct {
	key   string
	value T
}

// Sizes of recent: few enough to cost a short run nothing, enough for the names,
// words and ids that a long one repeats.
const (
	fewSlots  = 64
	manySlots = 4096
)

func (c *recent[T]) at(hash uint64) *slot[T] {
	if c.slots == nil {
		c.slots = make([]slot[T], fewSlots)
	}
	return &c.slots[hash%uint64(len(c.slots))]
}

// get returns what was made of a text, if it is remembered.
func (c *recent[T]) get(key string) (value T, ok bool) {
	s := c.at(maphash.String(keySeeds[0], key))
	if s.key != key {
		return value, false
	}
	return s.value, true
}

// put remembers what was made of a text, which is not empty and is copied.
func (c *recent[T]) put(key string, value T) {
	s := c.at(maphash.String(keySeeds[0], key))
	if s.key != "" && len(c.slots) < manySlots {
		old := c.slots
		c.slots = make([]slot[T], manySlots)
		for _, o := range old {
			if o.key != "" {
				*c.at(maphash.String(keySeeds[0], o.key)) = o
			}
		}
		s = c.at(maphash.String(keySeeds[0], key))
	}
	*s = slot[T]{strings.Clone(key), value}
}

// nestless says that what is made of a text does not depend on how deep it
// stood when it was met first.
func nestless(s string) bool { return strings.IndexByte(s, '{') < 0 && strings.IndexByte(s, '[') < 0 }

// member is what is known of a name of members.
type member struct {
	raw, name string
	protocol  bool    // stays inside payloads too
	named     verdict // as programs name members
	always    verdict // stays wherever it stands
	public    verdict // inside payloads, by the vocabulary
	account   verdict // its number is the state of an account
	next      *member // what followed it last
}

// memo is recent for strings, and remembers for good what depends on how deep a
// text stood when it was met first.
type memo struct {
	recent recent[string]
	nested map[string]string
}

func (m *memo) get(s string) (string, bool) {
	if out, ok := m.recent.get(s); ok {
		return out, true
	}
	if len(m.nested) == 0 {
		return "", false
	}
	out, ok := m.nested[s]
	return out, ok
}

func (m *memo) put(s, out string) {
	if nestless(s) {
		m.recent.put(s, out)
		return
	}
	if m.nested == nil {
		m.nested = map[string]string{}
	}
	m.nested[s] = out
}

// verdict is a decision that was not made yet, no or yes.
type verdict uint8

const (
	no verdict = iota + 1
	yes
)

func (v *verdict) decide(f func() bool) bool {
	if *v == 0 {
		*v = no
		if f() {
			*v = yes
		}
	}
	return *v == yes
}
