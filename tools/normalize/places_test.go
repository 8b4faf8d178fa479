package normalize_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// TestPlacesAreTheShapesPaths: what coverage looks at is exactly what a shape
// lists, and a shape's kinds have different names.
func TestPlacesAreTheShapesPaths(t *testing.T) {
	names, err := filepath.Glob("testdata/*.transcript.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	for _, name := range names {
		id, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".transcript.jsonl"), "_")
		d := dialect(t, id)
		if d.Transport != contract.TransportJSONL {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tr, err := transcript.ReadSanitized(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			n, err := normalize.New(d)
			if err != nil {
				t.Fatal(err)
			}
			shape, notes, err := n.Shape(tr, contract.LevelSyntheticMock)
			if err != nil {
				t.Fatal(err)
			}
			want, kinds := map[string]bool{}, 0
			for _, f := range slices.Concat(shape.FrameShapes, notes.OptionalKinds, notes.AfterTerminal) {
				if f.Stream != "stdout" || f.EventType == normalize.EventNonJSON {
					continue
				}
				kinds++
				for _, p := range f.Paths {
					want[f.EventType+" "+p.Path] = true
				}
			}
			got, named := places(n, tr)
			if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
				t.Errorf("places differ from the shape's paths (-shape +places):\n%s", diff)
			}
			if len(notes.AfterTerminal) == 0 && len(named) != kinds {
				t.Errorf("%d kinds have %d names: %q", kinds, len(named), slices.Sorted(maps.Keys(named)))
			}
		})
	}
}

func places(n *normalize.Normalizer, tr *transcript.Transcript) (places, kinds map[string]bool) {
	places, kinds = map[string]bool{}, map[string]bool{}
	for line := range tr.Lines(transcript.CLIToServer, transcript.Stdout) {
		v, err := rawjson.Parse(line)
		if err != nil || v.Kind() != rawjson.Object {
			continue
		}
		name := n.KindName(v)
		typ, _, _ := strings.Cut(name, " ")
		kinds[name] = true
		n.Places(v, func(path string, _ rawjson.Value) { places[typ+" "+path] = true })
	}
	return places, kinds
}

func TestKindName(t *testing.T) {
	for _, tt := range []struct{ dialect, frame, want string }{
		{"codex", `{"type":"turn.started"}`, "turn.started"},
		{"codex", `{"type":"item.completed","item":{"type":"command_execution","status":"failed"}}`, "item.completed item.type=command_execution item.status=failed"},
		{"claude", `{"type":"assistant","message":{"content":[{"type":"tool_use"},{"type":"text"},{"type":"text"}]}}`, "assistant message.content[].type=text+tool_use"},
		{"claude", `{"type":"result","subtype":"success","is_error":true}`, "result subtype=success is_error=true"},
		{"claude", `{"type":"assistant","error":"x","parent_tool_use_id":null}`, "assistant error parent_tool_use_id=null"},
		{"codex", `{"type":"a secret sentence of the model"}`, "<text> type=string"},
		{"codex", `["no frame"]`, "non_json"},
	} {
		n, err := normalize.New(dialect(t, tt.dialect))
		if err != nil {
			t.Fatal(err)
		}
		v, err := rawjson.Parse([]byte(tt.frame))
		if err != nil {
			t.Fatal(err)
		}
		if got := n.KindName(v); got != tt.want {
			t.Errorf("%s %s: name %q, want %q", tt.dialect, tt.frame, got, tt.want)
		}
	}
}
