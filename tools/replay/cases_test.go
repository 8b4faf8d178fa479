package replay_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/vectortest"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
)

// foreignCase is one folder of public cases: a CLI's output and what is right.
type foreignCase struct {
	dir     string
	Case    string `json:"case"`
	Agent   string `json:"agent"`
	Family  string `json:"protocol_family"`
	Surface string `json:"surface"`
	Input   struct {
		Files   []string     `json:"files"`
		Format  string       `json:"format"`
		Process *caseProcess `json:"process"`
	} `json:"input"`
	Expect map[string]json.RawMessage `json:"expect"`
}

type caseProcess struct {
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal"`
	TimedOut bool   `json:"timed_out"`
	Trigger  string `json:"terminal_trigger"`
}

// dialect is the dialect of a family whose cases must pass, or "": such a case
// is not judged.
func (c *foreignCase) dialect() string {
	switch {
	case c.Family == "acp-json-rpc/v1":
		return reference.DialectACP
	case c.Surface == "version":
		return reference.DialectVersion
	case c.Family == "claude-stream-json/v1":
		return reference.DialectClaude
	case c.Family == "plain/v1":
		return reference.DialectPlain
	}
	return caseDialects[c.Family][c.Agent]
}

// caseDialects are the dialects of families with several. Pi's rpc mode prints
// the frames of its json mode, and answers to commands.
var caseDialects = map[string]map[string]string{
	"json-event-stream/v1": {
		"codex": reference.DialectCodex, "gemini": reference.DialectGemini, "opencode": reference.DialectOpenCode, "kilo": reference.DialectOpenCode,
		"mimo": reference.DialectOpenCode, "cursor-agent": reference.DialectCursor, "kimi": reference.DialectKimi, "droid": reference.DialectDroid,
		"pi": reference.DialectPiJSON,
	},
	"copilot-stream-json/v1": {"copilot": reference.DialectCopilot},
	"qoder-stream-json/v1":   {"qoder": reference.DialectQoder},
	"pi-rpc/v1":              {"pi": reference.DialectPiRPC},
}

// TestCases reads every case and holds the reference reading against it. A
// case is judged by what a reading can show; other statements (redaction,
// shapes, versions) belong to other packages and are named on its line.
func TestCases(t *testing.T) {
	root := vectortest.Folder(t, "AGENT_CONTRACTS_CASES", "cases")
	dirs, err := filepath.Glob(filepath.Join(root, "*", "expect.json"))
	if err != nil || len(dirs) == 0 {
		t.Skipf("no cases in %s", root)
	}
	passed, failed, open := 0, 0, 0
	for _, file := range dirs {
		c := loadCase(t, file)
		j := &judge{t: t, c: c}
		if c.dialect() != "" {
			j.run()
		}
		j.drift()
		j.structure()
		j.normalizer()
		switch {
		case len(j.wrong) > 0:
			failed++
			t.Errorf("%s: failed: %s", c.Case, strings.Join(j.wrong, "; "))
		case len(j.checked) == 0:
			open++
			t.Logf("%s: not judged (%s)", c.Case, c.Agent)
		default:
			passed++
			t.Logf("%s: passed (%s)%s", c.Case, strings.Join(j.checked, " "), j.rest())
		}
	}
	t.Logf("cases: %d passed, %d failed, %d not judged", passed, failed, open)
	fmt.Printf("cases: %d passed, %d failed, %d not judged\n", passed, failed, open)
}

func loadCase(t *testing.T, file string) *foreignCase {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := &foreignCase{dir: filepath.Dir(file)}
	if err := json.Unmarshal(b, c); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if c.Case == "" {
		c.Case = filepath.Base(c.dir)
	}
	return c
}

// judge holds one case against its reading.
type judge struct {
	t       *testing.T
	c       *foreignCase
	checked []string
	wrong   []string
	skipped []string
}

func (j *judge) rest() string {
	if len(j.skipped) == 0 {
		return ""
	}
	return "; not judged: " + strings.Join(j.skipped, " ")
}

func (j *judge) bad(format string, a ...any) { j.wrong = append(j.wrong, fmt.Sprintf(format, a...)) }

func (j *judge) run() {
	if len(j.c.Input.Files) == 0 || !j.c.hasRun() {
		j.wordLists()
		j.modelLists()
		j.publicFixture()
		return
	}
	if j.stderrOfProducts() {
		return
	}
	in, err := j.c.load()
	if err != nil {
		j.skipped = append(j.skipped, err.Error())
		return
	}
	j.expect("", in, j.c.Expect)
	j.variants(in)
}

// hasRun reports whether the case states anything about a run.
func (c *foreignCase) hasRun() bool {
	for _, k := range []string{"run_result", "daemon_events", "daemon_events_contains", "daemon_events_if_legacy_supported", "joined_text", "final_usage", "failure", "unknown_tally"} {
		if _, ok := c.Expect[k]; ok {
			return true
		}
	}
	return false
}

// expect checks the statements about one input.
func (j *judge) expect(name string, in *caseInput, expect map[string]json.RawMessage) {
	r, err := in.read()
	if err != nil {
		j.bad("%s%v", name, err)
		return
	}
	keys := make([]string, 0, len(expect))
	for k := range expect {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		check := statements[k]
		if check == nil {
			if !slices.Contains([]string{"note", "variants", "control", "drift", "frame_types", "shapes_differ", "normalizer"}, k) {
				j.skipped = append(j.skipped, name+k)
			}
			continue
		}
		if what := check(r, expect[k]); what != "" {
			j.bad("%s%s: %s", name, k, what)
		}
		j.checked = append(j.checked, name+k)
	}
}
