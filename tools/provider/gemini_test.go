package provider

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

const geminiModelPath = "/v1beta/models/probe-model-1:"

func TestGeminiStream(t *testing.T) {
	s := start(t, scenario(listFiles, textReply("Two ", "files.")), Options{})
	_, body, err := post(t, s, geminiModelPath+"streamGenerateContent?alt=sse", geminiAsk)
	if err != nil {
		t.Fatal(err)
	}
	events := parseEvents(t, body)
	if got := streamedText(DialectGemini, events); got != "I look first." {
		t.Errorf("text = %q", got)
	}
	for i, ev := range events {
		finish := at(ev.data, "candidates", 0, "finishReason")
		if (finish == "STOP") != (i == len(events)-1) || ev.name != "" {
			t.Errorf("event %d %s: finish reason %v", i, ev.name, finish)
		}
		if at(ev.data, "modelVersion") != "probe-model-1" || at(ev.data, "candidates", 0, "content", "role") != "model" {
			t.Errorf("event %d = %v", i, ev.data)
		}
	}
	last := events[len(events)-1].data
	call := at(last, "candidates", 0, "content", "parts", 0, "functionCall")
	if at(call, "name") != "run_shell_command" || at(call, "args", "command") != "ls" || at(call, "args", "is_background") != false {
		t.Errorf("call = %v", call)
	}
	if at(last, "usageMetadata", "thoughtsTokenCount") != float64(usageReasoning) || at(last, "usageMetadata", "totalTokenCount") != float64(usageInput+usageOutput+usageReasoning) {
		t.Errorf("usage = %v", at(last, "usageMetadata"))
	}
	_, body, _ = post(t, s, geminiModelPath+"streamGenerateContent?alt=sse", geminiAfter)
	if got := streamedText(DialectGemini, parseEvents(t, body)); got != "Two files." {
		t.Errorf("the request with a tool result got %q", got)
	}
	if got := s.Requests(); got[1].Model != "probe-model-1" || !got[1].Stream || got[1].ToolResults != 1 || got[0].Picked[0] != "run_shell_command" {
		t.Errorf("log = %+v", got)
	}
}

func TestGeminiWholeAnswer(t *testing.T) {
	s := start(t, scenario(listFiles), Options{})
	_, body, _ := post(t, s, geminiModelPath+"generateContent", geminiAsk)
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	parts := at(v, "candidates", 0, "content", "parts")
	if at(parts, 0, "text") != "I look first." || at(parts, 1, "functionCall", "name") != "run_shell_command" || at(v, "candidates", 0, "finishReason") != "STOP" {
		t.Errorf("answer = %v", v)
	}
}

// Questions that belong to the CLI: it may ask for JSON of a given form, and
// breaks off where it gets none.
func TestGeminiSideRequests(t *testing.T) {
	schema := `"generationConfig":{"responseJsonSchema":{"type":"object","properties":{"next_speaker":{"type":"string","enum":["user","model"]},"note":{"type":"string"}},"required":["next_speaker"]}}`
	tests := []struct{ name, method, body, want string }{
		{"no tools", "generateContent", `{"contents":[]}`, contract.ScenarioSideText},
		{"a form", "generateContent", `{"contents":[],` + schema + `}`, `{\"next_speaker\":\"user\"}`},
		{"a form, streamed", "streamGenerateContent?alt=sse", `{"contents":[],` + schema + `}`, `{\"next_speaker\":\"user\"}`},
		{"tokens", "countTokens", `{"contents":[]}`, `"totalTokens"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, scenario(errorReply(contract.ErrorServer)), Options{})
			status, body, err := post(t, s, geminiModelPath+tt.method, tt.body)
			if status != 200 || err != nil || !strings.Contains(body, tt.want) {
				t.Errorf("status %d, %v: %s", status, err, body)
			}
			if got := s.Requests(); len(got) != 1 || got[0].Kind != KindSide || got[0].Dialect != DialectGemini {
				t.Errorf("log = %+v", got)
			}
		})
	}
}

func TestGeminiUnexpected(t *testing.T) {
	for path, reason := range map[string]string{
		geminiModelPath + "streamGenerateContent": "server-sent events only",
		geminiModelPath + "embedContent":          "no API has this route",
		"/v1beta/models/":                         "no API has this route",
	} {
		s := start(t, scenario(listFiles), Options{})
		resp := send(t, s, "POST", path, geminiAsk)
		if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 400 {
			t.Errorf("%s: status %d, %v: %s", path, resp.StatusCode, err, b)
		}
		if got := s.Unexpected(); len(got) != 1 || !strings.Contains(got[0].Reason, reason) {
			t.Errorf("%s: unexpected = %v", path, got)
		}
	}
}

// A key in Gemini's own header counts as a credential.
func TestGeminiKeyIsACredential(t *testing.T) {
	if !authorized(map[string][]string{"X-Goog-Api-Key": {"x"}}) {
		t.Error("not authorized")
	}
}
