package contract

import (
	"encoding/json"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// quick says of a value whether it surely fits a compiled schema, without the
// tree of reasons that v5 builds on the way: nearly every record is valid.
// Where it does not say yes, v5 decides and finds the words.
type quick struct {
	// known tells whether this schema has only what quick understands.
	known map[*jsonschema.Schema]bool
	// patterns are the matchers of the patterns that records have most.
	patterns map[*regexp.Regexp]func(string) bool
}

func newQuick(s *jsonschema.Schema) *quick {
	q := &quick{known: map[*jsonschema.Schema]bool{}, patterns: map[*regexp.Regexp]func(string) bool{}}
	q.learn(s)
	return q
}

// understood are the keywords of fits, by v5's names, and annotations.
var understood = map[string]bool{
	"Location": true, "Draft": true, "Title": true, "Description": true, "Default": true, "Comment": true, "Examples": true, "Deprecated": true,
	"Always": true, "Ref": true, "Types": true, "Constant": true, "Enum": true, "Not": true, "AllOf": true, "AnyOf": true, "OneOf": true, "If": true, "Then": true, "Else": true,
	"Required": true, "Properties": true, "PropertyNames": true, "AdditionalProperties": true, "MinProperties": true, "MaxProperties": true,
	"MinItems": true, "MaxItems": true, "Items2020": true, "UniqueItems": true, "MinContains": true, "MaxContains": true, "ContainsEval": true,
	"MinLength": true, "MaxLength": true, "Pattern": true, "Format": true, "Minimum": true, "Maximum": true,
}

// learn notes which of the schemas below s have only keywords of fits. A new
// keyword of v5 is one that fits does not know.
func (q *quick) learn(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if _, done := q.known[s]; done {
		return
	}
	ok := true
	for v, i := reflect.ValueOf(s).Elem(), 0; i < v.NumField(); i++ {
		f := v.Type().Field(i)
		if !f.IsExported() || understood[f.Name] {
			continue
		}
		x := v.Field(i)
		empty := x.IsZero() || (x.Kind() == reflect.Map || x.Kind() == reflect.Slice) && x.Len() == 0
		ok = ok && (empty || x.Kind() == reflect.Int && x.Int() == -1)
	}
	_, hasFormat := jsonschema.Formats[s.Format]
	q.known[s] = ok && (s.Format == "" || hasFormat) && allScalar(s.Constant) && allScalar(s.Enum)
	if s.Pattern != nil {
		q.patterns[s.Pattern] = matcher(s.Pattern)
	}
	for _, below := range []*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.Items2020} {
		q.learn(below)
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, below := range list {
			q.learn(below)
		}
	}
	for _, below := range s.Properties {
		q.learn(below)
	}
	if below, is := s.AdditionalProperties.(*jsonschema.Schema); is {
		q.learn(below)
	}
}

// answer is what quick knows: a value fits, or not, or v5 must say.
type answer int

const (
	fits answer = iota
	differsFrom
	unknown
)

func (q *quick) check(s *jsonschema.Schema, v any) answer {
	if n, is := v.(json.Number); !q.known[s] || is && !plainInteger(string(n)) {
		return unknown
	}
	if s.Always != nil {
		return yes(*s.Always)
	}
	if len(s.Types) > 0 && !ofType(s.Types, v) || len(s.Constant) > 0 && !sameScalar(v, s.Constant[0]) || len(s.Enum) > 0 && !inEnum(v, s.Enum) {
		return differsFrom
	}
	if s.Format != "" && !jsonschema.Formats[s.Format](v) {
		return differsFrom
	}
	here := fits
	switch v := v.(type) {
	case string:
		here = q.text(s, v)
	case json.Number:
		here = number(s, v)
	case []any:
		here = q.list(s, v)
	case map[string]any:
		here = q.object(s, v)
	}
	if here != fits {
		return here
	}
	return q.applied(s, v)
}

// applied checks the schemas that s applies to the same value.
func (q *quick) applied(s *jsonschema.Schema, v any) answer {
	if s.Ref != nil {
		if a := q.check(s.Ref, v); a != fits {
			return a
		}
	}
	for _, below := range s.AllOf {
		if a := q.check(below, v); a != fits {
			return a
		}
	}
	if s.Not != nil || len(s.AnyOf) > 0 || len(s.OneOf) > 0 {
		if a := q.chosen(s, v); a != fits {
			return a
		}
	}
	if s.If == nil {
		return fits
	}
	branch := s.Then
	switch q.check(s.If, v) {
	case unknown:
		return unknown
	case differsFrom:
		branch = s.Else
	}
	if branch == nil {
		return fits
	}
	return q.check(branch, v)
}

func (q *quick) chosen(s *jsonschema.Schema, v any) answer {
	if s.Not != nil && q.check(s.Not, v) != differsFrom {
		return unknown
	}
	for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		n := 0
		for _, below := range list {
			switch q.check(below, v) {
			case fits:
				n++
			case unknown:
				return unknown
			}
		}
		if len(list) > 0 && n != 1 {
			return unknown
		}
	}
	return fits
}

func (q *quick) text(s *jsonschema.Schema, v string) answer {
	if s.MinLength >= 0 || s.MaxLength >= 0 {
		n := utf8.RuneCountInString(v)
		if n < s.MinLength || s.MaxLength >= 0 && n > s.MaxLength {
			return differsFrom
		}
	}
	return yes(s.Pattern == nil || q.patterns[s.Pattern](v))
}

// number is about a plain integer.
func number(s *jsonschema.Schema, v json.Number) answer {
	if s.Minimum == nil && s.Maximum == nil {
		return fits
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return unknown
	}
	r := new(big.Rat).SetInt64(n)
	return yes((s.Minimum == nil || r.Cmp(s.Minimum) >= 0) && (s.Maximum == nil || r.Cmp(s.Maximum) <= 0))
}

func (q *quick) list(s *jsonschema.Schema, v []any) answer {
	if s.MinItems >= 0 && len(v) < s.MinItems || s.MaxItems >= 0 && len(v) > s.MaxItems {
		return differsFrom
	}
	if s.UniqueItems && !distinctTexts(v) {
		return unknown
	}
	if s.Items2020 != nil {
		for _, x := range v {
			if a := q.check(s.Items2020, x); a != fits {
				return a
			}
		}
	}
	return fits
}

func distinctTexts(list []any) bool {
	seen := make(map[string]bool, len(list))
	for _, x := range list {
		text, ok := x.(string)
		if !ok || seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

func (q *quick) object(s *jsonschema.Schema, v map[string]any) answer {
	if s.MinProperties >= 0 && len(v) < s.MinProperties || s.MaxProperties >= 0 && len(v) > s.MaxProperties {
		return differsFrom
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return differsFrom
		}
	}
	for name, x := range v {
		if s.PropertyNames != nil {
			if a := q.check(s.PropertyNames, name); a != fits {
				return a
			}
		}
		if below, ok := s.Properties[name]; ok {
			if a := q.check(below, x); a != fits {
				return a
			}
			continue
		}
		switch more := s.AdditionalProperties.(type) {
		case bool:
			if !more {
				return differsFrom
			}
		case *jsonschema.Schema:
			if a := q.check(more, x); a != fits {
				return a
			}
		}
	}
	return fits
}

func yes(b bool) answer {
	if b {
		return fits
	}
	return differsFrom
}

func ofType(types []string, v any) bool {
	is := "null"
	switch v.(type) {
	case bool:
		is = "boolean"
	case string:
		is = "string"
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	case json.Number:
		is = "number"
		for _, t := range types {
			if t == "integer" { // check saw that it is one
				return true
			}
		}
	}
	for _, t := range types {
		if t == is {
			return true
		}
	}
	return false
}
