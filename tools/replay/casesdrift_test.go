package replay_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// verdicts are the words by which a case can name a verdict; other texts say
// in prose that two streams are not the same.
var verdicts = []contract.Verdict{
	contract.VerdictSameShape, contract.VerdictCompatibleNewShape, contract.VerdictServerVariant, contract.VerdictParserIncompatible,
}

// drift compares the case's stream with the one before the change that it
// reports. A report shows one side; the other is made by taking the named
// changes back.
func (j *judge) drift() {
	raw, ok := j.c.Expect["drift"]
	if !ok {
		return
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(raw, &want); err != nil {
		j.bad("drift: %v", err)
		return
	}
	var signals []string
	if err := json.Unmarshal(want["signals"], &signals); err != nil && want["signals"] != nil {
		j.bad("drift: %v", err)
		return
	}
	if a, b, ok := j.c.helpTexts(); ok {
		j.signals(compare.Help(a, b, contract.ProtocolFamily(j.c.Family)), signals)
		return
	}
	in, err := j.c.load()
	if err != nil || j.c.dialect() == "" {
		j.skipped = append(j.skipped, "drift")
		return
	}
	d := j.c.caseDialect(j.t, in)
	after := in.transcript()
	older := undo{dialect: d, signals: signals}
	before := older.apply(after)
	if len(signals) == 0 {
		before, after = firstAndSecond(after)
	}
	oldDialect := d
	if older.envelope {
		oldDialect = familiesOf(j.t).Dialect(j.c.dialect())
		before = lines(older.frames())
	}
	a, b := sideOf(j.t, before, oldDialect), sideOf(j.t, after, d)
	r := compare.Runs(a, b, d)
	j.signals(r, signals)
	status := replayStatus(j.t, j.c.Agent, d, after)
	if status == replayStatus(j.t, j.c.Agent, oldDialect, before) {
		status = "" // what the consumer cannot read of a part of a run is not the change's doing
	}
	for key, raw := range want {
		if key == "signals" {
			continue
		}
		j.verdict(r, key, string(raw), status)
	}
}

func (j *judge) verdict(r compare.Result, key, raw string, status contract.ReplayStatus) {
	word := contract.Verdict(strings.Trim(raw, `"`))
	got := r.Judge(compare.Evidence{Replay: status, SameTarget: word == contract.VerdictServerVariant})
	switch {
	case !slices.Contains(verdicts, word):
		if got == contract.VerdictSameShape {
			j.bad("drift.%s: same_shape, want another shape", key)
		}
	case got != word:
		j.bad("drift.%s: %s, want %s (signals %q)", key, got, word, spelled(r))
	}
	j.checked = append(j.checked, "drift."+key)
}

// signals checks that each signal is there. A report may name the two ends of
// a rename in either order, and a path from its last steps on or behind the
// event's type.
func (j *judge) signals(r compare.Result, want []string) {
	got := spelled(r)
	for _, w := range want {
		if !slices.ContainsFunc(r.Signals, func(s compare.Signal) bool { return says(s, w) }) {
			j.bad("drift.signals: no %s in %q", w, got)
		}
	}
	if len(want) > 0 {
		j.checked = append(j.checked, "drift.signals")
	}
}

func says(s compare.Signal, want string) bool {
	id, what, _ := strings.Cut(want, ":")
	if s.ID != id {
		return false
	}
	if s.String() == want || what == "" {
		return true
	}
	if from, to, ok := strings.Cut(what, "<->"); ok {
		return s.From == from && s.To == to || s.From == to && s.To == from
	}
	path, rest, _ := strings.Cut(what, "=")
	path, _, _ = strings.Cut(path, ":")
	if s.ID == compare.EnumAdded && s.To != rest {
		return false
	}
	return s.Path != "" && (s.Path == path || strings.HasSuffix(s.Path, "."+path) || s.EventType+"."+s.Path == path)
}

func spelled(r compare.Result) []string {
	var out []string
	for _, s := range r.Signals {
		out = append(out, s.String())
	}
	return out
}

// helpTexts returns the two help texts of a case, the older one first.
func (c *foreignCase) helpTexts() (older, newer string, ok bool) {
	if len(c.Input.Files) != 2 || !strings.HasPrefix(c.Input.Files[0], "help") || !strings.HasPrefix(c.Input.Files[1], "help") {
		return "", "", false
	}
	var texts [2]string
	for i, name := range c.Input.Files {
		b, err := os.ReadFile(filepath.Join(c.dir, filepath.Base(name)))
		if err != nil {
			return "", "", false
		}
		texts[i] = string(b)
	}
	return texts[0], texts[1], true
}

func (in *caseInput) transcript() *transcript.Transcript {
	if in.records != nil {
		return in.records
	}
	t := &transcript.Transcript{}
	t.Records = append(t.Records, records(transcript.Stdout, in.stdout)...)
	t.Records = append(t.Records, records(transcript.Stderr, in.stderr)...)
	t.Records = append(t.Records, in.ending()...)
	return t
}

// caseDialect is the dialect of a case's input as its content tells it, within
// the family of the case.
func (c *foreignCase) caseDialect(t *testing.T, in *caseInput) *contract.Dialect {
	t.Helper()
	all := familiesOf(t)
	named := all.Dialect(c.dialect())
	d, err := normalize.DetectDialect(all, in.transcript())
	if err != nil || named != nil && (d.ProtocolFamily != named.ProtocolFamily || d.Parser != named.Parser) {
		return named
	}
	return d
}

func familiesOf(t *testing.T) *contract.Families {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "registry", "families.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f contract.Families
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

func sideOf(t *testing.T, tr *transcript.Transcript, d *contract.Dialect) compare.Side {
	t.Helper()
	s, notes, err := normalize.Shape(tr, d, contract.LevelRuntimeObserved)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := compare.ErrorTexts(tr, d)
	if err != nil {
		t.Fatal(err)
	}
	payloads, err := compare.PayloadKinds(tr, d)
	if err != nil {
		t.Fatal(err)
	}
	code, _, _ := tr.Exit()
	return compare.Side{
		Shape: s, Dialect: d, Optional: notes.OptionalKinds, AfterTerminal: notes.AfterTerminal,
		ExitCode: code, Texts: texts, Payloads: payloads,
	}
}

func replayStatus(t *testing.T, agent string, d *contract.Dialect, tr *transcript.Transcript) contract.ReplayStatus {
	t.Helper()
	in := replay.Input{Transcript: tr, Agent: agent, Dialect: d}
	ref, err := replay.Reference(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := replay.OpenDesign(in)
	if err != nil {
		t.Fatal(err)
	}
	return replay.Compatible(ref, got).Status
}

// structure checks what a case says of the frames' types and of shapes.
func (j *judge) structure() {
	raw, ok := j.c.Expect["frame_types"]
	if !ok || j.c.dialect() == "" {
		return
	}
	var want []string
	in, err := j.c.load()
	if json.Unmarshal(raw, &want) != nil || err != nil {
		j.bad("frame_types: cannot be read")
		return
	}
	d := j.c.caseDialect(j.t, in)
	s := sideOf(j.t, in.transcript(), d).Shape
	var got []string
	for _, i := range flatten(s.Extensions.Sequence) {
		name := s.FrameShapes[i].EventType
		if parent, _, ok := strings.Cut(d.EventType[0], "."); ok && !slices.Contains(want, name) {
			name = parent + "." + name // where the type stands is part of its name
		}
		if slices.Contains(want, name) {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, want) {
		j.bad("frame_types: %q, want %q", got, want)
	}
	j.checked = append(j.checked, "frame_types")
	var differ bool
	if json.Unmarshal(j.c.Expect["shapes_differ"], &differ) == nil {
		seen := map[string]bool{}
		for _, f := range s.FrameShapes {
			if slices.Contains(want, f.EventType) {
				seen[fmt.Sprint(f.Paths, f.Enums)] = true
			}
		}
		if (len(seen) > 1) != differ {
			j.bad("shapes_differ: %d shapes of these frames, differ %v", len(seen), differ)
		}
		j.checked = append(j.checked, "shapes_differ")
	}
}

func flatten(seq []contract.SeqItem) []int {
	var out []int
	for _, s := range seq {
		switch {
		case s.Repeat != nil:
			out = append(out, flatten(s.Repeat)...)
		case s.Mark == "":
			out = append(out, s.Index)
		}
	}
	return out
}
