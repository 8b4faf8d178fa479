package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
)

// questions are pending Requests of every kind, made as a step makes them.
func questions(t *testing.T) map[contract.RequestKind]contract.Request {
	t.Helper()
	at := func() time.Time { return time.Date(2026, 6, 27, 10, 0, 0, 0, time.UTC) }
	r := &requests.Runner{Store: requests.Open(t.TempDir(), nil, at), Run: "r"}
	err := r.Do(t.Context(), "s", func(_ context.Context, q *requests.Asker) error {
		_, err := q.Ask(
			requests.PermissionQuestion("May it \x1b[2Jwrite?\n::error::"), requests.ApprovalQuestion("Publish?"),
			requests.InputQuestion("Where?", json.RawMessage(`{"type":"object","required":["value"],"properties":{"value":{"type":"string","minLength":3}}}`)),
			requests.AuthorizationQuestion("Sign in"),
		)
		return err
	})
	var suspended *requests.SuspendedError
	if !errors.As(err, &suspended) {
		t.Fatal(err)
	}
	out := map[contract.RequestKind]contract.Request{}
	for _, p := range suspended.Pending {
		out[p.Kind] = p
	}
	return out
}

// What a person types at the terminal becomes the answer of the kind's
// constructor; a word that means nothing is asked for again.
func TestAskHere(t *testing.T) {
	all := questions(t)
	for _, c := range []struct {
		kind   contract.RequestKind
		typed  string
		status contract.AnswerStatus // "" for later
		data   string
	}{
		{contract.RequestPermission, "yes\n", "answered", `{"granted":true}`},
		{contract.RequestPermission, "sure\nn\n", "answered", `{"granted":false}`},
		{contract.RequestPermission, "decline\n", "declined", ""},
		{contract.RequestPermission, "later\n", "", ""},
		{contract.RequestPermission, "", "", ""},
		{contract.RequestApproval, "y\n", "answered", `{"approved":true}`},
		{contract.RequestInput, "staging\n", "answered", `{"value":"staging"}`},
		{contract.RequestInput, "st\nstaging\n", "answered", `{"value":"staging"}`},
		{contract.RequestInput, "\n", "", ""},
		{contract.RequestAuthorization, "no\ndone\n", "answered", `{"authorized":true}`},
	} {
		var out bytes.Buffer
		a := &app{env: Env{Stdin: strings.NewReader(c.typed), Stderr: &out, Getenv: func(string) string { return "" }, Now: time.Now, Interactive: true}}
		got, err := a.askHere(t.Context(), []contract.Request{all[c.kind]})
		if c.status == "" {
			if !errors.Is(err, requests.ErrLater) {
				t.Errorf("%s %q: %v, want later", c.kind, c.typed, err)
			}
			continue
		}
		if err != nil || got[0].Status != c.status || string(got[0].Data) != c.data {
			t.Errorf("%s %q: %v, %v", c.kind, c.typed, got, err)
		}
		if s := out.String(); strings.Contains(s, "\x1b") || strings.Contains(s, "\n::") {
			t.Errorf("%s: the prompt forges the terminal: %q", c.kind, s)
		}
	}
}

// Two questions read the same stdin, and a Ctrl-C ends the wait.
func TestAskHereTwice(t *testing.T) {
	all := questions(t)
	a := &app{env: Env{Stdin: strings.NewReader("yes\nno\n"), Stderr: io.Discard, Getenv: func(string) string { return "" }, Now: time.Now}}
	for _, want := range []string{`{"granted":true}`, `{"granted":false}`} {
		got, err := a.askHere(t.Context(), []contract.Request{all[contract.RequestPermission]})
		if err != nil || string(got[0].Data) != want {
			t.Errorf("%v, %v: want %s", got, err, want)
		}
	}
	stdin, typed := io.Pipe()
	defer func() { _ = typed.Close() }()
	a = &app{env: Env{Stdin: stdin, Stderr: io.Discard, Getenv: func(string) string { return "" }, Now: time.Now}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.askHere(ctx, []contract.Request{all[contract.RequestPermission]}); !errors.Is(err, context.Canceled) {
		t.Errorf("after Ctrl-C: %v", err)
	}
}

func TestAskFlag(t *testing.T) {
	for _, c := range []struct {
		ask         string
		interactive bool
		inline      bool
		fails       bool
	}{
		{"", true, true, false}, {"", false, false, false}, {"durable", true, false, false}, {"durable", false, false, false},
		{"inline", true, true, false}, {"inline", false, false, true}, {"online", true, false, true},
	} {
		a := &app{env: Env{Interactive: c.interactive}}
		got, err := a.prompter(c.ask)
		if (got != nil) != c.inline || (err != nil) != c.fails {
			t.Errorf("--ask %q, interactive %v: inline %v, %v", c.ask, c.interactive, got != nil, err)
		}
	}
}
