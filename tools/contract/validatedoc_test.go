package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//go:generate go test . -run TestSchemaDocument -update

// docs/SCHEMA.md is generated from the schemas and the rule catalogue.
func TestSchemaDocument(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "SCHEMA.md")
	got := schemaDocument(t)
	want, err := os.ReadFile(file)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil || got != string(want) {
		t.Errorf("docs/SCHEMA.md is stale, run go generate ./tools/contract:\n%s", cmp.Diff(string(want), got))
	}
}

const schemaDocumentHead = `# Record formats

Generated from ` + "`schemas/`" + ` and the rule catalogue by ` + "`go generate ./tools/contract`" + `; do not edit.

Rules for all records: UTF-8 without byte order mark, one JSON text a file, no duplicate members, canonical number
spelling (` + "`1`, not `1.0`" + `). ` + "`schema_version`" + ` is 1; a higher one is refused unless a migration is registered. Members
that the tables do not list are refused; ` + "`extensions`" + ` takes more members only where its row says so.
` + "`agent-contracts validate`" + ` prints one line a problem: ` + "`CODE severity file json-pointer message`" + `.

In field names, ` + "`[]`" + ` is an element of a list and ` + "`{}`" + ` a value of a map. A dot in front means: inside the object above.
`

type documenter struct {
	b      strings.Builder
	doc    map[string]any // the schema being written
	shared map[string]map[string]any
}

func schemaDocument(t *testing.T) string {
	t.Helper()
	d := &documenter{shared: map[string]map[string]any{}}
	d.b.WriteString(schemaDocumentHead)
	for _, kind := range RecordKinds {
		d.doc = schemaDoc(t, kind)
		fmt.Fprintf(&d.b, "\n## %s\n\n%s Schema: `schemas/%s`.\n", kind, d.doc["description"], kind.schemaFile())
		d.table(d.doc, slices.Contains(ownKinds, kind))
	}
	d.b.WriteString("\n## Shared forms\n")
	for _, name := range slices.Sorted(maps.Keys(d.shared)) {
		fmt.Fprintf(&d.b, "\n### %s\n\n%s\n", name, d.shared[name]["description"])
		d.table(d.shared[name], true)
	}
	d.b.WriteString("\n## Rules\n\n| rule | severity | asks for | what to do | source |\n|---|---|---|---|---|\n")
	for _, r := range Rules() {
		fmt.Fprintf(&d.b, "| `%s` | %s | %s | %s | %s |\n", r.ID, r.Severity, cell(r.Meaning), cell(r.Action), cell(r.Source))
	}
	return d.b.String()
}

func (d *documenter) table(object map[string]any, share bool) {
	d.b.WriteString("\n| field | required | default | values | rule |\n|---|---|---|---|---|\n")
	d.rows(object, "", share, nil)
}

// rows writes one row a member, in the order of the schema's text, which
// encoding/json does not keep: required ones first, then by name.
func (d *documenter) rows(object map[string]any, prefix string, share bool, open []string) {
	required := stringsOf(object["required"])
	properties, _ := object["properties"].(map[string]any)
	names := slices.Sorted(maps.Keys(properties))
	slices.SortStableFunc(names, func(a, b string) int { return rank(required, a) - rank(required, b) })
	for _, name := range names {
		property, ok := properties[name].(map[string]any)
		if !ok {
			continue
		}
		yes := ""
		if slices.Contains(required, name) {
			yes = "yes"
		}
		d.row(property, prefix+name, yes, share, open)
	}
}

func rank(required []string, name string) int {
	if i := slices.Index(required, name); i >= 0 {
		return i
	}
	return len(required)
}

func (d *documenter) row(property map[string]any, name, required string, share bool, open []string) {
	node, form := d.resolve(property)
	values := []string{}
	if text, ok := property["description"].(string); ok {
		values = append(values, text)
	} else if text, ok := node["description"].(string); ok && form != "" {
		values = append(values, text)
	}
	linked := share && form != "" && node["properties"] != nil
	if linked {
		d.shared[form] = node
		values = append(values, fmt.Sprintf("See [%s](#%s).", form, form))
	} else if text := allowed(node); text != "" {
		values = append(values, text)
	}
	fallback := ""
	if v, ok := property["default"]; ok {
		b, _ := json.Marshal(v)
		fallback = "`" + string(b) + "`"
	}
	rule, _ := node["x-rule"].(string)
	if not, ok := node["not"].(map[string]any); ok && not["x-rule"] != nil {
		rule = strings.TrimPrefix(rule+", "+not["x-rule"].(string), ", ")
	}
	fmt.Fprintf(&d.b, "| `%s` | %s | %s | %s | %s |\n", name, required, fallback, cell(strings.Join(values, " ")), rule)
	if linked || slices.Contains(open, form) && form != "" {
		return
	}
	open = append(slices.Clone(open), form)
	prefix := strings.Repeat(".", len(name)-len(strings.TrimLeft(name, "."))+1)
	switch items, isList := node["items"].(map[string]any); {
	case node["properties"] != nil:
		d.rows(node, prefix, share, open)
	case isList:
		d.elements(items, name+"[]", prefix, share, open)
	default:
		if values, isMap := node["additionalProperties"].(map[string]any); isMap {
			d.elements(values, name+"{}", prefix, share, open)
		}
	}
}

// elements writes what a list or map holds: nothing more for scalars.
func (d *documenter) elements(items map[string]any, name, prefix string, share bool, open []string) {
	node, form := d.resolve(items)
	switch {
	case slices.Contains(open, form) && form != "":
	case share && form != "" && form != "entry" && node["properties"] != nil:
		d.shared[form] = node
		fmt.Fprintf(&d.b, "| `%s` | | | See [%s](#%s). | |\n", name, form, form)
	case node["properties"] != nil:
		d.rows(node, prefix, share, append(slices.Clone(open), form))
	case node["items"] != nil || node["enum"] != nil || node["x-rule"] != nil:
		d.row(items, name, "", share, open)
	}
}

// resolve follows references and returns the definition's name.
func (d *documenter) resolve(node map[string]any) (map[string]any, string) {
	form := ""
	for {
		if anyOf, ok := node["anyOf"].([]any); ok && len(anyOf) > 0 {
			if first, ok := anyOf[0].(map[string]any); ok && first["$ref"] != nil {
				node = first
			}
		}
		ref, ok := node["$ref"].(string)
		if !ok {
			return node, form
		}
		form = strings.TrimPrefix(ref, "#/$defs/")
		target, ok := valueAt(any(d.doc), strings.TrimPrefix(ref, "#")).(map[string]any)
		if !ok {
			return node, form
		}
		node = target
	}
}

// allowed says which values a schema takes.
func allowed(node map[string]any) string {
	if list, ok := node["enum"].([]any); ok {
		return "`" + strings.Join(literals(list), "`, `") + "`."
	}
	if v, ok := node["const"]; ok {
		return "`" + literals([]any{v})[0] + "`."
	}
	text := strings.Join(stringsOf(node["type"]), " or ")
	if text == "" {
		return ""
	}
	for _, bound := range []string{"minimum", "maximum", "minItems", "maxItems"} {
		if v, ok := node[bound]; ok {
			text += fmt.Sprintf(", %s %v", bound, v)
		}
	}
	if p, ok := node["pattern"].(string); ok && node["x-rule"] == nil {
		text += ", `" + p + "`"
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func literals(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		if s, ok := v.(string); ok {
			out[i] = s
			continue
		}
		b, _ := json.Marshal(v)
		out[i] = string(b)
	}
	return out
}

// cell makes text safe for a Markdown table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", `\<`, "\n", " ").Replace(s)
}
