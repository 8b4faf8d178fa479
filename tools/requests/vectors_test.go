package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// vectors is testdata/answers.json, which the TypeScript constructors are tested
// with too (npm/test/answers.test.mjs).
type vectors struct {
	By           string                      `json:"by"`
	At           time.Time                   `json:"at"`
	Requests     map[string]contract.Request `json:"requests"`
	Constructors []struct {
		Name, Request, Constructor string
		Data                       json.RawMessage
		Answer                     json.RawMessage
		Refused                    []string // codes
	}
	Checks []struct {
		Name, Request string
		Answer        json.RawMessage
		Codes         []string
	}
	Complete []struct {
		Name        string
		Outstanding []string
		Given       []contract.Answer
		Answers     []json.RawMessage
		Error       string
	}
	Texts []struct {
		Status       contract.AnswerStatus
		Prompt, Text string
	}
}

func readVectors(t *testing.T) *vectors {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "answers.json"))
	must(t, err)
	v := &vectors{}
	must(t, json.Unmarshal(b, v))
	return v
}

// construct calls a constructor by its name.
func construct(t *testing.T, name string, r *contract.Request, data json.RawMessage, by By) (*contract.Answer, error) {
	t.Helper()
	switch name {
	case "permission":
		return AnswerPermission(r, as[Permission](t, data), by)
	case "approval":
		return AnswerApproval(r, as[Approval](t, data), by)
	case "input":
		return AnswerInput(r, data, by)
	case "authorization":
		return AnswerAuthorization(r, by)
	case "decline":
		return Decline(r, as[string](t, data), by)
	}
	t.Fatalf("the table names a constructor %q", name)
	return nil, nil
}

func as[T any](t *testing.T, data json.RawMessage) (out T) {
	t.Helper()
	must(t, json.Unmarshal(data, &out))
	return out
}

func codes(err error) (out []string) {
	var refused *RefusedError
	if errors.As(err, &refused) {
		for _, p := range refused.Problems {
			out = append(out, p.Code)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestVectorRequests(t *testing.T) {
	for name, r := range readVectors(t).Requests {
		b, err := contract.Encode(r)
		must(t, err)
		for _, p := range contract.Validate(contract.KindRequest, name, b) {
			t.Error(p)
		}
	}
}

func TestVectorConstructors(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Constructors {
		r := v.Requests[c.Request]
		a, err := construct(t, c.Constructor, &r, c.Data, By{v.By, v.At})
		if len(c.Refused) > 0 {
			if a != nil || strings.Join(codes(err), " ") != strings.Join(c.Refused, " ") || !strings.Contains(err.Error(), constructors[r.Kind]) {
				t.Errorf("%s: %v (%v), want %v and the constructor's name", c.Name, err, codes(err), c.Refused)
			}
			continue
		}
		must(t, err)
		if diff := cmp.Diff(compact(t, c.Answer), encoded(t, a)); diff != "" {
			t.Errorf("%s: %s", c.Name, diff)
		}
	}
}

func TestVectorChecks(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Checks {
		r := v.Requests[c.Request]
		a := as[contract.Answer](t, c.Answer)
		if got := codes(Check(&r, &a)); strings.Join(got, " ") != strings.Join(c.Codes, " ") {
			t.Errorf("%s: %v, want %v", c.Name, got, c.Codes)
		}
	}
}

func TestVectorComplete(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Complete {
		var outstanding []contract.Request
		for _, name := range c.Outstanding {
			outstanding = append(outstanding, v.Requests[name])
		}
		got, err := Complete(outstanding, c.Given, By{v.By, v.At})
		if kind := errorKind(err); kind != c.Error {
			t.Errorf("%s: %v (%s), want %q", c.Name, err, kind, c.Error)
			continue
		}
		for i, want := range c.Answers {
			if diff := cmp.Diff(compact(t, want), encoded(t, &got[i])); diff != "" {
				t.Errorf("%s: %s", c.Name, diff)
			}
		}
		if len(got) != len(c.Answers) {
			t.Errorf("%s: %d answers, want %d", c.Name, len(got), len(c.Answers))
		}
	}
}

// errorKind is the table's word for an error of Complete.
func errorKind(err error) string {
	var refused *RefusedError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return "refused"
	case errors.Is(err, ErrNoAnswer):
		return "no_answer"
	case strings.Contains(err.Error(), "not outstanding"):
		return "not_outstanding"
	case strings.Contains(err.Error(), "answered twice"):
		return "twice"
	}
	return err.Error()
}

func TestVectorTexts(t *testing.T) {
	for _, c := range readVectors(t).Texts {
		if got := Text(c.Status, c.Prompt); got != c.Text {
			t.Errorf("%s %q: %q, want %q", c.Status, c.Prompt, got, c.Text)
		}
	}
}

// The questions that the constructors make have the schemas of the table.
func TestVectorSchemas(t *testing.T) {
	v := readVectors(t)
	for name, q := range map[string]Question{
		"permission":    PermissionQuestion("May it write index.html?"),
		"approval":      ApprovalQuestion("Publish it?"),
		"input":         InputQuestion("which environment?", json.RawMessage(value)),
		"authorization": AuthorizationQuestion("Sign in, please"),
	} {
		want := v.Requests[name]
		r, err := q.request(want.Run, want.Step, want.Ordinal, now)
		must(t, err)
		if r.ID != want.ID {
			t.Errorf("%s: the id is %s, want %s", name, r.ID.Short(), want.ID.Short())
		}
		for _, c := range v.Constructors {
			if c.Request != name || c.Constructor == "decline" {
				continue
			}
			_, err := construct(t, c.Constructor, r, c.Data, By{v.By, v.At})
			if (err != nil) != (len(c.Refused) > 0) {
				t.Errorf("%s, %s: %v", name, c.Name, err)
			}
		}
	}
}

func compact(t *testing.T, b []byte) string {
	t.Helper()
	var out bytes.Buffer
	must(t, json.Compact(&out, b))
	return out.String()
}

func encoded(t *testing.T, a *contract.Answer) string {
	t.Helper()
	b, err := contract.Encode(a)
	must(t, err)
	return compact(t, b)
}
