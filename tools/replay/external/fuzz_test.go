package external

import (
	"bytes"
	"testing"
)

// FuzzAnswers: whatever an adapter writes is read or refused, and a refusal
// never quotes more than a short word of it.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		`{"type":"text_delta","delta":"x"}`, `{"type":"usage","usage":{"input_tokens":1e400}}`, `{"kind":"read","n":0}`, `{"kind":"read","end":true}`,
		`{"kind":"result","run_result":"failed","failure":{"failure_category":"timeout"},"usage":{"a":-1}}`, `[]`, `{"kind":"read","n":-1e99}`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		a := newAnswers([]int{0, -2, 1})
		for range 2 {
			if err := a.take(line); err != nil && len(err.Error()) > 600 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		}
		if len(a.events) != len(a.origins) {
			t.Errorf("%d events, %d lines", len(a.events), len(a.origins))
		}
		for _, e := range a.events {
			if !bytes.Contains(e.JSON(), []byte(`"type"`)) {
				t.Error("an event without type")
			}
		}
	})
}
