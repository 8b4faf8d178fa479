package report

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
)

// Webhook sends cards to a Feishu custom bot.
type Webhook struct {
	// URL is the bot's address. It is a secret and no error repeats it.
	URL string
	// Secret signs each message; "" for a bot without signature checks.
	Secret string
	// Scanner refuses a card that holds something like a secret.
	Scanner *leak.Scanner
	Client  *http.Client // nil for one with a timeout
	// Now and Sleep are the clock; nil for the real one. Sleep returns early
	// with the context's error.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

const (
	attempts    = 5
	firstDelay  = time.Second
	maxDelay    = 30 * time.Second
	sendTimeout = 15 * time.Second
	maxMessage  = 20 << 10 // bytes, Feishu's limit
	maxAnswer   = 64 << 10
)

// The codes of Feishu's answer that are worth another attempt: too many
// requests to the bot, and to the whole service.
var retryCodes = map[int]bool{11232: true, 99991400: true}

// LeakError says that a card was not sent because of what it holds.
type LeakError struct{ Rule string }

// Error implements error.
func (e *LeakError) Error() string {
	return "the card holds something that looks like a secret (" + e.Rule + "); nothing was sent"
}

// SendError is a message that was not accepted. Status is the HTTP status, 0
// if there was no answer; Code is Feishu's own.
type SendError struct {
	Status, Code, Attempts int
	Reason                 string
	// Unclear says that an attempt had no answer, or one of a machine in between:
	// the card may have arrived all the same.
	Unclear bool
}

// Error implements error.
func (e *SendError) Error() string {
	text := fmt.Sprintf("the webhook did not accept the card after %d attempts: %s", e.Attempts, e.Reason)
	if e.Unclear {
		text += "; it may have arrived all the same"
	}
	return text
}

// Sign is Feishu's signature of a custom bot's message: the HMAC-SHA256 of
// nothing under the key "<timestamp>\n<secret>", in base64.
func Sign(timestamp, secret string) string {
	mac := hmac.New(sha256.New, []byte(timestamp+"\n"+secret))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// ErrAddress says that nothing can be sent to the address of a Webhook.
var ErrAddress = errors.New("the webhook's address is not an http or https URL")

// Send delivers a card. It tries again, with growing delays, when nobody
// answers, when the answer is 429 or 5xx, and when Feishu asks for less speed.
// Each attempt is signed anew, since a signature is good for an hour. The error
// is a *LeakError, a *SendError, ErrAddress, or the context's.
func (w *Webhook) Send(ctx context.Context, card *Card) error {
	if err := w.check(card); err != nil {
		return err
	}
	return w.deliver(ctx, card)
}

// CardsError says which of several cards was not delivered, and why: an error of
// Send.
type CardsError struct {
	Card int // its index
	Sent int // how many were delivered: those before it, or none
	Err  error
}

// Error implements error.
func (e *CardsError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *CardsError) Unwrap() error { return e.Err }

// SendAll delivers cards in their order. It looks at all of them before it sends
// the first: one that must not be sent holds back the others. The error is a
// *CardsError.
func (w *Webhook) SendAll(ctx context.Context, cards []*Card) error {
	for i, c := range cards {
		if err := w.check(c); err != nil {
			return &CardsError{Card: i, Err: err}
		}
	}
	for i, c := range cards {
		err := ctx.Err()
		if err == nil {
			err = w.deliver(ctx, c)
		}
		if err != nil {
			return &CardsError{Card: i, Sent: i, Err: err}
		}
	}
	return nil
}

func (w *Webhook) deliver(ctx context.Context, card *Card) error {
	delay, unclear := firstDelay, false
	for n := 1; ; n++ {
		failed, wait := w.attempt(ctx, card)
		if failed == nil {
			return nil
		}
		unclear = unclear || failed.Unclear
		failed.Attempts, failed.Unclear = n, unclear
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if wait == noRetry || n == attempts {
			return failed
		}
		if err := w.sleep(ctx, min(max(delay, wait), maxDelay)); err != nil {
			return err
		}
		delay *= 2
	}
}

// noRetry says that another attempt would fail too.
const noRetry = time.Duration(-1)

// check refuses an address that is none, and a card that is too long or holds a
// secret.
func (w *Webhook) check(card *Card) error {
	if !IsWebAddress(w.URL) {
		return ErrAddress
	}
	b, err := spellCard(card)
	if err != nil {
		return err
	}
	if len(b) > maxMessage {
		return fmt.Errorf("the card has %d bytes; Feishu takes %d", len(b), maxMessage)
	}
	if w.Scanner != nil {
		for _, text := range [][]byte{b, []byte(html.UnescapeString(string(b)))} { // Feishu's escapes hide what they escape
			if found := w.Scanner.Scan(text); len(found) > 0 {
				return &LeakError{found[0].Rule}
			}
		}
	}
	return nil
}

// spellCard writes a card without the escapes that are for browsers only.
func spellCard(card *Card) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(card)
	return b.Bytes(), err
}

// attempt sends the card once and says how long to wait before the next one.
func (w *Webhook) attempt(ctx context.Context, card *Card) (*SendError, time.Duration) {
	signed := *card
	if w.Secret != "" {
		signed.Timestamp = strconv.FormatInt(w.now().Unix(), 10)
		signed.Sign = Sign(signed.Timestamp, w.Secret)
	}
	b, err := spellCard(&signed)
	if err != nil {
		return &SendError{Reason: err.Error()}, noRetry
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(b))
	if err != nil {
		return &SendError{Reason: "the address is not valid"}, noRetry
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := w.client().Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address
		}
		var op *net.OpError
		begun := !errors.As(err, &op) || op.Op != "dial" // without a connection nothing left
		return &SendError{Reason: "no answer: " + err.Error(), Unclear: begun}, 0
	}
	defer func() { _ = resp.Body.Close() }()
	return judge(resp)
}

// judge reads an answer. What it says in words is not repeated.
func judge(resp *http.Response) (*SendError, time.Duration) {
	wait := asked(resp.Header)
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	failed := &SendError{Status: resp.StatusCode, Reason: fmt.Sprintf("HTTP %d", resp.StatusCode)}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		failed.Unclear = resp.StatusCode >= 500
		return failed, wait
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		failed.Reason += ": it points to another address; set that one"
		return failed, noRetry
	case resp.StatusCode == http.StatusBadRequest: // so some of Feishu's services ask for less speed
		if code := codeOf(body); code != nil && retryCodes[*code] {
			failed.Code, failed.Reason = *code, fmt.Sprintf("Feishu code %d", *code)
			return failed, wait
		}
		return failed, noRetry
	case resp.StatusCode >= 300:
		return failed, noRetry
	case err != nil:
		failed.Reason, failed.Unclear = "the answer broke off", true
		return failed, wait
	}
	code := codeOf(body)
	if code == nil {
		failed.Reason = "the answer is not Feishu's"
		return failed, noRetry
	}
	if *code == 0 {
		return nil, 0
	}
	failed.Code, failed.Reason = *code, fmt.Sprintf("Feishu code %d", *code)
	switch {
	case *code == 19021:
		failed.Reason += ": the signature or the clock is wrong"
	case retryCodes[*code]:
		return failed, wait
	}
	return failed, noRetry
}

// asked is how long an answer asks to wait, in HTTP's header or Feishu's own.
func asked(h http.Header) time.Duration {
	for _, name := range []string{"Retry-After", "X-Ogw-Ratelimit-Reset"} {
		if n, err := strconv.Atoi(h.Get(name)); err == nil && n > 0 {
			return time.Duration(min(n, int(maxDelay/time.Second))) * time.Second
		}
	}
	return 0
}

// codeOf is Feishu's code in an answer, nil if it is not Feishu's.
func codeOf(body []byte) *int {
	var answer struct {
		Code       *int `json:"code"`
		StatusCode *int `json:"StatusCode"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	if answer.Code != nil {
		return answer.Code
	}
	return answer.StatusCode
}

// client follows no redirect: the card would be left behind, or go to whoever the
// answer names.
func (w *Webhook) client() *http.Client {
	c := http.Client{Timeout: sendTimeout}
	if w.Client != nil {
		c = *w.Client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

func (w *Webhook) now() time.Time {
	if w.Now != nil {
		return w.Now()
	}
	return time.Now()
}

func (w *Webhook) sleep(ctx context.Context, d time.Duration) error {
	if w.Sleep != nil {
		return w.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// IsWebAddress says that an address begins with https:// or http:// and names a
// host.
func IsWebAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}
