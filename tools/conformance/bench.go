package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// bench is the equipment of one requirement.
type bench struct {
	ctx     context.Context
	profile *Profile
	target  Target
	runs    []string // what was submitted and may still work
}

// object is a JSON object.
type object = map[string]any

func (b *bench) run(args []string) Answer {
	return b.target.Run(b.ctx, Call{Args: machine(b.in(args))})
}

func (b *bench) in(args []string) []string {
	return fill(args, map[string]string{"dir": b.target.Dir()})
}

// envelope reads the answer of a call, as tolerant as it can: what another
// requirement is about is not judged here.
func envelope(a Answer) (object, error) {
	if a.Err != nil {
		return nil, fmt.Errorf("the executable could not be run: %w", a.Err)
	}
	start := bytes.IndexByte(a.Stdout, '{')
	if start < 0 {
		return nil, fmt.Errorf("no envelope on stdout (exit code %d)", a.Code)
	}
	var e object
	if err := json.NewDecoder(bytes.NewReader(a.Stdout[start:])).Decode(&e); err != nil {
		return nil, fmt.Errorf("no JSON object on stdout (exit code %d)", a.Code)
	}
	return e, nil
}

// data runs a command that must succeed.
func (b *bench) data(args []string, values map[string]string, ids ...string) (object, error) {
	return dataOf(b.run(fill(args, values, ids...)))
}

func dataOf(a Answer) (object, error) {
	e, err := envelope(a)
	if err != nil {
		return nil, err
	}
	d, ok := e["data"].(object)
	if !ok {
		return nil, fmt.Errorf("a call that should succeed has no data: %s", kindOf(e))
	}
	return d, nil
}

// refusal runs a command that must be refused.
func (b *bench) refusal(args []string) (object, error) {
	e, err := envelope(b.run(args))
	if err != nil {
		return nil, err
	}
	r, ok := e["error"].(object)
	if !ok {
		return nil, fmt.Errorf("a call that should be refused has no error")
	}
	return r, nil
}

func kindOf(e object) string {
	if r, ok := e["error"].(object); ok {
		return fmt.Sprintf("it was refused as %v", r["kind"])
	}
	return "no error either"
}

// submit starts work and remembers it.
func (b *bench) submit(args []string, values map[string]string) (object, string, error) {
	d, err := b.data(args, values)
	if err != nil {
		return nil, "", fmt.Errorf("submitting: %w", err)
	}
	id, ok := d["run_id"].(string)
	if !ok || id == "" {
		return nil, "", fmt.Errorf("the submission has no run_id")
	}
	b.runs = append(b.runs, id)
	return d, id, nil
}

func (b *bench) status(id string) (object, error) {
	return b.data(b.profile.Status, map[string]string{"run_id": id})
}

// wait observes runs for up to seconds.
func (b *bench) wait(seconds, poll float64, ids ...string) (object, error) {
	return b.data(b.profile.Wait, map[string]string{"max_wait": number(seconds), "poll": number(poll)}, ids...)
}

// ended submits work that ends and returns its status then.
func (b *bench) ended(args []string) (object, string, error) {
	_, id, err := b.submit(args, nil)
	if err != nil {
		return nil, "", err
	}
	s, err := b.settle(id)
	return s, id, err
}

// settle waits until a run has ended, and returns its status.
func (b *bench) settle(id string) (object, error) {
	if _, err := b.wait(120, 0.1, id); err != nil {
		return nil, fmt.Errorf("waiting: %w", err)
	}
	return b.status(id)
}

// entries returns the entries of a wait.
func (b *bench) entries(w object) ([]object, error) {
	list, ok := w[b.profile.EntriesField].([]any)
	if !ok {
		return nil, fmt.Errorf("the wait has no list %s", b.profile.EntriesField)
	}
	out := make([]object, len(list))
	for i, x := range list {
		if out[i], ok = x.(object); !ok {
			return nil, fmt.Errorf("entry %d of the wait is no object", i)
		}
	}
	return out, nil
}

// cleanUp ends what the requirement left running.
func (b *bench) cleanUp() {
	for _, id := range b.runs {
		if len(b.profile.Kill) > 0 {
			b.target.Run(context.WithoutCancel(b.ctx), Call{Args: machine(fill(b.in(b.profile.Kill), map[string]string{"run_id": id}))})
		}
	}
}

func pid(d object) (int, bool) {
	f, ok := d["pid"].(float64)
	return int(f), ok && f > 0
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func integer(v any) bool {
	f, ok := v.(float64)
	return ok && f == math.Trunc(f)
}

// wrapped checks that a value has the availability shape.
func wrapped(name string, v any) (object, error) {
	w, ok := v.(object)
	if !ok {
		return nil, fmt.Errorf("%s is not wrapped in an availability", name)
	}
	if _, ok := w["available"].(bool); !ok {
		return nil, fmt.Errorf("%s.available is no boolean", name)
	}
	for _, k := range []string{"value", "reason_code", "detail"} {
		if _, found := w[k]; !found {
			return nil, fmt.Errorf("%s has no %s", name, k)
		}
	}
	return w, nil
}

func has(d object, names ...string) error {
	for _, n := range names {
		if _, found := d[n]; !found {
			return fmt.Errorf("there is no %s", n)
		}
	}
	return nil
}

var outcomeWords = []string{"succeeded", "failed", "cancelled", "indeterminate"}

func isOutcome(v any) bool {
	s, ok := v.(string)
	return ok && slices.Contains(outcomeWords, s)
}
