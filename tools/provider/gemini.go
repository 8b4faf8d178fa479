package provider

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

// geminiPath is a method of a model in the Gemini API (ai.google.dev, "API
// reference"): the model and what to do stand in the path, not in the body.
var geminiPath = lazyregexp.New(`^/v1(?:beta)?/models/([^/:]+):([A-Za-z]+)$`)

// The methods of the Gemini API that CLIs call.
const (
	geminiStream = "streamGenerateContent"
	geminiWhole  = "generateContent"
	geminiCount  = "countTokens"
)

// geminiMethod reads a request's path; method is "" if it is not Gemini's.
func geminiMethod(path string) (model, method string) {
	m := geminiPath.Get().FindStringSubmatch(path)
	if m == nil || !slices.Contains([]string{geminiStream, geminiWhole, geminiCount}, m[2]) {
		return "", ""
	}
	return m[1], m[2]
}

// gemini answers a request to a model of the Gemini API.
func (x *exchange) gemini(model, method string) {
	switch {
	case method == geminiCount:
		x.note(KindSide, DialectGemini)
		x.json(200, geminiTokens{TotalTokens: usageInput})
	case method == geminiStream && x.r.URL.Query().Get("alt") != "sse":
		x.unexpected(DialectGemini, "a stream is played as server-sent events only (alt=sse)")
	default:
		x.model(DialectGemini, func(r *request) { r.model, r.stream = model, method == geminiStream })
	}
}

type geminiTokens struct {
	TotalTokens int `json:"totalTokens"`
}

func parseGemini(body []byte) (*request, error) {
	var b struct {
		Tools []struct {
			FunctionDeclarations []struct {
				Name string `json:"name"`
				// Releases send one or the other; the second one's types are upper case.
				JSONSchema json.RawMessage `json:"parametersJsonSchema"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Contents         json.RawMessage `json:"contents"`
		GenerationConfig struct {
			JSONSchema json.RawMessage `json:"responseJsonSchema"`
			Schema     json.RawMessage `json:"responseSchema"`
		} `json:"generationConfig"`
	}
	if err := decode(body, &b, "the body"); err != nil {
		return nil, err
	}
	first := func(a, b json.RawMessage) json.RawMessage {
		if len(a) > 0 {
			return a
		}
		return b
	}
	req := &request{answerSchema: first(b.GenerationConfig.JSONSchema, b.GenerationConfig.Schema)}
	for _, t := range b.Tools {
		for _, f := range t.FunctionDeclarations {
			req.tools = append(req.tools, tool{name: f.Name, schema: first(f.JSONSchema, f.Parameters)})
		}
	}
	var contents []struct {
		Parts []struct {
			FunctionResponse json.RawMessage `json:"functionResponse"`
		} `json:"parts"`
	}
	if len(b.Contents) > 0 {
		if err := decode(b.Contents, &contents, "contents"); err != nil {
			return nil, err
		}
	}
	for _, c := range contents {
		for _, p := range c.Parts {
			if len(p.FunctionResponse) > 0 {
				req.toolResults++
			}
		}
	}
	return req, nil
}

type geminiResponse struct {
	Candidates   []geminiCandidate `json:"candidates"`
	Usage        geminiUsage       `json:"usageMetadata"`
	ModelVersion string            `json:"modelVersion"`
	ResponseID   string            `json:"responseId"`
}

type geminiCandidate struct {
	Content      geminiContent `json:"content"`
	FinishReason string        `json:"finishReason,omitempty"`
	Index        int           `json:"index"`
}

type geminiContent struct {
	Parts []geminiPart `json:"parts,omitempty"`
	Role  string       `json:"role"`
}

type geminiPart struct {
	Text *string         `json:"text,omitempty"`
	Call *geminiFunction `json:"functionCall,omitempty"`
}

type geminiFunction struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// geminiUsage counts thoughts beside the answer's tokens, not within them.
type geminiUsage struct {
	Prompt     int `json:"promptTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Total      int `json:"totalTokenCount"`
	Cached     int `json:"cachedContentTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
}

// geminiStop is the reason of every complete answer, with tool calls or without.
const geminiStop = "STOP"

func newGemini(a *answer, finish string, parts ...geminiPart) geminiResponse {
	return geminiResponse{
		Candidates:   []geminiCandidate{{Content: geminiContent{parts, "model"}, FinishReason: finish}},
		Usage:        geminiUsage{usageInput, usageOutput, usageInput + usageOutput + usageReasoning, usageCached, usageReasoning},
		ModelVersion: a.model, ResponseID: fmt.Sprintf("resp-%04d", a.id),
	}
}

func geminiText(s string) geminiPart { return geminiPart{Text: &s} }

func geminiCalls(a *answer) []geminiPart {
	var out []geminiPart
	for _, c := range a.calls {
		out = append(out, geminiPart{Call: &geminiFunction{c.tool.name, json.RawMessage(c.input)}})
	}
	return out
}

func wholeGemini(a *answer) geminiResponse {
	var parts []geminiPart
	if len(a.pieces) > 0 {
		parts = append(parts, geminiText(a.text()))
	}
	return newGemini(a, geminiStop, append(parts, geminiCalls(a)...)...)
}

// writeGemini sends a piece of text or all calls an event; only the last event
// of a complete answer has a finish reason, and there is no other end mark.
func writeGemini(e *events, a *answer) {
	for _, p := range a.pieces {
		e.send("", newGemini(a, "", geminiText(p)))
	}
	if a.open {
		return
	}
	last := geminiCalls(a)
	if len(last) == 0 && len(a.pieces) > 0 {
		last = []geminiPart{geminiText("")}
	}
	e.send("", newGemini(a, geminiStop, last...))
}
