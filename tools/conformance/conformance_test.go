package conformance

import (
	"context"
	"strings"
	"testing"
)

func judgeFake(t *testing.T, p *Profile, mutation string) *Report {
	t.Helper()
	r, err := Run(context.Background(), p, func(Requirement) (Target, func(), error) {
		return &fake{mutation: mutation}, func() {}, nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFaithfulProducerPasses(t *testing.T) {
	r := judgeFake(t, fakeProfile(), "")
	if !r.Conforms() || r.Passed != len(Requirements()) {
		t.Errorf("%d of %d passed:\n%s", r.Passed, len(Requirements()), text(r))
	}
}

// For each requirement there is a producer that is wrong in that one way, and
// the judge says so and nothing else.
func TestEachWrongProducerFailsItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, req := range Requirements() {
		if seen[req.ID] {
			t.Errorf("two requirements are numbered %s", req.ID)
		}
		seen[req.ID] = true
		t.Run(req.ID, func(t *testing.T) {
			r := judgeFake(t, fakeProfile(), req.ID)
			for _, x := range r.Results {
				if want := x.ID == req.ID; want != (x.Verdict == Failed) {
					t.Errorf("%s is %s (%s)", x.ID, x.Verdict, x.Why)
				}
			}
		})
	}
}

// What the profile has no entry for is not tested, and that is no pass.
func TestUntestedIsNotPassed(t *testing.T) {
	p := fakeProfile()
	p.Wait = nil
	r := judgeFake(t, p, "")
	if r.NotTested == 0 || r.Failed > 0 || r.Conforms() {
		t.Errorf("%d not tested, %d failed, conforms %v", r.NotTested, r.Failed, r.Conforms())
	}
	for _, x := range r.Results {
		if strings.HasPrefix(x.ID, "D10.") && x.Verdict != NotTested {
			t.Errorf("%s is %s without a wait command", x.ID, x.Verdict)
		}
	}
}

func TestEveryRequirementCitesItsSentence(t *testing.T) {
	for _, r := range Requirements() {
		if r.Sentence == "" || r.Cites == "" || r.check == nil {
			t.Errorf("%s is not complete", r.ID)
		}
	}
}
