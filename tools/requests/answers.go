package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// By says who answers and when.
type By struct {
	Name string
	At   time.Time
}

// Timestamp returns the time in the spelling of an Answer.
func (b By) Timestamp() string { return timestamp(b.At) }

// Permission is the data of an answer to a permission Request. Granted decides;
// Scope says how far the yes or the no goes, "" for once if that is offered.
type Permission struct {
	Granted bool  `json:"granted"`
	Scope   Scope `json:"scope,omitempty"`
}

// Approval is the data of an answer to an approval Request.
type Approval struct {
	Approved bool   `json:"approved"`
	Comment  string `json:"comment,omitempty"`
}

// Authorization is the data of an answer to an authorization Request: the
// sign-in is done. Who did not sign in declines.
type Authorization struct {
	Authorized bool `json:"authorized"`
}

// AnswerPermission answers a permission Request. Its error, like that of the
// other constructors, is a *RefusedError when the answer does not fit.
func AnswerPermission(r *contract.Request, d Permission, by By) (*contract.Answer, error) {
	return answer(r, contract.RequestPermission, d, by)
}

// AnswerApproval answers an approval Request.
func AnswerApproval(r *contract.Request, d Approval, by By) (*contract.Answer, error) {
	return answer(r, contract.RequestApproval, d, by)
}

// AnswerInput answers an input Request with data of the shape that its
// data_schema asks for: a struct, a map or a json.RawMessage. The step gets it
// as it is.
func AnswerInput(r *contract.Request, data any, by By) (*contract.Answer, error) {
	return answer(r, contract.RequestInput, data, by)
}

// AnswerAuthorization says that the sign-in which a Request asks for is done.
func AnswerAuthorization(r *contract.Request, by By) (*contract.Answer, error) {
	return answer(r, contract.RequestAuthorization, Authorization{Authorized: true}, by)
}

// Decline answers a Request of any kind with a no that carries no data. reason
// may be "".
func Decline(r *contract.Request, reason string, by By) (*contract.Answer, error) {
	a := blank(r, contract.AnswerDeclined, by)
	a.Reason = reason
	return &a, Check(r, &a)
}

// constructors names what makes an answer of each kind.
var constructors = map[contract.RequestKind]string{
	contract.RequestPermission:    "AnswerPermission",
	contract.RequestApproval:      "AnswerApproval",
	contract.RequestInput:         "AnswerInput",
	contract.RequestAuthorization: "AnswerAuthorization",
}

func blank(r *contract.Request, status contract.AnswerStatus, by By) contract.Answer {
	return contract.Answer{
		SchemaVersion: contract.SchemaVersion, RequestID: r.ID, Kind: r.Kind, Status: status,
		AnsweredAt: timestamp(by.At), AnsweredBy: by.Name,
	}
}

func answer(r *contract.Request, kind contract.RequestKind, data any, by By) (*contract.Answer, error) {
	a := blank(r, contract.AnswerAnswered, by)
	a.Kind = kind
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return nil, fmt.Errorf("answering request %s: %w", r.ID.Short(), err)
	}
	a.Data = bytes.TrimSpace(b.Bytes())
	if err := Check(r, &a); err != nil {
		return nil, err
	}
	return &a, nil
}

// RefusedError says that an answer does not fit its Request. Nothing was
// changed.
type RefusedError struct {
	Request contract.Request
	// Problems have the codes of contract.Rules, as explain knows them.
	Problems []contract.Problem
}

// Error implements error. It names the constructor whose answer would fit.
func (e *RefusedError) Error() string {
	var why []string
	for _, p := range e.Problems {
		why = append(why, strings.TrimPrefix(p.Pointer+": ", ": ")+p.Message)
	}
	return fmt.Sprintf("this does not answer request %s of kind %s (%s): make the answer with %s", e.Request.ID.Short(), e.Request.Kind,
		strings.Join(why, "; "), constructors[e.Request.Kind])
}

// Check says whether an answer fits its Request: it is one, it names the
// Request and its kind, and its data validates against the data_schema. Nothing
// is coerced. The error is a *RefusedError.
func Check(r *contract.Request, a *contract.Answer) error {
	b, err := contract.Encode(a)
	var problems []contract.Problem
	if err != nil { // data that is no JSON
		problems = []contract.Problem{{Code: "ANS-DATA", Severity: contract.SeverityError, Pointer: "/data", Message: "this is not JSON"}}
	} else if problems = contract.Validate(contract.KindAnswer, "", b); len(problems) == 0 {
		problems = contract.CheckAnswer(r, a, "")
	}
	if !contract.HasErrors(problems) {
		return nil
	}
	return &RefusedError{Request: *r, Problems: problems}
}

// ErrNoAnswer says that none of several answers holds data that a Request
// recognises, while some of them have no answer at all. Then nobody can know
// what the caller meant, and nothing is filled in.
var ErrNoAnswer = errors.New("no answer holds data for any of the requests")

// Complete returns one answer for each of the outstanding Requests of a step,
// in their order. What the caller left out is unresolved, but only when at
// least one of the given answers holds recognised data (FINE-PRINT 20). An
// answer that fits none of the Requests, or two for one, is a mistake of the
// caller's: all are refused.
func Complete(outstanding []contract.Request, given []contract.Answer, by By) ([]contract.Answer, error) {
	out := make([]contract.Answer, len(outstanding))
	recognised := false
	for i := range given {
		a := &given[i]
		n := slices.IndexFunc(outstanding, func(r contract.Request) bool { return r.ID == a.RequestID })
		if n < 0 {
			return nil, fmt.Errorf("request %s is not outstanding: its answer was refused, and the others with it", a.RequestID.Short())
		}
		if out[n].RequestID != "" {
			return nil, twoAnswers(a.RequestID)
		}
		if err := Check(&outstanding[n], a); err != nil {
			return nil, err
		}
		out[n] = *a
		recognised = recognised || a.Status == contract.AnswerAnswered
	}
	for i := range out {
		if out[i].RequestID != "" {
			continue
		}
		if !recognised {
			return nil, fmt.Errorf("%w: %s", ErrNoAnswer, wanted(outstanding))
		}
		out[i] = blank(&outstanding[i], contract.AnswerUnresolved, by)
	}
	return out, nil
}

func twoAnswers(id contract.Digest) error {
	return fmt.Errorf("request %s is answered twice: all answers were refused", id.Short())
}

func wanted(outstanding []contract.Request) string {
	var names []string
	for _, r := range outstanding {
		names = append(names, r.ID.Short()+" wants "+constructors[r.Kind])
	}
	return strings.Join(names, ", ")
}
