package acpschema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/schemas"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// What is remembered of a message by its outline is what the schema says of each
// message with that outline: the schema names texts and looks into none, but for
// whether there is one, and compares numbers with those it names.
func TestTheSchemaLooksIntoNoTextAndNoNumber(t *testing.T) {
	t.Parallel()
	var doc any
	if err := json.Unmarshal(schemas.ACP, &doc); err != nil {
		t.Fatal(err)
	}
	looks := []string{"pattern", "maxLength", "patternProperties", "propertyNames", "uniqueItems", "contains", "contentEncoding", "contentMediaType", "multipleOf"}
	var walk func(v any, names bool)
	walk = func(v any, names bool) {
		switch x := v.(type) {
		case map[string]any:
			for name, below := range x {
				if least, is := below.(float64); !names && (slices.Contains(looks, name) || name == "minLength" && is && least > 1) {
					t.Errorf("the schema has the keyword %s: outline leaves out what it looks at", name)
				}
				walk(below, !names && (name == "properties" || name == "$defs"))
			}
		case []any:
			for _, below := range x {
				walk(below, false)
			}
		}
	}
	walk(doc, false)
}

func TestOutlinesRememberWhatTheSchemaSays(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../fixtures/acp-json-rpc/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no fixtures: %v", err)
	}
	o, err := compile(schemas.ACP)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for i := 0; i < len(files); i += 25 {
		b, err := os.Open(files[i])
		if err != nil {
			t.Fatal(err)
		}
		tr, err := transcript.ReadSanitized(b)
		b.Close()
		if err != nil {
			t.Fatal(err)
		}
		for j := range tr.Records {
			line := o.decode(tr.Records[j].Line()) // mostly as an earlier one was
			m, isObject := line.value.(map[string]any)
			var again any
			if isJSON := json.Unmarshal(tr.Records[j].Line(), &again) == nil; isJSON != line.isJSON || !reflect.DeepEqual(again, line.value) {
				t.Fatalf("%s: record %d is remembered as something else", files[i], j)
			}
			if !isObject {
				continue
			}
			for p, s := range o.parts {
				if p.method != m["method"] && p.form != formResponse {
					continue
				}
				for _, part := range []string{"params", "result"} {
					if got, want := o.flaws(s, m[part], line.outline(o, part, m[part]), "/x"), o.judge(s, m[part], "/x"); !slices.Equal(got, want) {
						t.Fatalf("%s: record %d held against %v: %v, want %v", files[i], j, p, got, want)
					}
					held++
				}
			}
		}
	}
	if distinct := int(o.judgements.Load()); distinct == 0 || distinct*2 > held {
		t.Errorf("%d values have %d outlines: remembering them is of no use", held, distinct)
	}
}

// Numbers have one outline where no rule tells them apart: each id and each count
// would be an outline of its own.
func TestOutlinesOfNumbers(t *testing.T) {
	t.Parallel()
	o := load()
	if !slices.Contains(o.numbers, 0) || !slices.Contains(o.numbers, 65535) || !slices.Contains(o.numbers, -32000) {
		t.Fatalf("the numbers of the schema are %v", o.numbers)
	}
	outline := func(x float64) string { return string(o.outline(nil, map[string]any{"n": x})) }
	for _, alike := range [][2]float64{{7, 4711}, {1.5, 2.25}, {65536, 1e300}, {-1, -2}} {
		if outline(alike[0]) != outline(alike[1]) {
			t.Errorf("%v and %v have the outlines %s and %s", alike[0], alike[1], outline(alike[0]), outline(alike[1]))
		}
	}
	for _, differ := range [][2]float64{{0, 1}, {0, -1}, {7, 7.5}, {65535, 65536}, {65535, 7}, {-32000, -32001}, {-32700, -32600}} {
		if outline(differ[0]) == outline(differ[1]) {
			t.Errorf("%v and %v have one outline: %s", differ[0], differ[1], outline(differ[0]))
		}
	}
}
