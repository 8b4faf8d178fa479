package coverage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/coverage"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fixture reads the committed fixture of an agent's version and probe.
func fixture(t testing.TB, agent, version, probe string) replay.Input {
	t.Helper()
	var families contract.Families
	readJSON(t, "../../../registry/families.json", &families)
	names, err := filepath.Glob(filepath.Join("../../../observations", agent, version, "*", "*."+probe+".observation.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no observation of %s %s, %s (%v)", agent, version, probe, err)
	}
	var o contract.Observation
	readJSON(t, names[0], &o)
	b, err := os.ReadFile(filepath.Join("../../..", o.Extensions.Fixture))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := transcript.ReadSanitized(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return replay.Input{Transcript: tr, Agent: agent, Dialect: families.Dialect(o.Extensions.Dialect)}
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func of(t testing.TB, in replay.Input, read coverage.Reader) *coverage.Report {
	t.Helper()
	r, err := coverage.Of(in, read, coverage.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGolden: what both adapters read of a run with a tool call, of two CLIs.
func TestGolden(t *testing.T) {
	for _, v := range [][2]string{{"codex", "0.171.0"}, {"claude", "2.1.332"}} {
		for name, read := range map[string]coverage.Reader{"open-design": replay.OpenDesign, "reference": replay.Reference} {
			t.Run(v[0]+" "+name, func(t *testing.T) {
				got, err := contract.Encode(of(t, fixture(t, v[0], v[1], "chat-tool-success"), read))
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join("testdata", v[0]+"-"+v[1]+"."+name+".json")
				if *update {
					if err := os.WriteFile(file, got, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatalf("%v; run the test with -update", err)
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("coverage differs (-golden +now):\n%s", diff)
				}
			})
		}
	}
}

// TestNeverReadMayGo: a path that was never read can be left out of every
// frame of its kind, also together with others of them, and the events stay.
func TestNeverReadMayGo(t *testing.T) {
	type sample struct {
		in     replay.Input
		read   coverage.Reader
		report *coverage.Report
	}
	var samples []sample
	for _, v := range [][3]string{
		{"codex", "0.171.0", "chat-tool-success"}, {"codex", "0.133.0", "provider-failure"}, {"codex", "0.20.0", "chat-tool-success"},
		{"claude", "2.1.332", "chat-tool-failure"}, {"claude", "2.1.112", "chat-text-success"}, {"gemini", "*", "chat-tool-success"},
	} {
		in := fixture(t, v[0], v[1], v[2])
		for _, read := range []coverage.Reader{replay.OpenDesign, replay.Reference} {
			samples = append(samples, sample{in, read, of(t, in, read)})
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SampledFrom(samples).Draw(rt, "sample")
		k := rapid.SampledFrom(s.report.Kinds).Draw(rt, "kind")
		if len(k.NeverRead) == 0 {
			return
		}
		gone := rapid.SliceOfNDistinct(rapid.SampledFrom(k.NeverRead), 1, 5, rapid.ID[string]).Draw(rt, "gone")
		want, err := s.read(s.in)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := s.read(without(rt, s.in, k.FrameKind, gone))
		if err != nil {
			rt.Fatal(err)
		}
		if a, b := said(want), said(got); a != b {
			rt.Fatalf("%s without %q of %s gives other events:\n%s", s.in.Agent, gone, k.FrameKind, cmp.Diff(a, b))
		}
	})
}

func said(r *replay.Reading) string {
	var out []string
	for _, e := range r.Events {
		if e.Type() == "raw" {
			out = append(out, "raw")
			continue
		}
		out = append(out, string(e.JSON()))
	}
	return strings.Join(append(out, string(r.RunResult), r.ReportedResult), "\n")
}

// TestWhatIsReadAndWhatIsNot: a consumer of which we know what it reads.
func TestWhatIsReadAndWhatIsNot(t *testing.T) {
	d := &contract.Dialect{
		ID: "toy", Transport: contract.TransportJSONL, EventType: []string{"type"}, Opaque: []string{"blob"}, Maps: []string{"by"},
		Kind: []contract.Discriminator{{Path: "type", Mode: "value"}},
	}
	in := replay.Input{Dialect: d, Transcript: &transcript.Transcript{}}
	for _, l := range []string{
		`{"type":"say","text":"a","n":1,"blob":{"x":1},"by":{"k":1}}`,
		`{"type":"say","text":"b","deep":[{"flag":false,"note":"x"}]}`,
		`not json`,
		`{"type":"quiet","text":"c"}`,
		`{"type":"new","x":1}`,
	} {
		in.Transcript.Records = append(in.Transcript.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(l + "\n")})
	}
	got := of(t, in, toy)
	want := []coverage.Kind{
		{FrameKind: "say", Frames: 2, State: coverage.StateRead, Read: []string{"by", "by.<key>", "deep", "deep[]", "deep[].flag", "text", "type"}, NeverRead: []string{"blob", "deep[].note", "n"}},
		{FrameKind: "quiet", Frames: 1, State: coverage.StateIgnored, Read: []string{"type"}, NeverRead: []string{"text"}},
		{FrameKind: "new", Frames: 1, State: coverage.StateRaw, Read: []string{}, NeverRead: []string{"type", "x"}},
	}
	if diff := cmp.Diff(want, got.Kinds); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	if got.Read != 8 || got.NeverRead != 6 || got.NotLookedAt != 0 {
		t.Errorf("%d read, %d never, %d not looked at", got.Read, got.NeverRead, got.NotLookedAt)
	}
	for _, limits := range []coverage.Limits{{Readings: 6, Bytes: 1 << 20}, {Readings: 100, Bytes: 300}} {
		few, err := coverage.Of(in, toy, limits)
		if err != nil {
			t.Fatal(err)
		}
		if few.NotLookedAt == 0 || few.Read+few.NeverRead+few.NotLookedAt != 14 {
			t.Errorf("with %+v: %+v", limits, few)
		}
	}
}

// toy reads text, the count in a map, and a flag; quiet frames it knows and
// skips.
func toy(in replay.Input) (*replay.Reading, error) {
	r := &replay.Reading{Status: replay.StatusOK}
	for line := range in.Transcript.Lines(transcript.CLIToServer, transcript.Stdout) {
		v, err := rawjson.Parse(line)
		switch {
		case err == nil && v.Get("type").IsStr("say"):
			text := v.Get("text").Str() + string(v.At("by", "k").Raw())
			for x := range v.Get("deep").Children() {
				if x.Get("flag").Kind() == rawjson.Boolean {
					text += string(x.Get("flag").Raw())
				}
			}
			r.Text += text + ";"
		case err == nil && v.Get("type").IsStr("quiet"):
		default:
			r.Events = append(r.Events, raw(line))
		}
	}
	return r, nil
}

func TestNoCoverage(t *testing.T) {
	in := fixture(t, "codex", "0.171.0", "chat-text-success")
	plain := in
	plain.Dialect = &contract.Dialect{ID: "plain", Transport: contract.TransportPlain}
	if _, err := coverage.Of(plain, replay.Reference, coverage.DefaultLimits); !errors.Is(err, coverage.ErrNoFrames) {
		t.Errorf("a plain transcript: %v", err)
	}
	n := 0
	moody := func(in replay.Input) (*replay.Reading, error) {
		n++
		r := &replay.Reading{Status: replay.StatusOK}
		r.Text = strings.Repeat("x", n)
		return r, nil
	}
	if _, err := coverage.Of(in, moody, coverage.DefaultLimits); !errors.Is(err, coverage.ErrUnstable) {
		t.Errorf("a reader that changes its mind: %v", err)
	}
	// A consumer that breaks on a changed transcript has read what was changed.
	whole := in.Transcript.Bytes(transcript.CLIToServer, transcript.Stdout)
	brittle := func(in replay.Input) (*replay.Reading, error) {
		if !bytes.Equal(whole, in.Transcript.Bytes(transcript.CLIToServer, transcript.Stdout)) {
			return nil, fmt.Errorf("%w: as it must", coverage.ErrBroken)
		}
		return &replay.Reading{Status: replay.StatusOK}, nil
	}
	if r := of(t, in, brittle); r.NeverRead != 0 || r.Read == 0 {
		t.Errorf("of a consumer that breaks on every change: %d read, %d never", r.Read, r.NeverRead)
	}
	var notRun *coverage.NotRunError
	none := in
	d := *in.Dialect
	d.Parser = ""
	none.Dialect = &d
	if _, err := coverage.Of(none, replay.OpenDesign, coverage.DefaultLimits); !errors.As(err, &notRun) {
		t.Errorf("no parser: %v", err)
	}
}

// TestDocument: the frames of a JSON array are frames, on one line or on many.
func TestDocument(t *testing.T) {
	in := fixture(t, "claude", "2.1.332", "chat-text-success")
	var families contract.Families
	readJSON(t, "../../../registry/families.json", &families)
	in.Dialect = families.Dialect("claude-json")
	const doc = "[{\"type\":\"system\",\"subtype\":\"init\",\"note\":1},\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Hi\",\"note\":2}]\n"
	in.Transcript = &transcript.Transcript{}
	for line := range bytes.Lines([]byte(doc)) {
		in.Transcript.Records = append(in.Transcript.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: line})
	}
	r := of(t, in, replay.Reference)
	if len(r.Kinds) != 2 || !slices.Contains(r.Kinds[1].Read, "result") || !slices.Contains(r.Kinds[1].NeverRead, "note") {
		t.Errorf("coverage of a document: %+v", r.Kinds)
	}
}
