package contract

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const scenarioText = `{
	"schema_version": 1, "model": "m", "max_retries": 1,
	"timeouts": {"wall_ms": 1000, "idle_ms": 1000},
	"turns": [
		{"tool_results": 0, "attempts": [
			{"kind": "error", "error": {"code": "overloaded"}},
			{"kind": "answer", "text": ["a ", "b"], "tool_calls": [{"ability": "write_file", "arguments": {"path": "x y.txt", "content": "it's\n"}}]}]},
		{"tool_results": 1, "attempts": [{"kind": "cut", "text": ["c"]}]}
	]
}`

func TestScenarioDefaultsAndUnknownMembers(t *testing.T) {
	var s Scenario
	if err := json.Unmarshal([]byte(scenarioText), &s); err != nil {
		t.Fatal(err)
	}
	if s.PostToolDelayMS != DefaultPostToolDelayMS {
		t.Errorf("delay = %d", s.PostToolDelayMS)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	if err := json.Unmarshal([]byte(strings.Replace(scenarioText, `"model"`, `"modle"`, 1)), &s); err == nil {
		t.Error("a misspelt member was accepted")
	}
}

func TestScenarioTextsHoldEverythingTheProviderSends(t *testing.T) {
	var s Scenario
	if err := json.Unmarshal([]byte(scenarioText), &s); err != nil {
		t.Fatal(err)
	}
	got := s.Texts()
	for _, want := range []string{
		"a ", "b", "a b", "c", "x y.txt", "it's\n", `printf '%s' 'it'\''s` + "\n' > 'x y.txt'",
		"*** Begin Patch\n*** Add File: x y.txt\n+it's\n*** End Patch\n", ScenarioSideText, ScenarioClassifierText,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("Texts lacks %q", want)
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) || slices.Contains(got, "") {
		t.Errorf("Texts has an empty or a repeated text: %q", got)
	}
}

func TestScenarioValidate(t *testing.T) {
	for name, tt := range map[string]struct{ from, to, want string }{
		"newer version":     {`"schema_version": 1`, `"schema_version": 2`, "schema_version is 2"},
		"no model":          {`"model": "m"`, `"model": ""`, "model is empty"},
		"no time":           {`"wall_ms": 1000`, `"wall_ms": 0`, "must be positive"},
		"negative retries":  {`"max_retries": 1`, `"max_retries": -1`, "must not be negative"},
		"turn twice":        {`"tool_results": 1`, `"tool_results": 0`, "used twice"},
		"no first turn":     {`"tool_results": 0`, `"tool_results": 2`, "without tool results"},
		"unknown ability":   {`write_file`, `dance`, "turns[0].attempts[1]: tool_calls[0]: unknown ability"},
		"foreign arguments": {`"content"`, `"command"`, "do not fit ability"},
		"unknown code":      {`overloaded`, `tired`, "unknown error code"},
		"text in an error":  {`"kind": "error",`, `"kind": "error", "text": ["x"],`, "do not fit kind"},
		"empty piece":       {`["c"]`, `["c", ""]`, "a piece of text is empty"},
		"text and a reset":  {`"kind": "cut"`, `"kind": "reset"`, "do not fit kind"},
		"unknown signal":    {`"model"`, `"interrupt": {"signal": "SIGHUP", "after": "output"}, "model"`, "interrupt.signal: unknown signal"},
		"unknown point":     {`"model"`, `"interrupt": {"signal": "SIGINT", "after": "lunch"}, "model"`, "want output or request"},
	} {
		t.Run(name, func(t *testing.T) {
			var s Scenario
			if err := json.Unmarshal([]byte(strings.Replace(scenarioText, tt.from, tt.to, 1)), &s); err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestInterruptNeedsARequestToWaitFor(t *testing.T) {
	s := Scenario{SchemaVersion: 1, Model: "m", Timeouts: ScenarioTimeouts{WallMS: 1, IdleMS: 1}}
	s.Interrupt = &ScenarioInterrupt{Signal: "SIGTERM", After: InterruptAfterOutput}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	s.Interrupt.After = InterruptAfterRequest
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "expects no request") {
		t.Errorf("error = %v", err)
	}
}

// The shell form must do what the call says, whatever the text holds.
func TestShellCommandRuns(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell here")
	}
	dir := t.TempDir()
	content := "it's 100% $HOME `x` \\n \"q\"\n\n"
	for _, c := range []ScenarioToolCall{
		{Ability: AbilityWriteFile, Arguments: ScenarioToolArguments{Path: "a b'c.txt", Content: content}},
		{Ability: AbilityRunCommand, Arguments: ScenarioToolArguments{Command: "cat *c.txt"}},
		{Ability: AbilityListFiles, Arguments: ScenarioToolArguments{Path: "."}},
		{Ability: AbilityListFiles, Arguments: ScenarioToolArguments{Path: dir}},
	} {
		cmd := exec.Command(sh, "-c", c.ShellCommand())
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", c.Ability, err)
		}
		want := map[Ability]string{AbilityRunCommand: content, AbilityListFiles: "a b'c.txt\n"}[c.Ability]
		if string(out) != want {
			t.Errorf("%s printed %q, want %q", c.Ability, out, want)
		}
	}
}
