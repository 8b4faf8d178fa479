package redact

import (
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// What a CLI repeats of a request to a model is nobody's error text, whichever
// public words it is made of (case 101).
func TestRequestsAreNoWordsOfTheCLI(t *testing.T) {
	r := newRedactor(t)
	for name, line := range map[string]string{
		"JSON in a log line":     `ERROR service=llm error={"error":{"requestBodyValues":{"messages":[{"role":"system","content":"Provide your api key."}]},"statusCode":429,"message":"Monthly usage limit reached."}}`,
		"JSON in a string":       `ERROR error="{\"requestBodyValues\":{\"messages\":[{\"content\":\"Provide your api key.\"}]},\"message\":\"Monthly usage limit reached.\"}"`,
		"an object as Node does": `  requestBodyValues: { messages: [ { role: 'user', content: 'Provide your api key.' } ] }, message: 'Monthly usage limit reached.'`,
		"a JSON line":            `{"level":"error","requestBody":{"input":["Provide your api key."]},"message":"Monthly usage limit reached."}`,
		"a prompt":               `{"level":"error","systemPrompt":"Provide your api key.","message":"Monthly usage limit reached."}`,
		"quotes inside":          `ERROR {"systemPrompt":"Say \"Provide your api key.\" twice","message":"Monthly usage limit reached."}`,
		"a cut line":             `ERROR message=Monthly usage limit reached. {"systemPrompt":"Provide your api key. And`,
	} {
		raw := stream(transcript.Stderr, line+"\n")
		out, _, err := r.Redact(raw, Input{Dialect: "codex"})
		if err != nil {
			t.Fatal(err)
		}
		text := string(out.Bytes(transcript.CLIToServer, transcript.Stderr))
		if strings.Contains(text, "api key") {
			t.Errorf("%s: the prompt survives: %s", name, text)
		}
		if !strings.Contains(text, "Monthly usage limit reached") {
			t.Errorf("%s: the CLI's own words are lost: %s", name, text)
		}
		again, _, err := r.Redact(out, Input{Dialect: "codex"})
		if err != nil || string(again.Bytes(transcript.CLIToServer, transcript.Stderr)) != text {
			t.Errorf("%s: redacting again changes %s", name, text)
		}
	}
}
