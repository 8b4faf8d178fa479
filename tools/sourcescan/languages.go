package sourcescan

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

// jsonSchema reads a JSON Schema; other JSON says nothing.
func (s *Surface) jsonSchema(file string, b []byte) {
	var doc any
	if json.Unmarshal(b, &doc) != nil {
		return
	}
	root, ok := doc.(map[string]any)
	if !ok || root["$schema"] == nil && root["definitions"] == nil && root["$defs"] == nil {
		return
	}
	title, _ := root["title"].(string)
	if title == "" {
		title = strings.TrimSuffix(file[strings.LastIndex(file, "/")+1:], ".json")
	}
	s.schema(file, title, root, 0)
}

// maxDepth bounds nested schemas.
const maxDepth = 64

func (s *Surface) schema(file, name string, node map[string]any, depth int) {
	if depth > maxDepth {
		return
	}
	required := map[string]bool{}
	for _, r := range list(node["required"]) {
		if f, ok := r.(string); ok {
			required[f] = true
		}
	}
	props, _ := node["properties"].(map[string]any)
	for f, p := range props {
		sub, _ := p.(map[string]any)
		kind := schemaType(sub)
		if !required[f] {
			kind = "?" + kind
		}
		s.field(name, file, f, kind)
		if discriminators[f] {
			for _, v := range append(list(sub["enum"]), sub["const"]) {
				if w, ok := v.(string); ok {
					s.word(file, f, w)
				}
			}
		}
		if sub != nil {
			s.schema(file, name+"."+f, sub, depth+1)
		}
	}
	for _, defs := range []string{"definitions", "$defs"} {
		m, _ := node[defs].(map[string]any)
		for d, v := range m {
			if sub, ok := v.(map[string]any); ok {
				s.schema(file, d, sub, depth+1)
			}
		}
	}
	for _, alt := range []string{"oneOf", "anyOf", "allOf"} {
		for i, v := range list(node[alt]) {
			if sub, ok := v.(map[string]any); ok {
				title, _ := sub["title"].(string)
				if title == "" {
					title = variant(name, sub, i)
				}
				s.schema(file, title, sub, depth+1)
			}
		}
	}
	if items, ok := node["items"].(map[string]any); ok {
		s.schema(file, name+"[]", items, depth+1)
	}
}

// variant names an alternative by the value of its discriminator, which stays
// when others are put before it.
func variant(name string, sub map[string]any, i int) string {
	props, _ := sub["properties"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(discriminators)) {
		p, _ := props[key].(map[string]any)
		for _, v := range append(list(p["enum"]), p["const"]) {
			if w, ok := v.(string); ok {
				return name + ":" + w
			}
		}
	}
	return name + ":" + strconv.Itoa(i)
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func schemaType(node map[string]any) string {
	if ref, ok := node["$ref"].(string); ok {
		return ref[strings.LastIndex(ref, "/")+1:]
	}
	switch t := node["type"].(type) {
	case string:
		return t
	case []any:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(t), " ", "|"), "[]")
	}
	for _, alt := range []string{"anyOf", "oneOf", "allOf"} {
		var words []string
		for _, v := range list(node[alt]) {
			if sub, ok := v.(map[string]any); ok {
				words = append(words, schemaType(sub))
			}
		}
		if len(words) > 0 {
			return strings.Join(words, "|")
		}
	}
	return "any"
}

var (
	tsType  = lazyregexp.New(`(?m)^\s*(?:export\s+)?(?:declare\s+)?(?:type\s+([A-Za-z_$][\w$]*)(?:<[^=]*>)?\s*=|interface\s+([A-Za-z_$][\w$]*)[^{\n]*)\s*`)
	tsField = lazyregexp.New(`(?:^|[{;,\n])\s*(?:readonly\s+)?["']?([A-Za-z_$][\w$]*)["']?(\?)?\s*:\s*([^;,\n{}]+|\{)`)
	tsWord  = lazyregexp.New(`["']([A-Za-z][A-Za-z0-9_./-]{0,63})["']`)
	comment = lazyregexp.New(`(?s)/\*.*?\*/|//[^\n]*`)
)

// typeScript reads type and interface declarations: their members at any depth,
// and the string literals that discriminators take.
func (s *Surface) typeScript(file string, b []byte) {
	text := comment.Get().ReplaceAllString(string(b), "")
	starts := tsType.Get().FindAllStringSubmatchIndex(text, -1)
	for i, m := range starts {
		name := group(text, m, 1) + group(text, m, 2)
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		s.field(name, file, "", "")
		for _, f := range tsField.Get().FindAllStringSubmatch(text[m[1]:end], -1) {
			kind := strings.Join(strings.Fields(f[3]), " ")
			if kind == "{" {
				kind = "object"
			}
			s.field(name, file, f[1], f[2]+kind)
			if discriminators[f[1]] {
				for _, w := range tsWord.Get().FindAllStringSubmatch(f[3], -1) {
					s.word(file, f[1], w[1])
				}
			}
		}
	}
}

func group(text string, m []int, i int) string {
	if m[2*i] < 0 {
		return ""
	}
	return text[m[2*i]:m[2*i+1]]
}

var (
	rustItem   = lazyregexp.New(`(?m)^\s*pub(?:\([a-z]+\))?\s+(struct|enum)\s+([A-Za-z_]\w*)[^{;(\n]*\{`)
	rustField  = lazyregexp.New(`^(?:pub(?:\([a-z]+\))?\s+)?(?:r#)?([a-z_]\w*)\s*:\s*(.+?),?$`)
	rustOption = lazyregexp.New(`^Option<(.*)>$`)
	rustVar    = lazyregexp.New(`^([A-Z]\w*)\s*(?:\((.*?)\)|\{.*)?,?$`)
	rustRename = lazyregexp.New(`\brename\s*=\s*"([^"]+)"`)
	rustAll    = lazyregexp.New(`\brename_all\s*=\s*"([^"]+)"`)
	rustTag    = lazyregexp.New(`\btag\s*=\s*"([^"]+)"`)
)

// rust reads structs and enums with their serde attributes.
func (s *Surface) rust(file string, b []byte) {
	text := comment.Get().ReplaceAllString(string(b), "")
	for _, m := range rustItem.Get().FindAllStringSubmatchIndex(text, -1) {
		name := group(text, m, 2)
		attrs := before(text[:m[0]])
		key := "type"
		if t := rustTag.Get().FindStringSubmatch(attrs); t != nil {
			key = t[1]
		}
		all := ""
		if a := rustAll.Get().FindStringSubmatch(attrs); a != nil {
			all = a[1]
		}
		s.field(name, file, "", "")
		rename := ""
		depth := 1
		for _, line := range strings.Split(body(text[m[1]:]), "\n") {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#[") {
				if r := rustRename.Get().FindStringSubmatch(line); r != nil {
					rename = r[1]
				}
				continue
			}
			if depth == 1 && group(text, m, 1) == "struct" {
				if f := rustField.Get().FindStringSubmatch(line); f != nil {
					field, kind := or(rename, spelled(f[1], all)), f[2]
					if o := rustOption.Get().FindStringSubmatch(kind); o != nil {
						kind = "?" + o[1]
					}
					s.field(name, file, field, kind)
				}
			} else if v := rustVar.Get().FindStringSubmatch(line); v != nil && depth == 1 {
				word := or(rename, spelled(v[1], all))
				s.field(name, file, word, v[2])
				s.word(file, key, word)
			}
			if line != "" {
				rename = ""
			}
			depth += strings.Count(line, "{") - strings.Count(line, "}")
		}
	}
}

// before returns the attributes that stand right before an item.
func before(text string) string {
	lines := strings.Split(strings.TrimRight(text, " \t"), "\n")
	i := len(lines) - 1
	for i > 0 && (strings.HasPrefix(strings.TrimSpace(lines[i-1]), "#[") || strings.HasSuffix(strings.TrimSpace(lines[i-1]), ")]")) {
		i--
	}
	return strings.Join(lines[i:], "\n")
}

// body returns what stands before the brace that closes the one before text.
func body(text string) string {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

var camel = lazyregexp.New(`([a-z0-9])([A-Z])`)

// spelled applies serde's rename_all.
func spelled(name, rule string) string {
	snake := strings.ToLower(camel.Get().ReplaceAllString(name, "${1}_${2}"))
	switch rule {
	case "snake_case":
		return snake
	case "kebab-case":
		return strings.ReplaceAll(snake, "_", "-")
	case "lowercase":
		return strings.ToLower(name)
	case "camelCase":
		parts := strings.Split(snake, "_")
		for i := 1; i < len(parts); i++ {
			if parts[i] != "" {
				parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
			}
		}
		return strings.Join(parts, "")
	}
	return name
}

// golang reads structs by their json tags, and string constants of named types
// (type EventType string).
func (s *Surface) golang(file string, b []byte) {
	f, err := parser.ParseFile(token.NewFileSet(), file, b, parser.SkipObjectResolution)
	if f == nil || err != nil {
		return
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if st, ok := n.Type.(*ast.StructType); ok {
				s.goStruct(file, n.Name.Name, st)
			}
		case *ast.ValueSpec:
			named, ok := n.Type.(*ast.Ident)
			for _, v := range n.Values {
				if lit, isLit := v.(*ast.BasicLit); ok && isLit && lit.Kind == token.STRING && ast.IsExported(named.Name) {
					if w, err := strconv.Unquote(lit.Value); err == nil && len(w) <= maxWord {
						s.word(file, "type", w)
					}
				}
			}
		}
		return true
	})
}

func (s *Surface) goStruct(file, name string, st *ast.StructType) {
	for _, f := range st.Fields.List {
		if f.Tag == nil {
			continue
		}
		raw, _ := strconv.Unquote(f.Tag.Value)
		tag, options, _ := strings.Cut(reflect.StructTag(raw).Get("json"), ",")
		if tag == "" || tag == "-" {
			continue
		}
		kind := goType(f.Type)
		if strings.Contains(options, "omit") || strings.HasPrefix(kind, "*") {
			kind = "?" + strings.TrimPrefix(kind, "*")
		}
		s.field(name, file, tag, kind)
	}
}

func goType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return "*" + goType(e.X)
	case *ast.ArrayType:
		return "[]" + goType(e.Elt)
	case *ast.MapType:
		return "map[" + goType(e.Key) + "]" + goType(e.Value)
	case *ast.SelectorExpr:
		return goType(e.X) + "." + e.Sel.Name
	}
	return "any"
}

var helpFlag = lazyregexp.New(`(?m)^\s{0,12}(?:-\w,?\s+)?(--[a-z][a-z0-9-]*)|(?m)^\s{2,4}([a-z][a-z0-9-]+)\s{2,}\S`)

// help reads the flags and subcommands of a command's help text.
func (s *Surface) help(command string, text []byte) {
	for _, m := range helpFlag.Get().FindAllSubmatch(text, -1) {
		name := strings.TrimSpace(command + " " + string(m[1]) + string(m[2]))
		s.Flags[name] = "help"
	}
}
