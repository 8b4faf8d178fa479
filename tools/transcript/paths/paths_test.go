package paths

import (
	"slices"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	tests := []struct {
		path string
		want []string
	}{
		{"$", nil},
		{"a", []string{"a"}},
		{"a.b-c.$x", []string{"a", "b-c", "$x"}},
		{"a[].b", []string{"a", "[]", "b"}},
		{"$[]", []string{"[]"}},
		{"$[][].a", []string{"[]", "[]", "a"}},
		{"m.<key>.x", []string{"m", "<key>", "x"}},
		{`["reasoning effort"].x`, []string{"reasoning effort", "x"}},
		{`a["b.c"]["[]"]`, []string{"a", "b.c", "[]"}},
		{"a.**", []string{"a", "**"}},
	}
	for _, tt := range tests {
		got, err := Split(tt.path)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Split(%q) = %q, %v; want %q", tt.path, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", ".", "a.", "a..b", "a b", `["x"`, `["x`, "a[0]", "$.a"} {
		if got, err := Split(bad); err == nil {
			t.Errorf("Split(%q) = %q, want an error", bad, got)
		}
	}
}

// What a walk writes down, Split reads back, whatever the members are called.
func TestJoinAndSplit(t *testing.T) {
	step := rapid.OneOf(rapid.Just("[]"), rapid.Just("<key>"), rapid.StringMatching(`[a-z$_.\[\]"\\ -]{0,6}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOf(rapid.IntRange(0, 2)).Draw(t, "kinds")
		path := "$"
		var want []string
		for _, k := range kinds {
			switch k {
			case 0:
				path, want = Elem(path), append(want, "[]")
			case 1:
				path, want = MapKey(path), append(want, "<key>")
			default:
				key := step.Draw(t, "key")
				if key == "[]" || key == "<key>" || key == "**" {
					continue // a member of that name is quoted and reads as a step; no protocol has one
				}
				path, want = Join(path, key), append(want, key)
			}
		}
		got, err := Split(path)
		if err != nil {
			t.Fatalf("Split(%q): %v", path, err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("Split(%q) = %q, want %q", path, got, want)
		}
	})
}

func TestFlags(t *testing.T) {
	var s Set
	for i, p := range []string{"a.b", "a[].b", "m.<key>.x", "m.special.y", "deep.**", "$"} {
		if err := s.Add(p, 1<<i); err != nil {
			t.Fatal(err)
		}
	}
	root := s.Root()
	tests := []struct {
		name string
		st   State
		want Flags
	}{
		{"$", root, 1 << 5},
		{"a.b", root.Key("a").Key("b"), 1 << 0},
		{"a[].b", root.Key("a").Elem().Key("b"), 1 << 1},
		{"m.<any>.x", root.Key("m").Key("k").Key("x"), 1 << 2},
		{"an exact member wins", root.Key("m").Key("special").Key("x"), 0},
		{"deep itself", root.Key("deep"), 1 << 4},
		{"below deep", root.Key("deep").Elem().Key("x"), 1 << 4},
		{"elsewhere", root.Key("x").Key("y").Elem(), 0},
	}
	for _, tt := range tests {
		if got := tt.st.Flags(); got != tt.want {
			t.Errorf("%s: flags %b, want %b", tt.name, got, tt.want)
		}
	}
	if err := s.Add("a..b", 1); err == nil {
		t.Error("a broken pattern was added")
	}
}

func TestMatch(t *testing.T) {
	frame := `{"type":"system","subtype":"task_started","n":1.0,"no":false,"nil":null,"a":[{"k":"x"},{"k":"y"}],"t":"old","t":"new"}`
	v, err := rawjson.Parse([]byte(frame))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		m    map[string][]string
		want bool
	}{
		{map[string][]string{}, true},
		{map[string][]string{"type": {"system"}}, true},
		{map[string][]string{"type": {"result", "system"}, "subtype": {"init"}}, false},
		{map[string][]string{"subtype": {"task_*"}}, true},
		{map[string][]string{"subtype": {"*_started"}}, true},
		{map[string][]string{"subtype": {"*_ended"}}, false},
		{map[string][]string{"n": {"1"}}, true},
		{map[string][]string{"no": {"false"}}, true},
		{map[string][]string{"nil": {"*"}}, false},
		{map[string][]string{"nil": {"null"}}, true},
		{map[string][]string{"nil": {""}}, false},
		{map[string][]string{"absent": {""}}, true},
		{map[string][]string{"absent": {"*"}}, false},
		{map[string][]string{"a[].k": {"y"}}, true},
		{map[string][]string{"a[].k": {"z"}}, false},
		{map[string][]string{"a": {"*"}}, true},
		{map[string][]string{"t": {"new"}}, true},
		{map[string][]string{"t": {"old"}}, false},
	}
	for _, tt := range tests {
		m, err := CompileMatch(tt.m)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Match(v); got != tt.want {
			t.Errorf("%v matches: %v, want %v", tt.m, got, tt.want)
		}
	}
	for _, bad := range []map[string][]string{{"a.<key>": {"x"}}, {"a.**": {"x"}}, {"a..b": {"x"}}, {"a": {}}} {
		if _, err := CompileMatch(bad); err == nil {
			t.Errorf("%v compiled", bad)
		}
	}
}
