//go:build unix

package serve

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/nexu-io/open-design-agent-contracts/tools/site"
)

// description is what the test reads of the OpenAPI document.
type description struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name     string `json:"name"`
			In       string `json:"in"`
			Required bool   `json:"required"`
		} `json:"parameters"`
		Responses map[string]struct {
			Content map[string]struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components json.RawMessage `json:"components"`
}

// The description and the server have the same routes, and each answers as it
// is described, when it has something and when it has not.
func TestOpenAPI(t *testing.T) {
	w := newWorld(t)
	w.install(t, "codex", "codex-cli 0.144.0")
	var doc description
	decode(t, site.OpenAPI, &doc)
	o := w.current().site.Records.Observations[0]
	shape := o.Shape.Signature.Hex()[:12]
	example := map[string]string{"agent": "codex", "shape": shape, "place": o.Path, "version": "0.144.0", "from": shape, "to": shape}
	absent := map[string]string{"agent": "nope", "shape": "000000000000", "place": "shapes/nope.json", "from": "000000000000", "to": shape, "version": "0.144.0"}
	for path, methods := range doc.Paths {
		get, found := methods["get"]
		if !found || len(methods) != 1 {
			t.Errorf("%s: want GET alone", path)
		}
		fill := func(values map[string]string) string {
			target, query := path, []string{}
			for _, p := range get.Parameters {
				if p.In == "path" {
					target = strings.ReplaceAll(target, "{"+p.Name+"}", values[p.Name])
				} else if p.Required || p.Name == "agent" && values["agent"] == "nope" {
					query = append(query, p.Name+"="+values[p.Name])
				}
			}
			return strings.TrimSuffix(target+"?"+strings.Join(query, "&"), "?")
		}
		check := func(target, status string, code int) {
			rec := w.get(target, nil)
			if rec.Code != code {
				t.Errorf("%s: status %d, want %s", target, rec.Code, status)
				return
			}
			for mime, content := range get.Responses[status].Content {
				if got := rec.Header().Get("Content-Type"); got != mime {
					t.Errorf("%s: type %s, described as %s", target, got, mime)
				}
				if mime == "application/json" {
					conforms(t, target, doc.Components, content.Schema, rec.Body.Bytes())
				}
			}
		}
		check(fill(example), "200", 200)
		if _, described := get.Responses["404"]; described {
			check(fill(absent), "404", 404)
		} else if strings.Contains(strings.SplitN(fill(absent), "?", 2)[0], "nope") {
			t.Errorf("%s: what is not there is not described", path)
		}
		if _, described := get.Responses["400"]; described {
			check(strings.Replace(fill(example)+"?nope=1", "?nope", map[bool]string{true: "&nope", false: "?nope"}[strings.Contains(fill(example), "?")], 1), "400", 400)
		}
	}
	described := func(at string) bool {
		for path := range doc.Paths {
			pattern := regexp.MustCompile(`^` + regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`) + `$`)
			if pattern.MatchString("/" + at) {
				return true
			}
		}
		return false
	}
	all := w.current().site.Paths()
	for at := range answers {
		all = append(all, at)
	}
	for _, at := range all {
		if program := strings.HasPrefix(at, "api/v1/") || strings.HasPrefix(at, "badge/"); program && !described(at) {
			t.Errorf("/%s is answered and not described", at)
		}
	}
}

func conforms(t *testing.T, target string, components, schema json.RawMessage, body []byte) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	whole := slices.Concat([]byte(`{"components":`), components, []byte(`,"allOf":[`), schema, []byte(`]}`))
	if err := c.AddResource("https://openapi.invalid/doc", bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("https://openapi.invalid/doc")
	if err != nil {
		t.Fatal(err)
	}
	var v any
	decode(t, body, &v)
	if err := compiled.Validate(v); err != nil {
		t.Errorf("%s: the answer is not as described: %v", target, err)
	}
}
