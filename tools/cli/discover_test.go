package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// discover --write records what is new once, together with the matrix; a
// service that does not answer is said to be unavailable, and takes nothing
// from the record.
func TestDiscoverWrites(t *testing.T) {
	up := true
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up || r.URL.Path != "/repos/Aider-AI/aider/releases" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `[{"tag_name":"v0.90.0","published_at":"2026-11-01T00:00:00Z"}]`)
	}))
	defer service.Close()
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	registry := filepath.Join(dir, "registry")
	agents := `{"schema_version":1,"agents":[{"id":"aider","name":"Aider","tier":2,"protocol_families":["plain/v1"],"exemption":"a Python program","discover":{"github":{"repository":"Aider-AI/aider"}}}]}`
	if err := os.MkdirAll(filepath.Join(registry, "registry"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(registry, store.AgentsFile), []byte(agents), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (int, string) {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), Env{
			Args: append([]string{"discover", "--registry", registry}, args...), Stdout: &stdout, Stderr: &stderr, Dir: dir,
			Getenv: func(name string) string {
				return map[string]string{"GITHUB_API_URL": service.URL, "HOMEBREW_API_DOMAIN": service.URL, "XDG_STATE_HOME": filepath.Join(dir, "state")}[name]
			},
			Now: func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
		})
		t.Log(stderr.String())
		return code, stdout.String()
	}
	if code, out := run("--write"); code != ExitOK || !strings.Contains(out, "0.90.0") {
		t.Fatalf("exit %d\n%s", code, out)
	}
	record, err := os.ReadFile(filepath.Join(registry, matrix.LatestSeenPath))
	if err != nil || !strings.Contains(string(record), `"source": "github:Aider-AI/aider"`) {
		t.Fatalf("%v: %s", err, record)
	}
	reg, err := store.Open(registry)
	if err != nil {
		t.Fatal(err)
	}
	if _, same, err := matrix.Check(reg); err != nil || !same {
		t.Errorf("the matrix does not follow from the record: %v", err)
	}
	if _, out := run("aider", "aider"); strings.Count(out, "github:Aider-AI/aider") != 1 {
		t.Errorf("an agent that is named twice is shown so:\n%s", out)
	}
	up = false
	code, out := run("--write", "--format", "json")
	var report struct {
		Agents []struct {
			LatestSeen *string `json:"latest_seen"`
			Sources    []struct {
				Available bool
				Reason    string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != ExitCannotKnow {
		t.Fatalf("exit %d, %v\n%s", code, err, out)
	}
	if s := report.Agents[0].Sources[0]; report.Agents[0].LatestSeen != nil || s.Available || s.Reason == "" {
		t.Errorf("%s", out)
	}
	if again, _ := os.ReadFile(filepath.Join(registry, matrix.LatestSeenPath)); !bytes.Equal(record, again) {
		t.Errorf("a look that saw nothing changed the record:\n%s", again)
	}
	var seen contract.LatestSeen
	if err := json.Unmarshal(record, &seen); err != nil || seen.Agents[0].SeenAt != "2026-11-30T12:00:00Z" {
		t.Errorf("%+v, %v", seen, err)
	}
}
