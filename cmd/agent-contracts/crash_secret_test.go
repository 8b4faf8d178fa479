//go:build linux

package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
)

// leakLines are places where a CLI could print a secret, as lines of codex exec
// --json. KEY, MAIL and HOME become the child's own.
var leakLines = map[string][]string{
	"texts": {
		`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"KEY MAIL $HOME/x MARKER"}}`,
		`{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"aKEYb xMAILx file://$HOMEy"}}`,
		`{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'env KEY MAIL'","aggregated_output":"","exit_code":null,"status":"in_progress"}}`,
		`{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'env KEY MAIL'","aggregated_output":"OPENAI_API_KEY=KEY\nHOME=$HOME\nMAIL","exit_code":0,"status":"completed"}}`,
		`{"type":"item.completed","item":{"id":"item_3","type":"mcp_tool_call","server":"s","tool":"t","arguments":"{\"k\":\"KEY\",\"h\":\"$HOME\",\"m\":\"{\\\"x\\\":\\\"MAIL\\\"}\"}","status":"completed"}}`,
	},
	"encodings": {
		`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"KEY64"}}`, `KEY64`,
		`{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"KEYHEX"}}`,
		`{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"KEYU"}}`,
		`{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"KEYA`, `KEYB"}}`,
		`{"type":"item.updated","item":{"id":"item_4","type":"agent_message","text":"KEYA"}}`,
		`{"type":"item.completed","item":{"id":"item_4","type":"agent_message","text":"KEYAKEYB"}}`,
	},
	"errors": {
		`{"type":"error","message":"unexpected status 401 Unauthorized: Incorrect API key provided: KEY (MAIL, $HOME/.codex/auth.json)"}`,
		`{"type":"error","message":"GET https://api.example.com/v1?key=KEY&user=MAILPCT failed"}`,
		`warning: KEY MAIL $HOME`,
	},
	"structure": {
		`{"type":"item.completed","item":{"id":"KEY","type":"agent_message","text":"x"}}`, `{"type":"thread.started","thread_id":"MAIL"}`,
		`{"type":"item.completed","item":{"id":"i","type":"KEY","status":"MAIL"}}`, `{"type":"KEY","item":{}}`, `{"type":"KEYHEX"}`,
	},
	"member names": {`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"x","KEY":1,"MAIL":{"$HOME":2}}}`},
}

// A capture tells nobody the key, the address and the folder of the child: it
// replaces them, or refuses and publishes nothing.
func TestSecrets(t *testing.T) {
	t.Parallel()
	for name, lines := range leakLines {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			mail := strings.ToLower(rand.Text()[:9]) + "@" + strings.ToLower(rand.Text()[:7]) + ".example.com"
			w := newWorld(t, "")
			seen := w.fifo("seen")
			w.write(w.fake, leakScript(mail, lines), 0o755)
			c := w.capture("--probe", "chat-text-success")
			must(t, c.Start())
			reader := bufio.NewReader(seen)
			key, err := reader.ReadString('\n')
			must(t, err)
			home, err := reader.ReadString('\n')
			must(t, err)
			code, stdout, stderr := c.finish()
			key, home = strings.TrimSpace(key), strings.TrimSpace(home)
			if len(key) < 40 || !strings.HasPrefix(home, w.dir) {
				t.Fatal("the child has no key or another HOME: the test proves nothing")
			}
			n := w.observations()["chat-text-success"]
			t.Logf("exit code %d, %d observations", code, n)
			if code != 0 && code != 1 && code != 4 || n == 1 != (code < 2) {
				t.Errorf("exit code %d with %d observations; it said\n%s%s", code, n, stdout, stderr)
			}
			half := len(key) / 2
			words := []string{
				key[3:], key[3:half], key[half:], mail, strings.Split(mail, "@")[1], home, base64.StdEncoding.EncodeToString([]byte(key)),
				hex.EncodeToString([]byte(key)), url.QueryEscape(mail), escaped(key),
			}
			if !w.recorded(words) {
				t.Error("the raw recording has none of it: the test proves nothing")
			}
			w.keepsSecret(append(words, w.marker)...)
			w.validates()
		})
	}
}

// recorded reports whether a raw bundle holds one of the words.
func (w *world) recorded(words []string) bool {
	w.t.Helper()
	raw, err := private.Open(private.Config{StateDir: w.priv})
	must(w.t, err)
	bundles, err := raw.List(w.t.Context())
	must(w.t, err)
	for _, m := range bundles {
		r, err := raw.Open(w.t.Context(), m.SHA256, nil)
		must(w.t, err)
		b, err := io.ReadAll(r)
		must(w.t, errors.Join(err, r.Close()))
		for _, word := range words {
			if bytes.Contains(b, []byte(word)) {
				return true
			}
		}
	}
	return false
}

// leakScript is a CLI that prints the lines on stdout and their words on
// stderr, after it has told the test its secrets.
func leakScript(mail string, lines []string) string {
	var b strings.Builder
	b.WriteString("#!/bin/bash\n" + fakeVersion + `k=$OPENAI_API_KEY
printf '%s\n%s\n' "$k" "$HOME" > "${0%/*}/../seen"
k64=$(printf %s "$k" | base64 -w0); khex=$(printf %s "$k" | od -An -tx1 | tr -d ' \n')
ku=$(printf '\\u00%s' $(printf %s "$k" | od -An -tx1 -v)); ka=${k:0:${#k}/2}; kb=${k:${#k}/2}
say() { local s=$1
  s=${s//KEY64/$k64}; s=${s//KEYHEX/$khex}; s=${s//KEYU/$ku}; s=${s//KEYA/$ka}; s=${s//KEYB/$kb}; s=${s//KEY/$k}
  s=${s//MAILPCT/` + url.QueryEscape(mail) + `}; s=${s//MAIL/` + mail + `}; printf '%s\n' "${s//\$HOME/$HOME}"; }
`)
	say := func(line, to string) {
		b.WriteString("say '" + strings.ReplaceAll(line, "'", `'\''`) + "'" + to + "\n")
	}
	say(`{"type":"turn.started"}`, "")
	for _, l := range lines {
		say(l, "")
		say("ERROR codex: "+l, " >&2")
	}
	say(`{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":5}}`, "")
	return b.String()
}

// escaped is the text in JSON escapes.
func escaped(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteString(`\u00` + hex.EncodeToString([]byte{c}))
	}
	return b.String()
}
