package normalize_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Public reports that say what a shape must and must not hold.
func TestReportedStreams(t *testing.T) {
	dir := os.Getenv("AGENT_CONTRACTS_CASES")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "cases")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no folder of cases: set AGENT_CONTRACTS_CASES (%v)", err)
	}
	tests := []struct {
		name, dialect string
		check         func(t *testing.T, in string, s *contract.Shape)
	}{
		{"017-codex-single-json-vs-jsonl", "codex", func(t *testing.T, _ string, s *contract.Shape) {
			f := frameOf(t, s, "item.completed")
			if got := typesAt(f, "item.text"); !slices.Equal(got, []string{"string"}) {
				t.Errorf("item.text has types %q", got)
			}
			if hasText(t, s, "REJECTED") || slices.ContainsFunc(f.Paths, func(p contract.PathShape) bool { return strings.HasPrefix(p.Path, "item.text.") }) {
				t.Error("the answer's JSON is in the shape")
			}
		}},
		{"019-claude-rate-limit-event-variants", "claude", func(t *testing.T, _ string, s *contract.Shape) {
			f := frameOf(t, s, "rate_limit_event")
			for _, p := range f.Paths {
				if p.Path == "rate_limit_info.status" && p.Required {
					t.Error("a member that one frame lacks is required")
				}
			}
			if got := typesAt(f, "rate_limit_info.resetsAt"); !slices.Equal(got, []string{"number"}) || f.Enums["rate_limit_info.resetsAt"] != nil {
				t.Errorf("resetsAt has types %q and values %s", got, f.Enums["rate_limit_info.resetsAt"])
			}
		}},
		{"022-claude-prompt-too-long-terminal-reason", "claude", func(t *testing.T, in string, s *contract.Shape) {
			status := slices.IndexFunc(s.FrameShapes, func(f contract.FrameShape) bool {
				return slices.Equal(f.Enums["subtype"], []contract.Literal{`"status"`})
			})
			if got := typesAt(&s.FrameShapes[status], "status"); !slices.Equal(got, []string{"null", "string"}) {
				t.Errorf("status has types %q", got)
			}
			turned := strings.Replace(in, `"is_error":false,"type":"result"`, `"type":"result","is_error":false`, 1)
			if turned == in || signature(t, turned, dialect(t, "claude")) != s.Signature {
				t.Error("key order changed the shape")
			}
		}},
		{"023-claude-tool-progress-heartbeat", "claude", func(t *testing.T, in string, s *contract.Shape) {
			lines := strings.SplitAfter(in, "\n")
			one := strings.Join(slices.Delete(slices.Clone(lines), 3, 4), "")
			if signature(t, one, dialect(t, "claude")) != s.Signature {
				t.Error("the number of heartbeats changed the shape")
			}
		}},
		{"095-codex-error-message-is-json-string", "codex", func(t *testing.T, _ string, s *contract.Shape) {
			if hasText(t, s, "gpt-") {
				t.Error("a model's name is in the shape")
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(dir, tt.name, "input.jsonl"))
			if err != nil {
				t.Skipf("the folder has no such case: %v", err)
			}
			s, _ := shape(t, stdout(string(b)), dialect(t, tt.dialect))
			tt.check(t, string(b), s)
		})
	}
}

func frameOf(t *testing.T, s *contract.Shape, event string) *contract.FrameShape {
	t.Helper()
	for i := range s.FrameShapes {
		if s.FrameShapes[i].EventType == event {
			return &s.FrameShapes[i]
		}
	}
	t.Fatalf("no frame of type %s", event)
	return nil
}

func typesAt(f *contract.FrameShape, path string) []string {
	var out []string
	for _, p := range f.Paths {
		if p.Path == path {
			out = append(out, p.Type)
		}
	}
	return out
}

func hasText(t *testing.T, s *contract.Shape, text string) bool {
	t.Helper()
	b, err := contract.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(b), text)
}
