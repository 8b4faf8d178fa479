package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// One target for each dialect: whatever a CLI prints, both adapters read it to
// the end, read it alike however the pipe cuts it, and keep no more than it
// said. docs/benchmarks/fuzz.md has the campaigns.

func FuzzCodex(f *testing.F)      { fuzzDialect(f, "codex", "codex") }
func FuzzCodexMsg(f *testing.F)   { fuzzDialect(f, "codex-msg", "codex") }
func FuzzClaude(f *testing.F)     { fuzzDialect(f, "claude", "claude") }
func FuzzClaudeJSON(f *testing.F) { fuzzDialect(f, "claude-json", "claude") }
func FuzzQwen(f *testing.F)       { fuzzDialect(f, "qwen", "qwen") }
func FuzzQoder(f *testing.F)      { fuzzDialect(f, "qoder", "qoder", seedClaudeLike) }
func FuzzAmp(f *testing.F)        { fuzzDialect(f, "amp", "amp", seedClaudeLike) }
func FuzzOpenCode(f *testing.F)   { fuzzDialect(f, "opencode", "opencode") }
func FuzzGemini(f *testing.F)     { fuzzDialect(f, "gemini", "gemini") }
func FuzzKimi(f *testing.F)       { fuzzDialect(f, "kimi", "kimi") }
func FuzzCursor(f *testing.F)     { fuzzDialect(f, "cursor-agent", "cursor-agent", seedCursor) }
func FuzzCopilot(f *testing.F)    { fuzzDialect(f, "copilot", "copilot") }
func FuzzDroid(f *testing.F)      { fuzzDialect(f, "droid", "droid") }
func FuzzPiJSON(f *testing.F)     { fuzzDialect(f, "pi-json", "pi") }
func FuzzPlain(f *testing.F)      { fuzzDialect(f, "plain", "qwen") }
func FuzzACP(f *testing.F)        { fuzzDialect(f, "acp", "opencode") }
func FuzzPiRPC(f *testing.F)      { fuzzDialect(f, "pi-rpc", "pi") }

// Seeds of the dialects of which no fixture is committed.
const (
	seedCursor = `{"type":"system","subtype":"init","session_id":"s","model":"Auto"}
{"type":"thinking","subtype":"delta","text":"h"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"ha"}]},"timestamp_ms":1}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"ha"}]},"model_call_id":"m"}
{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"/w/p"}}}}
{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"/w/p"},"result":{"success":{"content":"x"}}}}}
{"type":"error","message":"Connection lost"}
{"type":"result","subtype":"success","is_error":false,"result":"ha","usage":{"inputTokens":3,"outputTokens":2}}
`
	seedClaudeLike = `{"type":"system","subtype":"init","session_id":"s"}
{"type":"assistant","message":{"id":"m","model":"x","content":[{"type":"text","text":"ha"},{"type":"thinking","thinking":"h"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":1}},"parent_tool_use_id":null}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}],"is_error":true}]}}
{"type":"assistant","message":{"content":[]},"error":{"code":"x","message":"Not logged in"}}
{"type":"result","subtype":"success","is_error":false,"result":"ha","error":"e","usage":{"output_tokens":1}}
`
)

// The fuzzer changes short seeds faster: maxSeed bounds one, maxSeedLine what
// it takes of a fixture's lines.
const (
	maxSeed     = 3 << 10
	maxSeedLine = 1 << 10
)

// maxSeeds bounds the seeds of a dialect; a campaign finds the rest.
const maxSeeds = 48

func fuzzDialect(f *testing.F, id, agent string, seeds ...string) {
	found, err := seedFixtures()
	if err != nil {
		f.Fatal(err)
	}
	d := found.families.Dialect(id)
	if d == nil {
		f.Fatalf("no dialect %s in the registry", id)
	}
	n := 0
	add := func(stdout, other []byte, code int) {
		if n++; n <= maxSeeds {
			f.Add(stdout, other, code, uint64(n))
		}
	}
	for _, s := range seeds {
		add([]byte(s), []byte("Not logged in"), 1)
	}
	for _, s := range found.seeds {
		if stdout, other, ok := s.as(d); ok {
			add(stdout, other, s.code)
		}
	}
	if n == 0 {
		f.Fatalf("no seed for %s", id)
	}
	f.Fuzz(func(t *testing.T, stdout, other []byte, code int, cut uint64) {
		r := &fuzzRun{dialect: d, agent: agent, stdout: stdout, code: code, cut: cut}
		if d.ProtocolFamily.IsRPC() {
			r.stdin = other
		} else {
			r.stderr = other
		}
		before := allocated()
		r.openDesign(t, r.reference(t))
		if used, limit := allocated()-before, uint64(16<<20+2000*(len(stdout)+len(other))); used > limit {
			t.Errorf("reading %d bytes several times took %d bytes of memory", len(stdout), used)
		}
	})
}

// fixtureSeed is the beginning of a committed fixture.
type fixtureSeed struct {
	dialect               string
	stdin, stdout, stderr []byte
	code                  int
}

// as returns what the seed printed on stdout and stderr if it is of the
// dialect; of two-way dialects what the client wrote instead of stderr.
// Claude's frames are seeds of its array and of qwen's dialect too.
func (s *fixtureSeed) as(d *contract.Dialect) (stdout, other []byte, ok bool) {
	stdout, other = s.stdout, s.stderr
	switch {
	case d.ID == "claude-json" && s.dialect == "claude":
		stdout = fmt.Appendf(nil, "[%s]\n", bytes.ReplaceAll(bytes.TrimSpace(stdout), []byte("\n"), []byte(",")))
	case d.ID == "qwen" && s.dialect == "claude":
	case d.ID != s.dialect:
		return nil, nil, false
	}
	if d.ProtocolFamily.IsRPC() {
		other = s.stdin
	}
	return stdout, other, true
}

// seedFixtures reads the committed fixtures, once for all targets.
var seedFixtures = sync.OnceValues(func() (*fixtureSeeds, error) {
	var families contract.Families
	b, err := os.ReadFile(filepath.Join("..", "..", "registry", "families.json"))
	if err == nil {
		err = json.Unmarshal(b, &families)
	}
	if err != nil {
		return nil, err
	}
	var seeds []fixtureSeed
	err = filepath.WalkDir(filepath.Join("..", "..", "fixtures"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		t, err := transcript.ReadSanitized(file)
		if err != nil {
			return err
		}
		d, err := normalize.DetectDialect(&families, t)
		if err != nil {
			return nil // a fixture that needs to be told its dialect
		}
		s := fixtureSeed{
			dialect: d.ID,
			stdin:   head(t.Bytes(transcript.ServerToCLI, transcript.Stdin)),
			stdout:  head(t.Bytes(transcript.CLIToServer, transcript.Stdout)),
			stderr:  head(t.Bytes(transcript.CLIToServer, transcript.Stderr)),
		}
		if code, _, _ := t.Exit(); code != nil {
			s.code = *code
		}
		seeds = append(seeds, s)
		return nil
	})
	return &fixtureSeeds{&families, seeds}, err
})

type fixtureSeeds struct {
	families *contract.Families
	seeds    []fixtureSeed
}

// head returns the first lines of a stream, its last one included, without
// long ones.
func head(b []byte) []byte {
	var lines [][]byte
	for line := range bytes.Lines(b) {
		if len(line) <= maxSeedLine || len(lines) == 0 && len(b) == len(line) {
			lines = append(lines, line)
		}
	}
	size := 0
	for i, line := range lines {
		if size += len(line); size > maxSeed {
			lines = append(lines[:i], lines[len(lines)-1])
			break
		}
	}
	return bytes.Join(lines, nil)
}

type fuzzRun struct {
	dialect        *contract.Dialect
	agent          string
	stdout, stderr []byte
	stdin          []byte // of two-way dialects, all of it before stdout
	code           int
	cut            uint64
}

// chunks cuts b as a pipe might. The same cut gives the same chunks.
func (r *fuzzRun) chunks(b []byte) [][]byte {
	random := rand.New(rand.NewPCG(r.cut, uint64(len(b))))
	var out [][]byte
	for len(b) > 0 {
		n := 1 + random.IntN(min(len(b), 1+random.IntN(200)))
		out = append(out, b[:n])
		b = b[n:]
	}
	return out
}

func (r *fuzzRun) input() replay.Input {
	t := &transcript.Transcript{}
	for line := range bytes.Lines(r.stdin) {
		t.Records = append(t.Records, transcript.Record{Dir: transcript.ServerToCLI, Stream: transcript.Stdin, Data: line})
	}
	t.Records = append(t.Records, records(transcript.Stdout, r.stdout)...)
	t.Records = append(t.Records, records(transcript.Stderr, r.stderr)...)
	t.Records = append(t.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &r.code})
	return replay.Input{Transcript: t, Agent: r.agent, Dialect: r.dialect}
}

// reference holds the reference's reading of a transcript's lines against that
// of chunks, and returns it.
func (r *fuzzRun) reference(t *testing.T) *replay.Reading {
	t.Helper()
	whole, err := replay.Reference(r.input())
	if err != nil {
		t.Fatal(err)
	}
	in, err := reference.NewReader(r.dialect, r.agent)
	if err != nil {
		t.Fatal(err)
	}
	in.Stdin(r.stdin)
	for _, c := range r.chunks(r.stdout) {
		in.Stdout(c)
	}
	in.Stderr(r.stderr)
	cut := in.Close(reference.Ending{ExitCode: &r.code})
	// What is odd about stderr is known of a transcript's records only.
	maps.DeleteFunc(whole.Deviations, func(name string, _ int) bool { return strings.HasSuffix(name, "_stderr") })
	if !reflect.DeepEqual(&whole.Reading, cut) {
		t.Error("the reference's reading depends on chunk borders")
	}
	if size := r.events(t, whole.Events); size > 64<<10+16*(len(r.stdout)+len(r.stderr)+len(r.stdin)) {
		t.Errorf("the reference made %d bytes of events of %d bytes", size, len(r.stdout))
	}
	if text := len(whole.Text); text > 4*len(r.stdout) {
		t.Errorf("the reference made %d bytes of text of %d bytes", text, len(r.stdout))
	}
	if (whole.Failure == nil) != (whole.RunResult == contract.RunSuccess) {
		t.Errorf("a %s and its failure do not go together", whole.RunResult)
	}
	return whole
}

// events checks that events are JSON objects with a type and returns the size
// of all.
func (r *fuzzRun) events(t *testing.T, events []event.Event) int {
	t.Helper()
	size := 0
	for _, e := range events {
		line := e.JSON()
		size += len(line)
		if e.Type() == "" || !json.Valid(line) {
			t.Error("an event is not a JSON object with a type")
		}
	}
	return size
}

// openDesign holds the events of OpenDesign's parser for the whole against
// those for chunks, and both readings against each other.
func (r *fuzzRun) openDesign(t *testing.T, ref *replay.Reading) {
	t.Helper()
	consumer, err := replay.OpenDesign(r.input())
	if err != nil {
		t.Fatal(err)
	}
	replay.Compatible(ref, consumer)
	for _, reading := range []*replay.Reading{ref, consumer} {
		if _, err := replay.GoldenBytes(reading); err != nil {
			t.Error("a reading has no golden")
		}
	}
	if consumer.Status != replay.StatusOK || r.dialect.ProtocolFamily.IsRPC() {
		return // a session has no parser of its own
	}
	if whole, cut := r.parse(t, r.stdout), r.parse(t, r.chunks(r.stdout)...); whole != cut {
		t.Error("OpenDesign's events depend on chunk borders")
	}
}

// parse returns the events of OpenDesign's parser. Plain text is shown chunk
// by chunk, and a marker or control sequence that is cut in two is not seen
// (fault of v0.19.2): of it only that it ends is checked.
func (r *fuzzRun) parse(t *testing.T, chunks ...[]byte) string {
	t.Helper()
	p, err := opendesign.New(r.dialect.Parser, opendesign.Options{SuppressHTMLArtifacts: r.agent == "claude"})
	if err != nil {
		t.Fatal(err)
	}
	var events []event.Event
	for _, c := range chunks {
		events = append(events, p.Feed(c)...)
	}
	events = append(events, p.Flush()...)
	r.events(t, events)
	if r.dialect.Parser == "plain" {
		return ""
	}
	var b strings.Builder
	for _, e := range events {
		b.Write(e.JSON())
		b.WriteByte('\n')
	}
	return b.String()
}

// allocated returns how many bytes this process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
