package redact

import (
	"hash/maphash"
	"strings"
	"unsafe"
)

// textKey stands for a text that is remembered without being kept: a transcript
// has more distinct texts than should stay in memory. Two texts of one run have
// one key by a chance of 2⁻⁹⁶.
type textKey struct {
	low  uint64
	high uint32
}

var keySeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func keyOf(s string) textKey {
	return textKey{maphash.String(keySeeds[0], s), uint32(maphash.String(keySeeds[1], s))}
}

// nameTable has the names of keys. Its keys are hashes, so they need no other
// hash, and nothing in it is looked at by the garbage collector.
type nameTable struct {
	slots []nameSlot
	used  int
}

// nameSlot is free if it has no name. Four are a line of a processor's cache: a
// name is mostly one that is not there, which costs more than all else about it.
type nameSlot struct {
	low  uint64
	high uint32
	name name
}

// at returns the slot of a key, or the free one where it belongs.
func (t *nameTable) at(key textKey) *nameSlot {
	if 4*t.used >= 3*len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := key.low & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.name == 0 || s.low == key.low && s.high == key.high {
			return s
		}
	}
}

func (t *nameTable) grow() {
	old := t.slots
	t.slots = make([]nameSlot, max(64, 2*len(old)))
	t.used = 0
	for _, s := range old {
		if s.name != 0 {
			key := textKey{s.low, s.high}
			t.put(t.at(key), key, s.name)
		}
	}
}

// put fills a free slot that at returned.
func (t *nameTable) put(s *nameSlot, key textKey, p name) {
	*s = nameSlot{key.low, key.high, p}
	t.used++
}

func (t *nameTable) has(key textKey) bool { return t.used > 0 && t.at(key).name != 0 }

// textSet is a set of texts.
type textSet struct{ table nameTable }

func (t *textSet) add(s string) {
	key := keyOf(s)
	if at := t.table.at(key); at.name == 0 {
		t.table.put(at, key, 1)
	}
}

func (t *textSet) has(s string) bool { return t.table.used > 0 && t.table.has(keyOf(s)) }

// texts keeps short texts, many in one piece of memory.
type texts struct{ room []byte }

// textsSize is how much room for short texts is made at once: little, since one
// of them keeps all of it.
const textsSize = 512

// keep returns b as a text.
func (t *texts) keep(b []byte) string {
	if len(b) > textsSize/4 {
		return string(b)
	}
	if len(t.room)+len(b) > cap(t.room) {
		t.room = make([]byte, 0, textsSize)
	}
	from := len(t.room)
	t.room = append(t.room, b...)
	return unsafe.String(unsafe.SliceData(t.room[from:]), len(b)) // nothing writes there again
}

// recent remembers what was made of texts lately, in a fixed amount of memory.
// Only what would be made of a text again in the same way may be forgotten.
type recent[T any] struct {
	slots []slot[T]
	once  []uint32 // of texts that were met, for putAgain
}

type slot[T any] struct {
	hash  uint64
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
	hash := maphash.String(keySeeds[0], key)
	s := c.at(hash)
	if s.hash != hash || s.key != key {
		return value, false
	}
	return s.value, true
}

// put remembers what was made of a text, which is not empty and is copied.
func (c *recent[T]) put(key string, value T) {
	hash := maphash.String(keySeeds[0], key)
	s := c.at(hash)
	if s.key != "" && len(c.slots) < manySlots {
		old := c.slots
		c.slots = make([]slot[T], manySlots)
		for _, o := range old {
			if o.key != "" {
				*c.at(o.hash) = o
			}
		}
		s = c.at(hash)
	}
	*s = slot[T]{hash, strings.Clone(key), value}
}

// putAgain is put from the second time on that a text is met: most of those that
// are not met soon again are never, and would only push others out.
func (c *recent[T]) putAgain(key string, value T) {
	hash := maphash.String(keySeeds[0], key)
	if c.once == nil {
		c.once = make([]uint32, manySlots)
	}
	if met := &c.once[hash%manySlots]; *met != uint32(hash>>32) {
		*met = uint32(hash >> 32)
		return
	}
	c.put(key, value)
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
		m.recent.putAgain(s, out)
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
