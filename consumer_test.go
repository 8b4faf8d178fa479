package agentcontracts_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
)

// A parser's test: each recorded run of an agent gives the events that the
// consumer needs.
func ExampleContracts_SupportedShapes() {
	shapes, err := agentcontracts.EmbeddedContracts().SupportedShapes(agentcontracts.Filter{Agent: "codex"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range shapes {
		have := map[string]bool{}
		for _, e := range s.ExpectedDaemonEvents { // in a test: what your parser makes of s.SanitizedFixture
			var event struct{ Type string }
			if err := json.Unmarshal(e, &event); err != nil {
				fmt.Println(err)
			}
			have[event.Type] = true
		}
		for _, want := range s.RequiredDaemonEvents {
			if !have[want] {
				fmt.Println(s.ID, "lost", want)
			}
		}
	}
	fmt.Println(len(shapes) > 0)
	// Output: true
}

// A classifier's test: each failing run is classified as the registry says.
func ExampleContracts_ErrorCases() {
	cases, err := agentcontracts.EmbeddedContracts().ErrorCases(agentcontracts.ErrorFilter{Agent: "codex"})
	if err != nil {
		fmt.Println(err)
		return
	}
	unclear := 0
	for _, c := range cases {
		if c.Expected == nil { // in a test: compare with what your classifier makes of c.ClassifierInput
			unclear++
		}
	}
	fmt.Println(len(cases) > 0, unclear)
	// Output: true 0
}

// A daemon's test: a child that prints what the recorded one printed.
func ExampleContracts_DaemonRunShapes() {
	runs, err := agentcontracts.EmbeddedContracts().DaemonRunShapes(agentcontracts.Filter{Agent: "claude"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range runs {
		if r.ExpectedStdin.Mode == "jsonl-open" && len(r.ExpectedStdin.Frames) == 0 {
			fmt.Println(r.ID, "is told nothing")
		}
	}
	fmt.Println(len(runs) > 0, runs[0].Run.Cwd)
	// Output: true /w
}

// runRow is what a package says of one daemon run, as a hash.
type runRow struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
}

const runsPath = "testdata/daemon-runs.json"

// said is what both packages say of a run, in one spelling: the transcript's
// frames, stdin, the end, and the number of the parser's events.
func said(t *testing.T, r agentcontracts.DaemonRunShape, events []json.RawMessage) string {
	t.Helper()
	h := sha256.New()
	text := func(s string) { fmt.Fprintf(h, "%d:%s\n", len(s), s) }
	list := func(l []string) {
		fmt.Fprintf(h, "%d\n", len(l))
		for _, s := range l {
			text(s)
		}
	}
	number := func(n *int) {
		if n == nil {
			text("null")
			return
		}
		text(fmt.Sprint(*n))
	}
	list(r.StdoutFrames)
	list(r.StderrFrames)
	text(string(r.ExpectedStdin.Mode))
	for _, f := range r.ExpectedStdin.Frames {
		number(&f.AfterStdoutLine)
		if f.Data == nil {
			text("prompt")
		} else {
			text(*f.Data)
		}
	}
	number(r.ExpectedStdin.ClosedAt)
	text(fmt.Sprint(r.ExpectedStdin.WaitsForEnd))
	number(r.Run.Exit.Code)
	fmt.Fprintf(h, "%d %d\n", len(r.Transcript), len(events))
	return hex.EncodeToString(h.Sum(nil))
}

// runRows are the committed ones; without a file there are none yet.
func runRows(t *testing.T) []runRow {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(runsPath))
	if errors.Is(err, fs.ErrNotExist) && *update {
		return nil
	}
	var rows []runRow
	if err == nil {
		err = json.Unmarshal(b, &rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// The committed rows hold: one run of each agent and dialect. Records are never
// edited, so that rows only come; npm/test/table.test.mjs holds the package
// against the same file.
func TestDaemonRunTable(t *testing.T) {
	c := agentcontracts.EmbeddedContracts()
	runs, err := c.DaemonRunShapes(agentcontracts.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	shapes, err := c.SupportedShapes(agentcontracts.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	events := map[string][]json.RawMessage{}
	for _, s := range shapes {
		events[s.ID] = s.ExpectedDaemonEvents
	}
	rows := runRows(t)
	have, first := map[string]string{}, map[string]runRow{}
	for _, r := range runs {
		have[r.ID] = said(t, r, events[r.ID])
		listed := slices.ContainsFunc(rows, func(row runRow) bool { return row.ID == r.ID })
		if key := r.Agent + " " + r.Dialect + " " + r.Probes[0]; first[key].ID == "" || listed { // -update keeps what is there
			first[key] = runRow{r.ID, have[r.ID]}
		}
	}
	if *update {
		rows = nil
		for _, key := range slices.Sorted(maps.Keys(first)) {
			rows = append(rows, first[key])
		}
		b, err := json.MarshalIndent(rows, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.FromSlash(runsPath), append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(rows) < 50 {
		t.Errorf("the table has %d rows", len(rows))
	}
	for _, row := range rows {
		if have[row.ID] != row.SHA256 {
			t.Errorf("%s is not what %s says", row.ID, runsPath)
		}
	}
}

// The filters narrow, and cases on which the consumer disagrees are asked for.
func TestContractFilters(t *testing.T) {
	c := agentcontracts.EmbeddedContracts()
	codex, err := c.SupportedShapes(agentcontracts.Filter{Agent: "codex"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range codex {
		if s.Agent != "codex" || s.SanitizedFixture == "" || s.ExpectedDaemonEvents == nil {
			t.Errorf("%s is not complete, or not of codex", s.ID)
		}
	}
	if none, err := c.SupportedShapes(agentcontracts.Filter{Agent: "codex", ProtocolFamily: "pi-rpc/v1"}); err != nil || len(none) > 0 {
		t.Errorf("codex has %d shapes of pi-rpc, error %v", len(none), err)
	}
	agreed, err := c.ErrorCases(agentcontracts.ErrorFilter{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.ErrorCases(agentcontracts.ErrorFilter{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(agreed) < 20 || len(all) <= len(agreed) {
		t.Errorf("%d error cases of which the consumer agrees with %d", len(all), len(agreed))
	}
	if _, err := agentcontracts.OpenContracts(os.DirFS(t.TempDir())).SupportedShapes(agentcontracts.Filter{}); err == nil {
		t.Error("a folder that is no registry has contracts")
	}
}

// The probe is not asked where it could change nothing, and its error leaves
// what is known without it.
func TestInjectedProbe(t *testing.T) {
	broken := errors.New("no sandbox")
	for _, tt := range []struct {
		version string
		err     error
		status  agentcontracts.Status
		asked   int
	}{{"0.9.0", nil, "too_old", 0}, {"2.0.0", nil, "unknown", 1}, {"2.0.0", broken, "unknown", 1}} {
		asked := 0
		claim, err := mine().ClassifyInstalledCLI(context.Background(), "mine", tt.version, "linux-x64", func(context.Context, string) (*agentcontracts.Probed, error) {
			asked++
			return nil, tt.err
		})
		if claim.Status != tt.status || !errors.Is(err, tt.err) || asked != tt.asked {
			t.Errorf("%s: %s, error %v, asked %d times; want %+v", tt.version, claim.Status, err, asked, tt)
		}
	}
}

func TestCoverage(t *testing.T) {
	c := agentcontracts.Embedded().CheckCoverage([]string{"codex", "devin", "mine", "other", "blank", "codex"}, map[string]string{"mine": "a private agent", "blank": " ", "codex": "why?", "gone": "x"})
	var exempt []string
	for _, e := range c.Exempt {
		exempt = append(exempt, e.Agent+" "+e.By)
	}
	got := fmt.Sprint(c.OK, c.Covered, exempt, c.Missing, c.Unneeded)
	want := "false [codex] [devin registry mine consumer] [{other the registry does not know it} {blank its exemption has no reason}] [codex gone]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
