package provider

import (
	"encoding/json"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// FuzzRequest feeds any bytes as a request body: whatever a CLI sends, the
// provider reads it or refuses it, and its calls are valid JSON.
func FuzzRequest(f *testing.F) {
	for _, w := range wires {
		f.Add([]byte(w.ask))
		f.Add([]byte(w.after))
	}
	f.Add([]byte(`{"input":"text","tools":[{"type":"namespace","tools":[{"type":"custom","name":"exec"}]}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"tool_result"},7]}]}`))
	calls := []contract.ScenarioToolCall{callList, callRun, callWrite}
	f.Fuzz(func(t *testing.T, body []byte) {
		if shapeOf(body) == "" {
			t.Error("a body without a shape")
		}
		for _, w := range wires {
			req, err := parseRequest(w.dialect, body)
			if err != nil {
				continue
			}
			if req.toolResults < 0 || req.dialect != w.dialect {
				t.Errorf("request = %+v", req)
			}
			for _, c := range calls {
				picked, ok := pick(req.tools, &c, "/w")
				if ok && picked.tool.kind == toolFunction && !json.Valid([]byte(picked.input)) {
					t.Errorf("arguments are not JSON: %q", picked.input)
				}
			}
		}
	})
}
