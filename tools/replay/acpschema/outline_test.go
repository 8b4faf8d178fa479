package acpschema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/schemas"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// What is remembered of a message by its outline is what the schema says of each
// message with that outline: the schema names texts and looks into none, but for
// whether there is one.
func TestTheSchemaLooksIntoNoText(t *testing.T) {
	t.Parallel()
	var doc any
	if err := json.Unmarshal(schemas.ACP, &doc); err != nil {
		t.Fatal(err)
	}
	looks := []string{"pattern", "maxLength", "patternProperties", "propertyNames", "uniqueItems", "contains", "contentEncoding", "contentMediaType"}
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
			var m map[string]any
			if json.Unmarshal(tr.Records[j].Line(), &m) != nil {
				continue
			}
			for p, s := range o.parts {
				if p.method != m["method"] && p.form != formResponse {
					continue
				}
				for _, part := range []string{"params", "result"} {
					if got, want := o.flaws(s, m[part], "/x"), o.judge(s, m[part], "/x"); !slices.Equal(got, want) {
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
