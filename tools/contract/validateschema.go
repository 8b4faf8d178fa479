package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/nexu-io/open-design-agent-contracts/schemas"
)

// schema is one compiled schema with its text, in which the rule ids stand:
// "x-rule" on a subschema names the rule that its failures break.
type schema struct {
	compiled *jsonschema.Schema
	quick    *quick
	docs     map[string]any // by $id: the schema and those it refers to
}

var compiledSchemas sync.Map // RecordKind → func() (*schema, error)

// schemaOf returns the kind's schema, compiled once. The error wraps
// fs.ErrNotExist for a kind whose schema is not in the program.
func schemaOf(kind RecordKind) (*schema, error) {
	compile, _ := compiledSchemas.LoadOrStore(kind, sync.OnceValues(func() (*schema, error) {
		text, err := schemas.FS.ReadFile(kind.schemaFile())
		if err != nil {
			return nil, fmt.Errorf("reading the schema of %s: %w", kind, err)
		}
		return compileSchema(schemas.BaseURI+kind.schemaFile(), text, schemas.FS.ReadFile)
	}))
	return compile.(func() (*schema, error))()
}

// compileSchema compiles a schema that may refer to itself and, by file name,
// to the schemas that read returns; nothing is fetched.
func compileSchema(id string, text []byte, read func(name string) ([]byte, error)) (*schema, error) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	docs := map[string]any{}
	add := func(id string, text []byte) error {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		var doc any
		if err := dec.Decode(&doc); err != nil {
			return fmt.Errorf("reading schema %s: %w", id, err)
		}
		docs[id] = doc
		return nil
	}
	c.LoadURL = func(u string) (io.ReadCloser, error) {
		name, ok := strings.CutPrefix(u, schemas.BaseURI)
		if !ok {
			return nil, fmt.Errorf("it refers to %s, which is never fetched", quoted(u))
		}
		text, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("reading a schema: %w", err)
		}
		return io.NopCloser(bytes.NewReader(text)), add(u, text)
	}
	if err := add(id, text); err != nil {
		return nil, err
	}
	if err := c.AddResource(id, bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("reading schema %s: %w", id, err)
	}
	compiled, err := c.Compile(id)
	if err != nil {
		return nil, fmt.Errorf("compiling schema %s: %w", id, err)
	}
	return &schema{compiled: compiled, quick: newQuick(compiled), docs: docs}, nil
}

// schemaFault says where a schema is no JSON Schema, and why, in one line.
func schemaFault(err error) (pointer, message string) {
	var ve *jsonschema.ValidationError
	if errors.As(err, &ve) {
		for len(ve.Causes) > 0 {
			ve = ve.Causes[0]
		}
		return unescapeLocation(ve.InstanceLocation), "this is not JSON Schema of draft 2020-12: " + ve.Message
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return "", "it does not compile: " + err.Error()
}

// check returns every way in which v breaks the schema.
func (s *schema) check(v any) []finding {
	if s.quick.check(s.compiled, v) == fits {
		return nil
	}
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return []finding{{"SCHEMA-OTHER", "", err.Error()}}
	}
	var out []finding
	s.collect(ve, v, &out)
	return out
}

// alternatives are the keywords whose causes are not failures on their own.
var alternatives = []string{"anyOf", "oneOf", "not", "contains"}

// collect walks to the leaves of v5's tree: the rows above them only say that
// something below failed.
func (s *schema) collect(ve *jsonschema.ValidationError, root any, out *[]finding) {
	keyword := ve.AbsoluteKeywordLocation[strings.LastIndexByte(ve.AbsoluteKeywordLocation, '/')+1:]
	if ve.Message == "not allowed" { // the schema false: the location ends in a member's name
		keyword = ""
	}
	if len(ve.Causes) > 0 && !slices.Contains(alternatives, keyword) {
		for _, c := range ve.Causes {
			s.collect(c, root, out)
		}
		return
	}
	if nearest := s.nearest(ve, root); nearest != nil {
		*out = append(*out, nearest...)
		return
	}
	node, rule := s.nodeAt(ve.AbsoluteKeywordLocation)
	pointer := unescapeLocation(ve.InstanceLocation)
	value := valueAt(root, pointer)
	switch keyword {
	case "required", "additionalProperties":
		*out = append(*out, memberFindings(keyword, node, value, pointer, rule)...)
	default:
		code, message := describe(keyword, node, value, ve)
		if rule != "" {
			code = rule
		}
		*out = append(*out, finding{code, pointer, message})
	}
}

// nearest returns what is wrong by the one alternative that the value comes
// nearest to, or nil if there is no such one.
func (s *schema) nearest(ve *jsonschema.ValidationError, root any) []finding {
	var best []finding
	tie := false
	for _, c := range ve.Causes {
		var found []finding
		s.collect(c, root, &found)
		switch {
		case best == nil || len(found) < len(best):
			best, tie = found, false
		case len(found) == len(best):
			tie = true
		}
	}
	if tie {
		return nil
	}
	return best
}

// memberFindings names each missing or unknown member; v5 has one row for all.
func memberFindings(keyword string, node map[string]any, value any, pointer, rule string) []finding {
	object, _ := value.(map[string]any)
	var out []finding
	add := func(name, code, message string) {
		if rule != "" {
			code = rule
		}
		out = append(out, finding{code, pointerTo(pointer, name), message})
	}
	if keyword == "required" {
		for _, name := range stringsOf(node["required"]) {
			if _, ok := object[name]; !ok {
				add(name, "SCHEMA-REQUIRED", "this member is required")
			}
		}
		return out
	}
	properties, _ := node["properties"].(map[string]any)
	patterns, _ := node["patternProperties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, known := properties[name]; !known && !matchesAny(patterns, name) {
			add(name, "SCHEMA-UNKNOWN-MEMBER", "the format has no such member"+suggestion(name, slices.Collect(maps.Keys(properties))))
		}
	}
	return out
}

func matchesAny(patterns map[string]any, name string) bool {
	for p := range patterns {
		if re, err := regexp.Compile(p); err == nil && re.MatchString(name) {
			return true
		}
	}
	return false
}

// describe returns the general rule and the message of one failed keyword.
func describe(keyword string, node map[string]any, value any, ve *jsonschema.ValidationError) (code, message string) {
	switch keyword {
	case "type":
		return "SCHEMA-TYPE", fmt.Sprintf("want %s, got %s", strings.Join(stringsOf(node["type"]), " or "), typeOf(value))
	case "enum", "const":
		values, _ := node["enum"].([]any)
		if keyword == "const" {
			values = []any{node["const"]}
		}
		return "SCHEMA-ENUM", fmt.Sprintf("%s is not %s%s", show(value), oneOf(values), suggestFor(value, values))
	case "pattern":
		return "SCHEMA-PATTERN", fmt.Sprintf("%s does not match %v", show(value), node["pattern"])
	case "format":
		return "SCHEMA-PATTERN", fmt.Sprintf("%s is not a valid %v", show(value), node["format"])
	case "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum":
		return "SCHEMA-RANGE", fmt.Sprintf("%s breaks %s %v", show(value), keyword, node[keyword])
	case "minLength", "minItems", "minProperties":
		if fmt.Sprint(node[keyword]) == "1" {
			return "SCHEMA-RANGE", "must not be empty"
		}
		return "SCHEMA-RANGE", fmt.Sprintf("has fewer than %v entries", node[keyword])
	case "maxLength", "maxItems", "maxProperties":
		return "SCHEMA-RANGE", fmt.Sprintf("has more than %v entries", node[keyword])
	case "uniqueItems":
		return "SCHEMA-UNIQUE", ve.Message
	case "not":
		if not, ok := node["not"].(map[string]any); ok && not["const"] != nil {
			return "SCHEMA-FORBIDDEN", show(value) + " is not allowed here"
		}
		return "SCHEMA-FORBIDDEN", "this is not allowed here"
	case "anyOf", "oneOf", "contains":
		return "SCHEMA-CHOICE", choiceMessage(ve)
	}
	if keyword == "" {
		return "SCHEMA-FORBIDDEN", "this member is not allowed here"
	}
	return "SCHEMA-OTHER", ve.Message
}

// choiceMessage says what each alternative would have needed.
func choiceMessage(ve *jsonschema.ValidationError) string {
	var wants []string
	for _, c := range ve.Causes {
		for len(c.Causes) > 0 {
			c = c.Causes[0]
		}
		if !slices.Contains(wants, c.Message) {
			wants = append(wants, c.Message)
		}
	}
	if len(wants) == 0 { // v5 says which alternatives match when they are too many
		return "does not have exactly one of the allowed forms"
	}
	return "matches none of the allowed forms: " + strings.Join(wants, "; or ")
}

// nodeAt returns the subschema that holds the keyword at a location, and the
// id of the rule it stands for: the nearest x-rule, going up.
func (s *schema) nodeAt(location string) (node map[string]any, rule string) {
	id, keywordAt, _ := strings.Cut(location, "#")
	cur := s.docs[id]
	ruleOf := func() {
		if object, ok := cur.(map[string]any); ok {
			if id, ok := object["x-rule"].(string); ok {
				rule = id
			}
		}
	}
	for _, part := range strings.Split(keywordAt, "/")[1:] {
		if object, ok := cur.(map[string]any); ok {
			node = object
		}
		ruleOf()
		cur = memberOf(cur, unescapePart(part))
	}
	ruleOf() // the keyword's own value may name a rule: "not", say
	return node, rule
}

func memberOf(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[name]
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// unescapeLocation turns v5's percent-encoded pointer into an RFC 6901 one.
func unescapeLocation(loc string) string {
	if p, err := url.PathUnescape(loc); err == nil {
		return p
	}
	return loc
}

// unescapePart returns the member name that one part of a location stands for.
func unescapePart(part string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(unescapeLocation(part))
}

// valueAt returns the value at a pointer, or nil.
func valueAt(v any, pointer string) any {
	if pointer == "" {
		return v
	}
	for _, part := range strings.Split(pointer[1:], "/") {
		v = memberOf(v, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return v
}

// schemaMissing reports whether err says that a kind's schema is not in this
// program.
func schemaMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
