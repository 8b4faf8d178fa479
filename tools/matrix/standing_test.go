package matrix

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// stated makes a statement about an observation; minute orders statements.
func stated(o *store.Observed, minute int, e contract.Evidence) store.Stated {
	e.Observation = contract.FileRef{Path: o.Path}
	e.RecordedAt = time.Date(2026, 2, 1, 0, minute, 0, 0, time.UTC).Format(time.RFC3339)
	return store.Stated{Path: fmt.Sprintf("evidence/a/%d.%s", minute, o.Probe), Evidence: e}
}

func withdrawal(o *store.Observed, minute int) store.Stated {
	return stated(o, minute, contract.Evidence{Kind: contract.EvidenceWithdrawal, Withdrawal: &contract.Withdrawal{By: "jo", Reason: "wrong model"}})
}

// reproduced are a reproduction and the promotion that rests on it.
func reproduced(o *store.Observed, minute int) []store.Stated {
	r := stated(o, minute, contract.Evidence{Kind: contract.EvidenceReproduction, Reproduction: &contract.Reproduction{By: "sam"}})
	p := stated(o, minute+1, contract.Evidence{Kind: contract.EvidencePromotion, Promotion: &contract.Promotion{
		By: "jo", From: contract.LevelRuntimeObserved, To: contract.LevelCommunityConfirmed, Reproduction: &contract.FileRef{Path: r.Path}}})
	return []store.Stated{r, p}
}

func takenBack(o *store.Observed, minute int, what store.Stated) store.Stated {
	return stated(o, minute, contract.Evidence{Kind: contract.EvidenceWithdrawal, Withdrawal: &contract.Withdrawal{
		By: "jo", Reason: "same machine", Record: &contract.FileRef{Path: what.Path}}})
}

func TestLevelsFollowStatements(t *testing.T) {
	r := records(seen{version: "1.0.0", probe: rep, shape: "A"}, seen{version: "1.0.0", probe: rep, shape: "A", minute: 90})
	one, two := &r.Observations[0], &r.Observations[1]
	promoted := reproduced(one, 1)
	variant := stated(one, 1, contract.Evidence{Kind: contract.EvidencePromotion, Promotion: &contract.Promotion{By: "jo", From: contract.LevelConfirmed, To: contract.LevelServerVariant}})
	own := reproduced(one, 1)
	own[0].Reproduction.Observation = &contract.FileRef{Path: two.Path}
	variant2 := variant
	variant2.Path, variant2.Observation.Path = "evidence/a/x", two.Path
	for _, c := range []struct {
		name string
		said []store.Stated
		want contract.ValidityLevel
	}{
		{"nothing", nil, contract.LevelConfirmed},
		{"one of two withdrawn", []store.Stated{withdrawal(one, 1)}, contract.LevelRuntimeObserved},
		{"both withdrawn", []store.Stated{withdrawal(one, 1), withdrawal(two, 2)}, contract.LevelRuntimeObserved},
		{"promoted", promoted, contract.LevelCommunityConfirmed},
		{"promoted and withdrawn", append(slices.Clone(promoted), withdrawal(one, 5)), contract.LevelRuntimeObserved},
		{"the promotion taken back", append(slices.Clone(promoted), takenBack(one, 5, promoted[1])), contract.LevelConfirmed},
		{"the reproduction taken back", append(slices.Clone(promoted), takenBack(one, 5, promoted[0])), contract.LevelConfirmed},
		{"reproduced by an observation", own, contract.LevelCommunityConfirmed},
		{"that observation withdrawn", append(slices.Clone(own), withdrawal(two, 5)), contract.LevelRuntimeObserved},
		{"a promotion that rests on nothing", promoted[1:], contract.LevelConfirmed},
		{"one is a server variant", []store.Stated{variant}, contract.LevelRuntimeObserved},
		{"both are", []store.Stated{variant, variant2}, contract.LevelServerVariant},
	} {
		t.Run(c.name, func(t *testing.T) {
			slices.Reverse(c.said)
			if got := Levels(r.Observations, NewStanding(c.said))[one.Shape.Signature]; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestWithdrawnClaims(t *testing.T) {
	three := []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.1.0", probe: rep, shape: "A"}, {version: "1.2.0", probe: rep, shape: "A"}}
	for _, c := range []struct {
		name string
		seen []seen
		gone []int
		want string
	}{
		{"none", three, nil, ">=1.0.0 <=1.2.0: version_range_verified"},
		{"nothing is claimed across it", three, []int{1}, "1.0.0: version_range_verified\n1.2.0: version_range_verified"},
		{"at the end", three, []int{2}, ">=1.0.0 <=1.1.0: version_range_verified"},
		{"all", three, []int{0, 1, 2}, ""},
		{"another probe of the version stays", append(slices.Clone(three[:1]), seen{version: "1.0.0", probe: "p", shape: "B"}), []int{0}, "1.0.0: unknown"},
		{"it still contradicts", []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.0.0", probe: rep, shape: "B", minute: 1}}, []int{1}, "1.0.0: unknown"},
		{"until it is outvoted", []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.0.0", probe: rep, shape: "A", minute: 2},
			{version: "1.0.0", probe: rep, shape: "B", minute: 1}}, []int{2}, "1.0.0: version_range_verified"},
		{"a broken reading is not forgotten", []seen{{version: "1.0.0", probe: rep, shape: "A"},
			{version: "1.0.0", probe: rep, shape: "A", minute: 1, status: contract.ReplayIncompatible}}, []int{1}, "1.0.0: unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := records(c.seen...)
			for _, i := range c.gone {
				r.Statements = append(r.Statements, withdrawal(&r.Observations[i], i))
			}
			if got := claims(t, r); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			m, err := Build(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range c.gone {
				only := !slices.ContainsFunc(r.Observations, func(o store.Observed) bool {
					s := NewStanding(r.Statements)
					_, gone := s.Withdrawn(o.Path)
					return !gone && o.Shape.Signature == r.Observations[i].Shape.Signature
				})
				for _, e := range m.Agents {
					if only && slices.ContainsFunc(e.ObservedShapes, func(s contract.ObservedShape) bool { return s.Shape == r.Observations[i].Shape.Signature }) {
						t.Errorf("the claim about %s still names a shape that nothing else has", e.VersionRanges)
					}
				}
			}
		})
	}
}

func TestExplainNamesTheWithdrawal(t *testing.T) {
	r := records(seen{version: "1.0.0", probe: rep, shape: "A"})
	r.Statements = []store.Stated{withdrawal(&r.Observations[0], 1)}
	x, err := Explain(r, "a", "1.0.0", "linux-x64", "", "linux-x64")
	if err != nil {
		t.Fatal(err)
	}
	if p := x.Probes[0]; x.Answer == Answer("yes") || p.State != ProbeWithdrawn || !p.Observations[0].Withdrawn || !strings.Contains(p.Observations[0].Why, "wrong model") {
		t.Errorf("%s, %+v", x.Answer, p)
	}
}

// No withdrawal tells a consumer to run more, of whatever version; and the same
// statements in any order give the same bytes.
func TestWithdrawalNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := fewSeen(t)
		if rapid.Bool().Draw(t, "anything") {
			list = anySeen(t)
		}
		slices.SortFunc(list, func(a, b seen) int { return strings.Compare(a.observed().Path, b.observed().Path) })
		list = slices.CompactFunc(list, func(a, b seen) bool { return a.observed().Path == b.observed().Path })
		if len(list) == 0 {
			return
		}
		r := records(list...)
		for i := range r.Observations {
			if rapid.IntRange(0, 3).Draw(t, "gone before") == 0 {
				r.Statements = append(r.Statements, withdrawal(&r.Observations[i], i))
			}
		}
		before := indexOf(t, r)
		gone := rapid.IntRange(0, len(list)-1).Draw(t, "gone")
		r.Statements = append(r.Statements, withdrawal(&r.Observations[gone], 100))
		after := indexOf(t, r)
		for _, v := range []string{"0.9.0", "1.0.0", "1.0.5", "1.1.0", "1.1.5", "1.2.0", "1.5.0", "1.10.0", "1.11.0"} {
			b, errB := before.Find("a", v, "linux-x64")
			a, errA := after.Find("a", v, "linux-x64")
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if slices.Index(permissive, a.Policy.AllowRun) > slices.Index(permissive, b.Policy.AllowRun) {
				t.Fatalf("withdrawing %+v told to %s %s, before %s", list[gone], a.Policy.AllowRun, v, b.Policy.AllowRun)
			}
		}
		x := encode(t, r)
		r.Statements = rapid.Permutation(r.Statements).Draw(t, "order")
		if !bytes.Equal(x, encode(t, r)) {
			t.Fatal("another order of statements gives another matrix")
		}
	})
}
