//go:build unix

package harness

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

func TestStdinText(t *testing.T) {
	for _, prompt := range []string{"", "one\ntwo", strings.Repeat(strings.Repeat("a long prompt ", 100)+"\n", 1000)} {
		spec := childSpec("echo")
		spec.Stdin = Stdin{Mode: contract.StdinText, Data: []byte(prompt)}
		res, tr := record(t, spec)
		if *res.ExitCode != 0 || res.StdinEnd != "closed" {
			t.Errorf("%d bytes: %+v", len(prompt), res)
		}
		if got := string(tr.Bytes(transcript.ServerToCLI, transcript.Stdin)); got != prompt {
			t.Errorf("%d bytes recorded of %d", len(got), len(prompt))
		}
		if n := strings.Count(stdout(tr), "echo "); n != len(strings.Split(strings.TrimSuffix(prompt, "\n"), "\n")) && prompt != "" {
			t.Errorf("%d echoes", n)
		}
	}
}

// A prompt that the child does not read, or not to its end, is a fact and no
// error, and blocks nobody.
func TestStdinUnread(t *testing.T) {
	prompt := bytes.Repeat(append(bytes.Repeat([]byte("nobody reads this "), 100), '\n'), 10<<20/1801)
	for _, role := range []string{"deaf", "closestdin"} {
		spec := childSpec(role)
		spec.Stdin = Stdin{Mode: contract.StdinText, Data: prompt}
		res, tr := record(t, spec)
		if res.ExitCode == nil || *res.ExitCode != 0 || res.Ended != "exit" || res.StdinEnd != "unread" {
			t.Errorf("%s: %+v", role, res)
		}
		if stdout(tr) == "" {
			t.Errorf("%s: no output", role)
		}
		// What we meant to send is recorded whole, however much the pipe took.
		if got := tr.Bytes(transcript.ServerToCLI, transcript.Stdin); !bytes.Equal(got, prompt) {
			t.Errorf("%s: %d bytes of the prompt recorded", role, len(got))
		}
	}
}

func TestStdinNoneIsEmpty(t *testing.T) {
	for _, mode := range []contract.StdinMode{contract.StdinNone, contract.StdinPromptFile} {
		spec := childSpec("echo")
		spec.Stdin.Mode = mode
		if res, tr := record(t, spec); *res.ExitCode != 0 || stdout(tr) != "" || res.StdinEnd != "" {
			t.Errorf("%s: %+v", mode, res)
		}
	}
}

// An open stdin takes what the script answers and closes when it says so; the
// child goes on until then.
func TestStdinOpenFollowsTheScript(t *testing.T) {
	spec := childSpec("echo")
	spec.Stdin = Stdin{Mode: contract.StdinJSONLOpen, Data: []byte("turn 0\n")}
	var seen bytes.Buffer
	turns := 0
	spec.Script = scriptFunc(func(s transcript.Stream, chunk []byte) []Action {
		seen.Write(chunk)
		if bytes.Count(seen.Bytes(), []byte("\n")) <= turns {
			return nil
		}
		turns++
		if turns == 3 {
			return []Action{{CloseStdin: true}, {Write: []byte("after the close\n")}}
		}
		return []Action{{Write: []byte(fmt.Sprintf("turn %d\n", turns))}}
	})
	res, tr := record(t, spec)
	if *res.ExitCode != 0 || res.StdinEnd != "closed" || stdout(tr) != "echo turn 0\necho turn 1\necho turn 2\n" {
		t.Errorf("%+v, stdout %q", res, stdout(tr))
	}
	// Every answer stands after its request.
	var order []string
	for _, r := range tr.Records {
		if r.Stream == transcript.Stdin || r.Stream == transcript.Stdout {
			order = append(order, strings.TrimPrefix(strings.TrimSpace(string(r.Data)), "echo "))
		}
	}
	if got := strings.Join(order, " "); got != "turn 0 turn 0 turn 1 turn 1 turn 2 turn 2" {
		t.Errorf("order %q", got)
	}
}

// A client whose turn is over closes stdin and, when the child does not exit,
// ends it: that is no interrupt of the run.
func TestScriptEndsAChildThatStays(t *testing.T) {
	spec := childSpec("polite")
	spec.Stdin = Stdin{Mode: contract.StdinRPC}
	spec.Script = scriptFunc(func(_ transcript.Stream, chunk []byte) []Action {
		if !bytes.HasPrefix(chunk, []byte("ready")) {
			return nil
		}
		return []Action{{CloseStdin: true, Terminate: true, TerminateAfter: time.Millisecond}}
	})
	res, tr := record(t, spec)
	if res.Ended != "kill" || res.Reason != transcript.ReasonTerminated || res.ExitCode == nil || *res.ExitCode != 7 {
		t.Errorf("%+v", res)
	}
	if _, _, ended := tr.Exit(); ended != transcript.EventKill {
		t.Errorf("the transcript says %q", ended)
	}
}

func TestStdinOpenWithoutScriptStaysOpenUntilTheEnd(t *testing.T) {
	spec := childSpec("echo")
	spec.Stdin = Stdin{Mode: contract.StdinRPC, Data: []byte("hello\n")}
	ctx, cancel := context.WithCancel(context.Background())
	spec.Tap = func(transcript.Stream, []byte) { cancel() }
	res, tr := recordIn(t, ctx, newTestSandbox(t), spec)
	if res.Ended != "kill" || stdout(tr) != "echo hello\n" {
		t.Errorf("%+v", res)
	}
}

func TestProgressAndTapSeeWhatIsRecorded(t *testing.T) {
	spec := childSpec("flood", "3")
	spec.Limits.Bytes = 2<<20 + 5
	var tapped, last int64
	spec.Tap = func(_ transcript.Stream, chunk []byte) { tapped += int64(len(chunk)) }
	spec.Progress = func(n int64) {
		if n <= last {
			t.Error("progress goes back")
		}
		last = n
	}
	res, _ := record(t, spec)
	if tapped != res.Bytes || last != res.Bytes || res.Bytes != spec.Limits.Bytes {
		t.Errorf("tapped %d, progress %d, recorded %d", tapped, last, res.Bytes)
	}
}
