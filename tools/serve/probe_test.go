//go:build unix

package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// program puts the program that runs local probes there, all at once: it speaks
// a version of the contract, and answers a probe by body.
func (w *world) program(t *testing.T, version int, body string) {
	t.Helper()
	script := fmt.Sprintf(`#!/bin/sh
if [ "$1" = handshake ]; then echo '{"ok":true,"contract_version":%d,"data":{"contract_version":%d,"min_supported_version":%d},"error":null}'; exit 0; fi
%s
`, version, version, version, body)
	if err := os.WriteFile(w.config.Program+".new", []byte(script), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	if err := os.Rename(w.config.Program+".new", w.config.Program); err != nil {
		t.Fatal(err)
	}
}

// says is a program's body that answers with a result.
func says(version int, result string) string {
	return fmt.Sprintf(`echo '{"ok":true,"contract_version":%d,"data":{"exit_code":3,"message":null,"result":%s},"error":null}'`, version, result)
}

func available(t *testing.T, v any) string {
	t.Helper()
	return `{"available":true,"value":` + text(t, v) + `,"reason_code":null,"detail":null}`
}

// answerOf is an answer about an agent, as the program's own would be.
func answerOf(t *testing.T, w *world, agent string) contract.CompatibilityResponse {
	t.Helper()
	return dto(t, w.get("/api/agents/"+agent+"/cli-compatibility", nil))
}

// What the program answers is what a client gets, with the arguments that every
// call has, and with nothing that a shell or a flag could be made of.
func TestProbeIsTheProgramsAnswer(t *testing.T) {
	w := newWorld(t)
	want := answerOf(t, w, "gemini")
	want.InstalledVersion = &want.Agent // something that this process cannot have found
	w.config.Arguments = []string{"--registry=/r"}
	w.program(t, 1, `[ "$*" = "--registry=/r compatibility --probe --machine -- gemini" ] || exit 9; `+says(1, available(t, want)))
	for range 2 {
		if got := dto(t, w.get("/api/agents/gemini/cli-compatibility?probe=1", nil)); text(t, got) != text(t, want) {
			t.Errorf("got %s\nwant %s", text(t, got), text(t, want))
		}
	}
	w.config.Arguments = nil
	w.program(t, 1, `[ "$*" = "compatibility --probe --machine --" ] || exit 9; `+says(1, available(t, []any{want})))
	var list []contract.CompatibilityResponse
	decode(t, w.get("/api/agents/cli-compatibility?probe=1", nil).Body.Bytes(), &list)
	if len(list) != 1 || text(t, list[0]) != text(t, want) {
		t.Errorf("of all: %v", list)
	}
}

// A call that brings no answer says why, says nothing about the CLI, and leaves
// the rest of the server as it was.
func TestProbeWithoutAnAnswer(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
		says       string
	}{
		{"a damaged installation", `echo '{"ok":true,"contract_version":1,"data":{},"error":null}'; exit 78`, 503, "installation"},
		{"garbage", `echo hello`, 502, "not exactly one JSON value"},
		{"two objects", says(1, "{}") + "; " + says(1, "{}"), 502, "not exactly one JSON value"},
		{"an answer of another kind", `echo '{"ok":true,"contract_version":1,"data":[1],"error":null}'`, 502, "data is not what"},
		{"nothing", `exit 3`, 502, "exit status 3"},
		{"killed", `kill -9 $$`, 502, "killed"},
		{"a child that hangs, and its own that holds stdout", `sleep 600 & trap 'kill $!; exit' TERM; wait`, 502, "longer than"},
		{"what could not be established", says(1, `{"available":false,"value":null,"reason_code":"unreadable","detail":"d"}`), 503, "unreadable"},
		{"neither available nor not", says(1, `{"available":true,"value":null,"reason_code":null,"detail":null}`), 502, "neither"},
		{"a refusal", `echo '{"ok":false,"contract_version":1,"data":null,"error":{"kind":"unavailable","message":"no place","detail":null}}'`, 503, "no place"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			whole, hangs := w.probeTime, c.says == "longer than"
			if hangs {
				w.probeTime = time.Second
			}
			w.program(t, 1, c.body)
			rec := w.get("/api/agents/codex/cli-compatibility?probe=1", nil)
			var said struct{ Error string }
			decode(t, rec.Body.Bytes(), &said)
			if rec.Code != c.status || !strings.Contains(said.Error, c.says) {
				t.Errorf("status %d, %q; want %d, %q", rec.Code, said.Error, c.status, c.says)
			}
			dto(t, w.get("/api/agents/codex/cli-compatibility", nil))
			w.program(t, 1, says(1, available(t, answerOf(t, w, "codex"))))
			if hangs { // what follows answers when this machine lets it
				w.probeTime, w.client = whole, nil
			}
			dto(t, w.get("/api/agents/codex/cli-compatibility?probe=1", nil)) // its place is free again
		})
	}
}

// The program is replaced by one of another contract version between two probes:
// that is said, again and again, and its data is not looked at. When the right
// one is back, so are the probes.
func TestProbeOfAReplacedProgram(t *testing.T) {
	w := newWorld(t)
	answer := available(t, answerOf(t, w, "codex"))
	probe := func() (int, string) {
		rec := w.get("/api/agents/codex/cli-compatibility?probe=1", nil)
		return rec.Code, rec.Body.String()
	}
	w.program(t, 1, says(1, answer))
	if code, body := probe(); code != 200 {
		t.Fatalf("status %d: %s", code, body)
	}
	w.program(t, 2, says(2, answer))
	for range 3 { // by the envelope, then by the handshake
		if code, body := probe(); code != 503 || !strings.Contains(body, "replaced") || !strings.Contains(body, "contract_version 2") {
			t.Errorf("status %d: %s", code, body)
		}
	}
	dto(t, w.get("/api/agents/codex/cli-compatibility", nil))
	w.program(t, 1, says(1, answer))
	if code, body := probe(); code != 200 {
		t.Errorf("with the right program again: status %d: %s", code, body)
	}
}

// Who goes away ends the probe with its program.
func TestProbeOfAClientWhoWentAway(t *testing.T) {
	w := newWorld(t)
	started := filepath.Join(t.TempDir(), "started")
	w.program(t, 1, `: > '`+started+`'; exec sleep 600`)
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = probe[json.RawMessage](ctx, w.Server, "codex")
	}()
	for begun := false; !begun; {
		_, err := os.Stat(started)
		begun = err == nil
		select {
		case <-done:
			t.Fatal("the probe ended before its program had begun")
		default:
		}
	}
	leave()
	<-done
}
