package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Judgement is what a new capture is to a registry.
type Judgement struct {
	// Known says that the registry has the shape for this agent, probe, profile
	// and platform, of whatever version.
	Known bool
	// Disputed says that this version had another shape until now, and no server
	// that could be the reason (FINE-PRINT 16). One more capture decides.
	Disputed bool
	Verdict  contract.Verdict
	// Baseline is the version that Signals are against; "" without one.
	Baseline string
	Signals  []compare.Signal
}

// judged is a capture to judge.
type judged struct {
	scope   knownScope
	version string
	shape   *contract.Shape
	dialect *contract.Dialect
	replay  contract.ReplayStatus
	live    bool
	// reading is the consumer's, nil if not known; violations are those of the
	// probe's expectation.
	reading    *replay.Golden
	violations []contract.ContractViolation
}

// judge says what a capture is, and learns it. A second shape of one version is
// never just another record: a server may have two (server_variant), and without
// a server it is a dispute, also where another version has that shape.
func (k *knowledge) judge(reg *store.Registry, a *contract.Agent, in judged) Judgement {
	sig := in.shape.Signature
	out := Judgement{Known: k.has(in.scope, sig)}
	second := !k.seen[in.scope][sig][in.version] && k.otherShape(in.scope, in.version, sig)
	out.Disputed = second && !in.live
	defer k.learn(in.scope, in.version, sig)
	if out.Known {
		out.Verdict = contract.VerdictSameShape
		if second && in.live {
			out.Verdict = contract.VerdictServerVariant
		}
		return out
	}
	result, lost := compare.Result{Verdict: contract.VerdictCompatibleNewShape}, false
	if base := k.baseline(in.scope, a, in.version); base != nil {
		if old, err := reg.Shape(base.ProtocolFamily, base.Shape.Signature); err == nil {
			result = compare.Shapes(old, in.shape, in.dialect)
			out.Signals, out.Baseline = result.Signals, base.CLIVersion
			lost = len(replay.Lost(Reading(reg, &base.Observation), in.reading, replay.Fails(base.Extensions.Violations, in.violations))) > 0
		}
	}
	out.Verdict = result.Judge(compare.Evidence{Replay: in.replay, Lost: lost, SameTarget: second && in.live})
	return out
}

// Reading is the consumer's reading of an observation as its golden has it; nil
// where there is none.
func Reading(reg *store.Registry, o *contract.Observation) *replay.Golden {
	if o.ParserReplay.Golden == "" {
		return nil
	}
	var g replay.Golden
	if err := reg.ReadJSON(o.ParserReplay.Golden, &g); err != nil {
		return nil // validate names it
	}
	return &g
}

// Added judges the observations that one registry has and another lacks, oldest
// first, as captures against the second. Both are trusted to be valid.
func Added(base, head *store.Registry) ([]store.Observed, []Judgement, error) {
	file, err := loadAgents(head)
	if err != nil {
		return nil, nil, err
	}
	families, err := head.Families()
	if err != nil {
		return nil, nil, err
	}
	known, err := loadKnowledge(base)
	if err != nil {
		return nil, nil, err
	}
	all, err := head.Observations("")
	if err != nil {
		return nil, nil, err
	}
	added := slices.DeleteFunc(all, func(o store.Observed) bool { return base.Exists(o.Path) })
	slices.SortFunc(added, func(a, b store.Observed) int {
		return cmp.Or(cmp.Compare(a.Capture.CapturedAt, b.Capture.CapturedAt), cmp.Compare(a.Path, b.Path))
	})
	var out []Judgement
	for i := range added {
		o := &added[i]
		a := file.Agent(o.Agent)
		shape, err := head.Shape(o.ProtocolFamily, o.Shape.Signature)
		if a == nil || errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("judging %s: its agent or its shape is not in the registry", o.Path)
		}
		if err != nil {
			return nil, nil, err
		}
		out = append(out, known.judge(head, a, judged{
			scope:   knownScope{o.Agent, o.Probe, o.Extensions.Profile, o.Platform},
			version: o.CLIVersion, shape: shape, dialect: families.Dialect(o.Extensions.Dialect), replay: o.ParserReplay.Status,
			reading: Reading(head, &o.Observation), violations: o.Extensions.Violations,
			live: o.Extensions.Provider == contract.ProviderLive,
		}))
	}
	return added, out, nil
}
