package requests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// ReasonAwaitingAnswer is why a run is suspended (FINE-PRINT 22).
const ReasonAwaitingAnswer = "awaiting_answer"

// Step is work that may need a person. It asks through the Asker and returns
// the error that it gets there. It runs from its start again when there is an
// answer, so whatever it did before it asked must bear being done twice.
type Step func(ctx context.Context, q *Asker) error

// Prompter asks the person who is there. It may leave out what it got no answer
// to; ErrLater says that nobody wants to answer now.
type Prompter func(ctx context.Context, pending []contract.Request) ([]contract.Answer, error)

// ErrLater is a Prompter's way to say that the run shall be suspended.
var ErrLater = errors.New("the question is left for later")

// Runner runs the steps of one run.
type Runner struct {
	Store *Store
	Run   string
	// Inline asks at once; nil suspends the run until there is an answer.
	Inline Prompter
	// By names the person whom Inline asks; it signs what they left out.
	By string
	// Note is told when somebody else was quicker than the person who is there;
	// nil tells nobody.
	Note func(*ClosedError)
}

// SuspendedError says that a step waits for answers. Its Requests are kept, and
// Do with the same run and step goes on when there are answers.
type SuspendedError struct {
	Run, Step string
	Pending   []contract.Request
}

// Error implements error.
func (e *SuspendedError) Error() string {
	var ids []string
	for _, r := range e.Pending {
		ids = append(ids, r.ID.Short())
	}
	return fmt.Sprintf("run %s waits for an answer to %s", e.Run, strings.Join(ids, ", "))
}

// Do runs a step until it needs no further answer. Inline and durably the same
// happens: the step runs, its Requests are kept, somebody answers, the step runs
// again with the answers in hand. Its error is the step's, a *SuspendedError, or
// that of an answer which was refused; then the Requests are pending as before.
func (r *Runner) Do(ctx context.Context, step string, f Step) error {
	for {
		q := &Asker{ctx: ctx, runner: r, step: step, asked: map[contract.Digest]bool{}}
		err := f(ctx, q)
		pending, failed := q.state()
		var waits *PendingError
		var told *OutcomeError
		switch {
		case failed != nil: // the store, whatever the step made of it
			return failed
		case err != nil && !errors.As(err, &waits) && !errors.As(err, &told):
			return err // it did not come to its end: its Requests and answers stay for the next attempt
		}
		if err2 := r.Store.settle(ctx, r.Run, step, q.asked, len(pending) == 0); err2 != nil {
			return err2
		}
		if len(pending) == 0 {
			return err
		}
		if err := r.ask(ctx, step, pending); err != nil {
			return err
		}
	}
}

// ask gets the answers of the person who is there.
func (r *Runner) ask(ctx context.Context, step string, pending []contract.Request) error {
	suspended := &SuspendedError{Run: r.Run, Step: step, Pending: pending}
	if r.Inline == nil {
		return suspended
	}
	given, err := r.Inline(ctx, pending)
	if errors.Is(err, ErrLater) {
		return suspended
	}
	if err != nil {
		return err
	}
	_, err = r.Store.AnswerStep(ctx, r.Run, step, given, By{Name: r.By, At: r.Store.now()})
	var closed *ClosedError
	if errors.As(err, &closed) { // the step runs again with what is recorded
		if r.Note != nil {
			r.Note(closed)
		}
		return nil
	}
	return err
}

// Asker is how a step asks. It is safe for use by several goroutines; the order
// of the questions tells them apart.
type Asker struct {
	ctx    context.Context // of this attempt, for the store's lock
	runner *Runner
	step   string

	mu      sync.Mutex
	ordinal int
	asked   map[contract.Digest]bool
	replies []Reply
	pending []contract.Request
	failed  error
}

func (q *Asker) state() (pending []contract.Request, failed error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pending, q.failed
}

// Asked reports whether the step has asked anything.
func (q *Asker) Asked() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ordinal > 0 || len(q.asked) > 0
}

// Err returns why the step cannot come to its end now: a *PendingError while a
// question waits, or what kept a question from being asked. A step that asks
// where it cannot return an error looks here.
func (q *Asker) Err() error {
	pending, failed := q.state()
	if failed != nil || len(pending) == 0 {
		return failed
	}
	return &PendingError{Prompt: pending[0].Prompt}
}

// PendingError says that a question has no answer yet. A step returns it.
type PendingError struct{ Prompt string }

// Error implements error.
func (e *PendingError) Error() string { return "no answer yet: " + e.Prompt }

// OutcomeError says that a question was answered without data. Its text is
// exactly what an agent or a caller is told.
type OutcomeError struct {
	Status contract.AnswerStatus
	Prompt string
}

// Error implements error.
func (e *OutcomeError) Error() string { return Text(e.Status, e.Prompt) }

// Reply is what became of one question.
type Reply struct {
	Request contract.Request
	Status  contract.AnswerStatus
	// Data is the Answer's data without white space, nil unless Status is
	// answered.
	Data json.RawMessage
}

// Err returns an *OutcomeError unless the question was answered.
func (r *Reply) Err() error {
	if r.Status == contract.AnswerAnswered {
		return nil
	}
	return &OutcomeError{Status: r.Status, Prompt: r.Request.Prompt}
}

// Ask asks several questions at once. Its error is a *PendingError as long as
// one has no answer. Each reply may still be an *OutcomeError.
func (q *Asker) Ask(questions ...Question) ([]Reply, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := len(q.replies) // questions that are asked together do not repeat each other
	var out []Reply
	var waits error
	for _, question := range questions {
		reply, err := q.one(question, q.replies[:before])
		if err != nil {
			q.failed = err
			return nil, err
		}
		if reply.Status == "" {
			q.pending = append(q.pending, reply.Request)
			waits = &PendingError{Prompt: question.Prompt}
		}
		q.replies = append(q.replies, reply)
		out = append(out, reply)
	}
	if waits != nil {
		return nil, waits
	}
	return out, nil
}

func (q *Asker) one(question Question, before []Reply) (Reply, error) {
	r, err := question.request(q.runner.Run, q.step, q.ordinal, q.runner.Store.now())
	if err != nil {
		return Reply{}, err
	}
	q.ordinal++
	e, err := q.runner.Store.get(r.ID)
	if errors.Is(err, fs.ErrNotExist) && repeats(r, before) {
		// The answer did not help. Asking the same again would never end.
		return Reply{Request: *r, Status: contract.AnswerUnresolved}, nil
	}
	if err != nil || e.Answer == nil {
		if e, err = q.runner.Store.put(q.ctx, r, question.Public); err != nil {
			return Reply{}, err
		}
	}
	q.asked[r.ID] = true
	reply := Reply{Request: e.Request}
	if e.Answer == nil {
		return reply, nil
	}
	reply.Status = e.Answer.Status
	if e.Answer.Status != contract.AnswerAnswered {
		return reply, nil
	}
	if err := Check(&e.Request, e.Answer); err != nil { // somebody wrote the file by hand
		return Reply{}, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, e.Answer.Data); err != nil {
		return Reply{}, fmt.Errorf("reading the answer to request %s: %w", r.ID.Short(), err)
	}
	reply.Data = b.Bytes()
	return reply, nil
}

// repeats reports whether a question is one that got its data in this attempt.
func repeats(r *contract.Request, before []Reply) bool {
	for _, b := range before {
		if b.Status == contract.AnswerAnswered && b.Request.Kind == r.Kind && b.Request.Prompt == r.Prompt {
			return true
		}
	}
	return false
}

// AskFor asks one question and reads the data of its answer. The error is what
// the step returns: a *PendingError or an *OutcomeError.
func AskFor[T any](q *Asker, question Question) (T, error) {
	var out T
	replies, err := q.Ask(question)
	if err != nil {
		return out, err
	}
	if err := replies[0].Err(); err != nil {
		return out, err
	}
	if err := json.Unmarshal(replies[0].Data, &out); err != nil {
		return out, fmt.Errorf("reading the answer to request %s: %w", replies[0].Request.ID.Short(), err)
	}
	return out, nil
}
