package compare_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"pgregory.net/rapid"
)

// run is a stream and its dialect.
type run struct {
	name   string
	frames []string
	d      *contract.Dialect
}

func runs(t *testing.T) []run {
	t.Helper()
	out := []run{{"codex", lines(codexTool), dialect(t, "codex")}}
	for glob, id := range map[string]string{"codex/*.jsonl": "codex", "claude/*.jsonl": "claude", "claude-2.1.259-sanitized/*.jsonl": "claude"} {
		names, err := filepath.Glob(filepath.Join(root(t), "..", "shared", "sample-streams", glob))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, run{filepath.Base(name), lines(string(b)), dialect(t, id)})
		}
	}
	slices.SortFunc(out, func(a, b run) int { return strings.Compare(a.name, b.name) })
	return out
}

func lines(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }

func text(frames []string) string { return strings.Join(frames, "\n") + "\n" }

// mutate changes one thing in a stream.
func mutate(t *rapid.T, frames []string) []string {
	out := slices.Clone(frames)
	i := rapid.IntRange(0, len(out)-1).Draw(t, "frame")
	switch rapid.IntRange(0, 5).Draw(t, "mutation") {
	case 0:
		return slices.Delete(out, i, i+1)
	case 1:
		return slices.Insert(out, i, out[i])
	case 2:
		j := rapid.IntRange(0, len(out)-1).Draw(t, "other")
		out[i], out[j] = out[j], out[i]
		return out
	}
	var o map[string]any
	if err := json.Unmarshal([]byte(out[i]), &o); err != nil {
		t.Fatal(err)
	}
	if len(o) == 0 {
		return out
	}
	in := o
	k := rapid.SampledFrom(slices.Sorted(maps.Keys(in))).Draw(t, "member")
	for {
		below, ok := in[k].(map[string]any)
		if !ok || len(below) == 0 || rapid.Bool().Draw(t, "here") {
			break
		}
		in = below
		k = rapid.SampledFrom(slices.Sorted(maps.Keys(in))).Draw(t, "member")
	}
	switch rapid.IntRange(0, 2).Draw(t, "change") {
	case 0:
		delete(in, k)
	case 1:
		in[k+"X"] = in[k]
		delete(in, k)
	default:
		in[k] = []any{in[k]}
	}
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	out[i] = string(b)
	return out
}

// Two shapes that differ have a signal that says why, and both ways round.
func TestEveryDifferenceHasASignal(t *testing.T) {
	all := runs(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := all[rapid.IntRange(0, len(all)-1).Draw(rt, "run")]
		frames := r.frames
		for range rapid.IntRange(1, 3).Draw(rt, "times") {
			if len(frames) > 1 {
				frames = mutate(rt, frames)
			}
		}
		a, b := side(t, child(text(r.frames), 0), r.d), side(t, child(text(frames), 0), r.d)
		for _, x := range []compare.Result{compare.Runs(a, b, r.d), compare.Runs(b, a, r.d), compare.Shapes(a.Shape, b.Shape, nil)} {
			same := a.Shape.Signature == b.Shape.Signature
			if (x.Verdict == contract.VerdictSameShape) != same {
				rt.Fatalf("%s: verdict %s, same signature %v", r.name, x.Verdict, same)
			}
			if !same && len(x.Signals) == 0 {
				rt.Fatalf("%s: no signal", r.name)
			}
		}
	})
}
