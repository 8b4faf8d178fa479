package evidence

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// vouches refuses whoever may not attest or promote.
func vouches(reg *store.Registry, what, by string) error {
	p, err := named(reg, what)
	if err != nil || p.Maintains(by) {
		return err
	}
	return stranger(what, by)
}

// named returns the policy of a registry that has maintainers. Where nobody is
// named nobody vouches for anything: the word of no one in particular would
// raise a level.
func named(reg *store.Registry, what string) (*contract.Policy, error) {
	p, err := reg.Policy()
	if err == nil && len(p.Maintainers) == 0 {
		err = &RefusedError{What: what, Why: "this registry names no maintainer who could vouch for it",
			Next: "name the first one in registry/policy.json, as agent-contracts init --maintainer does, in a change that others see (docs/EVIDENCE.md)"}
	}
	return p, err
}

// decides refuses whoever may not withdraw.
func decides(reg *store.Registry, what, by string) error {
	p, err := reg.Policy()
	if err != nil || p.Decides(by) {
		return err
	}
	return stranger(what, by)
}

// handle is what registry/policy.json takes as one.
var handle = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// contributes refuses whoever cannot reproduce what maintainers captured: one of
// them, in whatever spelling.
func contributes(reg *store.Registry, what, by string) error {
	if !handle.Get().MatchString(by) {
		return &RefusedError{What: what, Why: fmt.Sprintf("%q is no handle", by), Next: "a handle has letters, digits, dots, dashes and underscores, and no @"}
	}
	p, err := reg.Policy()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(p.Maintainers, func(m contract.Maintainer) bool { return contract.SameHandle(m.Handle, by) }) {
		return &RefusedError{What: what, Why: by + " is a maintainer: community_confirmed asks for somebody else"}
	}
	return nil
}

func stranger(what, by string) error {
	return &RefusedError{What: what, Why: fmt.Sprintf("registry/policy.json does not name %q as a maintainer", by), Next: "let a maintainer decide"}
}

// approval asks about an observation until somebody has answered whose answer
// counts, and returns it with their handle. The question is public.
func approval(q *requests.Asker, s *requests.Store, prompt, agent, place string, counts func(by string) bool) (answer requests.Approval, by string, err error) {
	text := prompt
	for n := 2; ; n++ {
		question := requests.ApprovalQuestion(text)
		question.Public, question.Agent, question.Subject = true, agent, place
		replies, err := q.Ask(question)
		if err != nil {
			return answer, "", err
		}
		if err := replies[0].Err(); err != nil {
			return answer, "", err
		}
		if err := json.Unmarshal(replies[0].Data, &answer); err != nil {
			return answer, "", fmt.Errorf("reading the answer to request %s: %w", replies[0].Request.ID.Short(), err)
		}
		entry, err := s.Find(string(replies[0].Request.ID))
		if err != nil {
			return answer, "", err
		}
		if by = entry.Answer.AnsweredBy; counts(by) {
			return answer, by, nil
		}
		text = prompt + fmt.Sprintf(" (Question %d: who answered before is no maintainer.)", n)
	}
}
