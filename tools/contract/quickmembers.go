package contract

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// maxPlanMembers is the number of bits of plan.required.
const maxPlanMembers = 64

// object takes in the keywords about members. The members come in the struct's
// order, in which records are written.
func (p *plan) object(b *planner, s map[string]any, of reflect.Type) {
	p.whatItHolds(b, s, of)
	properties, _ := s["properties"].(map[string]any)
	fields := fieldsOf(of)
	for _, name := range slices.SortedFunc(mapKeys(properties), func(x, y string) int { return fieldAt(fields, x) - fieldAt(fields, y) }) {
		m := planMember{name: name, field: fieldAt(fields, name)}
		var below reflect.Type
		switch {
		case m.field >= 0:
			below = of.Field(m.field).Type
		case isStruct(of):
			p.opaque = true // the struct would lose it
		case of != nil && of.Kind() == reflect.Map:
			below = of.Elem()
		}
		m.plan = b.plan(properties[name], below)
		p.members = append(p.members, m)
	}
	if len(p.members) > maxPlanMembers {
		p.opaque = true
		return
	}
	p.byName = map[string]int{}
	for i, m := range p.members {
		p.byName[m.name] = i
	}
	for _, name := range stringsOf(s["required"]) {
		i, known := p.byName[name]
		if !known {
			i = len(p.members)
			p.members = append(p.members, planMember{name: name, plan: &plan{types: typeAny, anything: true}, field: -1})
			p.byName[name] = i
			p.opaque = p.opaque || isStruct(of) || i >= maxPlanMembers
		}
		p.required |= 1 << i
	}
	least := 0
	if n, given := s["minProperties"]; given && (!whole(n, &least) || least > 1) {
		p.opaque = true
	} else if given && least == 1 {
		p.fewest = max(p.fewest, 1)
	}
}

// whatItHolds takes in the keywords about entries and members of any name.
func (p *plan) whatItHolds(b *planner, s map[string]any, of reflect.Type) {
	var below reflect.Type
	if of != nil && (of.Kind() == reflect.Map || of.Kind() == reflect.Slice) {
		below = of.Elem()
	}
	if items, given := s["items"]; given {
		p.items = b.plan(items, below)
	}
	if names, given := s["propertyNames"]; given {
		p.names = b.plan(names, nil)
		p.opaque = p.opaque || !p.names.sure(nil)
	}
	switch others := s["additionalProperties"].(type) {
	case nil:
	case bool:
		p.closed = !others
	default:
		p.others = b.plan(others, below)
	}
	if isStruct(of) && !p.closed {
		p.opaque = true // encoding/json takes other spellings of a name too
	}
}

func isStruct(t reflect.Type) bool { return t != nil && t.Kind() == reflect.Struct }

// fieldsOf returns the JSON names of a struct's fields, in order; nil for
// another type.
func fieldsOf(t reflect.Type) []string {
	if !isStruct(t) {
		return nil
	}
	var out []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

func fieldAt(fields []string, name string) int { return slices.Index(fields, name) }

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func readsItself(t reflect.Type) bool {
	return t != nil && reflect.PointerTo(t).Implements(unmarshaler)
}

// target says how a value goes into its type.
func (p *plan) target(b *planner, s map[string]any, of reflect.Type) {
	if of == nil {
		return
	}
	p.of, p.into = of, of.Kind()
	if readsItself(of) {
		p.through = true
		p.elem = b.plan(s, nil)
		return
	}
	switch of.Kind() {
	case reflect.Pointer:
		p.elem = b.plan(s, of.Elem())
		p.opaque = p.opaque || p.elem.opaque
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Struct:
	case reflect.Interface:
		for name := range s {
			p.opaque = p.opaque || !slices.Contains(annotations, name)
		}
	case reflect.Slice:
		if p.items == nil {
			p.opaque = true
		}
	case reflect.Map:
		p.opaque = p.opaque || of.Key().Kind() != reflect.String || p.others == nil && of.Elem().Kind() != reflect.Interface
	default:
		p.opaque = true
	}
}

// sure reports whether nothing below a plan is opaque: then a no is a no.
func (p *plan) sure(above []*plan) bool {
	if p == nil || slices.Contains(above, p) {
		return true
	}
	if p.opaque {
		return false
	}
	above = append(above, p)
	for _, m := range p.members {
		if !m.plan.sure(above) {
			return false
		}
	}
	return p.items.sure(above) && p.others.sure(above) && p.names.sure(above) && p.not.sure(above) && p.elem.sure(above)
}
