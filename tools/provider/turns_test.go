package provider

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func TestAttemptsOfATurn(t *testing.T) {
	sc := scenario(textReply("unused"), textReply("after the tool"))
	sc.Turns[0].Attempts = []contract.ScenarioReply{errorReply(contract.ErrorRateLimited), errorReply(contract.ErrorServer), textReply("at last")}
	for _, w := range wires {
		t.Run(string(w.dialect), func(t *testing.T) {
			s := start(t, sc, Options{})
			steps := []struct {
				body   string
				status int
				text   string
			}{
				{w.ask, 429, ""},
				{w.after, 200, "after the tool"}, // another turn does not count
				{w.ask, 500, ""},
				{w.ask, 200, "at last"},
				{w.ask, 200, "at last"}, // the last reply repeats
				{w.after, 200, "after the tool"},
			}
			for i, st := range steps {
				status, body, err := post(t, s, w.path, st.body)
				if err != nil || status != st.status {
					t.Fatalf("step %d: status %d, want %d; %v", i, status, st.status, err)
				}
				if status == 200 && streamedText(w.dialect, parseEvents(t, body)) != st.text {
					t.Errorf("step %d: not the text of the turn", i)
				}
			}
			var attempts []int
			for _, r := range s.Requests() {
				attempts = append(attempts, r.ToolResults*10+r.Attempt)
			}
			if got, want := attempts, []int{1, 11, 2, 3, 4, 12}; !slices.Equal(got, want) {
				t.Errorf("turns and attempts = %v, want %v", got, want)
			}
		})
	}
}

// A side request between two attempts must not use one up.
func TestSideRequestsDoNotCount(t *testing.T) {
	sc := scenario(textReply("first"))
	sc.Turns[0].Attempts = append(sc.Turns[0].Attempts, textReply("second"))
	s := start(t, sc, Options{})
	post(t, s, "/v1/messages", `{"model":"small","messages":[]}`)
	_, body, _ := post(t, s, "/v1/messages", messagesAsk)
	if got := streamedText(DialectMessages, parseEvents(t, body)); got != "first" {
		t.Errorf("text = %q", got)
	}
}

func TestEveryErrorInEveryAPI(t *testing.T) {
	statuses := map[contract.ErrorCode][3]int{ // OpenAI, Anthropic, Gemini
		contract.ErrorInvalidAPIKey: {401, 401, 400}, contract.ErrorTokenExpired: {401, 401, 401}, contract.ErrorForbidden: {403, 403, 403},
		contract.ErrorModelNotFound: {404, 404, 404}, contract.ErrorContextLength: {400, 400, 400}, contract.ErrorRateLimited: {429, 429, 429},
		contract.ErrorQuotaExhausted: {429, 429, 429}, contract.ErrorServer: {500, 500, 500}, contract.ErrorServiceUnavailable: {503, 503, 503},
		contract.ErrorOverloaded: {503, 529, 503}, contract.ErrorModelNotSupported: {400, 400, 400}, contract.ErrorClientOutdated: {400, 400, 400},
	}
	api := map[Dialect]int{DialectMessages: 1, DialectGemini: 2}
	for _, code := range contract.ErrorCodes {
		if code == contract.ErrorRouting {
			continue // the body of no API: TestRoutingErrorIsNoModelAPI
		}
		for _, w := range wires {
			t.Run(string(code)+" "+string(w.dialect), func(t *testing.T) {
				r := errorReply(code)
				r.Error.Headers = map[string]string{"x-should-retry": "true"}
				s := start(t, scenario(r), Options{})
				resp := send(t, s, http.MethodPost, w.path, w.ask)
				want := statuses[code][api[w.dialect]]
				if resp.StatusCode != want {
					t.Errorf("status = %d, want %d", resp.StatusCode, want)
				}
				var v any
				if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
					t.Fatal(err)
				}
				message, _ := at(v, "error", "message").(string)
				if message == "" || at(v, "error", "type") == "" || (w.dialect == DialectGemini) != (at(v, "error", "code") == float64(want)) || strings.Contains(message, modelMark) {
					t.Errorf("body = %v", v)
				}
				if code == contract.ErrorModelNotFound && !strings.Contains(message, "probe-model-1") {
					t.Errorf("the message does not name the model: %s", message)
				}
				if (w.dialect == DialectMessages) != (at(v, "type") == "error") {
					t.Errorf("the body is not of this API: %v", v)
				}
				if got := resp.Header.Get("X-Should-Retry"); got != "true" {
					t.Errorf("the scenario's header is lost: x-should-retry %q", got)
				}
				if after := resp.Header.Get("Retry-After"); (after != "") != (code == contract.ErrorRateLimited) {
					t.Errorf("retry-after = %q", after)
				}
			})
		}
	}
}

func TestPostToolDelay(t *testing.T) {
	second := time.Second
	sc := scenario(textReply("x"))
	sc.PostToolDelayMS = 250
	for _, tt := range []struct {
		override *time.Duration
		want     time.Duration
	}{{nil, 250 * time.Millisecond}, {&second, time.Second}, {noDelay(), 0}} {
		s, err := New(sc, Options{Delay: tt.override})
		if err != nil {
			t.Fatal(err)
		}
		if got := (&exchange{server: s, play: s.playing()}).delay(); got != tt.want {
			t.Errorf("delay = %v, want %v", got, tt.want)
		}
	}
}
