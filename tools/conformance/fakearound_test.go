package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// What can be seen around a fake, and done to it.

func (f *fake) Damaged(context.Context, Call) (Answer, error) {
	if f.is("D8.3") {
		return f.say(nil, f.refuse("internal", "m")), nil
	}
	if f.is("D8.5") {
		f.add("slow", "")
	}
	return Answer{Code: 78}, nil
}

func (f *fake) SpawnRefused(context.Context, Call) (Answer, error) {
	a, err := f.spawnRefused()
	if f.is("D8.4") {
		a.Code = 78
	}
	return a, err
}

func (f *fake) spawnRefused() (Answer, error) {
	r := f.add("unspawnable", "")
	if f.is("D5.6") {
		return f.say(object{"run_id": r.id}, nil), nil
	}
	return f.say(nil, f.refuse("unavailable", "m")), nil
}

func (f *fake) Process(pid int) (*Process, error) {
	for _, r := range f.runs {
		if r.pid == pid && !r.killed && !r.gone {
			if f.is("D5.4") {
				return &Process{1, 1}, nil
			}
			return &Process{pid, pid}, nil
		}
	}
	return nil, nil
}

func (f *fake) Kill(pid int) error {
	for _, r := range f.runs {
		r.gone = r.gone || r.pid == pid
	}
	return nil
}

func (f *fake) Obstruct(path string) error {
	if !strings.HasPrefix(path, "/fake/") {
		return errors.New("no such log")
	}
	f.obstructed = true
	return nil
}

func (f *fake) Wait(context.Context, string) error {
	if f.is("D9.6") && f.gone() {
		return errors.New("nothing came")
	}
	return nil
}

// onTerminal breaks what a call says on a terminal.
func (f *fake) onTerminal(args []string, a *Answer) {
	switch {
	case f.is("D1.4") && args[0] == "asks":
		*a = Answer{Stdout: []byte("sure? [y/n] "), Code: -1, Err: errors.New("it did not end")}
	case f.is("D1.5") && args[0] == "read":
		f.trapped = "less"
	}
}

// breakStatus breaks a status after all else.
func (f *fake) breakStatus(r *fakeRun, d object) {
	running := r.kind == "slow" && !r.killed && !r.gone
	for _, m := range []struct {
		id    string
		when  bool
		field string
		value any
	}{
		{"D4.10", running, "alive", false}, {"D7.8", true, "label", f.wrap(nil)},
		{"D5.15", r.kind == "stuck" && !f.aged, "outcome", "failed"}, {"D5.16", r.kind == "stuck" && f.aged, "preparing_seconds", nil},
	} {
		if f.is(m.id) && m.when {
			d[m.field] = m.value
		}
	}
}

func (f *fake) gone() bool {
	return slices.ContainsFunc(f.runs, func(r *fakeRun) bool { return r.gone })
}

func (f *fake) Prepared(_ context.Context, c Call, stopped func() bool) (bool, error) {
	kind, notify := c.Args[1], ""
	if kind == "slownotify" {
		notify = c.Args[2]
	}
	if !f.is("D5.14") {
		f.add("stuck", notify)
	}
	return stopped(), nil
}

func (f *fake) Held(ctx context.Context, c Call, meanwhile func()) (Answer, error) {
	a := f.Run(ctx, c)
	meanwhile()
	if f.is("D5.13") {
		f.runs[len(f.runs)-1].executes = f.instructed
	}
	return a, nil
}

func (f *fake) Group(leader int) ([]int, error) {
	if f.is("D6.14") {
		return []int{leader + 1}, nil
	}
	return nil, nil
}

func (f *fake) Age(string) error {
	f.aged = true
	return nil
}

func (f *fake) Trapped(name string) bool { return f.trapped == name }

func (f *fake) Write(_, content string) error {
	f.instructed = content
	return nil
}

func (f *fake) There(string) bool { return f.is("D9.7") }

var _ Target = (*fake)(nil)
