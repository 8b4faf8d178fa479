package requests

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

var now = time.Date(2026, 6, 27, 10, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

const value = `{"type":"object","required":["value"],"properties":{"value":{"type":"string"}},"additionalProperties":false}`

// host is the caller of specification 003: one tool, ask_human, that a model
// calls once, and a model that quotes the result it was shown.
type host struct {
	t      *testing.T
	dir    string
	runs   int    // of the tool
	saw    string // the data that the tool got
	schema string
}

func newHost(t *testing.T) *host { return &host{t: t, dir: t.TempDir(), schema: value} }

// askHuman is the tool.
func (h *host) askHuman(_ context.Context, q *Asker) error {
	h.runs++
	replies, err := q.Ask(InputQuestion("which environment?", json.RawMessage(h.schema)))
	if err != nil {
		return err
	}
	if err := replies[0].Err(); err != nil {
		return err
	}
	h.saw = string(replies[0].Data)
	return nil
}

// run drives the tool, as a process of its own would: nothing but the folder
// connects two of them.
func (h *host) run(inline Prompter) error {
	r := &Runner{Store: Open(h.dir, nil, clock), Run: "20260627T100000-abcdef", Inline: inline, By: "host"}
	return r.Do(h.t.Context(), "ask_human", h.askHuman)
}

// model is the text that a model writes which was shown the tool's result.
func (h *host) model(err error) string {
	var told *OutcomeError
	if errors.As(err, &told) {
		return "model saw tool_result: " + told.Error()
	}
	return "model saw tool_result: human replied: " + h.saw
}

// byHand is an answer as hosts build it from a column of their database: the
// map is free, everything else is right.
func byHand(r contract.Request, data string) contract.Answer {
	a := blank(&r, contract.AnswerAnswered, By{"host", now})
	a.Data = json.RawMessage(data)
	return a
}

// resolve answers the pending question in a posture and returns the tool's
// outcome: inline with one run and a prompter, durably with a run that is
// suspended, an answer, and a second run.
func (h *host) resolve(posture string, answer func(contract.Request) contract.Answer) error {
	h.t.Helper()
	if posture == "inline" {
		return h.run(func(_ context.Context, pending []contract.Request) ([]contract.Answer, error) {
			return []contract.Answer{answer(pending[0])}, nil
		})
	}
	var suspended *SuspendedError
	if err := h.run(nil); !errors.As(err, &suspended) {
		h.t.Fatalf("the run is not suspended: %v", err)
	}
	if err := Open(h.dir, nil, clock).Answer(h.t.Context(), answer(suspended.Pending[0])); err != nil {
		return err
	}
	return h.run(nil)
}

func (h *host) states() string {
	h.t.Helper()
	all, err := Open(h.dir, nil, clock).List()
	must(h.t, err)
	var out []string
	for _, e := range all {
		out = append(out, e.State)
	}
	return strings.Join(out, " ")
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The five scenarios of specification 003, in both postures. A to D differ in
// the data that the host hands back, E is the flow of its tutorial: a run that
// was suspended is taken up by a process that asks at once.
func TestScenarios(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       string // of the model; "" when the answer must be refused
		says       []string
	}{
		{name: "A the value under its key", data: `{"value":"staging"}`, want: `model saw tool_result: human replied: {"value":"staging"}`},
		{name: "B another key", data: `{"output":"staging"}`, says: []string{"/data/output", "AnswerInput"}},
		{name: "C the key of the tutorial", data: `{"answers":["staging"]}`, says: []string{"/data/answers", "AnswerInput"}},
		{name: "D white space and order stay the host's business", data: "{\n\"value\" : \"staging\" }", want: `model saw tool_result: human replied: {"value":"staging"}`},
	} {
		for _, posture := range []string{"inline", "durable"} {
			t.Run(posture+" "+c.name, func(t *testing.T) {
				h := newHost(t)
				err := h.resolve(posture, func(r contract.Request) contract.Answer { return byHand(r, c.data) })
				var refused *RefusedError
				if c.want == "" {
					if !errors.As(err, &refused) || h.saw != "" || h.states() != StatePending {
						t.Fatalf("got %v, tool saw %q, requests %s: want a refusal, nothing seen, pending", err, h.saw, h.states())
					}
					for _, s := range c.says {
						if !strings.Contains(err.Error(), s) {
							t.Errorf("the refusal does not say %q: %v", s, err)
						}
					}
					return
				}
				if got := h.model(err); got != c.want || h.runs != 2 || h.states() != StateUsed {
					t.Errorf("%s; the tool ran %d times, requests %s: want %s, 2, used", got, h.runs, h.states(), c.want)
				}
			})
		}
	}
	for _, second := range []string{"inline", "durable"} {
		t.Run("E suspended, then "+second+" in another process", func(t *testing.T) {
			h := newHost(t)
			var suspended *SuspendedError
			if err := h.run(nil); !errors.As(err, &suspended) || len(suspended.Pending) != 1 {
				t.Fatalf("phase 1: %v", err)
			}
			err := h.resolve(second, func(r contract.Request) contract.Answer {
				if r.ID != suspended.Pending[0].ID {
					t.Error("phase 2 asks another question")
				}
				a, err := AnswerInput(&r, map[string]string{"value": "staging"}, By{"host", now})
				must(t, err)
				return *a
			})
			if got := h.model(err); got != `model saw tool_result: human replied: {"value":"staging"}` || h.states() != StateUsed {
				t.Errorf("%s, requests %s", got, h.states())
			}
		})
	}
}

// No key is special: where the schema takes any object, each map arrives as it
// is, single-valued or not, and equally in both postures.
func TestDataArrivesAsGiven(t *testing.T) {
	for _, data := range []string{
		`{}`, `{"output":"staging"}`, `{"results":["a"]}`, `{"value":"staging"}`, `{"approved":false}`, `{"text":"<b>&\u00e9"}`, `{"n":1.5}`,
	} {
		for _, posture := range []string{"inline", "durable"} {
			h := newHost(t)
			h.schema = `{"type":"object"}`
			err := h.resolve(posture, func(r contract.Request) contract.Answer { return byHand(r, data) })
			if err != nil || h.saw != data {
				t.Errorf("%s %s: %v, the step saw %s", posture, data, err, h.saw)
			}
		}
	}
}

// The two texts are exact, and the same in both postures.
func TestExactTexts(t *testing.T) {
	for _, posture := range []string{"inline", "durable"} {
		h := newHost(t)
		err := h.resolve(posture, func(r contract.Request) contract.Answer {
			a, err := Decline(&r, "not today", By{"host", now})
			must(t, err)
			return *a
		})
		if got := h.model(err); got != "model saw tool_result: declined/expired: which environment?" {
			t.Errorf("%s: %s", posture, got)
		}
		// A step that asks again for what it was told gets no second question.
		h = newHost(t)
		r := &Runner{Store: Open(h.dir, nil, clock), Run: "r", Inline: nil}
		stubborn := func(_ context.Context, q *Asker) error {
			for {
				replies, err := q.Ask(InputQuestion("approve the impossible", json.RawMessage(`{"type":"object"}`)))
				if err != nil {
					return err
				}
				if err := replies[0].Err(); err != nil {
					return err
				}
			}
		}
		answer := func(_ context.Context, pending []contract.Request) ([]contract.Answer, error) {
			return []contract.Answer{byHand(pending[0], `{}`)}, nil
		}
		if posture == "inline" {
			r.Inline = answer
		} else {
			var suspended *SuspendedError
			if err := r.Do(t.Context(), "s", stubborn); !errors.As(err, &suspended) {
				t.Fatal(err)
			}
			must(t, r.Store.Answer(t.Context(), byHand(suspended.Pending[0], `{}`)))
		}
		if err := r.Do(t.Context(), "s", stubborn); err == nil || err.Error() != "unresolved: approve the impossible" {
			t.Errorf("%s: %v", posture, err)
		}
	}
}
