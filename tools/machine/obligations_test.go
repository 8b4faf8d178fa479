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

// greeter is a program that answers the handshake with these data.
func greeter(t *testing.T, data string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "producer")
	script := fmt.Sprintf("#!/bin/sh\necho '{\"ok\":true,\"contract_version\":1,\"data\":%s,\"error\":null}'\n", data)
	if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// A program that has left our version behind, or has not come to it, is refused
// before anything of it could be offered (D2).
func TestConnectRefusesAnotherContract(t *testing.T) {
	for data, ok := range map[string]bool{
		`{"contract_version":1,"min_supported_version":1,"implementation":"x"}`: true,
		`{"contract_version":3,"min_supported_version":1,"implementation":"x"}`: true, // it still honours ours
		`{"contract_version":3,"min_supported_version":2,"implementation":"x"}`: false,
		`{"contract_version":0,"min_supported_version":0,"implementation":"x"}`: false,
	} {
		c, _, err := machine.Connect(context.Background(), greeter(t, data), time.Minute)
		var version *machine.VersionError
		if (err == nil) != ok || !ok && (!errors.As(err, &version) || c != nil) {
			t.Errorf("%s: client %v, error %v", data, c != nil, err)
		}
	}
}

// Whatever build talks, the contract's version alone decides (D2).
func TestImplementationIsOnlyShown(t *testing.T) {
	for _, version := range []string{"0.0.1", "99.0.0-of-tomorrow", ""} {
		data := fmt.Sprintf(`{"contract_version":1,"min_supported_version":1,"implementation":"another","implementation_version":%q,"module":"/x"}`, version)
		_, h, err := machine.Connect(context.Background(), greeter(t, data), time.Minute)
		if err != nil || h.ImplementationVersion != version {
			t.Errorf("%q: %+v %v", version, h, err)
		}
	}
}

// waiting is an answer to a wait for one run, called a.
func waiting(status, terminal, outcome, list string) string {
	lists := map[string]string{"pending": "", "stopped_without_end": "", "unresolved_spawn": ""}
	if list != "" {
		lists[list] = `"a"`
	}
	return fmt.Sprintf(`{"ok":true,"contract_version":1,"error":null,"data":{"entries":[{"run_id":"a","status":%q,"terminal":%s,"outcome":%s,"reason_code":null}],"pending":[%s],"stopped_without_end":[%s],"unresolved_spawn":[%s]}}`,
		status, terminal, outcome, lists["pending"], lists["stopped_without_end"], lists["unresolved_spawn"])
}

// What a run ended as is never read from its status, whatever that says, nor
// from a reason; and the status is shown as it came (D4, obligations 3 and 4).
func TestStatusIsOnlyShown(t *testing.T) {
	for _, status := range []string{"completed", "failed", "running", "of_tomorrow", ""} {
		for outcome, want := range map[string]machine.Ending{`"succeeded"`: machine.DidSucceed, `"failed"`: machine.DidFail,
			`"cancelled"`: machine.WasCancelled, `"indeterminate"`: machine.NotEstablished, `"of_tomorrow"`: machine.NotEstablished} {
			c := connect(t, "echo '"+waiting(status, "true", outcome, "")+"'")
			got, err := c.Await(context.Background(), []string{"a"}, machine.Policy{Attempts: 1})
			if err != nil || got[0].Status != status || machine.EndingOf(got[0].Outcome) != want {
				t.Errorf("status %q, outcome %s: %+v %v", status, outcome, got, err)
			}
		}
		c := connect(t, "echo '"+waiting(status, "false", "null", "stopped_without_end")+"'")
		got, err := c.Await(context.Background(), []string{"a"}, machine.Policy{Attempts: 1})
		if err != nil || machine.EndingOf(got[0].Outcome) != machine.NotEnded || !got[0].Abandoned {
			t.Errorf("status %q without an end: %+v %v", status, got, err)
		}
	}
}

// A value that could not be established is not an empty one (D7, obligation 5).
func TestUnavailableIsKept(t *testing.T) {
	c := connect(t, `echo '{"ok":true,"contract_version":1,"error":null,"data":{
"none":{"available":true,"value":[],"reason_code":null,"detail":null},
"unknown":{"available":false,"value":null,"reason_code":"unreadable","detail":"permission denied"}}}'`)
	var data struct{ None, Unknown machine.Value[[]string] }
	if err := c.Call(context.Background(), &data, "x"); err != nil {
		t.Fatal(err)
	}
	if data.None.Value == nil || !data.None.Available || len(*data.None.Value) != 0 {
		t.Errorf("none became %+v", data.None)
	}
	if data.Unknown.Available || data.Unknown.Value != nil || *data.Unknown.ReasonCode != machine.ReasonUnreadable {
		t.Errorf("unknown became %+v", data.Unknown)
	}
}

// answersInTurn is a program's body that answers each call with the next text,
// and at the end again and again with the last. It notes its arguments in log.
func answersInTurn(t *testing.T, log string, answers ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, a := range answers {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(a), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("echo \"$*\" >>'%s'\nn=$(($(wc -l <'%s')-1))\n[ -e '%s'/$n ] || n=%d\ncat '%s'/$n\n", log, log, dir, len(answers)-1, dir)
}

// A run that is pending when the window closes is waited for again, until it has
// ended or the caller goes away (obligation 8).
func TestAwaitWaitsOn(t *testing.T) {
	log := filepath.Join(t.TempDir(), "calls")
	pending := waiting("running", "false", "null", "pending")
	c := connect(t, answersInTurn(t, log, pending, pending, waiting("completed", "true", `"succeeded"`, "")))
	got, err := c.Await(context.Background(), []string{"a"}, machine.Policy{Attempts: 1})
	if err != nil || got[0].Abandoned || machine.EndingOf(got[0].Outcome) != machine.DidSucceed {
		t.Errorf("%+v %v", got, err)
	}
	forEver := filepath.Join(t.TempDir(), "calls")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	left := machine.Policy{Attempts: 1, Leave: func(s *machine.Seen) bool {
		if b, _ := os.ReadFile(forEver); strings.Count(string(b), "\n") == 3 {
			cancel()
		}
		return false
	}}
	if _, err := connect(t, answersInTurn(t, forEver, pending)).Await(ctx, []string{"a"}, left); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that never ends, and a caller who went away: %v", err)
	}
}

// Whoever was told that a run has ended reads its state all the same: there is
// no way to tell the client of a notice, and it asks until the record says so
// (D9, obligation 7).
func TestNoticesAreNotNeeded(t *testing.T) {
	log := filepath.Join(t.TempDir(), "calls")
	c := connect(t, answersInTurn(t, log, waiting("running", "false", "null", "pending"), waiting("completed", "true", `"failed"`, "")))
	got, err := c.Await(context.Background(), []string{"a"}, machine.Policy{Attempts: 1, Window: time.Second, Poll: time.Second})
	if err != nil || machine.EndingOf(got[0].Outcome) != machine.DidFail {
		t.Errorf("%+v %v", got, err)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Repeat("job wait --max-wait 1.000 --poll-interval 1.000 a --machine\n", 2)
	if string(b) != want {
		t.Errorf("it called\n%swant\n%s", b, want)
	}
}
