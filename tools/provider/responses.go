package provider

import "fmt"

type response struct {
	ID        string         `json:"id"`
	Object    string         `json:"object"`
	CreatedAt int            `json:"created_at"`
	Status    string         `json:"status"`
	Error     *openAIError   `json:"error"`
	Model     string         `json:"model"`
	Output    []any          `json:"output"`
	Usage     *responseUsage `json:"usage"`
}

type responseUsage struct {
	InputTokens  int `json:"input_tokens"`
	InputDetails struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputTokens  int `json:"output_tokens"`
	OutputDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	TotalTokens int `json:"total_tokens"`
}

type outputText struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"`
}

type messageItem struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Status  string       `json:"status"`
	Role    string       `json:"role"`
	Content []outputText `json:"content"`
}

// callItem is a function_call, a custom_tool_call or a local_shell_call; each
// has its own one of the last three members.
type callItem struct {
	ID        string       `json:"id"`
	Type      string       `json:"type"`
	Status    string       `json:"status"`
	CallID    string       `json:"call_id"`
	Name      string       `json:"name,omitempty"`
	Namespace string       `json:"namespace,omitempty"`
	Arguments *string      `json:"arguments,omitempty"`
	Input     *string      `json:"input,omitempty"`
	Action    *shellAction `json:"action,omitempty"`
}

type shellAction struct {
	Type    string            `json:"type"`
	Command []string          `json:"command"`
	Env     map[string]string `json:"env"`
}

// responseEvent is every event of the stream; each has some of the members.
type responseEvent struct {
	Type           string      `json:"type"`
	SequenceNumber int         `json:"sequence_number"`
	Response       *response   `json:"response,omitempty"`
	ItemID         string      `json:"item_id,omitempty"`
	OutputIndex    *int        `json:"output_index,omitempty"`
	ContentIndex   *int        `json:"content_index,omitempty"`
	Item           any         `json:"item,omitempty"`
	Part           *outputText `json:"part,omitempty"`
	Delta          *string     `json:"delta,omitempty"`
	Text           *string     `json:"text,omitempty"`
	Arguments      *string     `json:"arguments,omitempty"`
	Input          *string     `json:"input,omitempty"`
}

// responseWriter numbers events and collects the finished items.
type responseWriter struct {
	e    *events
	a    *answer
	seq  int
	done []any
}

func writeResponses(e *events, a *answer) {
	w := &responseWriter{e: e, a: a, done: []any{}}
	w.response("response.created", "in_progress", nil)
	w.response("response.in_progress", "in_progress", nil)
	if len(a.pieces) > 0 {
		w.message()
	}
	if a.open {
		return
	}
	for i := range a.calls {
		w.call(i)
	}
	u := &responseUsage{InputTokens: usageInput, OutputTokens: usageOutput, TotalTokens: usageInput + usageOutput}
	u.InputDetails.CachedTokens, u.OutputDetails.ReasoningTokens = usageCached, usageReasoning
	w.response("response.completed", "completed", u)
}

func (w *responseWriter) send(ev responseEvent) {
	ev.SequenceNumber = w.seq
	w.seq++
	w.e.send(ev.Type, ev)
}

func (w *responseWriter) response(event, status string, u *responseUsage) {
	w.send(responseEvent{Type: event, Response: &response{
		ID: fmt.Sprintf("resp_%04d", w.a.id), Object: "response", CreatedAt: created,
		Status: status, Model: w.a.model, Output: w.done, Usage: u,
	}})
}

func (w *responseWriter) item(event string, item any) {
	index := len(w.done)
	w.send(responseEvent{Type: event, OutputIndex: &index, Item: item})
}

func (w *responseWriter) finish(item any) {
	w.item("response.output_item.done", item)
	w.done = append(w.done, item)
}

func (w *responseWriter) message() {
	index, content := len(w.done), 0
	item := messageItem{ID: fmt.Sprintf("msg_%04d", w.a.id), Type: "message", Status: "in_progress", Role: "assistant", Content: []outputText{}}
	at := func(event string) responseEvent {
		return responseEvent{Type: event, ItemID: item.ID, OutputIndex: &index, ContentIndex: &content}
	}
	part := func(event, text string) responseEvent {
		ev := at(event)
		ev.Part = &outputText{"output_text", text, []any{}}
		return ev
	}
	w.item("response.output_item.added", item)
	w.send(part("response.content_part.added", ""))
	for _, p := range w.a.pieces {
		ev := at("response.output_text.delta")
		ev.Delta = &p
		w.send(ev)
	}
	if w.a.open {
		return
	}
	text := w.a.text()
	end := at("response.output_text.done")
	end.Text = &text
	w.send(end)
	w.send(part("response.content_part.done", text))
	item.Status, item.Content = "completed", []outputText{{"output_text", text, []any{}}}
	w.finish(item)
}

func (w *responseWriter) call(i int) {
	c, empty := w.a.calls[i], ""
	item := callItem{
		ID: fmt.Sprintf("fc_%04d_%d", w.a.id, i+1), Status: "in_progress",
		CallID: callID(w.a, i), Name: c.tool.name, Namespace: c.tool.namespace,
	}
	switch c.tool.kind {
	case toolLocalShell:
		item.Type, item.Name = "local_shell_call", ""
		item.Action = &shellAction{"exec", []string{"bash", "-lc", c.input}, map[string]string{}}
		w.item("response.output_item.added", item)
	case toolCustom:
		item.Type, item.Input = "custom_tool_call", &empty
		w.item("response.output_item.added", item)
		w.deltas("response.custom_tool_call_input", item.ID, c.input, func(ev *responseEvent) { ev.Input = &c.input })
		item.Input = &c.input
	default:
		item.Type, item.Arguments = "function_call", &empty
		w.item("response.output_item.added", item)
		w.deltas("response.function_call_arguments", item.ID, c.input, func(ev *responseEvent) { ev.Arguments = &c.input })
		item.Arguments = &c.input
	}
	item.Status = "completed"
	w.finish(item)
}

// deltas sends a text as event.delta and, whole, as event.done.
func (w *responseWriter) deltas(event, id, text string, whole func(*responseEvent)) {
	index := len(w.done)
	for _, p := range w.a.split(text) {
		w.send(responseEvent{Type: event + ".delta", ItemID: id, OutputIndex: &index, Delta: &p})
	}
	end := responseEvent{Type: event + ".done", ItemID: id, OutputIndex: &index}
	whole(&end)
	w.send(end)
}
