package matrix

import (
	"cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Standing is what observations count for after everything that was said about
// them later (FINE-PRINT 1). The zero value is a registry where nothing was.
//
// A withdrawn observation supports nothing. What it contradicted stays
// contradicted, until captures outvote it: so no withdrawal widens a claim
// (DESIGN D10).
type Standing struct {
	withdrawn map[string]string // place of an observation → reason
	promoted  map[string]contract.ValidityLevel
	// newest is the time of the newest statement that changes a claim.
	newest string
}

// NewStanding sorts out the statements of a registry, in any order.
func NewStanding(statements []store.Stated) Standing {
	s := Standing{withdrawn: map[string]string{}, promoted: map[string]contract.ValidityLevel{}}
	takenBack, reproduced := map[string]bool{}, map[string]*store.Stated{}
	for i := range statements {
		e := &statements[i]
		switch {
		case e.Withdraws():
			if old, twice := s.withdrawn[e.Observation.Path]; !twice || e.Withdrawal.Reason < old {
				s.withdrawn[e.Observation.Path] = e.Withdrawal.Reason
			}
		case e.Withdrawal != nil:
			takenBack[e.Withdrawal.Record.Path] = true
		case e.Reproduction != nil:
			reproduced[e.Path] = e
		}
		if e.Withdrawal != nil || e.Promotion != nil {
			s.newest = max(s.newest, e.RecordedAt)
		}
	}
	last := map[string]*store.Stated{}
	for i := range statements {
		e := &statements[i]
		if e.Promotion == nil || takenBack[e.Path] {
			continue
		}
		if ref := e.Promotion.Reproduction; ref != nil {
			r := reproduced[ref.Path]
			if r == nil || takenBack[ref.Path] || r.Observation.Path != e.Observation.Path || s.Spent(r.Reproduction) {
				continue // what it rests on is gone
			}
		}
		at := e.Observation.Path
		if old := last[at]; old == nil || cmp.Or(cmp.Compare(e.RecordedAt, old.RecordedAt), cmp.Compare(e.Path, old.Path)) > 0 {
			last[at], s.promoted[at] = e, e.Promotion.To
		}
	}
	return s
}

// Withdrawn returns why an observation counts no more, and whether it does not.
func (s *Standing) Withdrawn(place string) (reason string, withdrawn bool) {
	reason, withdrawn = s.withdrawn[place]
	return reason, withdrawn
}

// Spent reports whether a reproduction rests on an observation that was
// withdrawn.
func (s *Standing) Spent(r *contract.Reproduction) bool {
	if r.Observation == nil {
		return false
	}
	_, gone := s.Withdrawn(r.Observation.Path)
	return gone
}

// Level returns the level that an observation counts with by itself: the one
// captured, or the one it was promoted to.
func (s *Standing) Level(o *store.Observed) contract.ValidityLevel {
	if l, ok := s.promoted[o.Path]; ok {
		return l
	}
	return o.ValidityLevel
}

// Levels returns the level of each observed shape: confirmed when two
// observations with its signature come from different runners or from times at
// least an hour apart, else the strongest level of one. A shape whose
// observations were all withdrawn has the weakest that was captured.
func Levels(obs []store.Observed, s Standing) map[contract.Digest]contract.ValidityLevel {
	bySig, spent := map[contract.Digest][]*store.Observed{}, map[contract.Digest]contract.ValidityLevel{}
	for i := range obs {
		o := &obs[i]
		sig := o.Shape.Signature
		if _, gone := s.withdrawn[o.Path]; !gone {
			bySig[sig] = append(bySig[sig], o)
		} else if old, ok := spent[sig]; !ok || o.ValidityLevel.Rank() < old.Rank() {
			spent[sig] = o.ValidityLevel
		}
	}
	out := spent
	for sig, list := range bySig {
		level, observed := contract.ValidityLevel(""), []*store.Observed{}
		for _, o := range list {
			l := s.Level(o)
			if level == "" || l.Rank() > level.Rank() {
				level = l
			}
			if l == contract.LevelRuntimeObserved {
				observed = append(observed, o)
			}
		}
		if level == contract.LevelRuntimeObserved && Independent(observed) {
			level = contract.LevelConfirmed
		}
		out[sig] = level
	}
	return out
}
