package evidence

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// While a maintainer thinks, another one decides: there is one promotion, so that
// withdrawing it takes the level back.
func TestPromotedMeanwhile(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	_, _, err := Reproduce(t.Context(), reg, reproduction(&o), later)
	must(t, err)
	level := levelOf(t, reg, &o)
	ask := Promotion{Observation: o.Path, To: contract.LevelCommunityConfirmed}
	slow, _ := promoter(t, reg, "jo", true)
	quick, _ := promoter(t, reg, "jo", true)
	answer := slow.Inline
	slow.Inline = func(ctx context.Context, pending []contract.Request) ([]contract.Answer, error) {
		if _, isNew, err := quick.Promote(ctx, ask); err != nil || !isNew {
			t.Errorf("the quick one: %v, %v", isNew, err)
		}
		return answer(ctx, pending)
	}
	made, isNew, err := slow.Promote(t.Context(), ask)
	if err != nil || isNew {
		t.Errorf("the slow one: %v, %v", isNew, err)
	}
	_, _, err = Withdraw(t.Context(), reg, Withdrawal{Record: made.Path, Reason: "It was the same machine.", By: "jo"}, later)
	must(t, err)
	if l := levelOf(t, reg, &o); l != level {
		t.Errorf("without its promotion the shape is %s", l)
	}
}

// What a promotion rests on must be there still when the answer comes.
func TestReproductionWithdrawnMeanwhile(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	r, _, err := Reproduce(t.Context(), reg, reproduction(&o), later)
	must(t, err)
	p, _ := promoter(t, reg, "jo", true)
	answer := p.Inline
	p.Inline = func(ctx context.Context, pending []contract.Request) ([]contract.Answer, error) {
		_, _, err := Withdraw(ctx, reg, Withdrawal{Record: r.Path, Reason: "It was the same machine.", By: "jo"}, later)
		must(t, err)
		return answer(ctx, pending)
	}
	var refused *RefusedError
	if _, _, err := p.Promote(t.Context(), Promotion{Observation: o.Path, To: contract.LevelCommunityConfirmed}); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
	valid(t, reg)
}

// Another observation of a shape that is community_confirmed can be promoted too:
// when the first one is withdrawn, the level stays.
func TestPromoteAnotherOfTheShape(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	b, err := Submit(reg, o.Path)
	must(t, err)
	b = changed(t, b, func(o *contract.Observation) { o.Capture.RawClientTranscriptSHA256 = contract.Sum([]byte("other run")) })
	a, _ := acceptor(t, reg, true)
	out, err := a.Accept(t.Context(), b, Contributor{})
	must(t, err)
	for i, place := range []string{o.Path, out.Observation} {
		r := reproduction(&o)
		r.Observation = place
		at := later.Add(time.Duration(i) * time.Minute)
		_, _, err := Reproduce(t.Context(), reg, r, at)
		must(t, err)
		p, _ := promoter(t, reg, "jo", true)
		p.Now = func() time.Time { return at }
		if _, isNew, err := p.Promote(t.Context(), Promotion{Observation: place, To: contract.LevelCommunityConfirmed}); err != nil || !isNew {
			t.Fatal(i, isNew, err)
		}
	}
	valid(t, reg)
	_, _, err = Withdraw(t.Context(), reg, Withdrawal{Record: o.Path, Reason: "The scenario was another one.", By: "jo"}, later.Add(time.Hour))
	must(t, err)
	if l := levelOf(t, reg, &o); l != contract.LevelCommunityConfirmed {
		t.Errorf("the shape is %s", l)
	}
}

// An observation is not superseded by one that counts no more.
func TestSupersededByAWithdrawnOne(t *testing.T) {
	reg := sampled(t)
	o := one(t, reg, "chat-text-success")
	b, err := Submit(reg, o.Path)
	must(t, err)
	b = changed(t, b, func(o *contract.Observation) { o.Capture.RawClientTranscriptSHA256 = contract.Sum([]byte("other run")) })
	a, _ := acceptor(t, reg, true)
	out, err := a.Accept(t.Context(), b, Contributor{})
	must(t, err)
	_, _, err = Withdraw(t.Context(), reg, Withdrawal{Record: o.Path, Reason: "x", By: "jo", SupersededBy: out.Observation}, later)
	must(t, err)
	var refused *RefusedError
	if _, _, err := Withdraw(t.Context(), reg, Withdrawal{Record: out.Observation, Reason: "x", By: "jo", SupersededBy: o.Path}, later); !errors.As(err, &refused) {
		t.Errorf("each takes the other's place: %v", err)
	}
}
