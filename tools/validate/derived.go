package validate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// derived compares what an observation says and names with what its fixture
// gives.
func (v *validation) derived(f string, o *contract.Observation) error {
	x := &o.Extensions
	v.note(func() { v.named[o.Shape.Path], v.named[x.Fixture] = true, true })
	d, err := v.res.derive(x.Fixture, x.Dialect, o.Agent)
	if err != nil {
		v.report("OBS-DERIVED", f, "/extensions/fixture", "the fixture cannot be read again: %v", err)
		return nil
	}
	v.note(func() { v.named[o.ParserReplay.Golden], v.named[x.ReferenceGolden] = true, true })
	from := fixtureKey{x.Fixture, x.Dialect, o.Agent}
	for _, g := range []golden{
		{"OBS-DERIVED", f, "/parser_replay/golden", capture.AdapterOpenDesign, o.ParserReplay.Golden, from},
		{"OBS-DERIVED", f, "/extensions/reference_golden", capture.AdapterReference, x.ReferenceGolden, from},
	} {
		if err := v.golden(g, d.Goldens[g.adapter]); err != nil {
			return err
		}
	}
	v.statements(f, o, d)
	return nil
}

// golden is the place of an adapter's golden and the record that names it; code
// is what its absence is reported under, fixture tells what was derived from.
type golden struct {
	code, record, pointer, adapter, place string
	fixture                               fixtureKey
}

// golden compares a golden with what its adapter reads in the fixture.
func (v *validation) golden(g golden, want []byte) error {
	if g.place == "" {
		if want != nil {
			v.report(g.code, g.record, g.pointer, "the %s reading has no golden", g.adapter)
		}
		return nil
	}
	if !v.res.exists(g.place) {
		return nil // CrossValidate has said so
	}
	at, err := v.res.goldens.get(goldenKey{g.adapter, g.place, g.fixture})
	if at != nil {
		v.report("GOLDEN-DERIVED", g.place, *at, "the %s adapter reads the fixture differently", g.adapter)
	}
	return err
}

// statements reports the members of an observation that do not follow from its
// fixture.
func (v *validation) statements(f string, o *contract.Observation, d *capture.Derived) {
	for _, u := range Unlike(o, d) {
		v.report("OBS-DERIVED", f, u.Pointer, "%s", u.Why)
	}
}

// Untrue is a member of an observation that does not follow from its transcript.
type Untrue struct{ Pointer, Why string }

// Unlike returns the members of an observation that its transcript gives
// otherwise. What other versions of the readers said is left alone: it held then
// (FINE-PRINT 1); goldens and shapes are of today.
func Unlike(o *contract.Observation, d *capture.Derived) (out []Untrue) {
	x := &o.Extensions
	if !reflect.DeepEqual(x.ExitCode, d.ExitCode) || x.Signal != d.Signal {
		out = append(out, Untrue{"/extensions/exit_code", "the fixture shows another end of the child"})
	}
	if x.Readers != replay.Version || x.Normalizer != normalize.Version {
		return out
	}
	for _, s := range [...]struct{ pointer, said, shown string }{
		{"/extensions/reported_result", x.ReportedResult, d.Reference.ReportedResult},
		{"/extensions/run_result", x.RunResult, string(d.Reference.RunResult)},
		{"/extensions/stderr_detail", x.StderrDetail, string(d.Notes.StderrDetail)},
		{"/parser_replay/status", string(o.ParserReplay.Status), string(d.Comparison.Status)},
	} {
		if s.said != s.shown {
			out = append(out, Untrue{s.pointer, fmt.Sprintf("it says %q, the fixture shows %q", s.said, s.shown)})
		}
	}
	for _, pair := range []struct {
		pointer     string
		said, shown any
	}{
		{"/extensions/optional_kinds", x.OptionalKinds, d.Notes.OptionalKinds},
		{"/extensions/after_terminal", x.AfterTerminal, d.Notes.AfterTerminal},
		{"/extensions/usefulness", x.Usefulness, replay.Usefulness(d.Reference, d.Consumer)},
		{"/extensions/acp_deviations", x.ACPDeviations, d.ACPDeviations},
	} {
		if pair.pointer == "/extensions/acp_deviations" && x.ACPSchema != d.ACPSchema {
			continue // another version of the check, or none, found what it found
		}
		if alike(pair.said, pair.shown) {
			continue
		}
		a, err1 := contract.Canonical(pair.said)
		b, err2 := contract.Canonical(pair.shown)
		if err1 != nil || err2 != nil || !bytes.Equal(emptyList(a), emptyList(b)) {
			out = append(out, Untrue{pair.pointer, "the fixture shows something else"})
		}
	}
	return out
}

// alike reports whether two values are so equal that their JSON is.
func alike(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() == reflect.Slice && y.Kind() == reflect.Slice && x.Len() == 0 && y.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(a, b)
}

func emptyList(b []byte) []byte {
	if bytes.Equal(b, []byte("null")) {
		return []byte("[]")
	}
	return b
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// whole applies the rules about the registry as a whole, which do not know of
// each other.
func (v *validation) whole() error {
	obs := v.res.observations()
	var rules sync.WaitGroup
	var matrixDiffers bool
	var want []byte
	var err, errMatrix error
	rules.Go(func() { want, matrixDiffers, errMatrix = v.matrix(obs) })
	rules.Go(func() { err = v.shapes(obs) })
	rules.Go(func() {
		v.orphans()
		for i := range obs {
			if !v.pinned[obs[i].Path] {
				v.report("OBS-EVIDENCE", obs[i].Path, "", "no evidence record pins this observation")
			}
		}
		v.uncased(obs)
		v.uncasedSources()
		v.coverage(obs)
	})
	rules.Wait()
	if err != nil || contract.HasErrors(v.result.Problems) {
		return err // the matrix of broken records says nothing
	}
	if errMatrix != nil || !matrixDiffers {
		return errMatrix
	}
	return v.otherMatrix(want)
}

// shapes compares each observed shape with what its fixture and observations
// give.
func (v *validation) shapes(obs []store.Observed) error {
	levels := matrix.Levels(obs, matrix.NewStanding(v.stated))
	observed, of := map[string]bool{}, map[string][]*store.Observed{}
	for i := range obs {
		place := obs[i].Shape.Path
		observed[place], of[place] = true, append(of[place], &obs[i])
	}
	err := each(slices.Collect(mapKeys(of)), func(place string) error {
		if !v.res.exists(place) {
			return nil // reported with the observations
		}
		at, err := v.shapeAgain(place, of[place], levels)
		if at != nil {
			v.report("SHAPE-DERIVED", place, *at, "fixture and observations give another shape")
		}
		return err
	})
	if err != nil {
		return err
	}
	return v.sourceShapes(observed)
}

// shapeAgain returns where a shape differs first from what its observations
// give, nil where it does not. Dialects may share a shape, such as the one of a
// run without any frame: whoever came first wrote it.
func (v *validation) shapeAgain(place string, obs []*store.Observed, levels map[contract.Digest]contract.ValidityLevel) (at *string, err error) {
	if _, err := v.res.FileDigest(place); err != nil {
		return nil, err
	}
	tried := map[*contract.Shape]bool{}
	for _, o := range obs {
		d, err := v.res.derive(o.Extensions.Fixture, o.Extensions.Dialect, o.Agent)
		if err != nil || tried[d.Shape] {
			continue // reported with the observation
		}
		tried[d.Shape] = true
		want := *d.Shape
		want.ValidityLevel = levels[o.Shape.Signature]
		wantBytes, err := contract.Encode(&want)
		if err != nil {
			return nil, err
		}
		differs, err := v.res.unlike(place, wantBytes)
		if err != nil || differs == nil {
			return nil, err
		}
		if at == nil {
			at = differs
		}
	}
	return at, nil
}

// orphans reports derived files that no record names.
func (v *validation) orphans() {
	for _, f := range v.files {
		switch folderOf(f) {
		case "shapes", "fixtures", "goldens":
			if f != "shapes/aliases.json" && !v.named[f] {
				v.report("FILE-ORPHAN", f, "", "no record names this file")
			}
		}
	}
}

// coverage holds each agent's marks against its observations (FINE-PRINT 5).
// Marks that the policy says are inherited speak of another registry. Agents that
// were never captured here are one finding together, and none before the first
// capture.
func (v *validation) coverage(obs []store.Observed) {
	has, any := map[[2]string]bool{}, map[string]bool{}
	for _, o := range obs {
		has[[2]string{o.Agent, o.Probe}], any[o.Agent] = true, true
	}
	var never []string
	for i, a := range v.res.agents.Agents {
		at := "/agents/" + strconv.Itoa(i) + "/coverage"
		if a.Exemption != "" {
			continue
		}
		for _, p := range contract.MarkedProbes {
			if _, marked := a.Coverage[p]; !marked && a.Tier == 0 {
				v.report("COVERAGE-UNMARKED", store.AgentsFile, at, "%s does not mark %s", a.ID, p)
			}
		}
		for _, p := range slices.Sorted(mapKeys(a.Coverage)) {
			switch {
			case a.Coverage[p].Status != contract.CoverageCaptured || has[[2]string{a.ID, p}] || v.res.policy.InheritsMarks(a.ID):
			case any[a.ID]:
				v.report("COVERAGE-UNTRUE", store.AgentsFile, at+"/"+p, "%s has no observation of %s", a.ID, p)
			case !slices.Contains(never, a.ID):
				never = append(never, a.ID)
			}
		}
	}
	if len(never) > 0 && len(obs) > 0 {
		v.report("COVERAGE-UNTRUE", store.AgentsFile, "/agents", "agents that are marked as captured have no observation here: %s", strings.Join(never, ", "))
	}
}

// matrix returns the matrix that the records give, and whether the committed one
// differs.
func (v *validation) matrix(obs []store.Observed) (want []byte, differs bool, err error) {
	records, err := matrix.LoadAround(v.reg, obs, store.NotBeside(v.stated, obs))
	if err != nil {
		return nil, false, err
	}
	want, same, err := records.Check(v.reg)
	return want, !same, err
}

func (v *validation) otherMatrix(want []byte) (err error) {
	var have []byte
	if v.reg.Exists(matrix.Path) {
		if have, err = v.reg.ReadFile(matrix.Path); err != nil {
			return err
		}
	}
	v.report("MATRIX-DERIVED", matrix.Path, firstDifference(have, want), "the records give another matrix")
	return nil
}

// firstDifference returns the JSON pointer at which two texts differ first, or
// "" when one is not JSON or they differ in form only.
func firstDifference(have, want []byte) string {
	var a, b any
	if json.Unmarshal(have, &a) != nil || json.Unmarshal(want, &b) != nil {
		return ""
	}
	return differs(a, b, "")
}

func differs(a, b any, at string) string {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return at
		}
		keys := map[string]bool{}
		for k := range x {
			keys[k] = true
		}
		for k := range y {
			keys[k] = true
		}
		for _, k := range slices.Sorted(mapKeys(keys)) {
			here := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(k)
			vx, inX := x[k]
			vy, inY := y[k]
			if inX != inY {
				return here
			}
			if p := differs(vx, vy, here); p != "" {
				return p
			}
		}
		return ""
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return at
		}
		for i := range x {
			if p := differs(x[i], y[i], at+"/"+strconv.Itoa(i)); p != "" {
				return p
			}
		}
		return ""
	}
	if a != b {
		if at == "" {
			return "/"
		}
		return at
	}
	return ""
}
