package provider

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func names(events []event) []string {
	var out []string
	for _, ev := range events {
		if len(out) == 0 || out[len(out)-1] != ev.name {
			out = append(out, ev.name)
		}
	}
	return out
}

func wantNames(t *testing.T, events []event, want ...string) {
	t.Helper()
	if got := names(events); !slices.Equal(got, want) {
		t.Errorf("event order:\n got %v\nwant %v", got, want)
	}
}

var listFiles = toolReply(contract.AbilityListFiles, contract.ScenarioToolArguments{Path: "."}, "I look ", "first.")

func TestResponsesStream(t *testing.T) {
	s := start(t, scenario(listFiles, textReply("Two ", "files.")), Options{})
	_, body, err := post(t, s, "/v1/responses", responsesAsk)
	if err != nil {
		t.Fatal(err)
	}
	events := parseEvents(t, body)
	wantNames(t, events, "response.created", "response.in_progress",
		"response.output_item.added", "response.content_part.added", "response.output_text.delta",
		"response.output_text.done", "response.content_part.done", "response.output_item.done",
		"response.output_item.added", "response.function_call_arguments.delta",
		"response.function_call_arguments.done", "response.output_item.done", "response.completed")
	for i, ev := range events {
		if at(ev.data, "type") != ev.name || at(ev.data, "sequence_number") != float64(i) {
			t.Errorf("event %d: type %v and number %v do not fit its name %s", i, at(ev.data, "type"), at(ev.data, "sequence_number"), ev.name)
		}
	}
	if got := streamedText(DialectResponses, events); got != "I look first." {
		t.Errorf("text = %q", got)
	}
	end := at(events[len(events)-1].data, "response")
	item := at(end, "output", 1)
	if at(item, "type") != "function_call" || at(item, "name") != "exec_command" || at(item, "arguments") != `{"cmd":"ls"}` {
		t.Errorf("the completed response does not repeat the call: %v", item)
	}
	if at(end, "output", 0, "content", 0, "text") != "I look first." {
		t.Error("the completed response does not repeat the text")
	}
	for path, want := range map[string]float64{"input_tokens": usageInput, "output_tokens": usageOutput, "total_tokens": usageInput + usageOutput} {
		if got := at(end, "usage", path); got != want {
			t.Errorf("usage.%s = %v, want %v", path, got, want)
		}
	}
	if _, body, _ = post(t, s, "/v1/responses", responsesAfter); streamedText(DialectResponses, parseEvents(t, body)) != "Two files." {
		t.Error("the request with a tool result did not get the second turn")
	}
}

func TestChatStream(t *testing.T) {
	s := start(t, scenario(listFiles, textReply("Two ", "files.")), Options{})
	_, body, err := post(t, s, "/v1/chat/completions", chatAsk)
	if err != nil {
		t.Fatal(err)
	}
	events := parseEvents(t, body)
	last := len(events) - 1
	if events[last].raw != "[DONE]" {
		t.Fatalf("the stream ends with %q", events[last].raw)
	}
	if at(events[last-1].data, "usage", "prompt_tokens") != float64(usageInput) {
		t.Error("the usage chunk that was asked for is missing")
	}
	if got := at(events[last-2].data, "choices", 0, "finish_reason"); got != "tool_calls" {
		t.Errorf("finish_reason = %v", got)
	}
	if at(events[0].data, "choices", 0, "delta", "role") != "assistant" {
		t.Error("the first chunk has no role")
	}
	if got := streamedText(DialectChat, events); got != "I look first." {
		t.Errorf("text = %q", got)
	}
	var name, args string
	for _, ev := range events[:last] {
		f := at(ev.data, "choices", 0, "delta", "tool_calls", 0, "function")
		if n, ok := at(f, "name").(string); ok {
			name = n
		}
		if a, ok := at(f, "arguments").(string); ok {
			args += a
		}
	}
	if name != "shell" || args != `{"command":["bash","-lc","ls"]}` {
		t.Errorf("call = %s %s", name, args)
	}
	_, body, _ = post(t, s, "/v1/chat/completions", chatAfter)
	if strings.Contains(body, `"usage"`) {
		t.Error("a usage chunk came unasked")
	}
	if streamedText(DialectChat, parseEvents(t, body)) != "Two files." {
		t.Error("the request with a tool result did not get the second turn")
	}
}

func TestMessagesStream(t *testing.T) {
	s := start(t, scenario(listFiles, textReply("Two ", "files.")), Options{})
	_, body, err := post(t, s, "/v1/messages?beta=true", messagesAsk)
	if err != nil {
		t.Fatal(err)
	}
	events := parseEvents(t, body)
	wantNames(t, events, "message_start", "ping",
		"content_block_start", "content_block_delta", "content_block_stop",
		"content_block_start", "content_block_delta", "content_block_stop",
		"message_delta", "message_stop")
	var args string
	indexes := map[any]bool{}
	for _, ev := range events {
		if at(ev.data, "type") != ev.name {
			t.Errorf("type %v in event %s", at(ev.data, "type"), ev.name)
		}
		if p, ok := at(ev.data, "delta", "partial_json").(string); ok {
			args += p
		}
		if strings.HasPrefix(ev.name, "content_block") {
			indexes[at(ev.data, "index")] = true
		}
	}
	if args != `{"command":"ls"}` || !indexes[0.0] || !indexes[1.0] || len(indexes) != 2 {
		t.Errorf("arguments %s in blocks %v", args, indexes)
	}
	if got := streamedText(DialectMessages, events); got != "I look first." {
		t.Errorf("text = %q", got)
	}
	end := events[len(events)-2].data
	if at(end, "delta", "stop_reason") != "tool_use" || at(end, "usage", "output_tokens") != float64(usageOutput) {
		t.Errorf("message_delta = %v", end)
	}
	if at(events[0].data, "message", "usage", "cache_read_input_tokens") != float64(usageCached) {
		t.Error("message_start has no usage")
	}
	if _, body, _ = post(t, s, "/v1/messages", messagesAfter); streamedText(DialectMessages, parseEvents(t, body)) != "Two files." {
		t.Error("the request with a tool result did not get the second turn")
	}
}

func TestWholeAnswers(t *testing.T) {
	decode := func(t *testing.T, body string) (v any) {
		t.Helper()
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	t.Run("chat", func(t *testing.T) {
		s := start(t, scenario(listFiles), Options{})
		_, body, _ := post(t, s, "/v1/chat/completions", notStreamed(chatAsk))
		v := decode(t, body)
		choice := at(v, "choices", 0)
		if at(v, "object") != "chat.completion" || at(choice, "message", "content") != "I look first." || at(choice, "finish_reason") != "tool_calls" {
			t.Errorf("answer = %v", v)
		}
		if at(choice, "message", "tool_calls", 0, "function", "name") != "shell" || at(v, "usage", "total_tokens") == nil {
			t.Errorf("answer = %v", v)
		}
	})
	t.Run("messages", func(t *testing.T) {
		s := start(t, scenario(listFiles), Options{})
		_, body, _ := post(t, s, "/v1/messages", notStreamed(messagesAsk))
		v := decode(t, body)
		if at(v, "content", 0, "text") != "I look first." || at(v, "content", 1, "input", "command") != "ls" || at(v, "stop_reason") != "tool_use" {
			t.Errorf("answer = %v", v)
		}
	})
}

func TestEmptyAnswer(t *testing.T) {
	for _, w := range wires {
		t.Run(string(w.dialect), func(t *testing.T) {
			s := start(t, scenario(contract.ScenarioReply{Kind: contract.ReplyEmpty}), Options{})
			status, body, err := post(t, s, w.path, w.ask)
			if status != 200 || err != nil {
				t.Fatalf("status %d, error %v", status, err)
			}
			events := parseEvents(t, body)
			if got := streamedText(w.dialect, events); got != "" {
				t.Errorf("text = %q", got)
			}
			if w.dialect == DialectGemini { // its end mark is a member of the last event
				if got := at(events[len(events)-1].data, "candidates", 0, "finishReason"); got != "STOP" {
					t.Errorf("the stream ends with the finish reason %v", got)
				}
				return
			}
			complete := map[Dialect]string{DialectResponses: "response.completed", DialectChat: "[DONE]", DialectMessages: "message_stop"}[w.dialect]
			if last := events[len(events)-1]; last.name != complete && last.raw != complete {
				t.Errorf("the stream ends with %s", last.name)
			}
		})
	}
}

func TestTruncatedStreamEndsWithoutItsMark(t *testing.T) {
	for _, w := range wires {
		t.Run(string(w.dialect), func(t *testing.T) {
			read := func(kind contract.ReplyKind) string {
				s := start(t, scenario(contract.ScenarioReply{Kind: kind, Text: []string{"some ", "text"}}), Options{})
				status, body, err := post(t, s, w.path, w.ask)
				if err != nil || status != http.StatusOK {
					t.Errorf("%s: status %d, %v", kind, status, err)
				}
				if got := streamedText(w.dialect, parseEvents(t, body)); got != "some text" {
					t.Errorf("%s: text = %q", kind, got)
				}
				return body
			}
			whole, truncated := read(contract.ReplyAnswer), read(contract.ReplyTruncated)
			if len(truncated) >= len(whole) || strings.Contains(truncated, "[DONE]") {
				t.Error("the truncated answer has its end")
			}
		})
	}
}

// The connection of a cut answer ends after the delay, so that a client has
// handed on what came before.
func TestCutStreamEndsAfterTheDelay(t *testing.T) {
	for _, w := range wires {
		t.Run(string(w.dialect), func(t *testing.T) {
			forever := time.Hour
			s := start(t, scenario(contract.ScenarioReply{Kind: contract.ReplyCut, Text: []string{"some ", "text"}}), Options{Delay: &forever})
			r := send(t, s, http.MethodPost, w.path, w.ask)
			defer r.Body.Close()
			lines := bufio.NewScanner(r.Body)
			for said := false; !said; said = strings.Contains(lines.Text(), "text\"") {
				if !lines.Scan() {
					t.Fatal("the stream ended before its text")
				}
			}
			ended := make(chan error, 1)
			go func() {
				for lines.Scan() {
				}
				ended <- lines.Err()
			}()
			for range 3 { // time enough for an end that did not wait
				send(t, s, http.MethodGet, "/v1/models", "").Body.Close()
			}
			select {
			case <-ended:
				t.Fatal("the stream ended with its last piece")
			default:
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if <-ended == nil {
				t.Error("the stream ended as if it were complete")
			}
		})
	}
}

func TestCutStreamKeepsWhatCameBefore(t *testing.T) {
	for _, w := range wires {
		t.Run(string(w.dialect), func(t *testing.T) {
			s := start(t, scenario(contract.ScenarioReply{Kind: contract.ReplyCut, Text: []string{"some ", "text"}}), Options{})
			_, body, err := post(t, s, w.path, w.ask)
			if err == nil {
				t.Error("the stream ended as if it were complete")
			}
			if got := streamedText(w.dialect, parseEvents(t, body)); got != "some text" {
				t.Errorf("text before the cut = %q", got)
			}
		})
	}
}
