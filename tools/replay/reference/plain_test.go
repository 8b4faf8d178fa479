package reference_test

import (
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
)

// A CLI that hangs in its retries failed for their cause; one that answered
// after them and then hangs did not.
func TestPlainRunThatHangsInItsRetries(t *testing.T) {
	const notice = "Retrying in 8s (attempt 1/1): [API Error: 429 Rate limit reached for a-model on tokens per min]\n"
	for _, tt := range []struct{ stdout, stderr, want string }{
		{"", notice + "Operation cancelled.\n", "rate_limit_429"},
		{"I am ready.\n", notice, "timeout"},
		{"", "[API Error: 429 Rate limit reached]\n", "timeout"},
	} {
		r, err := reference.NewReader(&contract.Dialect{ID: reference.DialectPlain}, "qwen")
		if err != nil {
			t.Fatal(err)
		}
		r.Stdout([]byte(tt.stdout))
		r.Stderr([]byte(tt.stderr))
		got := r.Close(reference.Ending{TimedOut: true, Signal: "SIGTERM"})
		if got.RunResult != contract.RunFailed || string(got.Failure.Detail) != tt.want {
			t.Errorf("stdout %q, stderr %q: %s %s, want %s", tt.stdout, tt.stderr, got.RunResult, got.Failure.Detail, tt.want)
		}
	}
}
