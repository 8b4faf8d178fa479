//go:build unix

package gate

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// vectors are what was observed from OpenDesign v0.19.2 itself.
type vectors struct {
	CloseStatus []struct {
		Name  string `json:"name"`
		Input struct {
			Code                 *int    `json:"code"`
			Signal               *string `json:"signal"`
			CancelRequested      bool    `json:"cancelRequested"`
			ACPCleanCompletion   bool    `json:"acpCleanCompletion"`
			QuietShutdown        bool    `json:"artifactQuietShutdownRequested"`
			TurnCompletedCleanly bool    `json:"turnCompletedCleanly"`
			ArtifactProduced     bool    `json:"artifactProducedThisRun"`
		} `json:"input"`
		Status string `json:"status"`
	} `json:"close_status"`
	Bookkeeping []struct {
		Name      string `json:"name"`
		StdinOpen bool   `json:"stdinOpen"`
		Clean     bool   `json:"turnCompletedCleanly"`
	} `json:"claude_stdin_bookkeeping"`
}

func readVectors(t *testing.T) *vectors {
	t.Helper()
	dir := os.Getenv("AGENT_CONTRACTS_VECTORS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "vectors")
	}
	b, err := os.ReadFile(filepath.Join(dir, "misc.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no vectors in %s: set AGENT_CONTRACTS_VECTORS", dir)
	}
	v := &vectors{}
	if err := errors.Join(err, json.Unmarshal(b, v)); err != nil {
		t.Fatal(err)
	}
	return v
}

const (
	writes = `{"type":"assistant","message":{"id":"<id:1>","role":"assistant","content":[{"type":"tool_use","id":"<id:2>","name":"Write","input":{"file_path":"/w/p1.html","content":"<text:1>"}}],"stop_reason":"tool_use"}}`
	wrote  = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"<id:2>","content":"<text:3>"}]}}`
)

// How the daemon closes a run, each case as a real process that ends so.
func TestCloseStatusVectors(t *testing.T) {
	for _, v := range readVectors(t).CloseStatus {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			in := v.Input
			if in.QuietShutdown || in.CancelRequested {
				t.Skip("not a matter of what the child does")
			}
			agent, dialect, lines := "qwen", "plain", []string{"< prompt", "> text"}
			switch {
			case in.ACPCleanCompletion:
				agent, dialect = "kimi", "acp"
				lines = []string{"< " + initialize, "> " + initialized, "< " + newSession, "> " + session, "< " + prompt, "> " + chunk, "> " + answered}
			case in.TurnCompletedCleanly:
				agent, dialect, lines = "claude", "claude", []string{"< " + asked, "> " + said}
			case in.ArtifactProduced:
				agent, dialect, lines = "claude", "claude", []string{"< " + asked, "> " + writes, "> " + wrote}
			}
			end := ""
			if in.Code != nil {
				end = strconv.Itoa(*in.Code)
			} else if in.Signal != nil {
				end = *in.Signal
			}
			row := one(t, agent, dialect, append(lines, "exit "+end)...)
			if row.Status != StatusOK || row.Exit != end || !strings.HasPrefix(row.Daemon, v.Status+" ") {
				t.Errorf("%s %v: exit %s, daemon %s; want %s, %s", row.Status, row.Findings, row.Exit, row.Daemon, end, v.Status)
			}
		})
	}
}

// The frames of Claude that give the events of each case of the books on stdin.
var bookkeeping = map[string][]string{
	"turn_end_tool_use_keeps_open":          {writes},
	"turn_end_end_turn_closes":              {said},
	"usage_tool_use_keeps_open":             {strings.Replace(over, `"usage"`, `"stop_reason":"tool_use","usage"`, 1)},
	"turn_end_then_error_usage_stays_clean": {said, strings.Replace(over, `"is_error":false`, `"is_error":true`, 1)},
	"text_only_keeps_open":                  {strings.Replace(said, `"end_turn"`, `null`, 1)},
}

// When the host closes stdin, and that a clean turn outlives a bad exit.
func TestBookkeepingVectors(t *testing.T) {
	for _, v := range readVectors(t).Bookkeeping {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			frames := bookkeeping[v.Name]
			if frames == nil {
				t.Fatal("no frames give the events of this vector: add them")
			}
			lines := []string{"< " + asked}
			for _, f := range frames {
				lines = append(lines, "> "+f)
			}
			row := one(t, "claude", "claude", append(lines, "exit 1")...)
			if row.Status != StatusOK || (row.Stdin == "never") != v.StdinOpen {
				t.Errorf("%s %v: stdin closed %s, want it open: %t", row.Status, row.Findings, row.Stdin, v.StdinOpen)
			}
			if v.Clean && len(frames) == 1 && !strings.HasPrefix(row.Daemon, "succeeded") { // an error that follows decides first
				t.Errorf("a clean turn with exit 1: daemon %s", row.Daemon)
			}
		})
	}
}
