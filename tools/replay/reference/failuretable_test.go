package reference

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tableRow is a row of the public error-texts table: agent, text, verdict,
// action and retryability.
var tableRow = regexp.MustCompile("^\\| (\\d+) \\| ([^|]+?) \\| `(.*?)`(?: in result\\.error)? \\| ([^|]+?) \\| ([^|]+?) \\|")

var verdictWords = regexp.MustCompile(`^([a-z_]+)/([a-z_0-9]+)`)

// TestErrorTextTable holds the table of error texts against the public one:
// every text that means a failure must be known and mean that one, every text
// that means none must not be taken for one.
func TestErrorTextTable(t *testing.T) {
	f, err := os.Open(filepath.Join(sharedFolder(t), "research", "error-texts.md"))
	if err != nil {
		t.Skip("no error-texts table beside the repository")
	}
	defer func() { _ = f.Close() }()
	rows := 0
	for in := bufio.NewScanner(f); in.Scan(); {
		m := tableRow.FindStringSubmatch(strings.ReplaceAll(in.Text(), `\|`, "¦"))
		if m == nil {
			continue
		}
		rows++
		t.Run("row "+m[1], func(t *testing.T) { checkTableRow(t, m) })
	}
	if rows < 60 {
		t.Errorf("only %d rows were understood", rows)
	}
}

// agentID is the id that the table's second column stands for.
func agentID(column string) string {
	id, _, _ := strings.Cut(column, " ")
	return id
}

// decidedByCases are rows whose action is another one in a case with the same
// words: 046 and 101 have nothing to do for a used-up quota.
var decidedByCases = []string{"37", "39", "40"}

func checkTableRow(t *testing.T, m []string) {
	text, want, action := strings.ReplaceAll(m[3], "¦", "|"), m[4], m[5]
	got := classifyStderr(agentID(m[2]), []byte(text+"\n"))
	words := verdictWords.FindStringSubmatch(want)
	if strings.HasPrefix(text, "exit code") {
		return // decided by the exit code, not by a text
	}
	if words == nil {
		if strings.HasPrefix(want, "none (diagnostic") && got != nil {
			t.Errorf("%q is no failure, got %s/%s", text, got.Category, got.Detail)
		}
		return
	}
	if got == nil {
		t.Fatalf("%q is not known, want %s", text, want)
	}
	if have := fmt.Sprintf("%s/%s", got.Category, got.Detail); have != words[0] && !strings.Contains(want, got.Detail) {
		t.Errorf("%q: got %s, want %s", text, have, want)
	}
	if a, r, ok := strings.Cut(action, ", "); ok && len(a) < 20 && !slices.Contains(decidedByCases, m[1]) {
		if string(got.UserAction) != a || got.Retryable != strings.HasPrefix(r, "yes") {
			t.Errorf("%q: got %s, retryable %v; the table has %s", text, got.UserAction, got.Retryable, action)
		}
	}
}

func sharedFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "..", "shared")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = parent
	}
}

// TestWordsThatAreNoErrors: numbers and words that look like an error and are
// none, on a stderr that decides nothing.
func TestWordsThatAreNoErrors(t *testing.T) {
	for _, text := range []string{
		"exit code 401", "line 500 of main.go", "took 429 ms", "code 429 is the answer", "port 5003 is open", "503 files",
		"the rate limiter test passed", "checking quota", "limit the output to 5 lines", "authentication succeeded",
		"Reading additional input from stdin...", "Reading prompt from stdin...", "Loaded cached credentials.",
		"ERROR codex_core::codex: failed to load skill a/b: invalid description",
		"ERROR rmcp: failed to refresh OAuth tokens for server linear: invalid_grant: unauthorized: x",
		"2026-05-21T09:18:12Z INFO http: status 401 retried",
		"Model metadata for `x` not found. Defaulting to fallback metadata; this can degrade performance.",
	} {
		if v := classifyStderr("codex", []byte(text+"\n")); v != nil {
			t.Errorf("%q is taken for %s/%s", text, v.Category, v.Detail)
		}
	}
	for text, want := range map[string]string{
		"HTTP/1.1 503": "upstream_5xx", "error 503": "upstream_5xx", "code: 429": "rate_limit_429", `{"statusCode":429}`: "rate_limit_429",
		"status=401": "auth_required", "Unauthorized": "auth_required", "response code 404": "upstream_client_error",
	} {
		if v := classifyText("codex", text); v == nil || v.Detail != want {
			t.Errorf("%q is not taken for %s: %+v", text, want, v)
		}
	}
}
