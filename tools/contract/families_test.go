package contract

import "testing"

func TestIsEnumLiteral(t *testing.T) {
	for _, s := range []string{
		"assistant", "item.completed", "session/update", "five_hour", "error_max_turns", "bypassPermissions", "ANTHROPIC_API_KEY",
		"SessionStart:startup", "read-only", "oauth2", "int8", "protocol-2024-11",
	} {
		if !IsEnumLiteral(s) {
			t.Errorf("%q is taken for text", s)
		}
	}
	for _, s := range []string{
		"", "two words", "<text:1>", "item_0", "9f8e7d", "a--b", "/home", "end.", "claude-sonnet-4-20250514",
		"01999ce5-0000-7000-8000-000000000001", "abc123def", "müller", "a@b.c",
		"averyveryverylongwordthatnobodywouldeveruse",
	} {
		if IsEnumLiteral(s) {
			t.Errorf("%q is taken for an enum value", s)
		}
	}
}
