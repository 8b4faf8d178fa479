package contract

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// committed returns some committed records of a kind as the decoder gives them.
func committed(t *testing.T, kind RecordKind, pattern string) (out []any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s under %s: %v", kind, pattern, err)
	}
	for _, f := range files[:min(len(files), 40)] {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		v, _, ok := decode(kind, b)
		if !ok {
			t.Fatalf("%s is no JSON", f)
		}
		out = append(out, v)
	}
	return out
}

var quickKinds = map[RecordKind]string{
	KindObservation:    "observations/codex/*/*/*.observation.json",
	KindEvidence:       "evidence/codex/*/*/*.evidence.json",
	KindErrorCase:      "errors/*/*/*/*.error.json",
	KindShape:          "shapes/*/*.shape.json",
	KindAgents:         "registry/agents.json",
	KindSupportMatrix:  "registry/support-matrix.json",
	KindScenario:       "probes/*/scenario.json",
	KindExpectation:    "probes/*/expected-min-events.json",
	KindSourceEvidence: "evidence/*/*/*/*.source-evidence.json",
}

// many are the kinds of which a registry has more than a few: quick is for them.
var many = []RecordKind{KindObservation, KindEvidence, KindErrorCase, KindShape, KindSourceEvidence}

// What quick says is what v5 says, of good records and of broken ones; and of
// good ones it says yes itself, or it would be of no use.
func TestQuickAgreesWithV5(t *testing.T) {
	t.Parallel()
	for kind, pattern := range quickKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s, err := schemaOf(kind)
			if err != nil {
				t.Fatal(err)
			}
			records := committed(t, kind, pattern)
			for _, v := range records {
				if list, ok := v.(map[string]any)["agents"].([]any); ok && raced { // the matrix has a megabyte
					v.(map[string]any)["agents"] = list[:min(20, len(list))]
				}
				if slices.Contains(many, kind) && s.quick.check(s.compiled, v) != fits {
					t.Error("quick does not know that a committed record is valid")
				}
			}
			rapid.Check(t, func(rt *rapid.T) {
				v := mutated(rt, rapid.SampledFrom(records).Draw(rt, "record"))
				valid := s.compiled.Validate(v) == nil
				if a := s.quick.check(s.compiled, v); a == fits && !valid || a == differsFrom && valid {
					rt.Fatalf("quick says %d, v5 says valid: %v", a, valid)
				}
			})
		})
	}
}

// mutated returns v with one place changed: on the way down all is copied.
func mutated(t *rapid.T, v any) any {
	stop := rapid.IntRange(0, 5).Draw(t, "stop") == 0
	switch x := v.(type) {
	case map[string]any:
		if stop || len(x) == 0 {
			break
		}
		out := maps.Clone(x)
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(x))).Draw(t, "key")
		switch rapid.IntRange(0, 7).Draw(t, "how") {
		case 0:
			delete(out, key)
		case 1:
			out[key+"x"] = out[key]
		default:
			out[key] = mutated(t, out[key])
		}
		return out
	case []any:
		if stop || len(x) == 0 {
			break
		}
		i := rapid.IntRange(0, len(x)-1).Draw(t, "i")
		out := slices.Clone(x)
		if rapid.IntRange(0, 5).Draw(t, "how") == 0 {
			return append(out, out[i])
		}
		out[i] = mutated(t, out[i])
		return out
	case string:
		return x + rapid.SampledFrom([]string{"", "x", " ", "/", "é", "\n", "Z", "0"}).Draw(t, "tail")
	}
	return rapid.SampledFrom([]any{nil, true, "", "success", "sha256:", []any{}, []any{"a", "a"}, []any{json.Number("1"), json.Number("1")}, map[string]any{},
		json.Number("-1"), json.Number("0"), json.Number("1"), json.Number("2"), json.Number("1.5"), json.Number("1e+21")}).Draw(t, "value")
}

// The matchers are their patterns.
func TestMatchersAreTheirPatterns(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		`^sha256:[0-9a-f]{64}$`:                                                   `(sha256:)?[0-9a-fg]{63,65}\n?`,
		`^shapes/[a-z0-9-]+/sha256-[0-9a-f]{64}\.shape\.json$`:                    `shapes/[a-z/A-]{0,3}/?sha256-[0-9a-fg]{63,65}\.shape.json\n?`,
		`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$`: `[0-9]{4}-[0-9x]{2}.[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9x]{0,11})?Z?\n?`,
	}
	for pattern, match := range matchers {
		re := regexp.MustCompile(pattern)
		near := pattern[1 : len(pattern)-1]
		if texts[pattern] != "" {
			near = texts[pattern]
		}
		rapid.Check(t, func(rt *rapid.T) {
			s := rapid.OneOf(rapid.StringMatching(near), rapid.StringMatching(`[a-zA-Z0-9._+/é \n-]{0,6}`)).Draw(rt, "text")
			s += rapid.SampledFrom([]string{"", "", "\n", "/", "é"}).Draw(rt, "tail")
			if match(s) != re.MatchString(s) {
				rt.Fatalf("the matcher of %s says %v of %q", pattern, match(s), s)
			}
		})
	}
}
