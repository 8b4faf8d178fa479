package contract

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/nexu-io/open-design-agent-contracts/schemas"
)

// plan is a schema and the Go type that it describes, made ready for reading a
// record and checking it in one pass over its text (docs/decisions/0030). What
// a schema has that plans do not is opaque: there v5 decides.
type plan struct {
	opaque     bool
	never      bool // the schema false
	types      typeSet
	enum       []string // nil for any
	enumNull   bool
	number     *int64 // const
	match      []func(string) bool
	shortest   int
	least      *int64
	items      *plan
	fewest     int
	members    []planMember
	byName     map[string]int
	required   uint64 // bits by place in members
	closed     bool   // no other members
	others     *plan
	names      *plan
	not        *plan
	conditions []planCondition
	words      bool // there is an enum of texts and nothing else
	objects    bool // it is any object
	anything   bool // it is anything

	into    reflect.Kind // Invalid: the value is only checked
	of      reflect.Type
	through bool // the type reads itself: json.Unmarshaler
	elem    *plan
}

type planMember struct {
	name  string
	plan  *plan
	field int // of the struct
	at    int // in a branch of a condition: place in the members of its object, or -1
}

// planCondition is an if with its then and else, about members.
type planCondition struct{ when, then, otherwise *plan }

// typeSet is a set of JSON types.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBool
	typeInteger
	typeString
	typeArray
	typeObject
	typeAny typeSet = 1<<6 - 1
)

var typeNames = map[string]typeSet{"null": typeNull, "boolean": typeBool, "integer": typeInteger, "number": typeInteger, "string": typeString, "array": typeArray, "object": typeObject}

var plans sync.Map // RecordKind → func() *plan

// planOf returns the plan of a kind; nil where it has none. Only the kinds of
// which a registry has as many as captures have one, and shapes, which are long.
func planOf(kind RecordKind) *plan {
	if kind != KindObservation && kind != KindEvidence && kind != KindErrorCase && kind != KindShape {
		return nil
	}
	found, ok := plans.Load(kind)
	if !ok {
		found, _ = plans.LoadOrStore(kind, sync.OnceValue(func() *plan { return newPlan(kind) }))
	}
	return found.(func() *plan)()
}

func newPlan(kind RecordKind) *plan {
	text, err := schemas.FS.ReadFile(kind.schemaFile())
	record := newRecord(kind)
	if err != nil || record == nil {
		return nil
	}
	b := &planner{made: map[string]*plan{}}
	if json.Unmarshal(text, &b.doc) != nil {
		return nil
	}
	if p := b.plan(b.doc, reflect.TypeOf(record).Elem()); !p.opaque {
		return p
	}
	return nil
}

type planner struct {
	doc  any
	made map[string]*plan // of $defs, by name and type
}

// annotations say nothing about what fits.
var annotations = []string{"$schema", "$id", "$defs", "title", "description", "default", "x-rule"}

// plan makes the plan of a schema and a type; nil for a value that is only
// checked.
func (b *planner) plan(schema any, of reflect.Type) *plan {
	switch s := schema.(type) {
	case bool:
		p := &plan{types: typeAny, never: !s}
		p.target(b, nil, of)
		return p
	case map[string]any:
		if ref, is := s["$ref"].(string); is {
			return b.ref(s, ref, of)
		}
		p := &plan{types: typeAny}
		for _, name := range slices.Sorted(mapKeys(s)) {
			if !slices.Contains(annotations, name) && !p.keyword(b, name, s[name]) {
				p.opaque = true
			}
		}
		if readsItself(of) {
			p.object(b, s, nil)
		} else {
			p.object(b, s, of)
		}
		p.target(b, s, of)
		p.branches()
		p.saysLittle(s)
		return p
	}
	return &plan{opaque: true}
}

// saysLittle notes what needs no reading.
func (p *plan) saysLittle(s map[string]any) {
	said := 0
	for name := range s {
		if !slices.Contains(annotations, name) {
			said++
		}
	}
	p.words = said == 1 && p.enum != nil && !p.enumNull && !p.opaque
	p.objects = said == 1 && s["type"] == "object"
}

// branches finds the members that the branches of conditions are about.
func (p *plan) branches() {
	for _, c := range p.conditions {
		for _, branch := range []*plan{c.when, c.then, c.otherwise} {
			for i := 0; branch != nil && i < len(branch.members); i++ {
				m := &branch.members[i]
				at, known := p.byName[m.name]
				if m.at = at; !known {
					m.at = -1
				}
			}
		}
	}
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// ref follows a reference inside the document. Beside it are only annotations.
func (b *planner) ref(s map[string]any, ref string, of reflect.Type) *plan {
	for name := range s {
		if name != "$ref" && !slices.Contains(annotations, name) {
			return &plan{opaque: true}
		}
	}
	name, local := strings.CutPrefix(ref, "#/$defs/")
	def := memberOf(memberOf(b.doc, "$defs"), name)
	if !local || def == nil {
		return &plan{opaque: true}
	}
	key := fmt.Sprint(name, " ", of)
	if p := b.made[key]; p != nil {
		return p
	}
	p := &plan{}
	b.made[key] = p // a definition may refer to itself
	*p = *b.plan(def, of)
	return p
}

// keyword takes one keyword in; false for one that plans do not have. Those
// about members are object's.
func (p *plan) keyword(b *planner, name string, v any) bool {
	switch name {
	case "type":
		p.types = 0
		names := stringsOf(v)
		for _, n := range names {
			p.types |= typeNames[n]
		}
		return len(names) > 0
	case "enum":
		p.enum = []string{}
		list, _ := v.([]any)
		for _, x := range list {
			text, isText := x.(string)
			if p.enumNull = p.enumNull || x == nil; x != nil && !isText {
				return false
			}
			if isText {
				p.enum = append(p.enum, text)
			}
		}
	case "const":
		switch x := v.(type) {
		case string:
			p.enum = []string{x}
		case float64:
			n := int64(x)
			p.number = &n
			return float64(n) == x
		default:
			return false
		}
	case "pattern":
		text, _ := v.(string)
		re, err := regexp.Compile(text)
		if err != nil {
			return false
		}
		p.match = append(p.match, matcher(re))
	case "format":
		name, _ := v.(string)
		check := jsonschema.Formats[name]
		if check == nil {
			return false
		}
		p.match = append(p.match, func(s string) bool { return check(s) })
	case "minLength":
		return whole(v, &p.shortest)
	case "minimum":
		var n int
		ok := whole(v, &n)
		least := int64(n)
		p.least = &least
		return ok
	case "minItems":
		return whole(v, &p.fewest)
	case "not":
		p.not = b.plan(v, nil)
		return p.not.sure(nil)
	case "allOf":
		return p.conditional(b, v)
	case "items", "properties", "required", "additionalProperties", "propertyNames", "minProperties":
	default:
		return false
	}
	return true
}

func whole(v any, into *int) bool {
	f, is := v.(float64)
	*into = int(f)
	return is && float64(*into) == f
}

// conditional takes in a list of conditions about members.
func (p *plan) conditional(b *planner, v any) bool {
	list, _ := v.([]any)
	for _, x := range list {
		c, _ := x.(map[string]any)
		if c["if"] == nil {
			return false
		}
		var made planCondition
		for name, into := range map[string]**plan{"if": &made.when, "then": &made.then, "else": &made.otherwise} {
			if c[name] == nil {
				continue
			}
			below, _ := c[name].(map[string]any)
			if *into = b.plan(below, nil); !(*into).sure(nil) || !aboutMembers(below) {
				return false
			}
		}
		for name := range c {
			if !slices.Contains([]string{"if", "then", "else", "x-rule"}, name) {
				return false
			}
		}
		p.conditions = append(p.conditions, made)
	}
	return true
}

func aboutMembers(s map[string]any) bool {
	for name := range s {
		if name != "required" && name != "properties" && !slices.Contains(annotations, name) {
			return false
		}
	}
	return true
}
