package provider

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxBody bounds a request body; the largest seen from a CLI is below 1 MB.
const maxBody = 32 << 20

// request is what the provider reads of a model request, in any dialect.
type request struct {
	dialect Dialect
	model   string
	stream  bool
	// includeUsage is the Chat option that asks for a usage chunk.
	includeUsage bool
	tools        []tool
	toolResults  int
	conversation
	warmup     bool // a sub-agent's warm-up, which offers tools like the real thing
	classifier bool // asks whether a tool call must be blocked
	// answerSchema is the form that the answer's text must have, or nil.
	answerSchema json.RawMessage
}

// toolKind says how a tool is called on the wire.
type toolKind int

const (
	toolFunction   toolKind = iota // arguments as JSON
	toolCustom                     // free text
	toolLocalShell                 // Responses' built-in shell
	toolOther                      // runs at the provider (web search); never picked
)

// tool is a tool that a request offers.
type tool struct {
	name      string
	namespace string // Responses only; sent back with the call
	kind      toolKind
	schema    json.RawMessage
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var src io.Reader = http.MaxBytesReader(w, r.Body, maxBody)
	switch enc := r.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(src)
		if err != nil {
			return nil, fmt.Errorf("unpacking a gzip body: %w", err)
		}
		src = io.LimitReader(z, maxBody)
	default:
		return nil, fmt.Errorf("content-encoding %q is not supported", printable(enc, 20))
	}
	b, err := io.ReadAll(src)
	if err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	return b, nil
}

// parseRequest reads a body. The error names the part and never its content.
func parseRequest(d Dialect, body []byte) (*request, error) {
	parse := map[Dialect]func([]byte) (*request, error){
		DialectResponses: parseResponses, DialectChat: parseChat, DialectMessages: parseMessages,
		DialectGemini: parseGemini,
	}[d]
	req, err := parse(body)
	if err != nil {
		return nil, err
	}
	req.dialect, req.conversation = d, readConversation(d, body)
	return req, nil
}

// decode hides the JSON error's text, which may quote the body.
func decode(b []byte, v any, what string) error {
	if json.Unmarshal(b, v) != nil {
		return fmt.Errorf("%s does not have the form that the API asks for", what)
	}
	return nil
}

type responsesTool struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
	Tools      []responsesTool `json:"tools"`
}

func parseResponses(body []byte) (*request, error) {
	var b struct {
		Model  string          `json:"model"`
		Stream bool            `json:"stream"`
		Tools  []responsesTool `json:"tools"`
		Input  json.RawMessage `json:"input"`
	}
	if err := decode(body, &b, "the body"); err != nil {
		return nil, err
	}
	req := &request{model: b.Model, stream: b.Stream, tools: responsesTools(nil, b.Tools, "")}
	if len(b.Input) == 0 || b.Input[0] != '[' {
		return req, nil // a plain string is one user message
	}
	var items []struct {
		Type  string          `json:"type"`
		Tools []responsesTool `json:"tools"`
	}
	if err := decode(b.Input, &items, "input"); err != nil {
		return nil, err
	}
	for _, it := range items {
		if strings.HasSuffix(it.Type, "_call_output") {
			req.toolResults++
		}
		if it.Type == "additional_tools" { // Codex in code mode offers its tools here
			req.tools = responsesTools(req.tools, it.Tools, "")
		}
	}
	return req, nil
}

func responsesTools(out []tool, in []responsesTool, namespace string) []tool {
	for _, t := range in {
		switch t.Type {
		case "namespace":
			out = responsesTools(out, t.Tools, t.Name)
		case "function":
			out = append(out, tool{name: t.Name, namespace: namespace, kind: toolFunction, schema: t.Parameters})
		case "custom":
			out = append(out, tool{name: t.Name, namespace: namespace, kind: toolCustom})
		case "local_shell":
			out = append(out, tool{name: "local_shell", kind: toolLocalShell})
		default:
			out = append(out, tool{name: t.Type, kind: toolOther})
		}
	}
	return out
}

func parseChat(body []byte) (*request, error) {
	var b struct {
		Model         string `json:"model"`
		Stream        bool   `json:"stream"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Tools []struct {
			Type     string `json:"type"`
			Function struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	if err := decode(body, &b, "the body"); err != nil {
		return nil, err
	}
	req := &request{model: b.Model, stream: b.Stream, includeUsage: b.StreamOptions.IncludeUsage}
	for _, t := range b.Tools {
		if t.Type == "function" {
			req.tools = append(req.tools, tool{name: t.Function.Name, schema: t.Function.Parameters})
		} else {
			req.tools = append(req.tools, tool{name: t.Type, kind: toolOther})
		}
	}
	for _, m := range b.Messages {
		if m.Role == "tool" {
			req.toolResults++
		}
	}
	return req, nil
}

func parseMessages(body []byte) (*request, error) {
	var b struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Tools  []struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := decode(body, &b, "the body"); err != nil {
		return nil, err
	}
	req := &request{model: b.Model, stream: b.Stream}
	for _, t := range b.Tools {
		kind := toolFunction
		if len(t.InputSchema) == 0 {
			kind = toolOther
		}
		req.tools = append(req.tools, tool{name: t.Name, kind: kind, schema: t.InputSchema})
	}
	for _, m := range b.Messages {
		texts, results, err := messageContent(m.Content)
		if err != nil {
			return nil, err
		}
		req.toolResults += results
		for _, t := range texts {
			req.warmup = req.warmup || m.Role == "user" && strings.TrimSpace(t) == "Warmup"
		}
	}
	// The verdict's form is what the classifier prompts of one release share.
	req.classifier = len(b.Tools) == 0 && (bytes.Contains(body, []byte("block>")) || bytes.Contains(body, []byte("severity>")))
	return req, nil
}

// messageContent reads a string or a list of content blocks.
func messageContent(c json.RawMessage) (texts []string, results int, err error) {
	if len(c) == 0 {
		return nil, 0, nil
	}
	if c[0] == '"' {
		var s string
		err := decode(c, &s, "a message's content")
		return []string{s}, 0, err
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := decode(c, &blocks, "a message's content"); err != nil {
		return nil, 0, err
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_result":
			results++
		}
	}
	return texts, results, nil
}
