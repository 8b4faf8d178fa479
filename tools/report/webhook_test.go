package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func summary(signals ...contract.DriftSignal) *Summary {
	return &Summary{
		Agent: "codex", CLIVersion: "0.134.0", Platforms: []contract.Platform{"linux-x64"}, Probes: []string{"chat-text-success"},
		ShapeStatus: contract.VerdictParserIncompatible, Parser: contract.ReplayIncompatible, Redaction: contract.RedactionPassed,
		Grounding: GroundRuntime, ContractURL: "https://example.invalid/pull/7", RunURL: "https://example.invalid/runs/9",
		Changes: withoutTexts(signals), Key: contract.Sum([]byte("k")),
	}
}

var removed = contract.DriftSignal{ID: compare.EventRemoved, Severity: "breaking", EventType: "item.completed", Kinds: []string{"agent_message"}, Fingerprint: contract.Sum([]byte("x"))}

// The card has every field of the specification, and as few words as may be.
func TestCardHasTheFields(t *testing.T) {
	b, err := json.Marshal(summary(removed).Card())
	must(t, err)
	for _, want := range []string{
		"codex", "0.134.0", "linux-x64", "parser&#95;incompatible", "event&#95;removed:item.completed", "loses or misreads something",
		"https://example.invalid/pull/7", "https://example.invalid/runs/9", "passed", "runtime observed", `"template":"red"`, `"msg_type":"interactive"`,
	} {
		if !strings.Contains(unquoted(string(b)), want) {
			t.Errorf("the card lacks %s", want)
		}
	}
}

// unquoted undoes the escapes that encoding/json adds for browsers.
func unquoted(s string) string {
	return strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(s)
}

// Whatever changed, the wording of an error text is in none of the forms.
func TestNoFormCarriesTexts(t *testing.T) {
	s := summary(contract.DriftSignal{
		ID: compare.ErrorTextChanged, Severity: "warning", EventType: "error", Path: "message", From: "the old words", To: "the new words", Fingerprint: contract.Sum([]byte("y")),
	})
	issue, err := s.Issue()
	must(t, err)
	card, err := json.Marshal(s.Card())
	must(t, err)
	for _, form := range []string{issue.Body, string(card)} {
		if strings.Contains(form, "words") || !strings.Contains(form, "message") {
			t.Errorf("%s", form)
		}
	}
	if !strings.HasPrefix(issue.Body, issue.Marker+"\n") {
		t.Error("the body does not start with the marker")
	}
}

// A card of any number of changes stays within what Feishu takes.
func TestCardIsBounded(t *testing.T) {
	var many []contract.DriftSignal
	for i := range 5000 {
		x := removed
		x.EventType = strings.Repeat("<at id=all></at>", 50) + fmt.Sprint(i)
		many = append(many, x)
	}
	b, err := json.Marshal(summary(many...).Card())
	must(t, err)
	if len(b) > maxMessage {
		t.Errorf("%d bytes", len(b))
	}
	if strings.Contains(unquoted(string(b)), "<at") {
		t.Error("a name is markup in the card")
	}
}

// The signature of Feishu's documentation: HMAC-SHA256 with timestamp, line
// break and secret as the key, over nothing.
func TestSign(t *testing.T) {
	if got, want := Sign("1599360473", "demo"), "l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8="; got != want {
		t.Errorf("signature %q, want %q", got, want)
	}
	if Sign("1", "a") == Sign("2", "a") || Sign("1", "a") == Sign("1", "b") {
		t.Error("the signature does not depend on time and secret")
	}
}

// bot is a Feishu bot that gives these answers, one a request, the last one
// for all others.
type bot struct {
	answers  []func(http.ResponseWriter)
	messages []map[string]any
}

func (b *bot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m map[string]any
	_ = json.Unmarshal(body, &m)
	b.messages = append(b.messages, m)
	b.answers[min(len(b.messages), len(b.answers))-1](w)
}

func answer(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// busy is how Feishu's services ask for less speed; the older ones do it with 400.
func busy(status int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("x-ogw-ratelimit-reset", "9")
		answer(status, `{"code":99991400,"msg":"request trigger frequency limit"}`)(w)
	}
}

func broken(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

func TestSend(t *testing.T) {
	ok := answer(200, `{"code":0,"msg":"success","data":{}}`)
	tests := []struct {
		name    string
		answers []func(http.ResponseWriter)
		waits   []time.Duration
		fails   string
	}{
		{"at once", []func(http.ResponseWriter){ok}, nil, ""},
		{"old answer", []func(http.ResponseWriter){answer(200, `{"StatusCode":0,"StatusMessage":"success"}`)}, nil, ""},
		{"after trouble", []func(http.ResponseWriter){answer(500, ""), broken, answer(429, ""), ok}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, ""},
		{"busy bot", []func(http.ResponseWriter){answer(200, `{"code":11232,"msg":"frequency limited"}`), ok}, []time.Duration{time.Second}, ""},
		{"told to wait", []func(http.ResponseWriter){func(w http.ResponseWriter) { w.Header().Set("Retry-After", "7"); w.WriteHeader(429) }, ok}, []time.Duration{7 * time.Second}, ""},
		{"told to wait by Feishu", []func(http.ResponseWriter){busy(429), busy(400), ok}, []time.Duration{9 * time.Second, 9 * time.Second}, ""},
		{"told to wait for ages", []func(http.ResponseWriter){func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "9223372036854775807")
			w.WriteHeader(429)
		}, ok}, []time.Duration{maxDelay}, ""},
		{"no message", []func(http.ResponseWriter){answer(400, `{"code":9499,"msg":"Bad Request"}`)}, nil, "after 1 attempts: HTTP 400"},
		{"wrong signature", []func(http.ResponseWriter){answer(200, `{"code":19021,"msg":"sign match fail"}`)}, nil, "after 1 attempts: Feishu code 19021: the signature or the clock is wrong"},
		{"refused", []func(http.ResponseWriter){answer(403, "no")}, nil, "after 1 attempts: HTTP 403"},
		{"somebody else", []func(http.ResponseWriter){answer(200, "<html>")}, nil, "not Feishu's"},
		{"elsewhere", []func(http.ResponseWriter){func(w http.ResponseWriter) { w.Header().Set("Location", "/other"); w.WriteHeader(302) }, ok}, nil, "after 1 attempts: HTTP 302: it points to another address"},
		{"never", []func(http.ResponseWriter){answer(503, "")}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, "after 5 attempts: HTTP 503"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &bot{answers: tt.answers}
			srv := httptest.NewServer(b)
			defer srv.Close()
			var waits []time.Duration
			clock := now
			w := &Webhook{
				URL: srv.URL + "/hook", Secret: "s", Now: func() time.Time { return clock },
				Sleep: func(_ context.Context, d time.Duration) error {
					waits = append(waits, d)
					clock = clock.Add(d)
					return nil
				},
			}
			err := w.Send(context.Background(), summary(removed).Card())
			if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("error %v, want %q", err, tt.fails)
			}
			if err != nil && strings.Contains(err.Error(), srv.Listener.Addr().String()) {
				t.Error("the error names the bot's address")
			}
			if !slices.Equal(waits, tt.waits) {
				t.Errorf("waited %v, want %v", waits, tt.waits)
			}
			for i, m := range b.messages {
				at, _ := m["timestamp"].(string)
				if m["sign"] != Sign(at, "s") {
					t.Errorf("attempt %d is not signed for its own time", i+1)
				}
			}
		})
	}
}

func TestSendWithoutSecretIsNotSigned(t *testing.T) {
	b := &bot{answers: []func(http.ResponseWriter){answer(200, `{"code":0}`)}}
	srv := httptest.NewServer(b)
	defer srv.Close()
	must(t, (&Webhook{URL: srv.URL}).Send(context.Background(), summary().Card()))
	if _, ok := b.messages[0]["sign"]; ok {
		t.Error("signed without a secret")
	}
}

func TestSendRefusesSecrets(t *testing.T) {
	b := &bot{answers: []func(http.ResponseWriter){answer(200, `{"code":0}`)}}
	srv := httptest.NewServer(b)
	defer srv.Close()
	w := &Webhook{URL: srv.URL, Scanner: leak.NewScanner(nil)}
	var leaked *LeakError
	if err := w.Send(context.Background(), leaky()); !errors.As(err, &leaked) {
		t.Errorf("error %v", err)
	}
	var failed *CardsError
	if err := w.SendAll(context.Background(), []*Card{summary().Card(), leaky()}); !errors.As(err, &failed) || !errors.As(err, &leaked) || failed.Card != 1 || failed.Sent != 0 {
		t.Errorf("one of two: %v", err)
	}
	if len(b.messages) > 0 {
		t.Error("it was sent")
	}
}

// leaky is a card with a token in it.
func leaky() *Card {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	token := []byte("ghp_")
	for range 36 {
		token = append(token, letters[rand.IntN(len(letters))])
	}
	x := removed
	x.EventType = string(token)
	return summary(x).Card()
}

// What was delivered before a failure is told, and whether the card that failed
// may have arrived.
func TestSendAllTellsHowFar(t *testing.T) {
	ok := answer(200, `{"code":0}`)
	for name, tt := range map[string]struct {
		answers []func(http.ResponseWriter)
		sent    int // -1: all
		unclear bool
	}{
		"all":                          {[]func(http.ResponseWriter){ok}, -1, false},
		"the first":                    {[]func(http.ResponseWriter){answer(403, "")}, 0, false},
		"the second":                   {[]func(http.ResponseWriter){ok, answer(403, "")}, 1, false},
		"no answer to the last":        {[]func(http.ResponseWriter){ok, ok, broken}, 2, true},
		"no answer, then a refusal":    {[]func(http.ResponseWriter){ok, broken, answer(403, "")}, 1, true},
		"a machine between, then busy": {[]func(http.ResponseWriter){answer(502, ""), answer(429, "")}, 0, true},
		"busy all the time":            {[]func(http.ResponseWriter){answer(429, "")}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bot{answers: tt.answers}
			srv := httptest.NewServer(b)
			defer srv.Close()
			w := &Webhook{URL: srv.URL, Sleep: func(context.Context, time.Duration) error { return nil }}
			err := w.SendAll(context.Background(), []*Card{summary().Card(), summary(removed).Card(), summary().Card()})
			if tt.sent < 0 {
				must(t, err)
				return
			}
			var failed *CardsError
			var send *SendError
			if !errors.As(err, &failed) || failed.Sent != tt.sent || failed.Card != tt.sent || !errors.As(err, &send) || send.Unclear != tt.unclear ||
				strings.Contains(err.Error(), "may have arrived") != tt.unclear {
				t.Errorf("%+v: %v", failed, err)
			}
		})
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	err := (&Webhook{URL: gone.URL, Sleep: func(context.Context, time.Duration) error { return nil }}).Send(context.Background(), summary().Card())
	if err == nil || strings.Contains(err.Error(), "may have arrived") {
		t.Errorf("nobody listens: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &bot{answers: []func(http.ResponseWriter){func(w http.ResponseWriter) { ok(w); cancel() }}}
	srv := httptest.NewServer(b)
	defer srv.Close()
	var failed *CardsError
	if err := (&Webhook{URL: srv.URL}).SendAll(ctx, []*Card{summary().Card(), summary().Card()}); !errors.As(err, &failed) || !errors.Is(err, context.Canceled) || len(b.messages) != 1 {
		t.Errorf("%d messages, %v", len(b.messages), err)
	}
}

func TestSendEnds(t *testing.T) {
	b := &bot{answers: []func(http.ResponseWriter){answer(503, "")}}
	srv := httptest.NewServer(b)
	defer srv.Close()
	ctx, cancel := context.WithCancel(context.Background())
	w := &Webhook{URL: srv.URL, Sleep: func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }}
	if err := w.Send(ctx, summary().Card()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := (&Webhook{URL: "no address"}).Send(context.Background(), summary().Card()); err == nil || strings.Contains(err.Error(), "no address") {
		t.Errorf("error %v", err)
	}
}

func TestGrounding(t *testing.T) {
	r := &contract.DriftReport{Agent: "codex", CLIVersion: "1.0.0", Newer: contract.DriftSide{Signature: contract.Sum([]byte("n"))}}
	at := func(times ...string) []store.Observed {
		var out []store.Observed
		for _, x := range times {
			o := store.Observed{}
			o.Agent, o.CLIVersion, o.Shape.Signature, o.Capture.CapturedAt = "codex", "1.0.0", r.Newer.Signature, x
			o.Capture.RawClientTranscriptSHA256 = contract.Sum([]byte(x))
			o.Redaction.Status, o.ParserReplay.Status = contract.RedactionPassed, contract.ReplayCompatible
			out = append(out, o)
		}
		return out
	}
	runners, retold := at("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"), at("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z")
	runners[1].Capture.Runner = "another"
	retold[1].Capture.RawClientTranscriptSHA256 = retold[0].Capture.RawClientTranscriptSHA256
	for name, tt := range map[string]struct {
		want Grounding
		obs  []store.Observed
	}{
		"none":                {GroundSource, nil},
		"within an hour":      {GroundRuntime, at("2026-01-01T00:00:00Z", "2026-01-01T00:59:59Z")},
		"an hour apart":       {GroundConfirmed, at("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z")},
		"two runners":         {GroundConfirmed, runners},
		"one run, told again": {GroundRuntime, retold},
	} {
		if s := Summarize(r, tt.obs); s.Grounding != tt.want {
			t.Errorf("%s: %s, want %s", name, s.Grounding, tt.want)
		}
	}
	for level, want := range map[contract.ValidityLevel]Grounding{
		contract.LevelSyntheticMock: GroundSynthetic, contract.LevelSourceDerived: GroundSource, contract.LevelVendorDocumented: GroundSource,
		contract.LevelRuntimeObserved: GroundRuntime, contract.LevelConfirmed: GroundConfirmed,
	} {
		if got := GroundingOf(level); got != want {
			t.Errorf("%s: %s, want %s", level, got, want)
		}
	}
}
