package external_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/external"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// TestMain makes the test binary an adapter when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake-adapter" {
		fake(os.Args[2])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is an adapter that goes wrong in one way.
func fake(mode string) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	result := `{"kind":"result","reported_result":"turn.completed","run_result":"success"}`
	switch mode {
	case "bad-json":
		fmt.Println(`{"type":"status","label":"ok"}`)
		fmt.Println(`{"type":`)
	case "unknown-event":
		fmt.Println(`{"type":"text_dleta","delta":"x"}`)
	case "unknown-kind":
		fmt.Println(`{"kind":"answer"}`)
	case "no-member":
		fmt.Println(`{"type":"tool_use","id":"x"}`)
	case "bad-result":
		fmt.Println(`{"kind":"result","run_result":"fine"}`)
	case "bad-failure":
		fmt.Println(`{"kind":"result","run_result":"failed","failure":{"failure_category":"weather"}}`)
	case "bad-read":
		fmt.Println(`{"kind":"read","n":99}`)
	case "exit-3":
		fmt.Fprintln(os.Stderr, os.Args[3])
		os.Exit(3)
	case "exit-3-late":
		for in.Scan() && !strings.Contains(in.Text(), `"kind":"end"`) {
		}
		fmt.Println(result)
		os.Exit(3)
	case "ends":
		return
	case "no-result":
		fmt.Println(`{"type":"status","label":"ok"}`)
		return
	case "more":
		fmt.Println(result)
		fmt.Println(result)
	case "silent":
		select {}
	case "parent":
		c := exec.Command(os.Args[0], "fake-adapter", "child", os.Args[3])
		c.Stdout = os.Stdout
		if c.Start() != nil {
			os.Exit(4)
		}
		select {}
	case "child":
		f, err := os.OpenFile(os.Args[3], os.O_WRONLY, 0)
		if err != nil {
			os.Exit(4)
		}
		fmt.Fprintln(f, "here")
		select {}
	case "endless":
		line := []byte(`{"type":"text_delta","delta":"` + strings.Repeat("x", 1<<20) + "\"}\n")
		for {
			if _, err := os.Stdout.Write(line); err != nil {
				os.Exit(5)
			}
		}
	case "long-line":
		b := bytes.Repeat([]byte("x"), 1<<20)
		for {
			if _, err := os.Stdout.Write(b); err != nil {
				os.Exit(5)
			}
		}
	case "not-run":
		fmt.Println(`{"kind":"not_run"}`)
	case "echo", "echo-once": // shows what it was sent
		for in.Scan() {
			switch {
			case strings.Contains(in.Text(), `"stream":"stdout"`):
				_, n, _ := strings.Cut(in.Text(), `"n":`)
				n, _, _ = strings.Cut(n, ",")
				fmt.Println(`{"kind":"read","n":` + n + `}`)
				fallthrough
			default:
				fmt.Printf(`{"type":"raw","line":%q}`+"\n", in.Text())
			case strings.Contains(in.Text(), `"kind":"end"`):
				fmt.Printf(`{"kind":"result","reported_result":"turn.completed","usage":{"input_tokens":7,"output_tokens":1.5e9},"more_runs":%v}`+"\n", mode == "echo")
			}
		}
	}
	for in.Scan() { // until the end of the input
	}
}

func adapter(t *testing.T, mode string, more ...string) *external.Adapter {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	timeout := time.Minute
	if mode == "silent" {
		timeout = 300 * time.Millisecond
	}
	return external.New(external.Options{Command: append([]string{exe, "fake-adapter", mode}, more...), Timeout: timeout})
}

func input(lines ...string) replay.Input {
	t := &transcript.Transcript{Records: []transcript.Record{{Dir: transcript.Process, Event: transcript.EventSpawn}}}
	for _, l := range lines {
		t.Records = append(t.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(l + "\n")})
	}
	zero := 0
	t.Records = append(t.Records,
		transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stderr, Data: []byte("warn \xff\n")},
		transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &zero},
		transcript.Record{Dir: transcript.CLIToFile, Stream: transcript.Session, Data: []byte("{}\n")})
	return replay.Input{Transcript: t, Agent: "codex", Version: "1.2.3", Dialect: &contract.Dialect{ID: "codex", ProtocolFamily: contract.FamilyEvents}}
}

// TestWhatGoesIn: the messages of docs/ADAPTERS.md, and lines that events came
// from.
func TestWhatGoesIn(t *testing.T) {
	a := adapter(t, "echo")
	r, err := a.Read(context.Background(), input(`{"type":"turn.started"}`, `<b>&amp;`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"kind":"start","protocol":1,"agent":"codex","dialect":"codex","family":"json-event-stream/v1","version":"1.2.3"}`,
		`{"kind":"chunk","n":0,"stream":"stdout","data":"{\"type\":\"turn.started\"}\n"}`,
		`{"kind":"chunk","n":1,"stream":"stdout","data":"<b>&amp;\n"}`,
		`{"kind":"chunk","n":2,"stream":"stderr","base64":"d2FybiD/Cg=="}`,
		`{"kind":"exit","code":0,"signal":null,"cause":"exit"}`,
	}
	var got []string
	for _, e := range r.Events {
		got = append(got, e.Get("line").Str())
	}
	if !slices.Equal(got, want) {
		t.Errorf("sent:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(r.Origins, []int{reference.Untold, 0, 1, 1, 1}) {
		t.Errorf("lines of the events: %v", r.Origins)
	}
	if r.ReportedResult != "turn.completed" || r.RunResult != contract.RunSuccess || r.Usage["input_tokens"] != 7 || r.Usage["output_tokens"] != 1.5e9 {
		t.Errorf("result: reported %q, run %q, usage %v", r.ReportedResult, r.RunResult, r.Usage)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// TestManyRuns: a program that takes more runs reads on, another one is started
// again for each.
func TestManyRuns(t *testing.T) {
	for _, mode := range []string{"echo", "echo-once"} {
		a := adapter(t, mode)
		for i := range 5 {
			r, err := a.Read(context.Background(), input(strings.Repeat(`"x"`, i)))
			if err != nil || len(r.Events) != 4 {
				t.Fatalf("%s, run %d: %v", mode, i+1, err)
			}
		}
		if err := a.Close(); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// TestWhatGoesWrong: each fault has an error that says what to repair and
// never quotes what the adapter or the CLI wrote.
func TestWhatGoesWrong(t *testing.T) {
	b := make([]byte, 12)
	_, _ = rand.Read(b)
	secret := hex.EncodeToString(b)
	for mode, want := range map[string]string{
		"bad-json":      "line 2 of its answer: not json at byte 8: a value",
		"unknown-event": `line 1 of its answer: unknown event type "text_dleta": the types are [error `,
		"unknown-kind":  `line 1 of its answer: unknown kind "answer": want read, result or not_run`,
		"no-member":     "line 1 of its answer: tool_use without name (a JSON string)",
		"bad-result":    "line 1 of its answer: result: run_result is none of [success failed cancelled]",
		"bad-failure":   "line 1 of its answer: result: failure is no classification",
		"bad-read":      "line 1 of its answer: read without the n of a chunk that was sent",
		"exit-3":        "ended with exit status 3 before its result; it wrote 25 bytes on stderr, not shown",
		"exit-3-late":   "ended with exit status 3 after its result",
		"ends":          "ended without an answer: want events and a last line with kind result",
		"no-result":     "ended without a result: its last line has kind result",
		"more":          "wrote more after its result",
		"silent":        "gave no result within 300ms (--adapter-timeout)",
		"endless":       "wrote more than 64 MiB about one run",
		"long-line":     "wrote more than 64 MiB about one run",
	} {
		t.Run(mode, func(t *testing.T) {
			a := adapter(t, mode, secret)
			_, err := a.Read(context.Background(), input(`{"type":"turn.started"}`))
			if err == nil {
				err = a.Close()
			}
			var e *external.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v\nwant %s", err, want)
			}
			if mode == "silent" && !errors.Is(err, external.ErrTimeout) {
				t.Errorf("%v is no ErrTimeout", err)
			}
		})
	}
}

func TestCannotStart(t *testing.T) {
	a := external.New(external.Options{Command: []string{"./no-such-program"}, Dir: t.TempDir(), Timeout: time.Minute})
	if _, err := a.Read(context.Background(), input()); err == nil || !strings.HasPrefix(err.Error(), "adapter no-such-program: cannot be started: ") {
		t.Errorf("error %v", err)
	}
}

// TestNotRun: an adapter may say that it has no reader.
func TestNotRun(t *testing.T) {
	a := adapter(t, "not-run")
	r, err := a.Read(context.Background(), input("x"))
	if err != nil || r.Status != replay.StatusNotRun || !strings.Contains(r.Reason, "no reader for the dialect codex") {
		t.Errorf("%+v, %v", r, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := adapter(t, "echo").Read(ctx, input("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestCommand(t *testing.T) {
	for s, want := range map[string]bool{"reference": false, "open-design": false, "node": false, "exec:node": true, "node a.mjs": true, "./a": true, `C:\a.exe`: true} {
		if external.IsCommand(s) != want {
			t.Errorf("IsCommand(%q) = %v", s, !want)
		}
	}
	for s, want := range map[string][]string{
		"exec:node":                   {"node"},
		"node  my-adapter.mjs -v":     {"node", "my-adapter.mjs", "-v"},
		`'./my adapter' "a 'b'" c''d`: {"./my adapter", "a 'b'", "cd"},
		`./a ""`:                      {"./a", ""},
	} {
		if got, err := external.Split(s); err != nil || !slices.Equal(got, want) {
			t.Errorf("Split(%q) = %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "exec:", "  ", `./a 'b`, `""`} {
		if got, err := external.Split(s); err == nil {
			t.Errorf("Split(%q) = %q, want an error", s, got)
		}
	}
	if got := external.New(external.Options{Command: []string{"/usr/bin/node", "--no-warnings", "lib/my-adapter.mjs"}}).Name(); got != "my-adapter.mjs" {
		t.Errorf("name %q", got)
	}
}
