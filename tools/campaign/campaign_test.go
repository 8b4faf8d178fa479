//go:build unix

package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
	"github.com/nexu-io/open-design-agent-contracts/tools/plan"
)

// program is a program that the campaign calls, with a log of its arguments.
type program struct {
	path, log string
	again     bool // Options.Again
}

// newProgram makes one that speaks the contract: submit and wait are the bodies
// of capture and of job wait, in which $id is the name of the job.
func newProgram(t *testing.T, submit, wait string) *program {
	t.Helper()
	dir := t.TempDir()
	p := &program{path: filepath.Join(dir, "agent-contracts"), log: filepath.Join(dir, "log")}
	script := fmt.Sprintf(`#!/bin/sh
d=%s
says() { printf '{"ok":true,"contract_version":1,"error":null,"data":%%s}\n' "$1"; }
echo "$*" >> "$d/log"
case "$*" in *codex*) id=codex ;; *) id=claude ;; esac
case "$*" in
handshake*) says '{"contract_version":1,"min_supported_version":1}' ;;
*capture*) %s ;;
"job wait"*) %s ;;
*) says '{}' ;;
esac
`, dir, submit, wait)
	if err := os.WriteFile(p.path, []byte(script), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return p
}

// What the program says where nothing is special.
const (
	submits = `says '{"run_id":"'$id'","status":"running","terminal":false,"outcome":null,"reason_code":null}'`
	ended   = `says '{"entries":[{"run_id":"'$id'","status":"completed","terminal":true,"outcome":"succeeded"}],"pending":[],"stopped_without_end":[],"unresolved_spawn":[]}'`
)

func waits(status, list, reason string) string {
	lists := map[string]string{"pending": "", "stopped_without_end": "", "unresolved_spawn": ""}
	lists[list] = `"'$id'"`
	return fmt.Sprintf(`says '{"entries":[{"run_id":"'$id'","status":%q,"terminal":false,"outcome":null,"reason_code":%s}],"pending":[%s],"stopped_without_end":[%s],"unresolved_spawn":[%s]}'`,
		status, reason, lists["pending"], lists["stopped_without_end"], lists["unresolved_spawn"])
}

// run runs a campaign over two agents.
func (p *program) run(t *testing.T) (*Report, error) {
	t.Helper()
	var agents contract.AgentsFile
	var items []plan.Item
	for _, id := range []string{"codex", "claude"} {
		agents.Agents = append(agents.Agents, contract.Agent{ID: id, ProtocolFamilies: []contract.ProtocolFamily{"json-event-stream/v1"}})
		items = append(items, plan.Item{Agent: id, Version: "1.2.3", Platform: "linux-x64", Probes: []string{"a", "b"}})
	}
	client, _, err := machine.Connect(context.Background(), p.path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return Run(context.Background(), items, &agents, Options{Program: client, Key: "k", Again: p.again, Policy: machine.Policy{Attempts: 2}, Tell: func(int, int, string) {}})
}

func (p *program) calls(t *testing.T, word string) (lines []string) {
	t.Helper()
	b, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, word) {
			lines = append(lines, line)
		}
	}
	return lines
}

// show is a report in one line.
func show(r *Report) string {
	var out []string
	for i := range r.Captures {
		c := &r.Captures[i]
		text := c.Agent
		if c.Job != nil && c.Job.Outcome != nil {
			text += " " + *c.Job.Outcome
		}
		if c.Abandoned {
			text += " abandoned"
		}
		if c.Waits() {
			text += " waits"
		}
		if c.Problem != nil {
			text += " " + string(c.Problem.Kind)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// Every job of a campaign gets an ending, and one that does not well holds up no
// other.
func TestCampaign(t *testing.T) {
	for _, c := range []struct{ name, submit, wait, want string }{
		{"all is well", submits, ended, "codex succeeded, claude succeeded"},
		{"nobody will end it", submits, `case $id in codex) ` + waits("exited", "stopped_without_end", "null") + ` ;; *) ` + ended + ` ;; esac`, "codex abandoned, claude succeeded"},
		{"it was never started", submits, `case $id in codex) ` + waits("preparing", "unresolved_spawn", "null") + ` ;; *) ` + ended + ` ;; esac`, "codex abandoned, claude succeeded"},
		{"it waits for a person", submits, `case $id in codex) ` + waits("suspended", "pending", `"awaiting_answer"`) + ` ;; *) ` + ended + ` ;; esac`, "codex waits, claude succeeded"},
		{"it is refused", `case $id in codex) echo '{"ok":false,"contract_version":1,"data":null,"error":{"kind":"conflict","message":"m","detail":null}}' ;; *) ` + submits + ` ;; esac`, ended, "codex conflict, claude succeeded"},
		{"an outcome of tomorrow", submits, strings.Replace(ended, "succeeded", "of_tomorrow", 1), "codex of_tomorrow, claude of_tomorrow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProgram(t, c.submit, c.wait)
			r, err := p.run(t)
			if got := show(r); err != nil || got != c.want {
				t.Errorf("%s (%v), want %s", got, err, c.want)
			}
			if n := len(p.calls(t, "notify")); n > 0 { // it reads the state, and needs no notice (obligation 7)
				t.Errorf("%d of its calls ask for a notice", n)
			}
		})
	}
}

// A submission whose answer was lost is made again under its key, so that there
// are never two jobs, and a wait is made again.
func TestNoAnswerIsAskedForAgain(t *testing.T) {
	once := func(body string) string {
		return `if [ ! -e "$d/$id-$1" ]; then : > "$d/$id-$1"; echo garbage; else ` + body + `; fi`
	}
	p := newProgram(t, once(submits), once(ended))
	r, err := p.run(t)
	if got := show(r); err != nil || got != "codex succeeded, claude succeeded" {
		t.Errorf("%s, %v", got, err)
	}
	keys := map[string]int{}
	for _, line := range p.calls(t, "capture") {
		_, key, _ := strings.Cut(line, "--idempotency-key=")
		keys[key]++
	}
	if len(keys) != 2 {
		t.Errorf("the submissions had the keys %v", keys)
	}
}

// A campaign that comes after a killed one waits for the job that goes on, and
// submits none beside it; a job that has ended is no answer for it.
func TestJobOfAKilledCampaign(t *testing.T) {
	job := func(id, terminal string) string {
		return `says '{"run_id":"` + id + `","status":"s","terminal":` + terminal + `,"outcome":null,"reason_code":null,"reused":true}'`
	}
	submit := `case "$*" in *after/one*) ` + job("two", "true") + ` ;; *after/two*) ` + job("'$id'", "false") + ` ;; *) ` + job("one", "true") + ` ;; esac`
	p := newProgram(t, submit, ended)
	p.again = true
	if r, err := p.run(t); err != nil || show(r) != "codex succeeded, claude succeeded" {
		t.Errorf("%s, %v", show(r), err)
	}
	if n := len(p.calls(t, " codex --machine")); n != 1 {
		t.Errorf("it waited %d times for the job that goes on: %q", n, p.calls(t, "job wait"))
	}
	if n := len(p.calls(t, "capture")); n != 6 {
		t.Errorf("%d submissions, want three for each version", n)
	}
}

// A program that cannot be trusted any more ends the campaign, which says so and
// keeps what it learned. Nothing of the other version is read.
func TestProgramIsReplaced(t *testing.T) {
	later := func(body string) string { return `case $id in codex) ` + submits + ` ;; *) ` + body + ` ;; esac` }
	var version *machine.VersionError
	var installation *machine.InstallationError
	var transport *machine.TransportError
	for _, c := range []struct {
		name, submit string
		is           any
	}{
		{"by another contract version", later(`echo '{"ok":true,"contract_version":2,"error":null,"data":{"run_id":"claude"}}'`), &version},
		{"by a damaged one", later(`exit 78`), &installation},
		{"by none", later(`rm "$0"; exit 1`), &transport},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProgram(t, c.submit, ended)
			r, err := p.run(t)
			if !errors.As(err, c.is) || show(r) != "codex succeeded, claude" {
				t.Errorf("%s, %v", show(r), err)
			}
			if n := len(p.calls(t, "job wait")); n != 1 {
				t.Errorf("%d waits", n)
			}
		})
	}
}

// A job of an earlier attempt that waited for an answer is taken up.
func TestSuspendedJobIsResumed(t *testing.T) {
	p := newProgram(t, strings.NewReplacer(`"reason_code":null`, `"reason_code":"awaiting_answer"`).Replace(submits), ended)
	if r, err := p.run(t); err != nil || show(r) != "codex succeeded, claude succeeded" {
		t.Errorf("%s, %v", show(r), err)
	}
	if n := len(p.calls(t, "job resume")); n != 2 {
		t.Errorf("%d resumptions", n)
	}
}
