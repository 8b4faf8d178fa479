package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fake is a producer that keeps the contract, in memory and with a clock of its
// own, save for what one mutation breaks.
type fake struct {
	mutation   string // id of the requirement that it breaks, "" for none
	runs       []*fakeRun
	obstructed bool
	reads      int
	cut        bool   // the end of the console is asked for
	aged       bool   // the records of what is being prepared
	instructed string // the instruction file
	trapped    string // the program that it ran
}

type fakeRun struct {
	id, kind string // slow, ends, fails, notify, slownotify, unspawnable, stuck, input
	pid      int
	killed   bool // by the kill command
	gone     bool // by somebody else
	notify   string
	executes string // the instructions
}

func fakeProfile() *Profile {
	return &Profile{
		Name: "fake", Read: []string{"read"}, NotFound: []string{"status", neverWas}, InvalidInput: []string{"read", "--bad"},
		SubmitSlow: []string{"submit", "slow"}, SubmitEnds: []string{"submit", "ends"}, SubmitFails: []string{"submit", "fails"},
		SubmitInvalid: []string{"submit", "invalid"}, SubmitNotify: []string{"submit", "notify", "{notify}"},
		SubmitStdin: []string{"submit", "unspawnable"}, SubmitStdinText: "x",
		Status: []string{"status", "{run_id}"}, Output: []string{"output", "{run_id}", "{tail}"}, List: []string{"list", "{limit}"},
		ListStatus: []string{"list", "{limit}", "{status}"}, Kill: []string{"kill", "{run_id}"}, Wait: []string{"wait", "{max_wait}", "{poll}", "{run_ids}"},
		ListField: "jobs", EntriesField: "entries", MaxWaitField: "max_wait_seconds", PollField: "poll_interval_seconds", TerminalField: "terminal",
		DamageFind: "x", DamageReplace: "y",
		Asks: []string{"asks"}, SubmitSlowNotify: []string{"submit", "slownotify", "{notify}"}, SubmitUnreadable: []string{"submit", "unreadable"},
		SubmitLong: []string{"submit", "long", "{long}"}, SubmitInput: []string{"submit", "input", "{input}"},
		InputText: "first", InputEdited: "second", InputSeen: "did first",
		DeliveredField: "delivered", AgeField: "preparing_seconds", ThresholdField: "preparing_threshold_seconds",
	}
}

func (f *fake) is(id string) bool { return f.mutation == id }

func (f *fake) Dir() string { return "/fake" }

func (f *fake) Run(_ context.Context, c Call) Answer {
	args := slices.Clone(c.Args)
	i := slices.Index(args, "--machine")
	if i < 0 {
		if f.is("D1.3") {
			return f.say(object{}, nil)
		}
		return Answer{Stdout: []byte("for people\n")}
	}
	args = slices.Delete(args, i, i+1)
	data, refusal, took := f.handle(args, c)
	a := f.say(data, refusal)
	a.Took = took
	f.breakBytes(args, &a)
	if c.Terminal {
		f.onTerminal(args, &a)
	}
	return a
}

// say makes the envelope.
func (f *fake) say(data, refusal object) Answer {
	e := object{"ok": refusal == nil, "contract_version": 1, "data": nil, "error": nil}
	if refusal != nil {
		e["error"] = refusal
		if f.is("D2.3") {
			e["contract_version"] = 2
		}
	} else {
		e["data"] = data
	}
	if refusal == nil && data["read"] != nil {
		if f.is("D3.1") {
			e["error"] = object{"kind": "internal", "message": "m", "detail": nil}
		}
		if f.is("D3.2") {
			e["ok"] = "yes"
		}
	}
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return Answer{Stdout: append(b, '\n')}
}

func (f *fake) breakBytes(args []string, a *Answer) {
	missing := args[0] == "status" && args[1] == neverWas
	read := args[0] == "read" && len(args) == 1
	switch {
	case f.is("D1.1") && read:
		a.Stdout = append([]byte("working\n"), a.Stdout...)
	case f.is("D3.5") && missing:
		a.Stdout = append(a.Stdout, "bye\n"...)
	case f.is("D8.1") && read, f.is("D8.2") && missing:
		a.Code = 1
	}
}

func (f *fake) refuse(kind, message string) object {
	return object{"kind": kind, "message": message, "detail": nil}
}

func (f *fake) handle(args []string, c Call) (data, refusal object, took time.Duration) {
	switch args[0] {
	case "handshake":
		return f.handshake(), nil, 0
	case "read":
		if len(args) > 1 {
			if f.is("D3.6") {
				return nil, f.refuse("internal", "m"), 0
			}
			return nil, f.refuse("invalid_input", "unknown flag"), 0
		}
		text := "text"
		if f.is("D1.2") {
			text = "\x1b[31mtext"
		}
		return object{"read": text}, nil, 0
	case "asks":
		return nil, f.refuse("invalid_input", "nobody is asked"), 0
	case "submit":
		data, refusal = f.submit(args)
	case "status", "output", "kill":
		r := f.find(args[1])
		f.cut = args[0] == "output" && args[2] == "1"
		if r == nil {
			return nil, f.missing(), 0
		}
		data, refusal = map[string]func(*fakeRun) (object, object){"status": f.status, "output": f.output, "kill": f.kill}[args[0]](r)
	case "list":
		data = f.list(args[1:])
	case "wait":
		return f.wait(args, c)
	}
	return data, refusal, 0
}

func (f *fake) missing() object {
	r := f.refuse("not_found", "no such run")
	if f.is("D3.3") {
		r["kind"] = "odd"
	}
	if f.is("D3.4") {
		r["message"] = ""
	}
	return r
}

func (f *fake) handshake() object {
	h := object{"contract_version": 1, "min_supported_version": 1, "implementation": "fake", "implementation_version": "1", "module": "/fake/bin"}
	switch f.mutation {
	case "D2.1":
		delete(h, "module")
	case "D2.2":
		h["min_supported_version"] = "1"
	case "D2.4":
		h["min_supported_version"] = 2
	}
	return h
}

func (f *fake) find(id string) *fakeRun {
	i := slices.IndexFunc(f.runs, func(r *fakeRun) bool { return r.id == id })
	if i < 0 {
		return nil
	}
	return f.runs[i]
}

func (f *fake) add(kind, notify string) *fakeRun {
	n := len(f.runs) + 1
	r := &fakeRun{id: fmt.Sprintf("20260101T000000-%06d", n), kind: kind, pid: 1000 + n, notify: notify}
	f.runs = append(f.runs, r)
	return r
}

func (f *fake) submit(args []string) (data, refusal object) {
	kind, notify := args[1], ""
	switch kind {
	case "invalid", "unreadable", "long":
		if f.is(map[string]string{"invalid": "D5.5", "unreadable": "D5.11", "long": "D5.12"}[kind]) {
			f.add("ends", "")
		}
		return nil, f.refuse("invalid_input", "m")
	case "notify", "slownotify":
		notify = args[2]
	case "slow":
		if f.is("D5.10") {
			f.trapped = "setsid"
		}
	}
	r := f.add(kind, notify)
	r.executes = f.instructed
	d := object{"run_id": r.id, "pid": r.pid, "status": "running", "terminal": false, "outcome": nil, "log": "/fake/" + r.id}
	if kind == "slow" && f.is("D5.1") {
		d["log"] = "console.log"
	}
	if kind == "slow" && f.is("D5.9") {
		delete(d, "outcome")
	}
	if kind == "slow" && f.is("D5.2") {
		d["result"] = object{}
	}
	return d, nil
}

// lifecycle is what is true of a run.
func (f *fake) lifecycle(r *fakeRun) object {
	d := object{"run_id": r.id, "kind": "fake", "label": nil, "status": "running", "terminal": false, "outcome": nil, "reason_code": nil,
		"alive": true, "pid": r.pid, "submitted_at": "t", "finished_at": nil, "spawn_state": "started"}
	end := func(status, outcome string, reason any) {
		d["status"], d["terminal"], d["outcome"], d["reason_code"], d["alive"], d["finished_at"] = status, true, outcome, reason, false, "t"
	}
	switch {
	case r.kind == "ends", r.kind == "notify", r.kind == "input":
		end("completed", "succeeded", nil)
	case r.kind == "stuck":
		d["status"], d["spawn_state"], d["pid"], d["alive"], d["preparing_seconds"] = "preparing", "preparing", nil, nil, 1.0
		if f.aged {
			d["submitted_at"], d["preparing_seconds"] = "earlier", 3600.0
		}
	case r.kind == "fails":
		end("failed", "failed", "broken")
		if f.is("D4.8") {
			d["reason_code"] = "it broke, sadly"
		}
	case r.kind == "unspawnable":
		end("failed", "failed", "spawn_failed")
		d["spawn_state"] = "failed"
	case r.killed:
		end("cancelled", "cancelled", "signalled")
	case r.gone:
		end("exited", "indeterminate", "process_gone")
		if f.is("D6.2") {
			d["terminal"], d["outcome"], d["alive"] = false, nil, true
		}
	}
	return d
}

func (f *fake) notification(r *fakeRun) object {
	v := object{"attempted": r.notify != "", "delivered": r.notify != "" && !strings.HasPrefix(r.notify, "exit")}
	if r.notify == "" && r.kind == "ends" && f.is("D9.4") {
		v["attempted"] = true
	}
	if r.notify != "" && (v["delivered"] == true && f.is("D9.2") || v["delivered"] == false && f.is("D9.3")) {
		v["delivered"] = v["delivered"] == false
	}
	return f.wrap(v)
}

func (f *fake) wrap(v any) object {
	return object{"available": true, "value": v, "reason_code": nil, "detail": nil}
}

func (f *fake) status(r *fakeRun) (data, refusal object) {
	d := f.lifecycle(r)
	d["notification"] = f.notification(r)
	f.reads++
	running := strings.HasPrefix(r.kind, "slow") && !r.killed && !r.gone
	orphan := r.gone && !r.killed
	for _, m := range []struct {
		id    string
		when  bool
		field string
		value any
	}{
		{"D4.2", running, "outcome", "succeeded"}, {"D4.3", r.kind == "ends", "outcome", "great"}, {"D4.4", r.kind == "ends", "outcome", "indeterminate"},
		{"D4.5", r.kind == "fails", "outcome", "succeeded"}, {"D4.6", r.kind == "ends", "terminal", false}, {"D4.7", r.kind == "ends", "finished_at", nil},
		{"D5.3", running, "run_id", "another"}, {"D5.7", r.kind == "unspawnable", "terminal", false}, {"D5.8", running, "spawn_state", nil},
		{"D6.1", orphan, "outcome", "succeeded"}, {"D6.3", r.kind == "ends", "finished_at", strconv.Itoa(f.reads)}, {"D9.1", r.kind == "notify", "terminal", false},
	} {
		if f.is(m.id) && m.when {
			d[m.field] = m.value
		}
	}
	f.breakStatus(r, d)
	if f.is("D4.1") {
		delete(d, "label")
	}
	return d, nil
}

func (f *fake) output(r *fakeRun) (data, refusal object) {
	console := f.wrap("text")
	console["truncated"] = f.cut && !f.is("D7.6")
	if f.cut {
		console["value"] = "t"
	}
	if f.obstructed {
		console["available"], console["value"], console["reason_code"] = false, nil, "unreadable"
		if f.is("D7.5") {
			console["available"], console["value"], console["reason_code"] = true, "", nil
		}
	}
	if f.is("D7.4") {
		delete(console, "truncated")
	}
	d := f.lifecycle(r)
	if f.is("D4.11") {
		delete(d, "outcome")
	}
	if f.is("D7.7") {
		console["reason_code"] = "odd"
	}
	if r.kind == "input" {
		console["value"] = "did " + r.executes
	}
	d["console"], d["artifacts"], d["manifest"] = console, f.wrap([]any{}), f.wrap(object{})
	if f.is("D9.5") && r.kind == "notify" {
		f.reads++
		d["artifacts"] = f.wrap(f.reads)
	}
	for id, name := range map[string]string{"D7.1": "console", "D7.2": "artifacts", "D7.3": "manifest"} {
		if f.is(id) {
			delete(d[name].(object), "detail")
		}
	}
	return d, nil
}

func (f *fake) kill(r *fakeRun) (data, refusal object) {
	ended := f.lifecycle(r)["terminal"] == true
	if ended && f.is("D6.5") {
		return nil, f.refuse("conflict", "it has ended")
	}
	if ended && f.is("D6.10") {
		r.kind = "fails"
	}
	if !ended && !f.is("D6.4") {
		r.killed = true
	}
	return object{"delivered": !ended && !f.is("D6.12")}, nil
}

func (f *fake) list(args []string) object {
	limit, err := strconv.Atoi(args[0])
	if err != nil {
		panic(err)
	}
	jobs := []any{}
	for _, r := range f.runs {
		d := f.lifecycle(r)
		if f.is("D6.11") {
			delete(d, "terminal")
		}
		if f.is("D4.9") {
			d["reason_code"] = "another"
		}
		if f.is("D10.16") && r.gone {
			d["terminal"] = false
		}
		if len(args) == 1 || d["status"] == args[1] || f.is("D6.9") {
			jobs = append(jobs, d)
		}
	}
	if !f.is("D6.6") {
		slices.Reverse(jobs)
	}
	truncated := len(jobs) > limit && !f.is("D6.8")
	if !f.is("D6.7") {
		jobs = jobs[:min(limit, len(jobs))]
	}
	return object{"jobs": f.wrap(jobs), "truncated": truncated}
}

// text is what a fake wrote, for a test's failure.
func text(r *Report) string {
	var b bytes.Buffer
	for _, x := range r.Results {
		if x.Verdict != Passed {
			fmt.Fprintf(&b, "%s %s: %s\n", x.ID, x.Verdict, x.Why)
		}
	}
	return b.String()
}
