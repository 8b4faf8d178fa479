//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// An ACP agent that asks whether it may write a file, under another request id
// in every process, and does what the answer says. It notes each answer in the
// file answers beside the world.
const asking = `if [ "$1" = --version ]; then echo "1.14.0"; exit 0; fi
if [ "$1" = run ]; then exit 0; fi
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
update() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"ses_1","update":%s}}\n' "$1"; }
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  case $line in
  *'"method":"initialize"'*) answer '{"protocolVersion":1,"agentCapabilities":{}}' ;;
  *'"method":"session/new"'*) answer '{"sessionId":"ses_1"}' ;;
  *'"method":"session/prompt"'*)
    prompt=$id
    update '{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"MARKER","kind":"edit","status":"pending"}'
    printf '{"jsonrpc":"2.0","id":"q-%s","method":"session/request_permission","params":{"sessionId":"ses_1","toolCall":{"toolCallId":"call_1","title":"write %s/index.html","kind":"edit"},"options":[{"optionId":"o-%s","kind":"allow_once","name":"Allow"},{"optionId":"n-%s","kind":"reject_once","name":"Reject"}]}}\n' $$ "$PWD" $$ $$
    ;;
  *'"outcome"'*)
    echo "$line" >> "${0%/*}/../answers"
    case $line in *'"o-'*) status=completed ;; *) status=failed ;; esac
    update '{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"'$status'"}'
    update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"The page is in index.html."}}'
    id=$prompt; answer '{"stopReason":"end_turn"}' ;;
  esac
done
`

// newAskingWorld makes a world whose agent asks, and whose probe says that a
// person answers.
func newAskingWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, "")
	w.write(w.fake, "#!/bin/sh\n"+asking, 0o755)
	w.write(filepath.Join(w.dir, "answers"), "", 0o666)
	w.edit("probes/permission-request/scenario.json", `"permission": "grant"`, `"permission": "ask"`)
	return w
}

func (w *world) captureAsking(args ...string) *command {
	return w.command(append([]string{"capture", "opencode", "--bin", w.fake, "--probe", "permission-request"}, args...)...)
}

// entries are the Requests as review list --all shows them.
func (w *world) entries() []requests.Entry {
	w.t.Helper()
	stdout, _ := w.command("review", "list", "--all", "--format", "json").run(0)
	var out []requests.Entry
	must(w.t, json.Unmarshal([]byte(stdout), &out))
	return out
}

// heard are the options that the agent was told, in order.
func (w *world) heard() string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, "answers"))
	must(w.t, err)
	var out []string
	for line := range strings.Lines(string(b)) {
		switch {
		case strings.Contains(line, `"o-`):
			out = append(out, "granted")
		case strings.Contains(line, `"n-`):
			out = append(out, "rejected")
		case strings.Contains(line, "cancelled"):
			out = append(out, "cancelled")
		default:
			out = append(out, "something else")
		}
	}
	return strings.Join(out, " ")
}

func (w *world) runStatus() string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.priv, "captures", "*", "run.json"))
	must(w.t, err)
	var out []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(w.t, err)
		var run struct {
			Status, Reason string
			Incarnation    int
		}
		must(w.t, json.Unmarshal(b, &run))
		out = append(out, strings.TrimSpace(fmt.Sprint(run.Status, " ", run.Incarnation, " ", run.Reason)))
	}
	return strings.Join(out, ", ")
}

// A capture whose agent asks is suspended, answered from another process, and
// goes on: the cell runs again, and the agent hears the answer under its new id.
func TestSuspend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, heard, state, finding string
		answer, flags               []string
	}{
		{"granted", "granted", "used", "a person granted a permission", []string{"--grant"}, nil},
		{"rejected", "rejected", "used", "a person refused a permission", []string{"--reject"}, nil},
		{"declined", "cancelled", "declined", "a permission question was declined", []string{"--decline", "--reason", "not today"}, nil},
		{"asked by the user", "rejected", "used", "a person refused a permission", []string{"--reject"}, []string{"--ask", "durable"}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := newAskingWorld(t)
			if c.name == "granted" { // the others do the same at once
				w.raced()
			}
			if c.flags != nil { // then the probe itself need not
				w.edit("probes/permission-request/scenario.json", `"permission": "ask"`, `"permission": "grant"`)
			}
			before := w.tree(w.reg)
			stdout, _ := w.captureAsking(c.flags...).run(5)
			if !strings.Contains(stdout, "review answer") || w.runStatus() != "suspended 1 awaiting_answer" {
				t.Errorf("suspended, it says\n%s, and its run is %s", stdout, w.runStatus())
			}
			if after := w.tree(w.reg); after != before || w.heard() != "" {
				t.Errorf("a suspended capture changed the registry, or told the agent %q", w.heard())
			}
			if left, err := filepath.Glob(filepath.Join(w.priv, "captures", "*", "cells", "*", "raw.bundle")); err != nil || len(left) > 0 {
				t.Errorf("the half recording is still there: %v", left)
			}
			w.leavesNobody()
			// Nobody has answered: it waits on, with the same question.
			w.captureAsking(c.flags...).run(5)
			all := w.entries()
			if len(all) != 1 || all[0].State != requests.StatePending || all[0].Request.Prompt != "May it use a tool: write index.html (edit)?" || !all[0].Request.Raw {
				t.Fatalf("the requests are %s", told(all))
			}
			id := all[0].Request.ID.Hex()[:8]
			w.command(append([]string{"review", "answer", id}, c.answer...)...).run(0)
			w.command("review", "answer", id, "--grant").run(1) // a second one
			must(t, w.captureAsking(append(c.flags, "--format", "json")...).settled())
			if w.heard() != c.heard || w.observations()["permission-request"] != 1 {
				t.Errorf("the agent heard %q, want %q; %d observations", w.heard(), c.heard, w.observations()["permission-request"])
			}
			if s := w.findings(); !strings.Contains(s, c.finding) {
				t.Errorf("the record's findings are %q, want %q", s, c.finding)
			}
			if all := w.entries(); len(all) != 1 || all[0].State != c.state {
				t.Errorf("afterwards the requests are %s, want one that is %s", told(all), c.state)
			}
			if s := w.runStatus(); s != "finished 3" {
				t.Errorf("the run is %s", s)
			}
			w.validates()
			w.keepsSecret(w.marker)
			w.leavesNobody()
		})
	}
}

// findings are those of every observation.
func (w *world) findings() string {
	w.t.Helper()
	reg, err := store.Open(w.reg)
	must(w.t, err)
	all, err := reg.Observations("")
	must(w.t, err)
	var out []string
	for _, o := range all {
		out = append(out, o.Extensions.Findings...)
	}
	return strings.Join(out, "; ")
}

// settled runs the command to its end; an expectation of the probe may not hold.
func (c *command) settled() error {
	if err := c.Start(); err != nil {
		return err
	}
	if code, stdout, stderr := c.finish(); code != 0 && code != 1 {
		return fmt.Errorf("exit code %d; it said\n%s%s", code, stdout, stderr)
	}
	return nil
}

// Killed at any moment, while it asks, while somebody answers and while it goes
// on, a capture loses no question and takes no second answer.
func TestKillWhileAsking(t *testing.T) {
	t.Parallel()
	kills, random := killPlan(t)
	for i := range kills {
		events := [3]int{1 + random.IntN(12), 1 + random.IntN(5), 1 + random.IntN(25)}
		t.Run(fmt.Sprintf("%d_events_%v", i, events), func(t *testing.T) {
			t.Parallel()
			killWhileAsking(t, events)
		})
	}
}

// killWhileAsking kills the asking capture, the answer and the capture that goes
// on, each at its number of changes of a file.
func killWhileAsking(t *testing.T, events [3]int) {
	w := newAskingWorld(t)
	places, kept := w.places(), filepath.Join(w.priv, "requests")
	must(t, os.MkdirAll(kept, 0o700))
	places = append(places, kept)

	w.killed(w.captureAsking(), places, events[0])
	w.captureAsking().run(5)
	all := w.entries()
	if len(all) != 1 || all[0].State != requests.StatePending || w.heard() != "" {
		t.Fatalf("after a kill while asking the requests are %s", told(all))
	}
	id := string(all[0].Request.ID)

	answered := w.killed(w.command("review", "answer", id, "--reject", "--by", "first"), places, events[1])
	code := w.exitCode(w.command("review", "answer", id, "--grant", "--by", "second"))
	all = w.entries()
	if len(all) != 1 || all[0].State != requests.StateAnswered {
		t.Fatalf("after a kill while answering the requests are %s", told(all))
	}
	first := all[0].Answer.AnsweredBy == "first"
	if wants := map[bool]int{true: 1, false: 0}[first]; code != wants || answered == 0 && !first {
		t.Errorf("the first answer came to exit code %d, the second to %d, and that of %q is kept", answered, code, all[0].Answer.AnsweredBy)
	}
	want := map[bool]string{true: "rejected", false: "granted"}[first]
	kind := *all[0].Answer

	w.killed(w.captureAsking(), places, events[2])
	if !strings.HasPrefix(w.runStatus(), "finished") { // else the kill came too late for it to matter
		must(t, w.captureAsking().settled())
	}
	all = w.entries()
	if len(all) != 1 || all[0].State != requests.StateUsed || !sameAnswer(*all[0].Answer, kind) {
		t.Errorf("at the end the requests are %s", told(all))
	}
	for _, heard := range strings.Fields(w.heard()) {
		if heard != want {
			t.Errorf("the agent heard %q, want only %s", w.heard(), want)
		}
	}
	if n := w.observations()["permission-request"]; n == 0 {
		t.Error("the capture has no observation")
	}
	w.validates()
	w.keepsSecret(w.marker)
	w.leavesNobody()
}

// told is what a failure shows of Requests.
func told(all []requests.Entry) string {
	var out []string
	for _, e := range all {
		by := "nobody"
		if e.Answer != nil {
			by = e.Answer.AnsweredBy
		}
		out = append(out, fmt.Sprintf("%s %s (%s, answered by %s, run %s)", e.Request.ID.Short(), e.State, e.Request.Prompt, by, e.Request.Run))
	}
	return strings.Join(out, "; ")
}

func sameAnswer(a, b contract.Answer) bool {
	return a.AnsweredBy == b.AnsweredBy && a.AnsweredAt == b.AnsweredAt && string(a.Data) == string(b.Data)
}

// killed starts a command, kills it at a number of changes of files, and
// returns its exit code, -1 if the kill was in time.
func (w *world) killed(c *command, places []string, event int) int {
	w.t.Helper()
	started := make(chan struct{})
	watch := w.newWatch(places, event, func() {
		<-started
		_ = c.Process.Kill() // it may have ended
	})
	must(w.t, c.Start())
	close(started)
	code, _, _ := c.finish()
	watch.stop()
	w.leavesNobody()
	return code
}

func (w *world) exitCode(c *command) int {
	w.t.Helper()
	must(w.t, c.Start())
	code, _, _ := c.finish()
	return code
}

// A run whose failure redaction would hide is refused, and asks whether the words
// are public, by a masked preview; where --ask says so it waits for the answer.
// Approved, the words stay and the record says so.
func TestRedactionAsks(t *testing.T) {
	t.Parallel()
	const doubtful = `echo '{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}'
echo '{"type":"turn.started"}'
echo '{"type":"error","message":"WORDS"}'
echo '{"type":"turn.failed","error":{"message":"WORDS"}}'
exit 1
`
	for _, c := range []struct {
		name, answer string
		none         bool // nothing is published
	}{
		{"approved", "--grant", false},
		{"not approved", "--reject", true},
		{"declined", "--decline", true},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, strings.ReplaceAll(doubtful, "WORDS", "You exceeded your current quota, please check your plan and billing details."))
			w.forgets("quota", "billing", "exceeded")
			capture := func(args ...string) *command {
				return w.capture(append([]string{"--probe", "quota-exhausted"}, args...)...)
			}
			capture().run(4)
			if all := w.entries(); len(all) != 1 || !strings.HasPrefix(all[0].Request.Run, "redact-") {
				t.Errorf("without --ask a question is left and nobody waits; the requests are %s", told(all))
			}
			stdout, stderr := capture("--ask", "durable").run(5)
			list, _ := w.command("review", "list", "--format", "json").run(0)
			for _, word := range []string{"quota", "billing"} {
				if strings.Contains(strings.ReplaceAll(stdout+stderr+list, "quota-exhausted", ""), word) {
					t.Errorf("the word %q is not masked", word)
				}
			}
			all := slices.DeleteFunc(w.entries(), func(e requests.Entry) bool { return strings.HasPrefix(e.Request.Run, "redact-") })
			if len(all) != 1 || all[0].Request.Kind != contract.RequestApproval || !all[0].Request.Raw {
				t.Fatalf("the requests are %s", told(all))
			}
			id := all[0].Request.ID.Hex()
			if show, _ := w.command("review", "show", id).run(0); !strings.Contains(show, `"billing"`) {
				t.Errorf("show does not show the words:\n%s", show)
			}
			w.command("review", "answer", id, c.answer).run(0)
			code := w.exitCode(capture("--ask", "durable"))
			if n := w.observations()["quota-exhausted"]; (n == 0) != c.none || (code == 4) != c.none || code == 5 {
				t.Errorf("exit code %d and %d observations", code, n)
			}
			if s := w.findings(); strings.Contains(s, "a person approved 3 word(s)") == c.none {
				t.Errorf("the record's findings are %q", s)
			}
			w.validates()
			w.leavesNobody()
		})
	}
}

// forgets takes words out of the world's vocabulary.
func (w *world) forgets(words ...string) {
	w.t.Helper()
	file := filepath.Join(w.reg, "registry", "vocabulary.json")
	b, err := os.ReadFile(file)
	must(w.t, err)
	var v map[string]any
	must(w.t, json.Unmarshal(b, &v))
	v["groups"] = slices.DeleteFunc(v["groups"].([]any), func(g any) bool {
		group := g.(map[string]any)
		left := slices.DeleteFunc(group["entries"].([]any), func(e any) bool {
			return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(strings.ToLower(e.(string)), word) })
		})
		group["entries"] = left
		return len(left) == 0
	})
	b, err = json.Marshal(v)
	must(w.t, err)
	must(w.t, os.WriteFile(file, b, 0o644))
}
