package validate

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/errorcase"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// errorCase makes an error case again from its fixture. One without a fixture
// was written from a public report and has only its own rules.
func (v *validation) errorCase(f string, e *contract.ErrorCase, have []byte) error {
	x := &e.Extensions
	run := errorcase.RunOfCase(e)
	v.note(func() { v.cased[x.Fixture+" "+e.Agent] = true })
	if x.Observation != "" {
		v.note(func() { v.cased[x.Observation] = true })
		o, err := v.res.Observation(x.Observation)
		if err != nil {
			return nil // the reference has been reported
		}
		run = errorcase.RunOf(o, x.Observation)
		if v.res.exists(o.Extensions.Fixture) && o.Extensions.Dialect != x.Dialect {
			v.report("ERR-DERIVED", f, "/extensions/dialect", "the observation's dialect is %q", o.Extensions.Dialect)
			return nil
		}
	}
	if run.Fixture == "" || !v.res.exists(run.Fixture) {
		return nil
	}
	d, err := v.res.derive(run.Fixture, x.Dialect, run.Agent)
	if err != nil {
		v.report("ERR-DERIVED", f, "/extensions/fixture", "the fixture cannot be read again: %v", err)
		return nil
	}
	if d.ErrorCase == nil {
		v.report("ERR-DERIVED", f, "/expected_failure_classification", "the fixture's run did not fail")
		return nil
	}
	if same, err := v.res.cases.Is(have, run, d.ErrorCase); err != nil || same {
		return err
	}
	b, err := contract.Encode(run.Case(d.ErrorCase))
	if err != nil {
		return err
	}
	v.report("ERR-DERIVED", f, firstDifference(have, b), "the fixture gives another error case")
	return nil
}

// uncased reports the failed runs without an error case.
func (v *validation) uncased(obs []store.Observed) {
	for i := range obs {
		o := &obs[i]
		if v.cased[o.Path] || !v.res.exists(o.Extensions.Fixture) {
			continue
		}
		d, err := v.res.derive(o.Extensions.Fixture, o.Extensions.Dialect, o.Agent)
		if err == nil && d.ErrorCase != nil {
			v.report("OBS-ERROR-CASE", o.Path, "", "no error case is about this failed run")
		}
	}
}

// uncasedSources reports the failed synthetic runs without an error case.
func (v *validation) uncasedSources() {
	for i := range v.sources {
		s := &v.sources[i]
		if v.cased[s.Extensions.Fixture+" "+s.Agent] {
			continue
		}
		d, err := v.res.derive(s.Extensions.Fixture, s.Extensions.Dialect, s.Agent)
		if err == nil && d.ErrorCase != nil {
			v.report("OBS-ERROR-CASE", s.Path, "", "no error case is about this failed run")
		}
	}
}
