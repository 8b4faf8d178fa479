package validate

import (
	"bytes"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// source compares what a synthetic source-evidence record says and names with
// what its fixture gives. Other source evidence has no fixture.
func (v *validation) source(f string, s *contract.SourceEvidence) error {
	x := &s.Extensions
	v.note(func() { v.named[s.DerivedShape.Path], v.named[x.Fixture] = true, true })
	if x.Fixture == "" {
		return nil
	}
	d, err := v.res.derive(x.Fixture, x.Dialect, s.Agent)
	if err != nil {
		v.report("SRC-DERIVED", f, "/extensions/fixture", "the fixture cannot be read again: %v", err)
		return nil
	}
	v.note(func() { v.sources = append(v.sources, store.Sourced{Path: f, SourceEvidence: *s}) })
	openDesign := ""
	if x.ParserReplay != nil {
		openDesign = x.ParserReplay.Golden
	}
	from := fixtureKey{x.Fixture, x.Dialect, s.Agent}
	for _, g := range []golden{
		{"SRC-DERIVED", f, "/extensions/parser_replay/golden", capture.AdapterOpenDesign, openDesign, from},
		{"SRC-DERIVED", f, "/extensions/reference_golden", capture.AdapterReference, x.ReferenceGolden, from},
	} {
		v.note(func() { v.named[g.place] = true })
		if err := v.golden(g, d.Goldens[g.adapter]); err != nil {
			return err
		}
	}
	v.sourceStatements(f, s, d)
	return nil
}

// sourceStatements checks the members that follow from the fixture.
func (v *validation) sourceStatements(f string, s *contract.SourceEvidence, d *capture.Derived) {
	x := &s.Extensions
	if want := v.res.ResolveAlias(s.DerivedShape.Signature); d.Shape.Signature != want {
		v.report("SRC-DERIVED", f, "/derived_shape/signature", "the fixture's shape is %s", d.Shape.Signature)
	}
	if x.Readers != replay.Version || x.Normalizer != normalize.Version || x.ParserReplay == nil {
		return // what held then (FINE-PRINT 1); goldens and shapes are of today
	}
	for _, p := range []struct{ pointer, said, shown string }{
		{"/extensions/parser_replay/status", string(x.ParserReplay.Status), string(d.Comparison.Status)},
		{"/extensions/reported_result", x.ReportedResult, d.Reference.ReportedResult},
		{"/extensions/run_result", x.RunResult, string(d.Reference.RunResult)},
	} {
		if p.said != p.shown {
			v.report("SRC-DERIVED", f, p.pointer, "it says %q, the fixture shows %q", p.said, p.shown)
		}
	}
}

// sourceShapes compares the shapes that only source evidence has with what its
// fixtures give. observed has the shapes that a capture saw.
func (v *validation) sourceShapes(observed map[string]bool) error {
	byShape := map[string][]*store.Sourced{}
	for i := range v.sources {
		s := &v.sources[i]
		if place := s.DerivedShape.Path; !observed[place] && v.reg.Exists(place) {
			byShape[place] = append(byShape[place], s)
		}
	}
	for _, place := range slices.Sorted(mapKeys(byShape)) {
		have, err := v.reg.ReadFile(place)
		if err != nil {
			return err
		}
		first := []byte(nil)
		same := false
		for _, s := range byShape[place] { // dialects may share a shape: whoever came first wrote it
			want, err := v.sourceShape(s)
			if err != nil {
				return err
			}
			same = same || bytes.Equal(have, want)
			if first == nil {
				first = want
			}
		}
		if !same {
			v.report("SHAPE-DERIVED", place, firstDifference(have, first), "fixture and source evidence give another shape")
		}
	}
	return nil
}

func (v *validation) sourceShape(s *store.Sourced) ([]byte, error) {
	d, err := v.res.derive(s.Extensions.Fixture, s.Extensions.Dialect, s.Agent)
	if err != nil {
		return nil, err
	}
	shape := *d.Shape
	shape.ValidityLevel = s.ValidityLevel
	return contract.Encode(&shape)
}
