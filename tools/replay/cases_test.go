package replay_test

import (
	"encoding/json"
	"fmt"
	"maps"
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

// TestCases reads every case and holds what this program says of its input
// against it: the reading, and what redaction, normalization, comparison and
// the version probe make of it. A statement in a form that no program reads is
// named on the case's line and never counts as passed.
func TestCases(t *testing.T) {
	root := vectortest.Folder(t, "AGENT_CONTRACTS_CASES", "cases")
	dirs, err := filepath.Glob(filepath.Join(root, "*", "expect.json"))
	if err != nil || len(dirs) == 0 {
		t.Skipf("no cases in %s", root)
	}
	passed, failed, open := 0, 0, 0
	for _, file := range dirs {
		c := loadCase(t, file)
		j := &judge{t: t, c: c, read: map[string]bool{}}
		if c.dialect() != "" {
			j.run()
		}
		j.versionFiles()
		j.drift()
		j.structure()
		j.normalizer()
		j.unread()
		switch {
		case len(j.wrong) > 0:
			failed++
			t.Errorf("%s: failed: %s", c.Case, strings.Join(j.wrong, "; "))
		case len(j.checked) == 0:
			open++
			t.Logf("%s: not judged (%s)%s", c.Case, c.Agent, j.rest())
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
	read    map[string]bool // the statements that were judged or listed
}

func (j *judge) rest() string {
	if len(j.skipped) == 0 {
		return ""
	}
	return "; not judged: " + strings.Join(j.skipped, " ")
}

func (j *judge) bad(format string, a ...any) { j.wrong = append(j.wrong, fmt.Sprintf(format, a...)) }

func (j *judge) run() {
	if j.stderrOfProducts() {
		return
	}
	j.wordLists()
	j.modelLists()
	j.publicFixture()
	if !j.c.hasStatements() {
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

// hasStatements reports whether the case states anything about its input as a
// whole.
func (c *foreignCase) hasStatements() bool {
	for k := range c.Expect {
		if statements[k] != nil || beyond[k] != nil || k == "variants" || k == "control" {
			return true
		}
	}
	return false
}

// elsewhere are the members of expect that another step of the judge reads.
var elsewhere = map[string]bool{
	"note": true, "variants": true, "control": true, "drift": true, "frame_types": true, "shapes_differ": true, "normalizer": true,
	"texts": true, "not_limits": true, "models": true, "models_fork": true, "rule": true, "must_not_contain_in_public_fixture": true,
	"alt_failure": true,
}

// unread lists the statements that no step of the judge reads.
func (j *judge) unread() {
	for _, k := range slices.Sorted(maps.Keys(j.c.Expect)) {
		if !j.read[k] && !elsewhere[k] {
			j.skipped = append(j.skipped, k)
		}
	}
}

// expect checks the statements about one input.
func (j *judge) expect(name string, in *caseInput, expect map[string]json.RawMessage) {
	r, err := in.read()
	if err != nil {
		j.bad("%s%v", name, err)
		return
	}
	for _, k := range slices.Sorted(maps.Keys(expect)) {
		var what string
		switch {
		case k == "failure" && expect["alt_failure"] != nil && checkFailure(r, expect["alt_failure"]) == "":
		case k == "version" && strings.HasPrefix(string(expect[k]), "{"):
			continue // versionFiles
		case statements[k] != nil:
			what = statements[k](r, expect[k])
		case beyond[k] != nil:
			what = beyond[k](j, in, expect[k])
		case name != "" && !elsewhere[k]:
			what = notJudged
		default:
			continue
		}
		if name == "" {
			j.read[k] = true
		}
		switch what {
		case "":
			j.checked = append(j.checked, name+k)
		case notJudged:
			j.skipped = append(j.skipped, name+k)
		default:
			j.bad("%s%s: %s", name, k, what)
		}
	}
}
