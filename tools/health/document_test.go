package health

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fields lists the members of a type as docs/HEALTH.md writes them.
func fields(t reflect.Type, at string) []string {
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return append([]string{at + "[]"}, fields(t.Elem(), at+"[]")...)
	case t.Kind() == reflect.Slice:
		return []string{at + "[]"}
	case t.Kind() != reflect.Struct:
		return []string{at}
	}
	var out []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, fields(t.Field(i).Type, strings.TrimPrefix(at+"."+name, "."))...)
	}
	return out
}

// The table of the JSON output has every field, in its order, and no other.
func TestDocumentHasEveryField(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "HEALTH.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "### JSON")
	table, _, _ = strings.Cut(table, "\n## ")
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(table, -1) {
		got = append(got, m[1])
	}
	want := fields(reflect.TypeFor[Report](), "")
	want = slices.DeleteFunc(want, func(s string) bool { return s == "suggestions[].reasons[]" }) // its members say it
	if !slices.Equal(got, want) {
		t.Errorf("the document has\n%s\nthe report\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
