package validate

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/errorcase"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// caseKey is what a case that was written for an observation depends on, but for
// members that the observation has too, under the same rules.
type caseKey struct {
	read  *contract.ErrorCase
	level contract.ValidityLevel
}

// writtenAgain reports whether an error case is, byte for byte, what this program
// writes for the observation of its name, of which a case was read and found
// sound before: then it need not be read. Only an observation without any problem
// counts, so that whatever is wrong with both is said of both.
func (v *validation) writtenAgain(f string, have []byte) bool {
	place := "observations/" + strings.TrimSuffix(strings.TrimPrefix(f, "errors/"), ".error.json") + ".observation.json"
	seen := v.res.observed[place]
	if seen == nil || !seen.sound {
		return false
	}
	o := contract.RecordOf[contract.Observation](seen.Checked)
	d, err := v.res.derive(o.Extensions.Fixture, o.Extensions.Dialect, o.Agent)
	if err != nil || d.ErrorCase == nil {
		return false
	}
	if _, sound := v.soundCases.Load(caseKey{d.ErrorCase, o.ValidityLevel}); !sound {
		return false
	}
	if same, err := v.res.cases.Is(have, errorcase.RunOf(o, place), d.ErrorCase); err != nil || !same {
		return false
	}
	v.note(func() {
		v.named[o.Extensions.Fixture], v.cased[o.Extensions.Fixture+" "+o.Agent], v.cased[place] = true, true, true
	})
	return true
}

// errorCase makes an error case again from its fixture. One without a fixture
// was written from a public report and has only its own rules. Sound says that
// nothing else is wrong with it.
func (v *validation) errorCase(f string, e *contract.ErrorCase, have []byte, sound bool) error {
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
		if same && sound && run.Observation != "" {
			v.soundCases.Store(caseKey{d.ErrorCase, run.Level}, true)
		}
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
