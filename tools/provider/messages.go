package provider

import (
	"encoding/json"
	"fmt"
)

// The token counts of every answer. They differ from one another so that a
// reader that mixes them up is found out; zero would look like absence.
const (
	usageInput     = 1200
	usageCached    = 1000
	usageCreated   = 11
	usageOutput    = 42
	usageReasoning = 7
)

type countTokens struct {
	InputTokens int `json:"input_tokens"`
}

type messageUsage struct {
	InputTokens         int    `json:"input_tokens"`
	CacheCreationTokens int    `json:"cache_creation_input_tokens"`
	CacheReadTokens     int    `json:"cache_read_input_tokens"`
	OutputTokens        int    `json:"output_tokens"`
	ServiceTier         string `json:"service_tier"`
}

type message struct {
	ID           string       `json:"id"`
	Type         string       `json:"type"`
	Role         string       `json:"role"`
	Model        string       `json:"model"`
	Content      []any        `json:"content"`
	StopReason   *string      `json:"stop_reason"`
	StopSequence *string      `json:"stop_sequence"`
	Usage        messageUsage `json:"usage"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type toolUseBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type blockEvent struct {
	Type         string `json:"type"`
	Index        int    `json:"index"`
	ContentBlock any    `json:"content_block,omitempty"`
	Delta        any    `json:"delta,omitempty"`
}

type inputDelta struct {
	Type        string `json:"type"`
	PartialJSON string `json:"partial_json"`
}

type messageStart struct {
	Type    string  `json:"type"`
	Message message `json:"message"`
}

type messageDelta struct {
	Type  string `json:"type"`
	Delta struct {
		StopReason   string  `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	} `json:"delta"`
	Usage struct {
		OutputTokens int `json:"output_tokens"`
	} `json:"usage"`
}

type bareEvent struct {
	Type string `json:"type"`
}

func newMessage(a *answer, output int) message {
	return message{
		ID: fmt.Sprintf("msg_%04d", a.id), Type: "message", Role: "assistant", Model: a.model, Content: []any{},
		Usage: messageUsage{usageInput, usageCreated, usageCached, output, "standard"},
	}
}

func stopReason(a *answer) string {
	if len(a.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func toolUseID(a *answer, i int) string { return fmt.Sprintf("toolu_%04d_%d", a.id, i+1) }

func wholeMessage(a *answer) message {
	m := newMessage(a, usageOutput)
	if len(a.pieces) > 0 {
		m.Content = append(m.Content, textBlock{"text", a.text()})
	}
	for i, c := range a.calls {
		m.Content = append(m.Content, toolUseBlock{"tool_use", toolUseID(a, i), c.tool.name, json.RawMessage(c.input)})
	}
	stop := stopReason(a)
	m.StopReason = &stop
	return m
}

func writeMessages(e *events, a *answer) {
	e.send("message_start", messageStart{"message_start", newMessage(a, 1)})
	e.send("ping", bareEvent{"ping"})
	index := 0
	block := func(start any, deltas []any) {
		e.send("content_block_start", blockEvent{Type: "content_block_start", Index: index, ContentBlock: start})
		for _, d := range deltas {
			e.send("content_block_delta", blockEvent{Type: "content_block_delta", Index: index, Delta: d})
		}
	}
	stop := func() {
		e.send("content_block_stop", blockEvent{Type: "content_block_stop", Index: index})
		index++
	}
	if len(a.pieces) > 0 {
		var deltas []any
		for _, p := range a.pieces {
			deltas = append(deltas, textBlock{"text_delta", p})
		}
		block(textBlock{"text", ""}, deltas)
		if a.open {
			return
		}
		stop()
	}
	if a.open {
		return
	}
	for i, c := range a.calls {
		deltas := []any{inputDelta{"input_json_delta", ""}}
		for _, p := range a.split(c.input) {
			deltas = append(deltas, inputDelta{"input_json_delta", p})
		}
		block(toolUseBlock{"tool_use", toolUseID(a, i), c.tool.name, json.RawMessage("{}")}, deltas)
		stop()
	}
	end := messageDelta{Type: "message_delta"}
	end.Delta.StopReason, end.Usage.OutputTokens = stopReason(a), usageOutput
	e.send("message_delta", end)
	e.send("message_stop", bareEvent{"message_stop"})
}
