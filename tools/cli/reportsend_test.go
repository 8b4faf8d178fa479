package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/report"
)

// botOf takes so many cards, refuses the next, and takes all after it.
type botOf struct {
	takes    int
	messages []string
}

func (b *botOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.takes == 0 {
		b.takes = -1
		w.WriteHeader(http.StatusForbidden)
		return
	}
	b.takes--
	var m struct {
		Card json.RawMessage `json:"card"`
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	b.messages = append(b.messages, string(m.Card))
	_, _ = io.WriteString(w, `{"code":0}`)
}

// A send that a refusal cut in the middle goes on with the command of its hint:
// every card arrives once.
func TestReportSendGoesOn(t *testing.T) {
	const what = "claude@2.1.301"
	b := &botOf{takes: 2}
	srv := httptest.NewServer(b)
	defer srv.Close()
	run := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		env := map[string]string{webhookURLVar: srv.URL}
		code := Main(t.Context(), Env{
			Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: t.TempDir(),
			Getenv: func(k string) string { return env[k] }, Now: time.Now,
		})
		return code, stdout.String(), stderr.String()
	}
	root := "../.."
	_, out, _ := run("report", "risk", what, "--format", "feishu", "--link", "https://example.invalid/a b", "--registry", root)
	var want []struct {
		Card json.RawMessage `json:"card"`
	}
	if err := json.Unmarshal([]byte(out), &want); err != nil || len(want) < 4 {
		t.Fatalf("%d cards, %v", len(want), err)
	}

	code, _, said := run("report", "send", what, "--link", "https://example.invalid/a b", "--registry", root)
	_, command, found := strings.Cut(said, "cards were sent; the rest: agent-contracts ")
	if code != ExitFindings || !found || !strings.Contains(said, "hint: 2 of ") || !strings.Contains(said, "HTTP 403") {
		t.Fatalf("exit %d, %q", code, said)
	}
	args := strings.Fields(strings.ReplaceAll(command, "'https://example.invalid/a b'", "LINK"))
	args[slices.Index(args, "LINK")] = "https://example.invalid/a b"
	if code, _, said = run(args...); code != ExitOK {
		t.Fatalf("%q: exit %d, %q", args, code, said)
	}
	var cards []string
	for _, c := range want {
		var compact bytes.Buffer
		if err := json.Compact(&compact, c.Card); err != nil {
			t.Fatal(err)
		}
		cards = append(cards, compact.String())
	}
	slices.Sort(cards)
	slices.Sort(b.messages)
	if !slices.Equal(cards, b.messages) {
		t.Errorf("%d cards arrived of %d, or others", len(b.messages), len(cards))
	}
	if code, _, said = run("report", "send", what, "--skip", "0123456789", "--registry", root); code != ExitUsage || !strings.Contains(said, "no change of "+what+" has this id") {
		t.Errorf("exit %d, %q", code, said)
	}
}

// What was interrupted goes on likewise; a card that must not be sent is left out
// by name.
func TestReportSendHints(t *testing.T) {
	left := []*report.Summary{{Agent: "pi", CLIVersion: "1.0.0", Diff: "a"}, {Agent: "pi", CLIVersion: "1.0.0", Diff: "b"}}
	a, f := &app{}, &sendFlags{skip: []string{"0123456789"}}
	for name, tt := range map[string]struct {
		err  *report.CardsError
		code int
		want string
	}{
		"interrupted":               {&report.CardsError{Card: 1, Sent: 1, Err: context.Canceled}, 130, "1 of 2 cards were sent; the rest: agent-contracts report send pi@1.0.0 --skip 0123456789," + left[0].ID()},
		"interrupted before":        {&report.CardsError{Err: context.Canceled}, 130, "run the same command again"},
		"a secret":                  {&report.CardsError{Card: 1, Err: &report.LeakError{Rule: "x"}}, ExitRefused, "to send the others: agent-contracts report send pi@1.0.0 --skip 0123456789," + left[1].ID()},
		"nothing was sent":          {&report.CardsError{Err: &report.SendError{Reason: "x"}}, ExitFindings, ""},
		"the address is no address": {&report.CardsError{Err: report.ErrAddress}, ExitUsage, "correct " + webhookURLVar},
	} {
		code, hint := classify(a.notSent(f, left, tt.err))
		if code != tt.code || !strings.HasPrefix(hint, tt.want) || tt.want == "" && hint != "" {
			t.Errorf("%s: %d, %q", name, code, hint)
		}
	}
}
