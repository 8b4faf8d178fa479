package replay_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
)

func registryFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "registry", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func redactor(t testing.TB) (*redact.Redactor, *contract.Families) {
	t.Helper()
	var families contract.Families
	if err := json.Unmarshal(registryFile(t, "families.json"), &families); err != nil {
		t.Fatal(err)
	}
	vocabulary, err := redact.ParseVocabulary(registryFile(t, "vocabulary.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := redact.New(&families, vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	return r, &families
}

// errorTexts are wordings of real releases, one for each verdict that the
// reference gives by words alone.
var errorTexts = []string{
	"Invalid API key · Fix external API key",
	"Invalid API key · Please run /login",
	"Not logged in · Please run /login",
	"Failed to authenticate. API Error: 401 OAuth access token has been revoked",
	`API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
	"Missing environment variable: `OPENAI_API_KEY`.",
	"unexpected status 401 Unauthorized: Incorrect API key provided",
	"unexpected status 403 Forbidden: no",
	"Claude AI usage limit reached|1760000400",
	"You've hit your limit · resets 1:30am (Asia/Dhaka)",
	"You’ve hit your usage limit. Upgrade to Pro",
	"Spending cap reached resets May 18, 2033, 3:33am",
	"You're out of extra usage · resets Mar 12, 10am (UTC)",
	"Quota exceeded. Check your plan and billing details.",
	"exceeded retry limit, last status: 429 Too Many Requests",
	"API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
	"API Error: Request rejected (429) · Number of request tokens has exceeded your monthly limit.",
	"Credit balance is too low",
	"API Error: 529 Overloaded",
	"Selected model is at capacity. Please try a different model.",
	"We’re currently experiencing high demand, which may cause temporary errors.",
	"stream disconnected before completion: stream closed before response.completed",
	"stream disconnected before completion: idle timeout waiting for SSE",
	"API Error: Unable to connect to API (ECONNRESET)",
	"API Error: Unable to connect to API (ConnectionRefused)",
	"Reconnecting... waiting for network (Connection refused)",
	"unexpected status 500 Internal Server Error: boom",
	"unexpected status 502 Bad Gateway: boom",
	"Prompt is too long",
	"prompt is too long: 274931 tokens > 200000 maximum",
	"Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
	"There's an issue with the selected model (claude-x). It may not exist or you may not have access to it. Run --model to pick a different model.",
	"unexpected status 404 Not Found: The model `m` does not exist or you do not have access to it.",
	"The 'gpt-x' model is not supported when using Codex with a ChatGPT account.",
	"The 'gpt-x' model requires a newer version of Codex. Please upgrade to the latest app or CLI and try again.",
	"API Error: 400 input length and `max_tokens` exceed context limit: 199999 + 20000 > 200000",
	"API Error: 400 This organization has been disabled.",
	"400 InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]",
	"unexpected status 402 Payment Required: boom",
	"connect ETIMEDOUT",
	"certificate has expired",
	"self-signed certificate in certificate chain",
	"unable to verify the first certificate",
	"413 Request Entity Too Large",
	"User location is not supported for the API use.",
	"Max number of steps reached: 100",
}

// TestRedactionKeepsTheReading: the words that the reference goes by survive
// redaction, in frames and on stderr.
func TestRedactionKeepsTheReading(t *testing.T) {
	r, families := redactor(t)
	for _, text := range errorTexts {
		q, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		runs := map[string]replay.Input{
			"codex":  codex(1, fmt.Sprintf(`{"type":"error","message":%s}`, q), fmt.Sprintf(`{"type":"turn.failed","error":{"message":%s}}`, q)),
			"claude": claude(1, fmt.Sprintf(`{"type":"assistant","message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":%s}]},"error":"unknown"}`, q), fmt.Sprintf(`{"type":"result","subtype":"success","is_error":true,"result":%s}`, q)),
		}
		for dialect, in := range runs {
			in.Dialect = families.Dialect(dialect)
			ref, err := replay.Run(replay.AdapterReference, in)
			if err != nil {
				t.Fatal(err)
			}
			if ref.Failure == nil || ref.Failure.Detail == "stream_error" {
				t.Errorf("%s: %q is not known", dialect, text)
			}
			clean, _, err := r.Redact(in.Transcript, redact.Input{Dialect: dialect, Hermetic: true})
			if err != nil {
				t.Fatal(err)
			}
			in.Transcript = clean
			after, err := replay.Run(replay.AdapterReference, in)
			if err != nil {
				t.Fatal(err)
			}
			if after.Failure == nil || *after.Failure != *ref.Failure || len(after.Events) != len(ref.Events) {
				t.Errorf("%s: %q: the sanitized run reads as %+v, the raw one as %+v", dialect, text, after.Failure, ref.Failure)
			}
		}
	}
}
