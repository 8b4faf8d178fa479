package validate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/nexu-io/open-design-agent-contracts/schemas"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// reading is what the peers of validate do with a file.
type reading struct {
	name string
	do   func(schema *jsonschema.Schema, text []byte) error
}

// peers are what bounds validate from below, and the schemas' own validator,
// which proves less. DESIGN's bar of 5 s stands beside 6.5 s of the latter.
var peers = []reading{
	{"read", func(*jsonschema.Schema, []byte) error { return nil }},
	{"v5", func(s *jsonschema.Schema, text []byte) error {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			return err
		}
		return s.Validate(v)
	}},
}

// peer does the same with every observation, evidence record and error case of a
// registry, on all processors, and returns how many there are.
func peer(reg *store.Registry, r reading) (int, error) {
	n := 0
	for _, kind := range [][3]string{{"observations", ".observation.json", "observation"}, {"evidence", ".evidence.json", "evidence"}, {"errors", ".error.json", "error-case"}} {
		files, err := reg.Walk(kind[0], kind[1])
		if err != nil {
			return 0, err
		}
		schema, err := compiled(kind[2] + ".schema.json")
		if err != nil {
			return 0, err
		}
		n += len(files)
		if err := reg.ReadEach(files, func(i int, text []byte) error {
			if err := r.do(schema, text); err != nil {
				return fmt.Errorf("%s: %w", files[i], err)
			}
			return nil
		}); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func compiled(name string) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = func(u string) (io.ReadCloser, error) {
		return schemas.FS.Open(strings.TrimPrefix(u, schemas.BaseURI))
	}
	return c.Compile(schemas.BaseURI + name)
}
