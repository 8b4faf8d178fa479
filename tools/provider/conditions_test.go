package provider

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// A client must see the reset itself, and not an orderly end: CLIs have other
// words for the two.
func TestResetEndsTheConnectionBeforeTheFirstByte(t *testing.T) {
	for _, w := range wires {
		t.Run(string(w.dialect), func(t *testing.T) {
			s := start(t, scenario(contract.ScenarioReply{Kind: contract.ReplyReset}), Options{})
			_, err := http.Post(s.BaseURL()+w.path, "application/json", strings.NewReader(w.ask)) //nolint:bodyclose // there is no answer
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("error = %v, want a reset connection", err)
			}
			if got := s.Requests(); len(got) != 1 || got[0].Kind != KindModel || got[0].Status != 0 {
				t.Errorf("requests %+v", got)
			}
		})
	}
}

// A gateway that does not know the path answers alike whatever was asked.
func TestRoutingErrorIsNoModelAPI(t *testing.T) {
	for _, w := range wires {
		s := start(t, scenario(errorReply(contract.ErrorRouting)), Options{})
		resp := send(t, s, http.MethodPost, w.path, w.ask)
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusNotFound || string(b) != "404 page not found\n" || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: status %d, body %q, error %v", w.dialect, resp.StatusCode, b, err)
		}
	}
}

// Replied tells the capture when the CLI has all it will get; a side request
// is none of the scenario's.
func TestRepliedFollowsTheFirstReply(t *testing.T) {
	stall := contract.ScenarioReply{Kind: contract.ReplyStall, Text: []string{"partial"}}
	for name, reply := range map[string]contract.ScenarioReply{"stall": stall, "error": errorReply(contract.ErrorServer), "answer": textReply("done")} {
		t.Run(name, func(t *testing.T) {
			s := start(t, scenario(reply), Options{})
			if _, _, err := post(t, s, "/v1/chat/completions", `{"model":"probe-model-1","messages":[{"role":"user","content":"title?"}]}`); err != nil {
				t.Fatal(err)
			}
			select {
			case <-s.Replied():
				t.Error("a side request counts as the scenario's")
			default:
			}
			send(t, s, http.MethodPost, "/v1/chat/completions", chatAsk)
			<-s.Replied()
		})
	}
}
