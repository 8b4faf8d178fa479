package replay

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// located is one finding and the stdout line that it comes from
// (reference.Reading.Origins). What the consumer loses comes from the line
// that the reference read; what it doubles or invents from the line at which
// the consumer did so.
type located struct {
	Finding
	line int
	// first is the line that gave a doubled thing for the first time, else Untold.
	first int
}

type comparison struct {
	ref, got     *Reading
	refAt, gotAt *places
	found        []located
}

func compare(ref, consumer *Reading) []located {
	c := &comparison{ref: ref, got: consumer, refAt: placesOf(ref), gotAt: placesOf(consumer)}
	c.texts()
	c.tools()
	c.usage()
	c.result()
	c.raws()
	return c.found
}

func (c *comparison) find(kind FindingKind, subject string, line int) {
	c.add(kind, subject, line, !slices.Contains(notes, kind))
}

func (c *comparison) add(kind FindingKind, subject string, line int, breaks bool) {
	c.found = append(c.found, located{Finding{Kind: kind, Subject: subject, Breaks: breaks}, line, reference.Untold})
}

func (c *comparison) again(kind FindingKind, subject string, line, first int) {
	c.found = append(c.found, located{Finding{Kind: kind, Subject: subject, Breaks: true}, line, first})
}

// texts looks for each text of the reference, in order, in what the consumer
// shows. What is left over is doubled if it repeats a text or was taken back by
// a retry, else invented. left keeps every byte where it stands in the
// consumer's text, so that a place in it tells the line.
func (c *comparison) texts() {
	left := []byte(c.got.Text)
	at, refAt := 0, 0
	shown := map[string]int{} // text → the line that showed it
	for _, t := range c.ref.Texts {
		line := c.refAt.textLine(t, &refAt)
		i := strings.Index(c.got.Text[at:], t)
		if i < 0 {
			c.find(MissingText, "", line)
			continue
		}
		clear(left[at+i : at+i+len(t)])
		shown[t] = c.gotAt.lineOfText(at + i)
		at += i + len(t)
	}
	for _, t := range slices.Concat(c.ref.Texts, c.ref.Retracted) {
		if strings.TrimSpace(t) == "" {
			continue
		}
		if i := bytes.Index(left, []byte(t)); i >= 0 {
			clear(left[i : i+len(t)])
			first, ok := shown[t]
			if !ok {
				first = reference.Untold
			}
			c.again(DoubledText, "", c.gotAt.lineOfText(i), first)
		}
	}
	for i, b := range left {
		if !strings.ContainsRune("\x00 \t\r\n", rune(b)) {
			c.find(InventedText, "", c.gotAt.lineOfText(i))
			return
		}
	}
}

// taskSuffix marks the to-do list that OpenDesign makes of a task tool's call.
const taskSuffix = ":todo-task"

func (c *comparison) tools() {
	calls := map[string][]reference.Tool{}
	for _, t := range c.got.Tools {
		id := strings.TrimSuffix(t.ID, taskSuffix)
		calls[id] = append(calls[id], t)
	}
	for _, want := range c.ref.Tools {
		id := c.got.idOf(want.ID)
		got := calls[id]
		delete(calls, id)
		if len(got) == 0 {
			c.find(MissingToolUse, want.Name, c.refAt.use(want.ID, 0))
			continue
		}
		list := got[0].Name == "TodoWrite" // sent again whole with every change
		for i := range got[1:] {
			if !list {
				c.again(DoubledToolUse, want.Name, c.gotAt.use(id, i+1), c.gotAt.use(id, 0))
			}
		}
		if list || want.State == reference.ToolOpen {
			continue
		}
		switch state := lastState(got); {
		case state == reference.ToolOpen:
			c.find(MissingToolResult, want.Name, c.refAt.result(want.ID))
		case state != want.State:
			c.find(WrongToolResult, want.Name, c.gotAt.result(id))
		}
	}
	for id, extra := range calls {
		c.find(InventedToolUse, extra[0].Name, c.gotAt.use(id, 0))
	}
}

// lastState is the state of a call that was announced more than once: the
// result closes the last announcement.
func lastState(calls []reference.Tool) reference.ToolState {
	for _, t := range calls {
		if t.State != reference.ToolOpen {
			return t.State
		}
	}
	return reference.ToolOpen
}

// usage compares the two counts that every consumer shows.
func (c *comparison) usage() {
	if c.ref.Usage == nil {
		return
	}
	if c.got.Usage == nil {
		c.find(MissingUsage, "", c.refAt.last("usage"))
		return
	}
	for _, name := range []string{"input_tokens", "output_tokens"} {
		if want, ok := c.ref.Usage[name]; ok && c.got.Usage[name] != want {
			c.find(WrongUsage, name, c.gotAt.last("usage"))
		}
	}
}

func (c *comparison) result() {
	want, got := c.ref.RunResult, c.got.RunResult
	switch {
	case want == got:
		if w, g := c.ref.Failure, c.got.Failure; w != nil && g != nil && (w.Category != g.Category || w.Detail != g.Detail) {
			c.find(OtherClassification, fmt.Sprintf("%s/%s for %s/%s", g.Category, g.Detail, w.Category, w.Detail), c.refAt.last("error"))
		}
	case want == contract.RunFailed && got == contract.RunSuccess:
		c.find(MissingFailure, string(c.ref.Failure.Category), c.refAt.last("error"))
	case want == contract.RunSuccess && got == contract.RunFailed:
		// To call a success without substance a failure loses nothing.
		c.add(InventedFailure, "", c.gotAt.last("error"), !c.ref.WeakSuccess)
	default:
		c.find(OtherResult, fmt.Sprintf("%s for %s", got, want), reference.EndOfRun)
	}
}

// raws asks of each raw event whether the reference knows the frame.
func (c *comparison) raws() {
	d := &contract.Dialect{ID: c.ref.Dialect}
	for i, e := range c.got.Events {
		if e.Type() != "raw" {
			continue
		}
		line := e.Get("line").Str()
		v, err := rawjson.Parse([]byte(line))
		switch {
		case err != nil || v.Kind() != rawjson.Object:
			c.find(UnknownRaw, "not a frame", c.gotAt.line(i))
		case knows(d, c.ref.Agent, line):
			c.find(UnexpectedRaw, frameKind(v), c.gotAt.line(i))
		default:
			c.find(UnknownRaw, frameKind(v), c.gotAt.line(i))
		}
	}
}

func knows(d *contract.Dialect, agent, line string) bool {
	r, err := reference.NewReader(d, agent)
	if err != nil {
		return false
	}
	r.Stdout([]byte(line))
	return len(r.Close(reference.Ending{}).Unknown) == 0
}

// frameKind names a frame's kind for people: its type and what tells frames of
// that type apart.
func frameKind(v rawjson.Value) string {
	parts := []string{v.Get("type").Str()}
	for _, path := range [][]string{{"subtype"}, {"item", "type"}, {"item", "item_type"}, {"event", "type"}, {"msg", "type"}} {
		if word := v.At(path...).Str(); word != "" {
			parts = append(parts, word)
		}
	}
	if parts[0] == "" {
		parts = parts[1:]
	}
	switch {
	case len(parts) > 0:
	case v.Get("prompt").Exists(): // the two lines before Codex's envelopes
		return "prompt"
	case v.Get("model").Exists():
		return "config"
	default:
		return "no type"
	}
	return strings.Join(parts, " ")
}
