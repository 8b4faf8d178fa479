package requests_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
)

var wantsValue = json.RawMessage(`{"type":"object","required":["value"],"properties":{"value":{"type":"string"}},"additionalProperties":false}`)

// The example of docs/REQUESTS.md.
func Example() {
	stateDir, err := os.MkdirTemp("", "requests-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(stateDir) }()
	if err := askAndAnswer(context.Background(), stateDir); err != nil {
		fmt.Println(err)
	}
	// Output:
	// waits: which environment?
	// human replied: staging
}

func askAndAnswer(ctx context.Context, stateDir string) error {
	askHuman := func(_ context.Context, q *requests.Asker) error {
		target, err := requests.AskFor[struct {
			Value string `json:"value"`
		}](q, requests.InputQuestion("which environment?", wantsValue))
		if err != nil {
			return err
		}
		fmt.Println("human replied:", target.Value)
		return nil
	}

	run := &requests.Runner{Store: requests.Open(stateDir, nil, time.Now), Run: "20260627T100000-abcdef"}
	var suspended *requests.SuspendedError
	if err := run.Do(ctx, "ask_human", askHuman); errors.As(err, &suspended) {
		fmt.Println("waits:", suspended.Pending[0].Prompt)
		answer, err := requests.AnswerInput(&suspended.Pending[0], map[string]string{"value": "staging"}, requests.By{Name: "jo", At: time.Now()})
		if err != nil {
			return err
		}
		if err := run.Store.Answer(ctx, *answer); err != nil {
			return err
		}
	}
	return run.Do(ctx, "ask_human", askHuman)
}

// Each Go block of the document is in the example, which runs, line for line.
func TestDocumentShowsTheExample(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "REQUESTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Split(string(document), "```go\n")[1:]
	if len(shown) != 2 {
		t.Errorf("the document has %d Go blocks, want 2", len(shown))
	}
	for _, block := range shown {
		code, _, _ := strings.Cut(block, "```")
		indented := "\t" + strings.ReplaceAll(strings.TrimRight(code, "\n"), "\n", "\n\t")
		if !strings.Contains(string(source), indented) {
			t.Errorf("the example does not have this block of docs/REQUESTS.md:\n%s", code)
		}
	}
}
