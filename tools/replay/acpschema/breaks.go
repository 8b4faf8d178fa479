package acpschema

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

// flaw is one broken rule of the schema: what and where.
type flaw struct{ kind, pointer string }

// flaws returns what is wrong with a value of an outline, each once.
func (o *official) flaws(s *jsonschema.Schema, v any, outline, at string) []flaw {
	key := judged{s, outline}
	if found, known := o.seen.Load(key); known {
		return found.([]flaw)
	}
	found := o.judge(s, v, at)
	if o.judgements.Add(1) <= maxJudgements {
		o.seen.Store(key, found)
	}
	return found
}

// outline appends what of a value the schema tells apart: everything but which
// text and which number it is where it is none that the schema names. Values with
// the same outline have the same flaws; a test sees to it that the schema looks into
// no text and calculates with no number.
func (o *official) outline(b []byte, v any) []byte {
	switch x := v.(type) {
	case map[string]any:
		b = append(b, '{')
		for _, name := range slices.Sorted(maps.Keys(x)) {
			b = o.outline(append(strconv.AppendQuote(b, name), ':'), x[name])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for _, entry := range x {
			b = append(o.outline(b, entry), ',')
		}
		return append(b, ']')
	case string:
		if x == "" || o.words[x] {
			return strconv.AppendQuote(b, x)
		}
		return append(b, '~')
	case float64:
		return o.outlineNumber(b, x)
	}
	return fmt.Append(b, v) // true, false and null
}

// outlineNumber appends where a number lies among those that the schema names, and
// whether it is a whole one.
func (o *official) outlineNumber(b []byte, x float64) []byte {
	at, named := slices.BinarySearch(o.numbers, x)
	if named {
		return strconv.AppendFloat(b, x, 'g', -1, 64)
	}
	b = strconv.AppendInt(append(b, '#'), int64(at), 10)
	if x != math.Trunc(x) {
		b = append(b, '.')
	}
	return b
}

func (o *official) judge(s *jsonschema.Schema, v any, at string) []flaw {
	var ve *jsonschema.ValidationError
	if !errors.As(s.Validate(v), &ve) {
		return nil
	}
	var out []flaw
	for _, l := range leaves(ve) {
		for _, f := range o.read(l) {
			f.pointer = at + f.pointer
			out = append(out, f)
		}
	}
	return out
}

// leaves returns the rules that are really broken. Of alternatives that all
// fail, the one that is meant counts: that whose fixed values fit, and then the
// one with fewest flaws.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		if word := keyword(e); word == "oneOf" || word == "anyOf" {
			return nil // several alternatives fit: the schema is loose there
		}
		return []*jsonschema.ValidationError{e}
	}
	if word := keyword(e); word != "oneOf" && word != "anyOf" {
		var out []*jsonschema.ValidationError
		for _, c := range e.Causes {
			out = append(out, leaves(c)...)
		}
		return out
	}
	var best, other []*jsonschema.ValidationError
	chosen := false
	for _, branch := range branches(e) {
		found := leavesOf(branch)
		switch {
		case meant(e, found):
			if !chosen || len(found) < len(best) {
				best, chosen = found, true
			}
		case other == nil || len(found) < len(other):
			other = found
		}
	}
	if chosen {
		return best
	}
	return other[:min(1, len(other))] // none is meant: the value that chooses is unknown, or of another type
}

func leavesOf(errs []*jsonschema.ValidationError) (out []*jsonschema.ValidationError) {
	for _, e := range errs {
		out = append(out, leaves(e)...)
	}
	return out
}

// branches groups the causes of a failed choice by its alternatives.
func branches(e *jsonschema.ValidationError) [][]*jsonschema.ValidationError {
	var out [][]*jsonschema.ValidationError
	index := map[string]int{}
	for _, c := range e.Causes {
		rest := strings.TrimPrefix(c.KeywordLocation, e.KeywordLocation+"/")
		n, _, _ := strings.Cut(rest, "/")
		i, ok := index[n]
		if !ok {
			i = len(out)
			index[n] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// meant says that an alternative is the one that the value chose: no fixed
// value at its top is another one, and it is of the right type.
func meant(choice *jsonschema.ValidationError, found []*jsonschema.ValidationError) bool {
	for _, l := range found {
		rest := strings.TrimPrefix(l.InstanceLocation, choice.InstanceLocation)
		switch keyword(l) {
		case "const", "enum":
			if strings.Count(rest, "/") <= 1 {
				return false
			}
		case "type":
			if rest == "" {
				return false
			}
		}
	}
	return true
}

func keyword(e *jsonschema.ValidationError) string {
	return e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:]
}

var quotedName = lazyregexp.New(`'([^']*)'`)

// read turns a broken rule into flaws.
func (o *official) read(e *jsonschema.ValidationError) []flaw {
	at := o.pointer(e.InstanceLocation)
	switch keyword(e) {
	case "required":
		var out []flaw
		for _, m := range quotedName.Get().FindAllStringSubmatch(e.Message, -1) {
			out = append(out, flaw{KindMissingMember, at + "/" + m[1]})
		}
		return out
	case "type":
		return []flaw{{KindWrongType, at}}
	case "const", "enum":
		return []flaw{{KindUnknownValue, at}}
	case "minimum", "maximum":
		return []flaw{{KindOutOfRange, at}}
	}
	return []flaw{{KindBrokenRule, at}}
}

// pointer keeps the protocol's own names; places in lists and other names are
// written as *.
func (o *official) pointer(instance string) string {
	if instance == "" {
		return ""
	}
	parts := strings.Split(instance[1:], "/")
	for i, p := range parts {
		if _, err := strconv.Atoi(p); err == nil || !o.members[p] {
			parts[i] = "*"
		}
	}
	return "/" + strings.Join(parts, "/")
}
