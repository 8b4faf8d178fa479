package provider

import (
	"net/http"
	"strings"
	"testing"
)

// What a resumed session and an attached image look like in each API.
func TestConversation(t *testing.T) {
	for _, tt := range []struct {
		dialect         Dialect
		user            string // the user's message of the *Ask requests
		more            string // what stands there in a later request
		answers, images int
	}{
		{
			DialectResponses, `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]},{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}`, 1, 1,
		}, {
			DialectChat, `{"role":"user","content":"hi"}`,
			`{"role":"user","content":"hi"},{"role":"assistant","content":"x"},{"role":"user","content":[{"type":"text","text":"y"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}`, 1, 1,
		}, {
			DialectMessages, `{"role":"user","content":[{"type":"text","text":"hi"}]}`,
			`{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use"}]},{"role":"user","content":[{"type":"tool_result","content":[{"type":"image","source":{}}]}]}`, 1, 1,
		}, {
			DialectGemini, `{"role":"user","parts":[{"text":"hi"}]}`,
			`{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"x"}]},{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}},{"text":"y"}]}`, 1, 1,
		},
	} {
		var w wire
		for _, c := range wires {
			if c.dialect == tt.dialect {
				w = c
			}
		}
		s := start(t, scenario(textReply("a"), textReply("b")), Options{})
		if status, _, err := post(t, s, w.path, w.ask); status != http.StatusOK || err != nil {
			t.Fatalf("%s: status %d, %v", w.dialect, status, err)
		}
		if status, _, err := post(t, s, w.path, strings.Replace(w.ask, tt.user, tt.more, 1)); status != http.StatusOK || err != nil {
			t.Fatalf("%s: status %d, %v", w.dialect, status, err)
		}
		log := s.Requests()
		if len(log) != 2 || log[0].Answers != 0 || log[0].Images != 0 || log[1].Answers != tt.answers || log[1].Images != tt.images {
			t.Errorf("%s: %+v", w.dialect, log)
		}
	}
}

// The second run in one place is answered by its own scenario from its first
// attempt on, and its log is its own.
func TestPlay(t *testing.T) {
	s := start(t, scenario(textReply("first")), Options{})
	ask := func() string {
		t.Helper()
		_, body, err := post(t, s, "/v1/chat/completions", notStreamed(chatAsk))
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	if got := ask(); !strings.Contains(got, "first") {
		t.Errorf("the first scenario answers %q", got)
	}
	if err := s.Play(scenario(textReply("second"))); err != nil {
		t.Fatal(err)
	}
	if got := ask(); !strings.Contains(got, "second") {
		t.Errorf("the second scenario answers %q", got)
	}
	if log := s.Requests(); len(log) != 1 || log[0].Attempt != 1 {
		t.Errorf("the second run's log is %+v", log)
	}
	if err := s.Play(scenario()); err != nil {
		t.Fatal(err)
	}
	if status, _, err := post(t, s, "/v1/chat/completions", chatAsk); status == http.StatusOK || err != nil || len(s.Unexpected()) != 1 {
		t.Errorf("a scenario without turns answers with %d, %v", status, err)
	}
}

// A list of models asks no model, so even a scenario without turns has it.
func TestModelListWithoutTurns(t *testing.T) {
	s := start(t, scenario(), Options{})
	if resp := send(t, s, http.MethodGet, "/v1/models", ""); resp.StatusCode != http.StatusOK || len(s.Unexpected()) != 0 {
		t.Errorf("status %d, unexpected %v", resp.StatusCode, s.Unexpected())
	}
}
