package contract

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// A run id is what FINE-PRINT 24 writes as a pattern.
func TestRunIDsAreTheirPattern(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(`^[0-9]{8}T[0-9]{6}-[0-9a-f]{6}$`)
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.OneOf(
			rapid.StringMatching(`[0-9]{8}T[0-9]{6}-[0-9a-f]{6}`),
			rapid.StringMatching(`[0-9/:]{7,9}[Tt]?[0-9]{6}[-_]?[0-9a-gA-F`+"`"+`]{5,7}\n?`),
		).Draw(rt, "id")
		if ValidRunID(s) != pattern.MatchString(s) {
			rt.Fatalf("ValidRunID(%q) is %v", s, ValidRunID(s))
		}
	})
}
