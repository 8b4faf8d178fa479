//go:build unix

package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

func TestRunRecordsBytesAndExit(t *testing.T) {
	odd := "no utf-8 \xff\xfe, \x1b[1m, crlf\r\n\nunterminated"
	res, tr := record(t, childSpec("print", odd, "3"))
	if res.ExitCode == nil || *res.ExitCode != 3 || res.Signal != "" || res.Ended != "exit" || res.LeftoversKilled != 0 {
		t.Errorf("result %+v", res)
	}
	if stdout(tr) != odd {
		t.Errorf("stdout has %d bytes, want %d", len(stdout(tr)), len(odd))
	}
	if got := string(tr.Bytes(transcript.CLIToServer, transcript.Stderr)); got != "diagnostic\n" {
		t.Errorf("stderr has %d bytes", len(got))
	}
	if got := events(tr); !slices.Equal(got, []string{"spawn", "exit"}) {
		t.Errorf("events %q", got)
	}
	if last := tr.Records[len(tr.Records)-1]; last.Event != "exit" {
		t.Error("the exit does not stand last")
	}
	if tr.ExitClass() != contract.ExitNonzero {
		t.Errorf("class %s", tr.ExitClass())
	}
}

func TestRunNUL(t *testing.T) {
	_, tr := record(t, shellSpec(`printf 'a\000b\n'`))
	if stdout(tr) != "a\x00b\n" {
		t.Errorf("stdout has %d bytes", len(stdout(tr)))
	}
}

// shellSpec is a run of a shell script.
func shellSpec(script string) Spec {
	return Spec{Path: "/bin/sh", Args: []string{"-c", script}, Dir: "/", Stdin: Stdin{Mode: contract.StdinNone}}
}

func TestRunSignalIsNoExitCode(t *testing.T) {
	for number, name := range map[string]string{"9": "SIGKILL", "15": "SIGTERM", "40": "SIG40"} {
		res, tr := record(t, shellSpec("kill -"+number+" $$"))
		if res.ExitCode != nil || res.Signal != name || res.Ended != "exit" {
			t.Errorf("%s: result %+v", name, res)
		}
		if tr.ExitClass() != contract.ExitSignal {
			t.Errorf("%s: class %s", name, tr.ExitClass())
		}
	}
}

func TestRunStartErrors(t *testing.T) {
	s := newTestSandbox(t)
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/does/not/exist\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		"/does/not/exist": syscall.ENOENT, script: syscall.ENOENT, os.DevNull: syscall.EACCES,
	} {
		spec := childSpec("print")
		spec.Path = path
		raw := filepath.Join(t.TempDir(), "raw")
		w, err := transcript.CreateBundle(raw)
		if err != nil {
			t.Fatal(err)
		}
		spec.Bundle = w
		_, err = s.Run(context.Background(), spec)
		var se *StartError
		if !errors.As(err, &se) || !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if _, err := w.Close(); err != nil {
			t.Error(err)
		}
		r, err := transcript.OpenBundle(raw)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := transcript.Assemble(r)
		if err != nil || !slices.Equal(events(tr), []string{"spawn not_started"}) {
			t.Errorf("%s: events %q, %v", path, events(tr), err)
		}
		r.Close()
	}
	// The sandbox still works.
	if res, _ := recordIn(t, context.Background(), s, childSpec("print", "x", "0")); *res.ExitCode != 0 {
		t.Errorf("after refusals: %+v", res)
	}
}

// Linux takes no argument of 128 KiB; other systems set other limits.
func TestRunArgumentTooLong(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limit of one argument is Linux's")
	}
	spec := childSpec("print", strings.Repeat("x", 128<<10), "0")
	_, err := newTestSandbox(t).Run(context.Background(), spec)
	var se *StartError
	if !errors.As(err, &se) || se.Reason() != transcript.ReasonArgsTooLong {
		t.Errorf("%T, want a start error for arguments that are too long", err)
	}
}

func TestRunRefusesNonsense(t *testing.T) {
	s := newTestSandbox(t)
	for want, change := range map[string]func(*Spec){
		"must be absolute":         func(s *Spec) { s.Path = "codex" },
		"unknown stdin mode":       func(s *Spec) { s.Stdin.Mode = "" },
		"takes no data":            func(s *Spec) { s.Stdin.Data = []byte("x") },
		"not a folder":             func(s *Spec) { s.Dir = "/does/not/exist" },
		"not the name of a signal": func(s *Spec) { s.Interrupt = &Interrupt{Signal: "2"} },
	} {
		spec := childSpec("print", "x", "0")
		change(&spec)
		if _, err := s.Run(context.Background(), spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// 2 GB on one line: the limit ends it, exactly so many bytes are kept, and
// memory does not grow with output.
func TestRunFloodEndsAtTheByteLimit(t *testing.T) {
	const limit = 8 << 20
	s := newTestSandbox(t)
	path := filepath.Join(t.TempDir(), "raw")
	w, err := transcript.CreateBundle(path)
	if err != nil {
		t.Fatal(err)
	}
	spec := childSpec("flood", "2048")
	spec.Bundle, spec.Limits.Bytes = w, limit
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := s.Run(context.Background(), spec)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if res.Ended != "kill" || res.Reason != transcript.ReasonOutputLimit || res.Bytes != limit {
		t.Errorf("result %+v", res)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > limit/4 {
		t.Errorf("%d bytes were allocated for %d of output", grown, limit)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() < limit || info.Size() > limit+limit/100 {
		t.Errorf("the bundle has %d bytes, %v", info.Size(), err)
	}
}

// A limit that the last bytes break is found although the child exits by
// itself meanwhile.
func TestRunLimits(t *testing.T) {
	ten := strings.Repeat("line\n", 10)
	print10 := `for i in 0 1 2 3 4 5 6 7 8 9; do echo line; done`
	for _, tc := range []struct {
		name, script string
		limits       Limits
		kept, reason string
		marked       bool // the last line is a truncated tail
	}{
		{"exactly the bytes, both streams", print10 + `; echo diagnostic >&2`, Limits{Bytes: 61}, ten, "", false},
		{"more bytes", print10, Limits{Bytes: 7}, "line\nli", transcript.ReasonOutputLimit, true},
		{"exactly the lines", print10, Limits{Lines: 10}, ten, "", false},
		{"more lines", print10, Limits{Lines: 3}, "line\nline\nline\n", transcript.ReasonOutputLimit, false},
		{"a begun line more", print10 + `; printf rest`, Limits{Lines: 10}, ten, transcript.ReasonOutputLimit, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec := shellSpec(tc.script)
			spec.Limits = tc.limits
			res, tr := record(t, spec)
			if stdout(tr) != tc.kept || res.Reason != tc.reason || res.Bytes > 61 {
				t.Errorf("kept %q, reason %q", stdout(tr), res.Reason)
			}
			marked := false
			for _, r := range tr.Records {
				marked = marked || slices.Contains(r.Deviations, transcript.DeviationTruncatedTail)
			}
			if marked != tc.marked {
				t.Errorf("a truncated tail is marked: %v", marked)
			}
		})
	}
}

func TestRunTimeouts(t *testing.T) {
	for _, tc := range []struct {
		role   string
		limits Limits
		reason string
	}{
		{"silent", Limits{Idle: 30 * time.Millisecond}, transcript.ReasonIdleTimeout},
		{"silent", Limits{Wall: 30 * time.Millisecond}, transcript.ReasonWallTimeout},
		{"chatter", Limits{Wall: 100 * time.Millisecond, Idle: 90 * time.Second}, transcript.ReasonWallTimeout},
	} {
		spec := childSpec(tc.role)
		spec.Limits = tc.limits
		res, tr := record(t, spec)
		if res.Ended != "timeout" || res.Reason != tc.reason || tr.ExitClass() != contract.ExitTimeout {
			t.Errorf("%s: %+v", tc.role, res)
		}
		if got, want := events(tr), []string{"spawn", "timeout " + tc.reason + " SIGTERM", "exit SIGTERM"}; !slices.Equal(got, want) {
			t.Errorf("%s: events %q, want %q", tc.role, got, want)
		}
	}
}

func TestRunTermIgnoredBecomesKill(t *testing.T) {
	spec := childSpec("stubborn")
	ctx, cancel := context.WithCancel(context.Background())
	spec.Tap = func(transcript.Stream, []byte) { cancel() } // it ignores SIGTERM from now on
	s := newTestSandbox(t)
	s.clock.term = 50 * time.Millisecond
	res, tr := recordIn(t, ctx, s, spec)
	if res.Ended != "kill" || res.Reason != transcript.ReasonCancelled || res.Signal != "SIGKILL" {
		t.Errorf("result %+v", res)
	}
	if stdout(tr) != "ready\n" {
		t.Error("what came before the end is lost")
	}
}

func TestRunTermHandledKeepsTheChildsOwnExit(t *testing.T) {
	spec := childSpec("polite")
	ctx, cancel := context.WithCancel(context.Background())
	spec.Tap = func(transcript.Stream, []byte) { cancel() }
	res, tr := recordIn(t, ctx, newTestSandbox(t), spec)
	if res.ExitCode == nil || *res.ExitCode != 7 || res.Reason != transcript.ReasonCancelled {
		t.Errorf("result %+v", res)
	}
	if stdout(tr) != "ready\ngot terminated\n" {
		t.Error("the child's last words are lost")
	}
}

func TestRunInterrupt(t *testing.T) {
	for name, i := range map[string]Interrupt{
		"at the first byte": {Signal: "SIGINT", AfterBytes: 1},
		"script":            {},
	} {
		t.Run(name, func(t *testing.T) {
			spec := childSpec("polite")
			if i.Signal != "" {
				spec.Interrupt = &i
			} else {
				spec.Script = scriptFunc(func(_ transcript.Stream, chunk []byte) []Action {
					if string(chunk) == "ready\n" {
						return []Action{{Signal: "SIGINT"}}
					}
					return nil
				})
			}
			res, tr := record(t, spec)
			if res.ExitCode == nil || *res.ExitCode != 7 || res.Ended != "exit" || res.Reason != "" {
				t.Errorf("result %+v", res)
			}
			if got := events(tr); !slices.Equal(got, []string{"spawn", "kill interrupt SIGINT", "exit"}) {
				t.Errorf("events %q", got)
			}
		})
	}
}

// After alone, against a child that never prints.
func TestRunInterruptAfterDelay(t *testing.T) {
	spec := childSpec("silent")
	spec.Interrupt = &Interrupt{Signal: "SIGKILL", After: time.Millisecond}
	if res, _ := record(t, spec); res.Signal != "SIGKILL" || res.Ended != "exit" {
		t.Errorf("result %+v", res)
	}
}

// After something outside of the run, and the silence that follows it.
func TestRunInterruptOnAnEvent(t *testing.T) {
	on := make(chan struct{})
	spec := childSpec("polite")
	spec.Interrupt = &Interrupt{Signal: "SIGTERM", On: on, Quiet: time.Millisecond}
	spec.Tap = func(_ transcript.Stream, chunk []byte) {
		if string(chunk) == "ready\n" {
			close(on)
		}
	}
	res, tr := record(t, spec)
	if res.ExitCode == nil || *res.ExitCode != 7 || res.Ended != "exit" {
		t.Errorf("result %+v", res)
	}
	if got := stdout(tr); got != "ready\ngot terminated\n" {
		t.Errorf("printed %q", got)
	}
}

func TestRunStopsWhenItCannotRecord(t *testing.T) {
	w, err := transcript.CreateBundle(filepath.Join(t.TempDir(), "raw"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	spec := childSpec("chatter")
	spec.Bundle = w
	if _, err := newTestSandbox(t).Run(context.Background(), spec); err == nil {
		t.Error("a run that records nothing succeeds")
	}
}

type scriptFunc func(transcript.Stream, []byte) []Action

func (f scriptFunc) Output(s transcript.Stream, b []byte) []Action { return f(s, b) }

// upper is a filter that shows what passed through it.
type upper struct{}

func (upper) Output(s transcript.Stream, b []byte) []byte {
	if s == transcript.Stderr {
		return nil
	}
	return []byte(strings.ToUpper(string(b)))
}
func (upper) End(s transcript.Stream) []byte { return []byte("end of " + s + "\n") }
func (upper) Exit(code int) int              { return code + 1 }

// A filter changes the recording; who reads along sees the child itself.
func TestFilterChangesTheRecordOnly(t *testing.T) {
	var seen string
	spec := childSpec("print", "words\n", "3")
	spec.Filter = upper{}
	spec.Tap = func(s transcript.Stream, b []byte) {
		if s == transcript.Stdout {
			seen += string(b)
		}
	}
	res, tr := record(t, spec)
	if seen != "words\n" || res.Bytes != int64(len("words\ndiagnostic\n")) {
		t.Errorf("the tap saw %q, the limits %d bytes", seen, res.Bytes)
	}
	if got := stdout(tr); got != "WORDS\nend of stdout\n" {
		t.Errorf("recorded %q", got)
	}
	if got := string(tr.Bytes(transcript.CLIToServer, transcript.Stderr)); got != "end of stderr\n" {
		t.Errorf("recorded stderr %q", got)
	}
	if code, _, _ := tr.Exit(); code == nil || *code != 4 || *res.ExitCode != 4 {
		t.Errorf("exit code %v, want 4", code)
	}
	spec = childSpec("silent")
	spec.Filter, spec.Limits.Wall = upper{}, time.Millisecond
	if _, tr = record(t, spec); tr.ExitClass() != contract.ExitTimeout {
		t.Errorf("a run that we ended has class %s", tr.ExitClass())
	}
}
