package contract

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// quickRead reads a record of a kind into made, a pointer to a zero struct as
// newRecord makes it, and reports whether it surely is a valid one: its spelling,
// its schema. False says nothing about the record, and made is then of no use.
// lean leaves out what members of any kind hold.
func quickRead(kind RecordKind, text []byte, made any, lean bool) bool {
	p := planOf(kind)
	if p == nil || !utf8.Valid(text) {
		return false
	}
	s := takeScan()
	defer s.giveBack()
	// The text stays as it is until this returns, and what outlives this is copied.
	s.lean = lean
	s.src, s.pos, s.ok = unsafe.String(unsafe.SliceData(text), len(text)), 0, true
	s.read(p, reflect.ValueOf(made).Elem(), 0)
	s.space()
	return s.ok && s.pos == len(s.src)
}

// Unmarshal is json.Unmarshal for a record, and quicker where the record is
// valid and as this program writes it.
func Unmarshal(text []byte, record any) error {
	if kind, ok := kindOfType(record); ok && planOf(kind) != nil {
		if v := reflect.ValueOf(record).Elem(); v.IsZero() {
			if quickRead(kind, text, record, false) {
				return nil
			}
			v.SetZero() // what was read until then
		}
	}
	return json.Unmarshal(text, record)
}

// read reads the next value by a plan; v is not valid where it is only checked.
func (s *scan) read(p *plan, v reflect.Value, depth int) {
	c := s.peek()
	if !s.ok || c == 0 || p.opaque || p.never || depth > maxQuickDepth {
		s.stop()
		return
	}
	start := s.pos
	if p.into == reflect.Pointer && c != 'n' {
		v.Set(reflect.New(p.of.Elem()))
		s.read(p.elem, v.Elem(), depth+1)
		return
	}
	if p.through {
		s.read(p.elem, reflect.Value{}, depth+1)
		// Its text was read and is JSON, which json.Unmarshal would see to first.
		if s.ok && v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON([]byte(s.src[start:s.pos])) != nil {
			s.stop()
		}
		return
	}
	if p.into == reflect.Interface && s.lean {
		s.pass(depth + 1)
		return
	}
	if p.into == reflect.Interface {
		if x := s.any(depth + 1); x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return
	}
	s.typed(p, v, c, depth)
	if s.ok && p.not != nil && s.again(p.not, start, s.pos) {
		s.stop()
	}
}

// again reports whether a value that was read fits a plan. What was read has
// nothing unusual, so that no is no.
func (s *scan) again(p *plan, from, to int) bool {
	below := scan{src: s.src[from:to], ok: true, lax: true}
	below.read(p, reflect.Value{}, 0)
	return below.ok
}

func (s *scan) typed(p *plan, v reflect.Value, c byte, depth int) {
	is := typeInteger
	switch c {
	case '{':
		is = typeObject
	case '[':
		is = typeArray
	case '"':
		is = typeString
	case 't', 'f':
		is = typeBool
	case 'n':
		is = typeNull
	}
	limited := p.enum != nil || p.number != nil
	if p.types&is == 0 || limited && !(is == typeString && p.enum != nil || is == typeNull && p.enumNull || is == typeInteger && p.number != nil) {
		s.stop()
		return
	}
	switch is {
	case typeObject:
		s.object(p, v, depth)
	case typeArray:
		s.list(p, v, depth)
	case typeString:
		s.string(p, v)
	case typeInteger:
		s.number(p, v)
	case typeBool:
		s.truth(p, v, c == 't')
	case typeNull:
		s.word("null") // and the value stays the zero of its type
	}
}

// into insists that the plan's type holds what was read.
func (s *scan) into(p *plan, v reflect.Value, kind reflect.Kind) {
	if v.IsValid() && p.into != kind {
		s.stop()
	}
}

func (s *scan) truth(p *plan, v reflect.Value, is bool) {
	if is {
		s.word("true")
	} else {
		s.word("false")
	}
	if s.into(p, v, reflect.Bool); v.IsValid() && s.ok {
		v.SetBool(is)
	}
}

func (s *scan) string(p *plan, v reflect.Value) {
	text := s.text()
	if !s.ok || p.shortest > 0 && (text == "" || p.shortest > 1 && utf8.RuneCountInString(text) < p.shortest) {
		s.stop()
		return
	}
	if p.enum != nil {
		i := slices.Index(p.enum, text)
		if i < 0 {
			s.stop()
			return
		}
		text = p.enum[i]
	}
	for _, match := range p.match {
		if !match(text) {
			s.stop()
			return
		}
	}
	if v.IsValid() {
		if s.into(p, v, reflect.String); s.ok {
			if p.enum == nil {
				text = s.seen.keep(text)
			}
			v.SetString(text)
		}
	}
}

func (s *scan) number(p *plan, v reflect.Value) {
	n := s.integer()
	if p.number != nil && n != *p.number || p.least != nil && n < *p.least {
		s.stop()
	}
	if v.IsValid() && s.ok {
		if p.into != reflect.Int && p.into != reflect.Int64 {
			s.stop()
			return
		}
		v.SetInt(n)
	}
}

func (s *scan) list(p *plan, v reflect.Value, depth int) {
	s.into(p, v, reflect.Slice)
	s.pos++
	n := 0
	if v.IsValid() && s.ok {
		v.Set(reflect.MakeSlice(p.of, 0, s.entries()))
	}
	for ; s.next(n, ']'); n++ {
		switch {
		case !v.IsValid() && p.items == nil:
			s.pass(depth + 1)
		case !v.IsValid():
			s.read(p.items, reflect.Value{}, depth+1)
		default:
			if n >= v.Cap() {
				v.Grow(1)
			}
			v.SetLen(n + 1)
			s.read(p.items, v.Index(n), depth+1)
		}
	}
	if n < p.fewest {
		s.stop()
	}
}

// entries guesses how many entries a list has whose first is next.
func (s *scan) entries() int {
	switch s.peek() {
	case ']':
		return 0
	case '"':
		return 8
	}
	return 1
}

// span is where a member's value lies.
type span struct{ from, to int }

func (s *scan) object(p *plan, v reflect.Value, depth int) {
	s.pos++
	isMap := v.IsValid() && p.into == reflect.Map
	if isMap {
		v.Set(reflect.MakeMap(p.of))
	} else {
		s.into(p, v, reflect.Struct)
	}
	var have uint64
	var spans []span
	if len(p.conditions) > 0 {
		spans = make([]span, len(p.members))
	}
	var others []string
	n, expected := 0, 0
	for ; s.next(n, '}'); n++ {
		name := s.name()
		if !s.ok || p.names != nil && !s.fitsName(p.names, name) {
			s.stop()
			return
		}
		i, known := expected, expected < len(p.members) && p.members[expected].name == name
		if !known {
			i, known = p.byName[name]
		}
		if !known {
			if p.closed || !s.lax && slices.Contains(others, name) || len(others) > maxPlanMembers {
				s.stop()
				return
			}
			if others = append(others, name); s.lax {
				others = nil
			}
			s.other(p, v, name, isMap, depth)
			continue
		}
		if have&(1<<i) != 0 {
			s.stop() // it is there twice
			return
		}
		have, expected = have|1<<i, i+1
		s.space()
		from := s.pos
		s.member(p, &p.members[i], v, isMap, depth)
		if spans != nil {
			spans[i] = span{from, s.pos}
		}
	}
	if s.ok && (have&p.required != p.required || n < p.fewest) {
		s.stop()
	}
	for i := 0; s.ok && i < len(p.conditions); i++ {
		s.conditional(&p.conditions[i], have, spans)
	}
}

// fitsName checks a member's name as the text that it is.
func (s *scan) fitsName(p *plan, name string) bool {
	for _, match := range p.match {
		if !match(name) {
			return false
		}
	}
	return p.enum == nil && p.not == nil && p.shortest == 0 && p.types&typeString != 0 && !p.never
}

// member reads the value of a member that the schema names.
func (s *scan) member(p *plan, m *planMember, v reflect.Value, isMap bool, depth int) {
	switch {
	case !v.IsValid():
		s.read(m.plan, reflect.Value{}, depth+1)
	case isMap:
		s.entry(m.plan, v, m.name, depth)
	default:
		s.read(m.plan, v.Field(m.field), depth+1)
	}
}

// other reads the value of a member that the schema does not name.
func (s *scan) other(p *plan, v reflect.Value, name string, isMap bool, depth int) {
	switch {
	case isMap && p.others == nil: // of any
		x := s.any(depth + 1)
		element := reflect.New(p.of.Elem()).Elem()
		if x != nil {
			element.Set(reflect.ValueOf(x))
		}
		v.SetMapIndex(reflect.ValueOf(s.seen.keep(name)).Convert(p.of.Key()), element)
	case isMap:
		s.entry(p.others, v, name, depth)
	case v.IsValid():
		s.stop()
	case p.others == nil && s.lax:
		s.skip()
	case p.others == nil:
		s.pass(depth + 1)
	default:
		s.read(p.others, reflect.Value{}, depth+1)
	}
}

func (s *scan) entry(p *plan, v reflect.Value, name string, depth int) {
	key := reflect.ValueOf(s.seen.keep(name)).Convert(v.Type().Key())
	element := reflect.New(v.Type().Elem()).Elem()
	if s.read(p, element, depth+1); s.ok {
		v.SetMapIndex(key, element)
	}
}

// conditional applies a condition to the members of an object that was read.
// Its then is looked at first: it is mostly the cheaper one, such as that a
// member is there, and where it holds nothing else matters.
func (s *scan) conditional(c *planCondition, have uint64, spans []span) {
	then := c.then == nil || s.holds(c.then, have, spans)
	if then && c.otherwise == nil {
		return
	}
	if s.holds(c.when, have, spans) {
		s.ok = then
	} else if c.otherwise != nil && !s.holds(c.otherwise, have, spans) {
		s.stop()
	}
}

// holds reports whether the members of an object that was read fit what a branch
// of a condition says of them.
func (s *scan) holds(q *plan, have uint64, spans []span) bool {
	for i := range q.members {
		m := &q.members[i]
		there := m.at >= 0 && have&(1<<m.at) != 0
		if !there && q.required&(1<<i) != 0 || there && m.plan.never {
			return false
		}
	}
	for i := range q.members {
		m := &q.members[i]
		if m.at >= 0 && have&(1<<m.at) != 0 && !s.fits(m.plan, spans[m.at]) {
			return false
		}
	}
	return true
}

// fits is again, for plans that say little without reading.
func (s *scan) fits(p *plan, where span) bool {
	text := s.src[where.from:where.to]
	if p.words && text[0] == '"' && strings.IndexByte(text, '\\') < 0 {
		return slices.Contains(p.enum, text[1:len(text)-1])
	}
	if p.objects {
		return text[0] == '{'
	}
	return p.anything || s.again(p, where.from, where.to)
}
