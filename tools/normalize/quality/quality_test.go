package quality

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// short is two short fixtures of every dialect. All are read for it, once.
var short = sync.OnceValues(func() ([]Fixture, error) {
	reg, err := store.Open(filepath.Join("..", "..", ".."))
	if err != nil {
		return nil, err
	}
	all, err := Load(reg, nil)
	count := map[string]int{}
	var out []Fixture
	for _, f := range all {
		if n := len(f.Transcript.Records); n > 6 && n < 40 && count[f.Dialect.ID] < 2 {
			count[f.Dialect.ID]++
			out = append(out, f)
		}
	}
	return out, err
})

func sample(t testing.TB) []Fixture {
	t.Helper()
	out, err := short()
	must(t, err)
	if len(out) < 8 {
		t.Fatalf("only %d fixtures", len(out))
	}
	return out
}

// Every change of structure in committed runs gives another signature, no
// change of content does, save in declared parts. The whole registry is
// measured by normalize --sensitivity (docs/benchmarks/sensitivity.md).
func TestSensitivity(t *testing.T) {
	r, err := Sensitivity(sample(t), nil)
	must(t, err)
	for _, x := range r.Rows {
		if x.WrongCount > 0 {
			t.Errorf("%s: %d unexplained, first %q", x.Mutation, x.WrongCount, x.Wrong[0])
		}
	}
	if len(r.Rows) < 12 {
		t.Errorf("only %d kinds of mutation were tried", len(r.Rows))
	}
}

func TestStability(t *testing.T) {
	s, err := Stability(sample(t), nil, nil, t.TempDir(), nil)
	must(t, err)
	if !s.OK() {
		t.Errorf("%+v", s.Chunkings)
	}
}

// What a rule hides is counted as declared, by the rule.
func TestSensitivityCountsWhatARuleHides(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "registry", "families.json"))
	must(t, err)
	var f contract.Families
	must(t, json.Unmarshal(b, &f))
	d := *f.Dialect("codex")
	run := `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}
{"type":"turn.completed","usage":{"input_tokens":1}}
`
	code := 0
	tr := &transcript.Transcript{}
	for line := range strings.Lines(run) {
		tr.Records = append(tr.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(line)})
	}
	tr.Records = append(tr.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &code})
	good, err := Sensitivity([]Fixture{{"run", &d, tr}}, nil)
	must(t, err)
	if !good.OK() {
		t.Fatalf("%+v", good.Rows[0])
	}
	d.Stream = []contract.Match{{"type": {"turn.started"}}}
	bad, err := Sensitivity([]Fixture{{"run", &d, tr}}, nil)
	must(t, err)
	if x := bad.row("duplicate a frame", true); x.Changed == x.Tried || x.Declared["stream kind"] == 0 {
		t.Errorf("a kind that folds: %+v", x)
	}
}

// What is edited is what was meant, and nothing beside it.
func TestEdits(t *testing.T) {
	d := &contract.Dialect{Transport: contract.TransportJSONL, EventType: []string{"type"}, Maps: []string{"m"}}
	run, err := newRun(Fixture{Dialect: d, Transcript: &transcript.Transcript{}})
	must(t, err)
	text := `{"a" : "x\n\u00e9y", "b":[{"c":1},{"c":20}] ,"m":{"k":1},"z":null}`
	tests := []struct {
		name, path, want string
		do               change
	}{
		{"rename", "a", `{"a_v2" : "x\n\u00e9y", "b":[{"c":1},{"c":20}] ,"m":{"k":1},"z":null}`, rename},
		{"rename in an array", "b[].c", `{"a" : "x\n\u00e9y", "b":[{"c_v2":1},{"c_v2":20}] ,"m":{"k":1},"z":null}`, rename},
		{"rename a map's key", "m.<key>", "", rename},
		{"drop the first", "a", `{ "b":[{"c":1},{"c":20}] ,"m":{"k":1},"z":null}`, drop},
		{"drop the last", "z", `{"a" : "x\n\u00e9y", "b":[{"c":1},{"c":20}] ,"m":{"k":1}}`, drop},
		{"drop the only one", "b[].c", `{"a" : "x\n\u00e9y", "b":[{},{}] ,"m":{"k":1},"z":null}`, drop},
		{"retype", "z", `{"a" : "x\n\u00e9y", "b":[{"c":1},{"c":20}] ,"m":{"k":1},"z":"x"}`, retype},
		{"add", "b[]", `{"a" : "x\n\u00e9y", "b":[{"new_member":1,"c":1},{"new_member":1,"c":20}] ,"m":{"k":1},"z":null}`, add},
		{"add to a map", "m", "", add},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run.frames = []frame{{text: []byte(text)}}
			tr := &trial{run: run}
			got := tr.everywhere([]int{0}, tt.path, tt.do)
			if string(got[0]) != tt.want {
				t.Errorf("got  %s\nwant %s", got[0], tt.want)
			}
		})
	}
	if got := turned([]byte(`"Ab\n\u00e9é9"`)); got != `"No\n\u00e9é9"` {
		t.Errorf("turned %s", got)
	}
	if got := counted([]byte(`-190.5e2`)); got != `-210.6e2` {
		t.Errorf("counted %s", got)
	}
}

func TestRepeatedCells(t *testing.T) {
	one := func(version, sig string) store.Observed {
		o := store.Observed{}
		o.Agent, o.CLIVersion, o.Probe, o.Shape.Signature = "codex", version, "p", contract.Sum([]byte(sig))
		o.Extensions.Fixture = "fixtures/" + sig
		return o
	}
	all := []store.Observed{one("1.0.0", "a"), one("1.0.0", "a"), one("1.1.0", "a"), one("1.2.0", "a"), one("1.2.0", "b")}
	for prefix, want := range map[string]int{"fixtures/a": 2, "./fixtures/b": 1, "fixtures/c": 0} { // a cell counts whole
		s, err := Stability(nil, all, []string{prefix}, t.TempDir(), nil)
		must(t, err)
		if len(s.Repeated) != want || want == 1 && s.Repeated[0].Signatures != 2 {
			t.Errorf("%s: %+v", prefix, s.Repeated)
		}
	}
	s, err := Stability(nil, all, nil, t.TempDir(), nil)
	must(t, err)
	if len(s.Repeated) != 2 || s.Repeated[0].Signatures != 1 || s.Repeated[1].Signatures != 2 || s.OK() {
		t.Errorf("%+v", s.Repeated)
	}
}
