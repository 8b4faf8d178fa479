package redact_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// registry loads the families and the vocabulary of the repository.
func registry(t *testing.T) (*contract.Families, *redact.Vocabulary) {
	t.Helper()
	f := &contract.Families{}
	if err := json.Unmarshal(read(t, filepath.Join("..", "..", "registry", "families.json")), f); err != nil {
		t.Fatal(err)
	}
	v, err := redact.ParseVocabulary(read(t, filepath.Join("..", "..", "registry", "vocabulary.json")))
	if err != nil {
		t.Fatal(err)
	}
	return f, v
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// stream is what a CLI of a one-way dialect printed, and the agent that it is.
type stream struct {
	name, dialect, agent, text string
}

// agents are the agents whose id is not their dialect's.
var agents = map[string]string{"pi-json": "pi"}

// streams returns those of the normalizer's tests and, where they are there,
// those of other projects.
func streams(t *testing.T) []stream {
	t.Helper()
	var out []stream
	add := func(glob, dialect string) {
		names, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			id := dialect
			if id == "" {
				id, _, _ = strings.Cut(filepath.Base(name), "_")
			}
			agent := agents[id]
			if agent == "" {
				agent = id
			}
			out = append(out, stream{filepath.Base(name), id, agent, string(read(t, name))})
		}
	}
	add(filepath.Join("..", "normalize", "testdata", "streams", "*.jsonl"), "")
	if len(out) == 0 {
		t.Fatal("no streams in tools/normalize/testdata")
	}
	dir := os.Getenv("AGENT_CONTRACTS_SAMPLES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "sample-streams")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Log("the sample streams of other projects are not there; set AGENT_CONTRACTS_SAMPLES to test with them too")
		return out
	}
	for glob, dialect := range map[string]string{
		"amp/*.jsonl": "amp", "copilot/*.jsonl": "copilot", "gemini/*.jsonl": "gemini", "kimi/*.jsonl": "kimi", "opencode/*": "opencode",
		"pi/*.jsonl": "pi-json", "qoder/*.jsonl": "qoder",
	} {
		add(filepath.Join(dir, glob), dialect)
	}
	return out
}

func printed(text string) *transcript.Transcript {
	t := &transcript.Transcript{Records: []transcript.Record{{Dir: transcript.Process, Event: transcript.EventSpawn}}}
	for line := range strings.SplitAfterSeq(text, "\n") {
		if line != "" {
			t.Records = append(t.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(line)})
		}
	}
	code := 0
	t.Records = append(t.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &code})
	return t
}

// Both readings of a stream are the same raw and sanitized, in a hermetic run
// and in a live one: events, result and failure. So is the shape.
func TestOtherDialectsReadAlike(t *testing.T) {
	f, v := registry(t)
	r, err := redact.New(f, v)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range streams(t) {
		d := f.Dialect(s.dialect)
		if d == nil {
			t.Fatalf("%s: no dialect %s", s.name, s.dialect)
		}
		for _, hermetic := range []bool{true, false} {
			raw := printed(s.text)
			in := redact.Input{Dialect: d.ID, Hermetic: hermetic}
			clean, rep, err := r.Redact(raw, in)
			if err != nil || rep.Status != contract.RedactionPassed {
				t.Errorf("%s, hermetic %v: %s %v %v %v", s.name, hermetic, rep.Status, rep.Findings, rep.Unsure, err)
				continue
			}
			if len(rep.UnknownWords) > 0 {
				t.Logf("%s, hermetic %v: words that the vocabulary does not have: %v", s.name, hermetic, rep.UnknownWords)
			}
			again, _, err := r.Redact(clean, in)
			if err != nil || string(stdoutOf(again)) != string(stdoutOf(clean)) {
				t.Errorf("%s, hermetic %v: redacting twice differs from redacting once", s.name, hermetic)
			}
			sameReadings(t, s, d, raw, clean)
		}
	}
}

func stdoutOf(t *transcript.Transcript) []byte {
	return t.Bytes(transcript.CLIToServer, transcript.Stdout)
}

func sameReadings(t *testing.T, s stream, d *contract.Dialect, raw, clean *transcript.Transcript) {
	t.Helper()
	a, _, errA := normalize.Shape(raw, d, contract.LevelSyntheticMock)
	b, _, errB := normalize.Shape(clean, d, contract.LevelSyntheticMock)
	if errA != nil || errB != nil || a.Signature != b.Signature {
		t.Errorf("%s: redaction changed the shape: %v %v", s.name, errA, errB)
	}
	for name, adapter := range map[string]func(replay.Input) (*replay.Reading, error){"open-design": replay.OpenDesign, "reference": replay.Reference} {
		x, errX := adapter(replay.Input{Transcript: raw, Agent: s.agent, Dialect: d})
		y, errY := adapter(replay.Input{Transcript: clean, Agent: s.agent, Dialect: d})
		if errX != nil || errY != nil {
			t.Errorf("%s, %s: %v %v", s.name, name, errX, errY)
			continue
		}
		if name == "reference" && x.Status != replay.StatusOK {
			t.Errorf("%s: the reference does not read the dialect %s", s.name, d.ID)
		}
		if err := redact.EventsEquivalent(eventLines(x), eventLines(y)); err != nil {
			t.Errorf("%s, %s: %v", s.name, name, err)
		}
		if verdict(t, x) != verdict(t, y) {
			t.Errorf("%s, %s: raw %s, sanitized %s", s.name, name, verdict(t, x), verdict(t, y))
		}
	}
}

func eventLines(r *replay.Reading) [][]byte {
	out := make([][]byte, len(r.Events))
	for i, e := range r.Events {
		out[i] = e.JSON()
	}
	return out
}

// verdict spells what a reading makes of the run as a whole.
func verdict(t *testing.T, r *replay.Reading) string {
	t.Helper()
	b, err := json.Marshal(r.Failure)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join([]string{r.Status, string(r.RunResult), r.ReportedResult, string(b)}, " ")
}

// OpenDesign's parser of each dialect is the one that DESIGN D8 names.
func TestParsersOfOtherDialects(t *testing.T) {
	f, _ := registry(t)
	for id, parser := range map[string]string{
		"gemini": "gemini", "opencode": "opencode", "kimi": "kimi", "cursor-agent": "cursor-agent", "copilot": "copilot", "qoder": "qoder",
		"amp": "claude", "qwen": "", "droid": "", "pi-json": "",
	} {
		d := f.Dialect(id)
		if d == nil || d.Parser != parser {
			t.Errorf("dialect %s: %+v, want parser %q", id, d, parser)
			continue
		}
		got, err := replay.OpenDesign(replay.Input{Transcript: printed("{}\n"), Agent: id, Dialect: d})
		if err != nil || (got.Status == replay.StatusOK) != (parser != "") {
			t.Errorf("dialect %s: %v", id, err)
		}
	}
}

// What one CLI says is public in its own dialects only.
func TestVocabularyOfADialect(t *testing.T) {
	f, all := registry(t)
	v := &redact.Vocabulary{SchemaVersion: 1, Groups: []redact.VocabularyGroup{
		{ID: "all", Kind: "words", Source: "x", Entries: []string{"not"}},
		{ID: "one", Kind: "words", Source: "x", Dialects: []string{"droid"}, Entries: []string{"resumable"}},
	}}
	r, err := redact.New(f, v)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"droid": "not resumable", "codex": "not <text:1>"} {
		raw := printed("")
		raw.Records = append(raw.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stderr, Data: []byte("not resumable")})
		clean, _, err := r.Redact(raw, redact.Input{Dialect: id})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(clean.Bytes(transcript.CLIToServer, transcript.Stderr)); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	for _, g := range all.Groups {
		for _, id := range g.Dialects {
			if f.Dialect(id) == nil {
				t.Errorf("vocabulary group %s is for the dialect %q, which families.json does not have", g.ID, id)
			}
		}
	}
}
