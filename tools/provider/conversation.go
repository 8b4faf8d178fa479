package provider

import "encoding/json"

// conversation counts what a request carries of the session so far: whether a
// resumed session has its history, and whether an attached image arrived.
type conversation struct {
	answers int // messages of the model
	images  int // wherever they stand, in a tool's result too
}

// readConversation reads a body that has the form of its API.
func readConversation(d Dialect, body []byte) conversation {
	var b map[string]json.RawMessage
	_ = json.Unmarshal(body, &b) // parseRequest has read it already
	member := map[Dialect]string{DialectResponses: "input", DialectChat: "messages", DialectMessages: "messages", DialectGemini: "contents"}[d]
	var items []map[string]any
	if json.Unmarshal(b[member], &items) != nil {
		return conversation{} // a plain string is one user message
	}
	var c conversation
	for _, it := range items {
		if it["role"] == "assistant" || it["role"] == "model" {
			c.answers++
		}
		c.images += images(it)
	}
	return c
}

// images counts the parts that the APIs have for images.
func images(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += images(e)
		}
	case map[string]any:
		switch v["type"] {
		case "input_image", "image_url", "image":
			return 1
		}
		for k, e := range v {
			if k == "inlineData" || k == "inline_data" {
				return 1
			}
			n += images(e)
		}
	}
	return n
}
