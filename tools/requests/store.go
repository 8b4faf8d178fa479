package requests

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// The states of a Request. One that is no longer pending never becomes so
// again, except a withdrawn one that its step asks once more.
const (
	StatePending    = "pending"
	StateAnswered   = "answered"   // the step has not run again yet
	StateUsed       = "used"       // the step ran again and asked for it
	StateUnused     = "unused"     // the step ran again and did not ask
	StateWithdrawn  = "withdrawn"  // never answered, and nobody asks any more
	StateDeclined   = "declined"   // by a person
	StateExpired    = "expired"    // by time
	StateUnresolved = "unresolved" // left out of a partial answer
)

// Entry is a Request with what became of it.
type Entry struct {
	State   string           `json:"state"`
	Public  bool             `json:"public"` // it lives in the registry
	Request contract.Request `json:"request"`
	Answer  *contract.Answer `json:"answer"`
}

// use is what became of an answer, or of a question that nobody asks any more.
type use struct {
	State string `json:"state"` // used, unused or withdrawn
	At    string `json:"at"`
}

// Store keeps Requests and Answers: in the private state folder, and public
// ones in a registry.
type Store struct {
	private private
	public  *public // nil without a registry that can be written
	now     func() time.Time
}

// Open returns the store below the private state folder. reg holds the public
// Requests; nil or a read-only one has none. Nothing is made before the first
// Request.
func Open(stateDir string, reg *store.Registry, now func() time.Time) *Store {
	s := &Store{private: private{filepath.Join(stateDir, folder)}, now: now}
	if reg != nil && !reg.ReadOnly() {
		s.public = &public{reg}
	}
	return s
}

func requestFile(id contract.Digest) string { return id.FileName() + ".request.json" }
func answerFile(id contract.Digest) string  { return id.FileName() + ".answer.json" }
func useFile(id contract.Digest) string     { return id.FileName() + ".use.json" }

func (s *Store) places() []place {
	if s.public == nil {
		return []place{s.private}
	}
	return []place{s.private, *s.public}
}

// List returns every Request, the oldest first.
func (s *Store) List() ([]Entry, error) {
	var out []Entry
	for _, p := range s.places() {
		names, err := p.names()
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			base, ok := strings.CutSuffix(name, ".request.json")
			if !ok {
				continue
			}
			id, err := contract.ParseDigest(base)
			if err != nil {
				return nil, &store.BrokenError{File: name, Err: err}
			}
			e, err := s.entry(p, id)
			if err != nil {
				return nil, err
			}
			out = append(out, *e)
		}
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Request.CreatedAt, b.Request.CreatedAt), cmp.Compare(a.Request.Run, b.Request.Run),
			cmp.Compare(a.Request.Step, b.Request.Step), cmp.Compare(a.Request.Ordinal, b.Request.Ordinal), cmp.Compare(a.Request.ID, b.Request.ID))
	})
	return out, nil
}

// NotFoundError says that no Request has an id.
type NotFoundError struct {
	ID string
	// Several are the ids that an abbreviation fits, if it fits any.
	Several []string
}

// Error implements error.
func (e *NotFoundError) Error() string {
	if len(e.Several) > 0 {
		return fmt.Sprintf("%q fits %d requests (%s): write more of the id", e.ID, len(e.Several), strings.Join(e.Several, ", "))
	}
	return fmt.Sprintf("there is no request %q", e.ID)
}

// Find returns the Request whose id begins with the text, which may leave out
// sha256:.
func (s *Store) Find(text string) (*Entry, error) {
	hex := strings.TrimPrefix(strings.TrimPrefix(text, "sha256:"), "sha256-")
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	missing := &NotFoundError{ID: text}
	found := slices.DeleteFunc(all, func(e Entry) bool { return hex == "" || !strings.HasPrefix(e.Request.ID.Hex(), hex) })
	if len(found) == 1 {
		return &found[0], nil
	}
	for _, e := range found {
		missing.Several = append(missing.Several, e.Request.ID.Short())
	}
	return nil, missing
}

// Of returns the Requests of a step of a run.
func (s *Store) Of(run, step string) ([]Entry, error) {
	all, err := s.List()
	return slices.DeleteFunc(all, func(e Entry) bool { return e.Request.Run != run || e.Request.Step != step }), err
}

// get returns a Request by its id, or an error that wraps fs.ErrNotExist.
func (s *Store) get(id contract.Digest) (*Entry, error) {
	err := fs.ErrNotExist
	for _, p := range s.places() {
		var e *Entry
		if e, err = s.entry(p, id); !errors.Is(err, fs.ErrNotExist) {
			return e, err
		}
	}
	return nil, err
}

func (s *Store) entry(p place, id contract.Digest) (*Entry, error) {
	_, isPublic := p.(public)
	e := &Entry{Public: isPublic}
	r, err := decode[contract.Request](p, requestFile(id))
	if err != nil {
		return nil, err
	}
	if r.ID != id {
		return nil, &store.BrokenError{File: requestFile(id), Err: errors.New("its name is not its id")}
	}
	e.Request = *r
	if e.Answer, err = decode[contract.Answer](p, answerFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	u := use{}
	if b, err := s.private.read(useFile(id)); err == nil {
		if err := store.Decode(useFile(id), b, &u); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	e.State = s.state(e, u)
	return e, nil
}

func decode[T any](p place, name string) (*T, error) {
	b, err := p.read(name)
	if err != nil {
		return nil, err
	}
	out, problems := contract.Decode[T](&contract.Validator{}, name, b)
	if contract.HasErrors(problems) {
		return nil, &store.BrokenError{File: name, Err: errors.New(problems[0].Message)}
	}
	return out, nil
}

func (s *Store) state(e *Entry, u use) string {
	switch {
	case e.Answer != nil && e.Answer.Status != contract.AnswerAnswered:
		return string(e.Answer.Status)
	case e.Answer != nil && u.State != "" && u.State != StateWithdrawn:
		return u.State
	case e.Answer != nil:
		return StateAnswered
	case u.State == StateWithdrawn:
		return StateWithdrawn
	case s.late(&e.Request):
		return StateExpired
	}
	return StatePending
}

// late reports whether nobody waits for an answer any more.
func (s *Store) late(r *contract.Request) bool {
	return r.ExpiresAt != nil && timestamp(s.now()) >= *r.ExpiresAt
}
