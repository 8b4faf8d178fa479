package matrix

import (
	"cmp"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// probeClaim is what is known of one probe of one version.
type probeClaim struct {
	// bySig has every capture, newest and active those that were not withdrawn:
	// the newest of each signature, and how many there are.
	bySig     map[contract.Digest][]*store.Observed
	newest    map[contract.Digest]*store.Observed
	active    map[contract.Digest]int
	withdrawn map[*store.Observed]bool
	// settled is the signature that counts, or "" for a dispute.
	settled contract.Digest
	live    bool // several signatures, seen from a live provider
}

func newProbeClaim() *probeClaim {
	return &probeClaim{bySig: map[contract.Digest][]*store.Observed{}, newest: map[contract.Digest]*store.Observed{},
		active: map[contract.Digest]int{}, withdrawn: map[*store.Observed]bool{}}
}

func (p *probeClaim) add(o *store.Observed, withdrawn bool) {
	sig := o.Shape.Signature
	p.bySig[sig] = append(p.bySig[sig], o)
	if withdrawn {
		p.withdrawn[o] = true
		return
	}
	p.active[sig]++
	if old := p.newest[sig]; old == nil || newer(o, old) {
		p.newest[sig] = o
	}
}

func newer(a, b *store.Observed) bool {
	return cmp.Or(cmp.Compare(a.Capture.CapturedAt, b.Capture.CapturedAt), cmp.Compare(a.Path, b.Path)) > 0
}

// settle decides which signature counts: the only one, or of several from an
// emulated provider the one that more captures agree on. Withdrawn captures
// contradict and do not agree.
func (p *probeClaim) settle() {
	variants := 0
	for sig, all := range p.bySig {
		if slices.ContainsFunc(all, func(o *store.Observed) bool { return o.Extensions.Provider == contract.ProviderLive }) {
			variants++
		}
		best := p.active[sig] > 0
		for other, others := range p.bySig {
			best = best && (other == sig || p.active[sig] > len(others))
		}
		if best {
			p.settled = sig
		}
	}
	p.live = variants > 1 // two signatures from a live provider; one beside emulated ones has a vote like theirs
}

// careful lists what a consumer can make of a run, from what asks for most care
// to what asks for least.
var careful = []contract.ReplayStatus{contract.ReplayIncompatible, contract.ReplayNotRun, contract.ReplayCompatible}

// reading returns what the consumer makes of the settled shape: what most of
// its captures say, of as many the one that asks for more care. Only captures
// whose adapters were the newest have a say.
func (p *probeClaim) reading() contract.ReplayStatus {
	count := map[contract.ReplayStatus]int{}
	for _, o := range p.voters() {
		if !p.withdrawn[o] || o.ParserReplay.Status != contract.ReplayCompatible {
			count[o.ParserReplay.Status]++
		}
	}
	best := contract.ReplayNotRun
	for _, s := range careful {
		if count[s] > count[best] {
			best = s
		}
	}
	return best
}

// violated reports whether at least half of the captures of the settled shape
// break the probe's expectation.
func (p *probeClaim) violated() bool {
	voters, broken := p.voters(), 0
	for _, o := range voters {
		if len(o.Extensions.Violations) > 0 {
			broken++
		}
	}
	return broken > 0 && 2*broken >= len(voters)
}

// voters are the captures of the settled shape by the newest adapters. Of the
// withdrawn ones those stay that asked for care.
func (p *probeClaim) voters() []*store.Observed {
	all := slices.DeleteFunc(slices.Clone(p.bySig[p.settled]), func(o *store.Observed) bool {
		return p.withdrawn[o] && o.ParserReplay.Status == contract.ReplayCompatible && len(o.Extensions.Violations) == 0
	})
	newest := ""
	for _, o := range all {
		if newest == "" || compareReaders(o.Extensions.Readers, newest) > 0 {
			newest = o.Extensions.Readers
		}
	}
	return slices.DeleteFunc(all, func(o *store.Observed) bool { return compareReaders(o.Extensions.Readers, newest) != 0 })
}

// compareReaders orders versions of the adapters. What is no version is older
// than all that are.
func compareReaders(a, b string) int {
	x, errX := semver.NewVersion(a)
	y, errY := semver.NewVersion(b)
	switch {
	case a == b:
		return 0
	case errX != nil && errY != nil:
		return cmp.Compare(a, b)
	case errX != nil:
		return -1
	case errY != nil:
		return 1
	}
	return x.Compare(y)
}

// Disputed reports whether captures of one probe of one version disagree about
// the shape, so that none counts (FINE-PRINT 16). From a live provider several
// shapes are variants of the server and no dispute.
func Disputed(obs []*store.Observed) bool {
	p := newProbeClaim()
	for _, o := range obs {
		p.add(o, false)
	}
	p.settle()
	return p.settled == "" && !p.live
}
