package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The words of messages about values.

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// show returns a scalar for a message, and only the type of anything else.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case json.Number:
		return shortened(string(v))
	case bool:
		return fmt.Sprint(v)
	case nil:
		return "null"
	}
	return "this " + typeOf(v)
}

func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = strings.Trim(show(v), `"`)
	}
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

func suggestFor(value any, values []any) string {
	s, ok := value.(string)
	if !ok {
		return ""
	}
	return suggestion(s, stringsOf(values))
}

// suggestion returns ", did you mean …?" for the nearest known word, or "".
func suggestion(word string, known []string) string {
	if len(word) > 64 {
		return "" // no typing error of ours, and foreign text can be long
	}
	slices.Sort(known)
	best, bestDistance := "", 3
	for _, k := range known {
		if d := EditDistance(word, k); d < bestDistance && d*3 <= len(k) {
			best, bestDistance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

// stringsOf returns the strings of a list, or the one string.
func stringsOf(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
