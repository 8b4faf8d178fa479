package machine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

const greets = `{"ok":true,"contract_version":1,"data":{"contract_version":1,"min_supported_version":1,"implementation":"fake"},"error":null}`

// producer is a program that answers the handshake, and anything else by body.
func producer(t *testing.T, body string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "producer")
	script := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = handshake ]; then echo '%s'; exit 0; fi\n%s\n", greets, body)
	if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func connect(t *testing.T, body string) *machine.Client {
	t.Helper()
	c, h, err := machine.Connect(context.Background(), producer(t, body), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if h.Implementation != "fake" {
		t.Errorf("handshake %+v", h)
	}
	return c
}

func TestCall(t *testing.T) {
	ok := `{"ok":true,"contract_version":1,"data":{"n":5,"new":[1]},"error":null}`
	for _, c := range []struct {
		name, body string
		want       any // a pointer to the error's type, nil for none
	}{
		{"an answer", `echo '` + ok + `'`, nil},
		{"a valid envelope wins over the exit status", `echo '` + ok + `'; exit 9`, nil},
		{"talk on stderr is not looked at", `echo progress >&2; echo '` + ok + `'`, nil},
		{"a refusal", `echo '{"ok":false,"contract_version":1,"data":null,"error":{"kind":"conflict","message":"m","detail":null}}'`, new(*machine.Error)},
		{"78 is not parsed", `echo '` + ok + `'; exit 78`, new(*machine.InstallationError)},
		{"nothing and a fault", `exit 3`, new(*machine.TransportError)},
		{"killed", `kill -9 $$`, new(*machine.TransportError)},
		{"something else at exit 0", `echo hello`, new(*machine.MalformedError)},
		{"two objects", `echo '` + ok + ok + `'`, new(*machine.MalformedError)},
		{"another version", `echo '{"ok":true,"contract_version":2,"data":{"n":5},"error":null}'`, new(*machine.VersionError)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var data struct{ N int }
			err := connect(t, c.body).Call(context.Background(), &data, "x")
			if c.want == nil {
				if err != nil || data.N != 5 {
					t.Errorf("%+v %v", data, err)
				}
				return
			}
			if !errors.As(err, c.want) || data.N != 0 {
				t.Errorf("%T %v, data %+v", err, err, data)
			}
		})
	}
}

func TestConnectNeedsAnAbsolutePath(t *testing.T) {
	if _, _, err := machine.Connect(context.Background(), "producer", 0); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("error %v", err)
	}
	var transport *machine.TransportError
	if _, _, err := machine.Connect(context.Background(), filepath.Join(t.TempDir(), "none"), 0); !errors.As(err, &transport) {
		t.Errorf("no program: %v", err)
	}
}

// The program behind the path is replaced between two calls.
func TestReplacedProgramDegrades(t *testing.T) {
	c := connect(t, `echo '{"ok":true,"contract_version":2,"data":{},"error":null}'`)
	var version *machine.VersionError
	for range 2 {
		if err := c.Call(context.Background(), &struct{}{}, "x"); !errors.As(err, &version) || version.Got != 2 {
			t.Fatalf("error %v", err)
		}
	}
	if v, degraded := c.Degraded(); !degraded || v != 2 {
		t.Errorf("degraded %v, version %d", degraded, v)
	}
}

func TestTimeoutIsATransportFault(t *testing.T) {
	// It is told to end, says something then, and leaves a child that holds stdout.
	c := connect(t, `sleep 600 & trap 'echo "{\"ok\":true,\"contract_version\":1,\"data\":{},\"error\":null}"; kill $!; exit' TERM; wait`).Bounded(time.Second)
	var transport *machine.TransportError
	if err := c.Call(context.Background(), &struct{}{}, "x"); !errors.As(err, &transport) || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a program that hangs: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Call(ctx, &struct{}{}, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who went away: %v", err)
	}
}

func TestEndingIsTotal(t *testing.T) {
	word := func(s string) *string { return &s }
	for _, c := range []struct {
		in   *string
		want machine.Ending
	}{
		{nil, machine.NotEnded}, {word("succeeded"), machine.DidSucceed}, {word("failed"), machine.DidFail},
		{word("cancelled"), machine.WasCancelled}, {word("indeterminate"), machine.NotEstablished}, {word("of_tomorrow"), machine.NotEstablished},
	} {
		if got := machine.EndingOf(c.in); got != c.want {
			t.Errorf("%v: %d, want %d", c.in, got, c.want)
		}
	}
}

// A run that nobody will ever end is given up, the others are reported.
func TestAwaitGivesUp(t *testing.T) {
	c := connect(t, `echo '{"ok":true,"contract_version":1,"error":null,"data":{"entries":[
{"run_id":"a","status":"completed","terminal":true,"outcome":"succeeded"},
{"run_id":"b","status":"exited","terminal":false,"outcome":null},
{"run_id":"c","status":"preparing","terminal":false,"outcome":null},
{"run_id":"d","status":"unknown","terminal":false,"outcome":null,"error":{"kind":"not_found","message":"m","detail":null}}],
"pending":[],"stopped_without_end":["b"],"unresolved_spawn":["c"]}}'`)
	got, err := c.Await(context.Background(), []string{"a", "b", "c", "d"}, machine.Policy{Attempts: 2, Poll: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for i, abandoned := range []bool{false, true, true, false} {
		if got[i].Abandoned != abandoned {
			t.Errorf("%s: abandoned %v", got[i].RunID, got[i].Abandoned)
		}
	}
	if machine.EndingOf(got[0].Outcome) != machine.DidSucceed || got[3].Error == nil {
		t.Errorf("%+v", got)
	}
}

// A wait that says nothing of a run is no answer, and not asked for ever.
func TestAwaitNeedsEachRun(t *testing.T) {
	c := connect(t, `echo '{"ok":true,"contract_version":1,"error":null,"data":{"entries":[],"pending":[],"stopped_without_end":[],"unresolved_spawn":[]}}'`)
	var malformed *machine.MalformedError
	if _, err := c.Await(context.Background(), []string{"a"}, machine.Policy{Attempts: 2}); !errors.As(err, &malformed) {
		t.Errorf("error %v", err)
	}
}
