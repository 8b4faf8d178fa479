//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// ask posts a model request whose input is the text of the shell variable
// input; the answer is thrown away.
const ask = `url=$(sed -n 's/^base_url = "\(.*\)"/\1/p' "$HOME/.codex/config.toml")
hostport=${url#http://}; hostport=${hostport%%/*}
body='{"model":"m","stream":true,"tools":[{"type":"function","name":"shell","parameters":{}}],"input":['$input']}'
bash -c 'exec 3<>"/dev/tcp/${0%:*}/${0#*:}"; printf "POST /v1/responses HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" "${#1}" "$1" >&3; cat <&3 >/dev/null' "$hostport" "$body"
`

// A CLI that keeps the id of its session in HOME and sends the history of the
// session that it is told to resume.
const resumable = `user='{"type":"message","role":"user"}'
input=$user
for last; do :; done
if [ "$2" = resume ]; then
	if [ "$last" != "$(cat "$HOME/session")" ]; then echo "Error: no rollout found for thread id" >&2; exit 1; fi
	input=$user,'{"type":"message","role":"assistant"}',$user
fi
echo 0199a213-81c0-7800-8aa1-bbab2a035a53 > "$HOME/session"
` + ask + fakeTurn

// The session that a first run in the same place leaves is resumed by its id;
// only the second run is an observation, and it says what the model got.
func TestResumedSession(t *testing.T) {
	for _, c := range []struct {
		name, probe, script string
		code, history       int // history -1: no observation
		result              contract.RunResult
		says                string // in a finding, or on stdout where there is no observation
	}{
		{"resumed", "resume-session", resumable, 0, 1, contract.RunSuccess, ""},
		{"another session", "resume-missing", resumable, 0, 0, contract.RunFailed, ""},
		{
			"forgotten", "resume-session", "input='{\"type\":\"message\",\"role\":\"user\"}'\n" + ask + fakeTurn,
			0, 0, contract.RunSuccess, "the session was not resumed",
		},
		{"nothing to resume", "resume-session", "exit 1\n", 3, -1, "", "there is no session to resume"},
		{"no id", "resume-session", strings.ReplaceAll(fakeTurn, "thread_id", "other_id"), 3, -1, "", "there is no session to resume"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.script)
			stdout, _ := w.capture("--probe", c.probe).run(c.code)
			reg, err := store.Open(w.reg)
			must(t, err)
			all, err := reg.Observations("")
			must(t, err)
			if c.history < 0 {
				if len(all) != 0 || !strings.Contains(stdout, c.says) {
					t.Errorf("%d observations, want none and %q:\n%s", len(all), c.says, stdout)
				}
				return
			}
			if len(all) != 1 || all[0].Probe != c.probe {
				t.Fatalf("%d observations, want one of %s", len(all), c.probe)
			}
			x := all[0].Extensions
			if x.RunResult != string(c.result) {
				t.Errorf("the run came to %s, want %s", x.RunResult, c.result)
			}
			history := x.Requests.History
			if c.probe == "resume-session" && (x.Requests.Model != 1 || history == nil || *history != c.history) {
				t.Errorf("the model got %d request(s) with history %v, want one with %d", x.Requests.Model, history, c.history)
			}
			if found := strings.Join(x.Findings, "\n"); !strings.Contains(found, c.says) {
				t.Errorf("no finding says %q: %s", c.says, found)
			}
			w.validates()
			w.keepsSecret(w.marker)
		})
	}
}
