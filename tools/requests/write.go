package requests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// put keeps a Request before anybody is asked. One that is there already stays
// as it is.
func (s *Store) put(ctx context.Context, r *contract.Request, isPublic bool) (*Entry, error) {
	unlock, err := s.private.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	e, err := s.get(r.ID)
	if err == nil && e.State == StateWithdrawn {
		if err := s.private.remove(useFile(r.ID)); err != nil {
			return nil, err
		}
		return s.get(r.ID)
	}
	if err == nil && e.State == StateExpired && e.Answer == nil {
		if err := s.expire(ctx, e); err != nil {
			return nil, err
		}
	}
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return e, err
	}
	b, err := contract.Encode(r)
	if err != nil {
		return nil, err
	}
	if err := s.placeOf(isPublic).write(ctx, requestFile(r.ID), b); err != nil {
		return nil, err
	}
	return &Entry{State: StatePending, Public: isPublic, Request: *r}, nil
}

// placeOf is where a Request lives. A public one without a registry is kept in
// private.
func (s *Store) placeOf(isPublic bool) place {
	if isPublic && s.public != nil {
		return *s.public
	}
	return s.private
}

// ClosedError says that a Request takes no answer any more. Nothing was
// changed.
type ClosedError struct{ Entry Entry }

// Error implements error.
func (e *ClosedError) Error() string {
	id := e.Entry.Request.ID.Short()
	switch a := e.Entry.Answer; {
	case e.Entry.State == StateWithdrawn:
		return fmt.Sprintf("request %s is not asked any more: its step went another way", id)
	case a == nil || a.Status == contract.AnswerExpired:
		return fmt.Sprintf("request %s expired at %s: an answer came too late; run the step again to be asked again", id, *e.Entry.Request.ExpiresAt)
	default:
		return fmt.Sprintf("request %s has its answer (%s, by %s at %s): a second one is refused", id, a.Status, a.AnsweredBy, a.AnsweredAt)
	}
}

// Answer records answers, each to the Request that it names. All are checked
// before the first is written: *RefusedError, *ClosedError and *NotFoundError
// mean that nothing changed. The very answer that is recorded already is no
// second one.
func (s *Store) Answer(ctx context.Context, answers ...contract.Answer) error {
	unlock, err := s.private.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return s.record(ctx, answers)
}

// AnswerStep records answers to the pending Requests of one step at once, as
// Complete does: what they leave out is unresolved.
func (s *Store) AnswerStep(ctx context.Context, run, step string, given []contract.Answer, by By) ([]contract.Answer, error) {
	unlock, err := s.private.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := s.Of(run, step)
	if err != nil {
		return nil, err
	}
	var open []contract.Request
	rest := slices.Clone(given)
	for i := range all {
		if all[i].State == StatePending {
			open = append(open, all[i].Request)
			continue
		}
		n := slices.IndexFunc(rest, func(a contract.Answer) bool { return a.RequestID == all[i].Request.ID })
		if n < 0 {
			continue
		}
		if !same(all[i].Answer, &rest[n]) {
			return nil, &ClosedError{all[i]}
		}
		rest = slices.Delete(rest, n, n+1) // a caller who was interrupted says it again
	}
	if len(rest) == 0 && len(given) > 0 && len(open) == 0 {
		return nil, nil
	}
	complete, err := Complete(open, rest, by)
	if err != nil {
		return nil, err
	}
	return complete, s.record(ctx, complete)
}

func (s *Store) record(ctx context.Context, answers []contract.Answer) error {
	var entries []*Entry
	seen := map[contract.Digest]bool{}
	for i := range answers {
		if seen[answers[i].RequestID] {
			return twoAnswers(answers[i].RequestID)
		}
		seen[answers[i].RequestID] = true
		e, err := s.get(answers[i].RequestID)
		if errors.Is(err, fs.ErrNotExist) {
			return &NotFoundError{ID: string(answers[i].RequestID)}
		}
		if err != nil {
			return err
		}
		if same(e.Answer, &answers[i]) {
			entries = append(entries, nil)
			continue
		}
		if e.State == StateExpired && e.Answer == nil {
			if err := s.expire(ctx, e); err != nil {
				return err
			}
		}
		if e.State != StatePending {
			return &ClosedError{*e}
		}
		if err := Check(&e.Request, &answers[i]); err != nil {
			return err
		}
		entries = append(entries, e)
	}
	for i, e := range entries {
		if e == nil {
			continue
		}
		if err := s.write(ctx, e, &answers[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) write(ctx context.Context, e *Entry, a *contract.Answer) error {
	b, err := contract.Encode(a)
	if err != nil {
		return err
	}
	return s.placeOf(e.Public).write(ctx, answerFile(a.RequestID), b)
}

// expire records that nobody answered in time.
func (s *Store) expire(ctx context.Context, e *Entry) error {
	at, err := time.Parse(time.RFC3339, *e.Request.ExpiresAt)
	if err != nil {
		return fmt.Errorf("reading when request %s expires: %w", e.Request.ID.Short(), err)
	}
	a := blank(&e.Request, contract.AnswerExpired, By{Name: "agent-contracts", At: at})
	e.Answer = &a
	return s.write(ctx, e, &a)
}

// settle records what became of the Requests of a step that ran: asked are
// those that it asked for. done says that it came to its end.
func (s *Store) settle(ctx context.Context, run, step string, asked map[contract.Digest]bool, done bool) error {
	if all, err := s.Of(run, step); err != nil || len(all) == 0 {
		return err // most steps ask nothing
	}
	unlock, err := s.private.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := s.Of(run, step)
	if err != nil {
		return err
	}
	for _, e := range all {
		u := use{At: timestamp(s.now())}
		switch {
		case asked[e.Request.ID] && done && e.Answer != nil:
			u.State = StateUsed
		case !asked[e.Request.ID] && e.Answer != nil:
			u.State = StateUnused
		case !asked[e.Request.ID]:
			u.State = StateWithdrawn
		default:
			continue
		}
		b, err := contract.Encode(u)
		if err != nil {
			return err
		}
		if err := s.private.write(ctx, useFile(e.Request.ID), b); err != nil {
			return err
		}
	}
	return nil
}

// same reports whether two answers are one, byte for byte in their stored form.
func same(a, b *contract.Answer) bool {
	if a == nil {
		return false
	}
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
