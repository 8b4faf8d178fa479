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
	bySig  map[contract.Digest][]*store.Observed
	newest map[contract.Digest]*store.Observed
	// settled is the signature that counts, or "" for a dispute.
	settled contract.Digest
	live    bool // several signatures, seen from a live provider
}

func newProbeClaim() *probeClaim {
	return &probeClaim{bySig: map[contract.Digest][]*store.Observed{}, newest: map[contract.Digest]*store.Observed{}}
}

func (p *probeClaim) add(o *store.Observed) {
	sig := o.Shape.Signature
	p.bySig[sig] = append(p.bySig[sig], o)
	if old := p.newest[sig]; old == nil || newer(o, old) {
		p.newest[sig] = o
	}
}

func newer(a, b *store.Observed) bool {
	return cmp.Or(cmp.Compare(a.Capture.CapturedAt, b.Capture.CapturedAt), cmp.Compare(a.Path, b.Path)) > 0
}

// settle decides which signature counts: the only one, or of several from an
// emulated provider the one that more captures agree on.
func (p *probeClaim) settle() {
	best, tie := contract.Digest(""), false
	for _, sig := range sortedKeys(p.bySig) {
		n := len(p.bySig[sig])
		switch {
		case best == "" || n > len(p.bySig[best]):
			best, tie = sig, false
		case n == len(p.bySig[best]):
			tie = true
		}
		if len(p.bySig) > 1 && p.newest[sig].Extensions.Provider == contract.ProviderLive {
			p.live = true
		}
	}
	if !tie {
		p.settled = best
	}
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
		count[o.ParserReplay.Status]++
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

func (p *probeClaim) voters() []*store.Observed {
	all := p.bySig[p.settled]
	newest := ""
	for _, o := range all {
		if newest == "" || compareReaders(o.Extensions.Readers, newest) > 0 {
			newest = o.Extensions.Readers
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(o *store.Observed) bool { return compareReaders(o.Extensions.Readers, newest) != 0 })
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
		p.add(o)
	}
	p.settle()
	return p.settled == "" && !p.live
}
