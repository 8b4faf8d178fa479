package provider

import "fmt"

// created is the time stamp of every answer: a fixed one, so that two runs
// send the same bytes.
const created = 1700000000

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func newChatUsage() *chatUsage {
	u := &chatUsage{PromptTokens: usageInput, CompletionTokens: usageOutput, TotalTokens: usageInput + usageOutput}
	u.PromptDetails.CachedTokens, u.CompletionDetails.ReasoningTokens = usageCached, usageReasoning
	return u
}

type chatCompletion struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int          `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

type chatChoice struct {
	Index        int          `json:"index"`
	Delta        *chatMessage `json:"delta,omitempty"`
	Message      *chatMessage `json:"message,omitempty"`
	FinishReason *string      `json:"finish_reason"`
}

type chatMessage struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	ToolCalls []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	Index    *int         `json:"index,omitempty"` // in streams only
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

func callID(a *answer, i int) string { return fmt.Sprintf("call_%04d_%d", a.id, i+1) }

func newChat(a *answer, object string) chatCompletion {
	return chatCompletion{ID: fmt.Sprintf("chatcmpl-%04d", a.id), Object: object, Created: created, Model: a.model}
}

func finishReason(a *answer) *string {
	reason := "stop"
	if len(a.calls) > 0 {
		reason = "tool_calls"
	}
	return &reason
}

func wholeChat(a *answer) chatCompletion {
	text := a.text()
	m := &chatMessage{Role: "assistant", Content: &text}
	for i, c := range a.calls {
		m.ToolCalls = append(m.ToolCalls, chatCall{ID: callID(a, i), Type: "function", Function: chatFunction{c.tool.name, c.input}})
	}
	out := newChat(a, "chat.completion")
	out.Choices = []chatChoice{{Message: m, FinishReason: finishReason(a)}}
	out.Usage = newChatUsage()
	return out
}

func writeChat(e *events, a *answer) {
	send := func(m chatMessage, finish *string) {
		c := newChat(a, "chat.completion.chunk")
		c.Choices = []chatChoice{{Delta: &m, FinishReason: finish}}
		e.send("", c)
	}
	empty := ""
	send(chatMessage{Role: "assistant", Content: &empty}, nil)
	for _, p := range a.pieces {
		send(chatMessage{Content: &p}, nil)
	}
	if a.open {
		return
	}
	for i, c := range a.calls {
		send(chatMessage{ToolCalls: []chatCall{{Index: &i, ID: callID(a, i), Type: "function", Function: chatFunction{Name: c.tool.name}}}}, nil)
		for _, p := range a.split(c.input) {
			send(chatMessage{ToolCalls: []chatCall{{Index: &i, Function: chatFunction{Arguments: p}}}}, nil)
		}
	}
	send(chatMessage{}, finishReason(a))
	if a.usage {
		c := newChat(a, "chat.completion.chunk")
		c.Choices, c.Usage = []chatChoice{}, newChatUsage()
		e.send("", c)
	}
	e.send("", "[DONE]")
}
