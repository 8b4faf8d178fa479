package requests

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func ask(prompt string) Question { return InputQuestion(prompt, json.RawMessage(value)) }

// asking is a step that asks these questions together.
func asking(got *[]Reply, questions ...Question) Step {
	return func(_ context.Context, q *Asker) error {
		replies, err := q.Ask(questions...)
		*got = replies
		return err
	}
}

// suspend runs a step that must wait, and returns what it waits for.
func suspend(t *testing.T, r *Runner, f Step) []contract.Request {
	t.Helper()
	err := r.Do(t.Context(), "s", f)
	var suspended *SuspendedError
	if !errors.As(err, &suspended) {
		t.Fatalf("the run is not suspended: %v", err)
	}
	return suspended.Pending
}

func states(t *testing.T, s *Store) string {
	t.Helper()
	all, err := s.List()
	must(t, err)
	var out []string
	for _, e := range all {
		out = append(out, e.Request.Prompt+" "+e.State)
	}
	return strings.Join(out, ", ")
}

// What a step that runs again does with the answer in hand (FINE-PRINT 21).
func TestRunsAgain(t *testing.T) {
	with := func(q Question, wire string) Question { q.WireID = wire; return q }
	for _, c := range []struct {
		name          string
		first, second Question
		want          string // states when the second attempt ended; questions in the order of their ids
		waits         bool
	}{
		{"the same under another wire id", with(ask("a"), "call_1"), with(ask("a"), "call_2"), "a used", false},
		{"something else", ask("a"), ask("b"), "a unused, b pending", true},
		{"another kind", ask("a"), ApprovalQuestion("a"), "a unused, a pending", true},
	} {
		r := &Runner{Store: Open(t.TempDir(), nil, clock), Run: "r"}
		var got []Reply
		pending := suspend(t, r, asking(&got, c.first))
		must(t, r.Store.Answer(t.Context(), byHand(pending[0], `{"value":"x"}`)))
		if c.waits {
			suspend(t, r, asking(&got, c.second))
		} else {
			must(t, r.Do(t.Context(), "s", asking(&got, c.second)))
		}
		parts := strings.Split(states(t, r.Store), ", ")
		for _, want := range strings.Split(c.want, ", ") {
			if !strings.Contains(strings.Join(parts, ", "), want) {
				t.Errorf("%s: states %s, want %s", c.name, parts, c.want)
			}
		}
		if len(parts) != len(strings.Split(c.want, ", ")) {
			t.Errorf("%s: states %s, want %s", c.name, parts, c.want)
		}
	}
	r := &Runner{Store: Open(t.TempDir(), nil, clock), Run: "r"}
	var got []Reply
	pending := suspend(t, r, asking(&got, ask("a"), ask("b")))
	must(t, r.Store.Answer(t.Context(), byHand(pending[0], `{"value":"x"}`)))
	must(t, r.Do(t.Context(), "s", func(context.Context, *Asker) error { return nil }))
	if s := states(t, r.Store); s != "a unused, b withdrawn" && s != "b withdrawn, a unused" {
		t.Errorf("a step that asks nothing leaves %s", s)
	}
	late := byHand(pending[1], `{"value":"x"}`)
	var closed *ClosedError
	if err := r.Store.Answer(t.Context(), late); !errors.As(err, &closed) || !strings.Contains(err.Error(), "not asked any more") {
		t.Errorf("an answer to a withdrawn request: %v", err)
	}
	// Asked once more, it is pending again; the answer that was unused still counts.
	again := suspend(t, r, asking(&got, ask("a"), ask("b")))
	if len(again) != 1 || again[0].ID != pending[1].ID {
		t.Errorf("asked once more, %d requests are pending", len(again))
	}
	must(t, r.Store.Answer(t.Context(), late))
	must(t, r.Do(t.Context(), "s", asking(&got, ask("a"), ask("b"))))
	if len(got) != 2 || string(got[0].Data) != `{"value":"x"}` || string(got[1].Data) != `{"value":"x"}` {
		t.Errorf("the step saw %v", got)
	}
}

// A step that failed did not come to its end: its answers stay in hand.
func TestFailedStepKeepsItsAnswers(t *testing.T) {
	r := &Runner{Store: Open(t.TempDir(), nil, clock), Run: "r"}
	var got []Reply
	pending := suspend(t, r, asking(&got, ask("a")))
	must(t, r.Store.Answer(t.Context(), byHand(pending[0], `{"value":"x"}`)))
	broken := errors.New("the disk is full")
	if err := r.Do(t.Context(), "s", func(context.Context, *Asker) error { return broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if s := states(t, r.Store); s != "a answered" {
		t.Errorf("after a failure: %s", s)
	}
	must(t, r.Do(t.Context(), "s", asking(&got, ask("a"))))
	// A step that swallows the error and goes on without an answer waits all the same.
	r.Run = "r2"
	suspend(t, r, func(_ context.Context, q *Asker) error {
		_, _ = q.Ask(ask("a"))
		return nil
	})
}

// Several outstanding questions, in both postures (FINE-PRINT 20).
func TestSeveral(t *testing.T) {
	stray := contract.Request{ID: contract.Sum([]byte("stray")), Kind: contract.RequestInput, DataSchema: json.RawMessage(value)}
	for _, c := range []struct {
		name  string
		given func(p []contract.Request) []contract.Answer
		want  string // what the three questions came to; "" for an error
		says  string
	}{
		{"all", func(p []contract.Request) []contract.Answer {
			return []contract.Answer{byHand(p[2], `{"value":"3"}`), byHand(p[0], `{"value":"1"}`), byHand(p[1], `{"value":"2"}`)}
		}, `{"value":"1"} {"value":"2"} {"value":"3"}`, ""},
		{"some", func(p []contract.Request) []contract.Answer {
			return []contract.Answer{byHand(p[1], `{"value":"2"}`)}
		}, `unresolved: one {"value":"2"} unresolved: three`, ""},
		{"one declined, one answered", func(p []contract.Request) []contract.Answer {
			d, _ := Decline(&p[0], "", By{"host", now})
			return []contract.Answer{*d, byHand(p[1], `{"value":"2"}`)}
		}, `declined/expired: one {"value":"2"} unresolved: three`, ""},
		{"none", func([]contract.Request) []contract.Answer { return nil }, "", "AnswerInput"},
		{"only a no", func(p []contract.Request) []contract.Answer {
			d, _ := Decline(&p[0], "", By{"host", now})
			return []contract.Answer{*d}
		}, "", "no answer holds data"},
		{"one fits, one does not", func(p []contract.Request) []contract.Answer {
			return []contract.Answer{byHand(p[0], `{"value":"1"}`), byHand(p[1], `{"output":"2"}`)}
		}, "", "/data/output"},
		{"one fits, one is for another request", func(p []contract.Request) []contract.Answer {
			return []contract.Answer{byHand(p[0], `{"value":"1"}`), byHand(stray, `{"value":"2"}`)}
		}, "", "not outstanding"},
		{"two for one", func(p []contract.Request) []contract.Answer {
			return []contract.Answer{byHand(p[0], `{"value":"1"}`), byHand(p[0], `{"value":"2"}`)}
		}, "", "answered twice"},
	} {
		for _, posture := range []string{"inline", "durable"} {
			r := &Runner{Store: Open(t.TempDir(), nil, clock), Run: "r", By: "host"}
			var got []Reply
			f := asking(&got, ask("one"), ask("two"), ask("three"))
			var err error
			if posture == "inline" {
				r.Inline = func(_ context.Context, p []contract.Request) ([]contract.Answer, error) { return c.given(p), nil }
				err = r.Do(t.Context(), "s", f)
			} else {
				p := suspend(t, r, f)
				if _, err = r.Store.AnswerStep(t.Context(), "r", "s", c.given(p), By{"host", now}); err == nil {
					err = r.Do(t.Context(), "s", f)
				}
			}
			if c.want == "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || strings.Count(states(t, r.Store), StatePending) != 3 {
					t.Errorf("%s, %s: %v with %s, want %q and three pending", c.name, posture, err, states(t, r.Store), c.says)
				}
				continue
			}
			must(t, err)
			var words []string
			for _, reply := range got {
				if err := reply.Err(); err != nil {
					words = append(words, err.Error())
				} else {
					words = append(words, string(reply.Data))
				}
			}
			if s := strings.Join(words, " "); s != c.want {
				t.Errorf("%s, %s: %s, want %s", c.name, posture, s, c.want)
			}
		}
	}
}

// Nothing but time ends a request that nobody answers; what comes later is
// refused, and the step is told in the exact words.
func TestExpiry(t *testing.T) {
	at := now
	r := &Runner{Store: Open(t.TempDir(), nil, func() time.Time { return at }), Run: "r"}
	var got []Reply
	q := ask("which environment?")
	q.Expires = time.Hour
	pending := suspend(t, r, asking(&got, q))
	at = now.Add(time.Hour - time.Millisecond)
	suspend(t, r, asking(&got, q))
	at = now.Add(time.Hour)
	if s := states(t, r.Store); s != "which environment? expired" {
		t.Errorf("an hour later: %s", s)
	}
	var closed *ClosedError
	if err := r.Store.Answer(t.Context(), byHand(pending[0], `{"value":"x"}`)); !errors.As(err, &closed) || !strings.Contains(err.Error(), "too late") {
		t.Errorf("an answer after that: %v", err)
	}
	must(t, r.Do(t.Context(), "s", asking(&got, q)))
	if err := got[0].Err(); err == nil || err.Error() != "declined/expired: which environment?" {
		t.Errorf("the step is told %v", err)
	}
}

// Of many who answer at once exactly one does; the very same answer again is
// no second one.
func TestOneAnswer(t *testing.T) {
	dir := t.TempDir()
	r := &Runner{Store: Open(dir, nil, clock), Run: "r"}
	var got []Reply
	pending := suspend(t, r, asking(&got, ask("a")))
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			a := byHand(pending[0], `{"value":"`+strings.Repeat("x", i)+`"}`)
			err := Open(dir, nil, clock).Answer(t.Context(), a)
			var closed *ClosedError
			switch {
			case err == nil:
				won.Add(1)
				if err := Open(dir, nil, clock).Answer(t.Context(), a); err != nil {
					t.Errorf("the same answer again: %v", err)
				}
			case !errors.As(err, &closed):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d answers were taken", won.Load())
	}
	must(t, r.Do(t.Context(), "s", asking(&got, ask("a"))))
}

// Somebody in another terminal was quicker than the person who is asked here.
func TestQuickerElsewhere(t *testing.T) {
	dir := t.TempDir()
	told := 0
	r := &Runner{Store: Open(dir, nil, clock), Run: "r", Note: func(*ClosedError) { told++ }}
	r.Inline = func(ctx context.Context, p []contract.Request) ([]contract.Answer, error) {
		must(t, Open(dir, nil, clock).Answer(ctx, byHand(p[0], `{"value":"elsewhere"}`)))
		return []contract.Answer{byHand(p[0], `{"value":"here"}`)}, nil
	}
	var got []Reply
	must(t, r.Do(t.Context(), "s", asking(&got, ask("a"))))
	if string(got[0].Data) != `{"value":"elsewhere"}` || told != 1 {
		t.Errorf("the step saw %s, told %d times", got[0].Data, told)
	}
}

// What a kill leaves half written is neither a request nor an answer, and goes
// with the next change; a file that somebody spoiled is named.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir, nil, clock)
	r := &Runner{Store: s, Run: "r"}
	var got []Reply
	pending := suspend(t, r, asking(&got, ask("a")))
	left := filepath.Join(dir, folder, "."+answerFile(pending[0].ID)+"-123")
	must(t, os.WriteFile(left, []byte(`{"half`), 0o600))
	if st := states(t, s); st != "a pending" {
		t.Error(st)
	}
	must(t, s.Answer(t.Context(), byHand(pending[0], `{"value":"x"}`)))
	if _, err := os.Stat(left); err == nil {
		t.Error("the half answer is still there")
	}
	for _, f := range []string{requestFile(pending[0].ID), answerFile(pending[0].ID)} {
		info, err := os.Stat(filepath.Join(dir, folder, f))
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", f, info.Mode())
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, folder, answerFile(pending[0].ID)), []byte(`{}`), 0o600))
	var broken *store.BrokenError
	if _, err := s.List(); !errors.As(err, &broken) || !strings.Contains(broken.File, pending[0].ID.Hex()) {
		t.Errorf("a spoiled answer: %v", err)
	}
}

// A public request and its answer live in the registry; one with text that was
// not redacted cannot.
func TestPublic(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "registry"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "registry", "agents.json"), []byte("{}"), 0o644))
	reg, err := store.Open(dir)
	must(t, err)
	state := t.TempDir()
	r := &Runner{Store: Open(state, reg, clock), Run: "r"}
	q := ApprovalQuestion("promote it?")
	q.Public = true
	var got []Reply
	pending := suspend(t, r, asking(&got, q))
	a, err := AnswerApproval(&pending[0], Approval{Approved: true}, By{"maintainer", now})
	must(t, err)
	must(t, Open(t.TempDir(), reg, clock).Answer(t.Context(), *a)) // on another machine
	must(t, r.Do(t.Context(), "s", asking(&got, q)))
	for _, f := range []string{requestFile(pending[0].ID), answerFile(pending[0].ID)} {
		if !reg.Exists("registry/requests/" + f) {
			t.Errorf("%s is not in the registry", f)
		}
	}
	q.Raw = true
	if err := r.Do(t.Context(), "s2", asking(&got, q)); err == nil || !strings.Contains(err.Error(), "cannot be public") {
		t.Errorf("a public question with raw text: %v", err)
	}
}

func TestFind(t *testing.T) {
	s := Open(t.TempDir(), nil, clock)
	r := &Runner{Store: s, Run: "r"}
	var got []Reply
	p := suspend(t, r, asking(&got, ask("a"), ask("b")))
	for _, text := range []string{string(p[1].ID), p[1].ID.FileName(), p[1].ID.Hex()[:12], p[1].ID.Short()} {
		e, err := s.Find(text)
		must(t, err)
		if e.Request.ID != p[1].ID {
			t.Errorf("%s finds another request", text)
		}
	}
	for _, text := range []string{"", "sha256:", "x", strings.Repeat("0", 64)} {
		var missing *NotFoundError
		if _, err := s.Find(text); !errors.As(err, &missing) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
