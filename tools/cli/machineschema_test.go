package cli

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
)

// machineRow says how the data of a command is learned.
type machineRow struct {
	runs  [][]string // arguments of runs that succeed without a network
	stdin string
	types []any // further values that the command prints as JSON
	lines bool  // it prints lines of JSON
	text  bool  // it prints text
}

// ownJSON are the types that write their JSON themselves, which their Go form
// does not tell.
var ownJSON = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage]():  {},
	reflect.TypeFor[contract.SeqItem](): {Types: []string{"integer", "array", "string"}},
	reflect.TypeFor[contract.Literal](): {Types: []string{"string", "number", "boolean", "null"}},
	reflect.TypeFor[time.Time]():        {Type: "string"},
	reflect.TypeFor[event.Event]():      {Type: "object", Properties: map[string]*jsonschema.Schema{"type": {Type: "string"}}, Required: []string{"type"}},
}

// spoken holds every type of a command's data that writes its own JSON against
// ownJSON: the schema of another would say what nobody answers.
func spoken(t *testing.T, path string, typ reflect.Type, seen map[reflect.Type]bool) {
	t.Helper()
	if seen[typ] || ownJSON[typ] != nil || typ.Kind() == reflect.Pointer && ownJSON[typ.Elem()] != nil {
		return
	}
	seen[typ] = true
	if typ.Implements(reflect.TypeFor[json.Marshaler]()) || typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		t.Errorf("%s answers with a %s, which writes its own JSON: ownJSON says how", path, typ)
		return
	}
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		spoken(t, path, typ.Elem(), seen)
	case reflect.Struct:
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				spoken(t, path, f.Type, seen)
			}
		}
	}
}

// dataSchema is the schema of a command's data.
func dataSchema(t *testing.T, path string, row machineRow, types []reflect.Type) *jsonschema.Schema {
	t.Helper()
	var values []*jsonschema.Schema
	for i, typ := range types {
		if slices.Contains(types[:i], typ) {
			continue
		}
		spoken(t, path, typ, map[reflect.Type]bool{})
		s, err := jsonschema.ForType(typ, &jsonschema.ForOptions{IgnoreInvalidTypes: true, TypeSchemas: ownJSON})
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, open(s))
	}
	if row.lines {
		values = append(values, &jsonschema.Schema{Type: "array"})
	}
	if row.text {
		values = append(values, &jsonschema.Schema{Type: "string"})
	}
	if len(values) == 0 {
		t.Fatal("no run said anything")
	}
	value := values[0]
	if len(values) > 1 {
		value = &jsonschema.Schema{AnyOf: values}
	}
	if direct(types) {
		value.Title = "Data of " + path + " --machine"
		return value
	}
	result, err := jsonschema.For[machine.Result[json.RawMessage]](&jsonschema.ForOptions{IgnoreInvalidTypes: true})
	if err != nil {
		t.Fatal(err)
	}
	result = open(result)
	result.Properties["result"].Properties["value"] = &jsonschema.Schema{AnyOf: append([]*jsonschema.Schema{{Type: "null"}}, value)}
	result.Title = "Data of " + path + " --machine"
	return result
}

// direct reports that a command says its data itself, without exit code and
// message.
func direct(types []reflect.Type) bool {
	for _, t := range types {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if strings.HasSuffix(t.PkgPath(), "/tools/jobs") || t == reflect.TypeFor[machine.Handshake]() || t == reflect.TypeFor[submitted]() {
			return true
		}
	}
	return false
}

// open lets readers meet members that they do not know (D2), and maps that are
// null.
func open(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	if s.Type == "object" && s.Properties == nil {
		s.Type, s.Types = "", []string{"null", "object"}
	}
	if s.AdditionalProperties != nil && s.Properties != nil {
		s.AdditionalProperties = nil
	}
	for _, sub := range s.Properties {
		open(sub)
	}
	for _, sub := range append(slices.Clone(s.AnyOf), s.Items, s.AdditionalProperties) {
		open(sub)
	}
	return s
}

// qualifying are words in the names of fields that change what another field
// means to a reader who drops them (D2).
var qualifying = []string{"truncated", "partial", "encoding", "encoded", "redacted", "approximate", "unit", "scale", "incomplete"}

// breaking lists what a consumer of the older schema could trip over: a field
// that is gone, may be missing, has another type, or a new one that qualifies
// what was there.
func breaking(t *testing.T, was, now []byte) []string {
	t.Helper()
	var a, b map[string]any
	if err := json.Unmarshal(was, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(now, &b); err != nil {
		t.Fatal(err)
	}
	var out []string
	compareSchemas("data", a, b, &out)
	return out
}

func compareSchemas(at string, was, now map[string]any, out *[]string) {
	if a, b := fmt.Sprint(was["type"], was["types"]), fmt.Sprint(now["type"], now["types"]); a != b {
		*out = append(*out, fmt.Sprintf("%s changed its type from %s to %s,", at, a, b))
		return
	}
	before, _ := was["properties"].(map[string]any)
	after, _ := now["properties"].(map[string]any)
	required, _ := now["required"].([]any)
	needed, _ := was["required"].([]any)
	for name, old := range before {
		next, found := after[name]
		switch {
		case !found:
			*out = append(*out, at+"."+name+" is gone,")
		case slices.Contains(needed, any(name)) && !slices.Contains(required, any(name)):
			*out = append(*out, at+"."+name+" may be missing,")
		default:
			compareSchemas(at+"."+name, members(old), members(next), out)
		}
	}
	for name := range after {
		if _, old := before[name]; !old && slices.ContainsFunc(qualifying, func(w string) bool { return strings.Contains(name, w) }) {
			*out = append(*out, at+"."+name+" qualifies what is there,")
		}
	}
	compareBelow(at, was, now, out)
	slices.Sort(*out)
}

// members are the members of a schema; the schema true, which takes anything, has
// none.
func members(schema any) map[string]any {
	m, _ := schema.(map[string]any)
	return m
}

func compareBelow(at string, was, now map[string]any, out *[]string) {
	for _, key := range []string{"items", "additionalProperties"} {
		a, isA := was[key].(map[string]any)
		b, isB := now[key].(map[string]any)
		if isA && isB {
			compareSchemas(at+"[]", a, b, out)
		} else if isA {
			*out = append(*out, at+"[] may be anything,")
		}
	}
	a, _ := was["anyOf"].([]any)
	b, _ := now["anyOf"].([]any)
	for i, x := range a {
		if i >= len(b) {
			*out = append(*out, fmt.Sprintf("%s lost an alternative,", at))
			continue
		}
		compareSchemas(fmt.Sprintf("%s|%d", at, i), members(x), members(b[i]), out)
	}
}

func TestBreaking(t *testing.T) {
	base := `{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}}}}`
	for _, c := range []struct {
		name, now string
		want      int
	}{
		{"the same", base, 0},
		{"a new optional field", `{"type":"object","required":["a"],"properties":{"n":{"type":"string"},"a":{"type":"string"},"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}}}}`, 0},
		{"a qualifying field", `{"type":"object","required":["a"],"properties":{"a_truncated":{"type":"boolean"},"a":{"type":"string"},"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}}}}`, 1},
		{"a field is gone", `{"type":"object","required":[],"properties":{"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}}}}`, 1},
		{"a field became optional", `{"type":"object","required":[],"properties":{"a":{"type":"string"},"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}}}}`, 1},
		{"retyped", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer"},"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"}}}}}}`, 1},
		{"retyped in a list", `{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"l":{"type":"array","items":{"type":"object","properties":{"x":{"type":"string"}}}}}}`, 1},
		{"gone in a list", `{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"l":{"type":"array","items":{"type":"object","properties":{}}}}}`, 1},
	} {
		if got := breaking(t, []byte(base), []byte(c.now)); len(got) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
