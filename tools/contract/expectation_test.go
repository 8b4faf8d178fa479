package contract_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/nexu-io/open-design-agent-contracts/schemas"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func expectationSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	b, err := schemas.FS.ReadFile("expectation.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsonschema.CompileString(schemas.BaseURI+"expectation.schema.json", string(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestExpectationRules: what the Go check and the schema must both say.
func TestExpectationRules(t *testing.T) {
	schema := expectationSchema(t)
	doc := func(constraints string) string {
		return `{"schema_version":1,"must_see":["done"],"optional":[],"forbidden":["raw_secret"],"constraints":[` + constraints + `]}`
	}
	for _, tt := range []struct{ name, doc, want string }{
		{"run result", doc(`{"kind":"run_result","equals":"success"}`), ""},
		{"counts", doc(`{"kind":"min_count","event":"tool_use","count":1},{"kind":"max_count","event":"error","count":0}`), ""},
		{"fields", doc(`{"kind":"non_empty","event":"assistant_text","field":"delta"},{"kind":"required_fields","event":"tool_use","fields":["id","input.command"]}`), ""},
		{"items", doc(`{"kind":"min_items","event":"tool_result","field":"content","count":1},{"kind":"max_items","event":"tool_result","field":"content.files","count":0}`), ""},
		{"items of nothing", doc(`{"kind":"min_items","event":"tool_result","field":"content","count":0}`), "asks for nothing"},
		{"items without a field", doc(`{"kind":"max_items","event":"tool_result","count":1}`), "needs the members [event count field]"},
		{"fewer items than none", doc(`{"kind":"max_items","event":"tool_result","field":"content","count":-1}`), "count is negative"},
		{"pairing and one terminal", doc(`{"kind":"pairing"},{"kind":"one_terminal"}`), ""},
		{"no constraint at all", doc(``), "machine-checkable"},
		{"prose as a constraint", doc(`"the answer names the number of files"`), "reading"},
		{"unknown kind", doc(`{"kind":"is_nice"}`), `unknown kind "is_nice"`},
		{"unknown event", doc(`{"kind":"min_count","event":"text","count":1}`), `unknown event "text"`},
		{"count of nothing", doc(`{"kind":"min_count","event":"done","count":0}`), "asks for nothing"},
		{"count is missing", doc(`{"kind":"max_count","event":"done"}`), "needs the members [event count]"},
		{"a member that nothing reads", doc(`{"kind":"pairing","event":"done"}`), "needs the members []"},
		{"a member that does not exist", doc(`{"kind":"pairing","note":"x"}`), "unknown field"},
		{"no fields", doc(`{"kind":"required_fields","event":"done","fields":[]}`), "fields is empty"},
		{"unknown result", doc(`{"kind":"run_result","equals":"fine"}`), `unknown run result "fine"`},
		{"unknown name in must_see", strings.Replace(doc(`{"kind":"pairing"}`), `"done"`, `"answer"`, 1), `must_see[0]: unknown name "answer"`},
		{"a name twice", strings.Replace(doc(`{"kind":"pairing"}`), `"done"`, `"done","done"`, 1), `"done" stands twice`},
		{"unknown forbidden thing", strings.Replace(doc(`{"kind":"pairing"}`), "raw_secret", "secrets", 1), `unknown name "secrets"`},
		{"a higher version", strings.Replace(doc(`{"kind":"pairing"}`), `"schema_version":1`, `"schema_version":2`, 1), "schema_version is 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e contract.Expectation
			err := json.Unmarshal([]byte(tt.doc), &e)
			if err == nil {
				err = e.Validate()
			}
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			d := json.NewDecoder(bytes.NewReader([]byte(tt.doc)))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); (err == nil) != (tt.want == "") {
				t.Errorf("the schema says %v, want %q", err, tt.want)
			}
		})
	}
}

// TestExpectationReportsEverything: one run shows all problems.
func TestExpectationReportsEverything(t *testing.T) {
	e := contract.Expectation{SchemaVersion: 3, MustSee: []contract.EventName{"a"}, Optional: []contract.EventName{"b"}}
	err := e.Validate()
	for _, want := range []string{"schema_version", "must_see[0]", "optional[0]", "constraints is empty"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
