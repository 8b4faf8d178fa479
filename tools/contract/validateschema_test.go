package contract

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/schemas"
)

func schemaDoc(t *testing.T, kind RecordKind) map[string]any {
	t.Helper()
	b, err := schemas.FS.ReadFile(kind.schemaFile())
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// Structs and schemas have the same members, both ways and in nested objects;
// a member that the schema requires is never left out by the struct.
func TestStructsMatchSchemas(t *testing.T) {
	t.Parallel()
	for _, kind := range RecordKinds {
		record := newRecord(kind)
		if record == nil {
			continue
		}
		if _, err := schemas.FS.ReadFile(kind.schemaFile()); err != nil {
			t.Errorf("%s has a struct and no schema", kind)
			continue
		}
		doc := schemaDoc(t, kind)
		matchStruct(t, doc, doc, reflect.TypeOf(record).Elem(), string(kind), 0)
	}
}

func matchStruct(t *testing.T, doc, node map[string]any, typ reflect.Type, at string, depth int) {
	t.Helper()
	node = deref(t, doc, node)
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if depth > 8 {
		return // a recursive type
	}
	switch {
	case reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) && depth > 0 || typ == reflect.TypeFor[json.RawMessage]():
		return // has a form of its own
	case typ.Kind() == reflect.Slice:
		if items, ok := node["items"].(map[string]any); ok {
			matchStruct(t, doc, items, typ.Elem(), at+"[]", depth+1)
		}
	case typ.Kind() == reflect.Map:
		if values, ok := node["additionalProperties"].(map[string]any); ok {
			matchStruct(t, doc, values, typ.Elem(), at+"{}", depth+1)
		}
	case typ.Kind() == reflect.Struct:
		matchFields(t, doc, node, typ, at, depth)
	}
}

func matchFields(t *testing.T, doc, node map[string]any, typ reflect.Type, at string, depth int) {
	t.Helper()
	properties, ok := node["properties"].(map[string]any)
	if !ok || node["additionalProperties"] != false {
		t.Errorf("%s: the schema is no closed object", at)
		return
	}
	required := stringsOf(node["required"])
	var fields []string
	for i := range typ.NumField() {
		name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		fields = append(fields, name)
		property, ok := properties[name].(map[string]any)
		if !ok {
			continue
		}
		if slices.Contains(required, name) && options != "" {
			t.Errorf("%s.%s is required and the struct may leave it out", at, name)
		}
		matchStruct(t, doc, property, typ.Field(i).Type, at+"."+name, depth+1)
	}
	slices.Sort(fields)
	if d := cmp.Diff(slices.Sorted(maps.Keys(properties)), fields); d != "" {
		t.Errorf("%s: schema (-) and struct (+) have different members:\n%s", at, d)
	}
}

func deref(t *testing.T, doc, node map[string]any) map[string]any {
	t.Helper()
	if anyOf, ok := node["anyOf"].([]any); ok {
		node = anyOf[0].(map[string]any)
	}
	ref, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	target, ok := valueAt(doc, strings.TrimPrefix(ref, "#")).(map[string]any)
	if !ok {
		t.Fatalf("%s leads nowhere", ref)
	}
	return deref(t, doc, target)
}

// Enumerations in schemas are those of the Go constants.
func TestSchemaEnumsMatchConstants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    RecordKind
		pointer string
		want    []string
	}{
		{KindObservation, "/$defs/protocol_family/enum", words(ProtocolFamilies)},
		{KindObservation, "/$defs/platform/enum", words(Platforms)},
		{KindObservation, "/properties/command/properties/stdin_mode/enum", words(StdinModes)},
		{KindShape, "/properties/validity_level/enum", words(ValidityLevels)},
		{KindShape, "/properties/transport/enum", words(Transports)},
		{KindShape, "/properties/stderr_class/enum", words(StderrClasses)},
		{KindShape, "/properties/exit/enum", words(ExitClasses)},
		{KindSourceEvidence, "/properties/validity_level/enum", words(SourceLevels)},
		{KindSupportMatrix, "/$defs/entry/properties/support_status/enum", words(SupportStatuses)},
		{KindSupportMatrix, "/$defs/entry/properties/policy/properties/allow_run/enum", words(AllowRuns)},
		{KindSupportMatrix, "/$defs/entry/properties/server_variants/items/properties/status/enum", ServerVariantStatuses},
		{KindErrorCase, "/$defs/failure_classification/properties/failure_category/enum", words(FailureCategories)},
		{KindErrorCase, "/$defs/failure_classification/properties/failure_detail/enum", FailureDetails},
		{KindErrorCase, "/$defs/failure_classification/properties/failure_stage/enum", words(FailureStages)},
		{KindErrorCase, "/$defs/failure_classification/properties/user_action/enum", words(UserActions)},
		{KindErrorCase, "/$defs/failure_classification/properties/cancel_origin/enum", CancelOrigins},
		{KindErrorCase, "/$defs/failure_classification/properties/terminal_trigger/enum", TerminalTriggers},
		{KindErrorCase, "/properties/classifier_input/properties/result/enum", words(RunResults)},
		{KindEvidence, "/properties/kind/enum", words(EvidenceKinds)},
		{KindEvidence, "/properties/user_correction/properties/run_result/enum", words(RunResults)},
		{KindEvidence, "/properties/user_correction/properties/failure/properties/failure_category/enum", words(FailureCategories)},
		{KindEvidence, "/properties/user_correction/properties/failure/properties/failure_detail/enum", FailureDetails},
		{KindExpectation, "/$defs/constraint/properties/kind/enum", words(ConstraintKinds)},
		{KindRequest, "/properties/kind/enum", words(RequestKinds)},
		{KindAnswer, "/properties/kind/enum", words(RequestKinds)},
		{KindAnswer, "/properties/status/enum", words(AnswerStatuses)},
	} {
		got := stringsOf(valueAt(any(schemaDoc(t, c.kind)), c.pointer))
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s%s: constants (-), schema (+):\n%s", c.kind, c.pointer, d)
		}
	}
}

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// Every schema compiles, names itself, refers to known rules only, and a
// definition that two of our schemas share is the same in both.
func TestSchemas(t *testing.T) {
	t.Parallel()
	shared := map[string]any{}
	for _, kind := range RecordKinds {
		if _, err := schemas.FS.ReadFile(kind.schemaFile()); err != nil {
			t.Errorf("%s has no schema", kind)
			continue
		}
		if _, err := schemaOf(kind); err != nil {
			t.Error(err)
		}
		doc := schemaDoc(t, kind)
		if doc["$id"] != schemas.BaseURI+kind.schemaFile() {
			t.Errorf("%s: $id is %v", kind, doc["$id"])
		}
		eachRule(doc, func(id string) {
			if _, ok := RuleOf(id); !ok {
				t.Errorf("%s: x-rule %s is not in the catalogue", kind, id)
			}
		})
		if !slices.Contains(ownKinds, kind) {
			continue
		}
		defs, _ := doc["$defs"].(map[string]any)
		for name, def := range defs {
			if d := cmp.Diff(def, shared[name]); shared[name] != nil && d != "" {
				t.Errorf("%s: $defs/%s differs from another schema's:\n%s", kind, name, d)
			}
			shared[name] = def
		}
		eachProperty(doc, "", func(pointer string, p map[string]any) {
			if p["description"] == nil && p["$ref"] == nil {
				t.Errorf("%s: %s has no description", kind, pointer)
			}
		})
	}
}

// ownKinds are the kinds of records, whose schemas share definitions.
var ownKinds = []RecordKind{KindObservation, KindSourceEvidence, KindShape, KindSupportMatrix, KindErrorCase,
	KindEvidence, KindRequest, KindAnswer, KindPolicy, KindLatestSeen, KindAliases}

func eachRule(v any, f func(id string)) {
	switch v := v.(type) {
	case map[string]any:
		if id, ok := v["x-rule"].(string); ok {
			f(id)
		}
		for _, child := range v {
			eachRule(child, f)
		}
	case []any:
		for _, child := range v {
			eachRule(child, f)
		}
	}
}

// eachProperty visits the declared members, not those of conditions.
func eachProperty(node map[string]any, at string, f func(pointer string, property map[string]any)) {
	properties, _ := node["properties"].(map[string]any)
	for name, p := range properties {
		if property, ok := p.(map[string]any); ok {
			f(at+"/"+name, property)
			eachProperty(property, at+"/"+name, f)
		}
	}
	if items, ok := node["items"].(map[string]any); ok {
		eachProperty(items, at+"/items", f)
	}
	if defs, ok := node["$defs"].(map[string]any); ok {
		for name, d := range defs {
			eachProperty(d.(map[string]any), at+"/$defs/"+name, f)
		}
	}
}
