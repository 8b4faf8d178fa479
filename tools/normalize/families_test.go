package normalize_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

func TestFamiliesFile(t *testing.T) {
	schema, err := jsonschema.Compile(filepath.Join(root(t), "schemas", "families.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root(t), "registry", "families.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%#v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	f := families(t)
	if err := dec.Decode(f); err != nil {
		t.Errorf("the file has a member that the program does not read: %v", err)
	}
	seen := map[string]bool{}
	for i := range f.Dialects {
		d := &f.Dialects[i]
		if seen[d.ID] {
			t.Errorf("dialect %q stands there twice", d.ID)
		}
		seen[d.ID] = true
		if !d.ProtocolFamily.Valid() {
			t.Errorf("dialect %q: unknown family %q", d.ID, d.ProtocolFamily)
		}
		if _, err := normalize.New(d); err != nil {
			t.Error(err)
		}
	}
}
