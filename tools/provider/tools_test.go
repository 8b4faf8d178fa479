package provider

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

var (
	callList  = contract.ScenarioToolCall{Ability: contract.AbilityListFiles, Arguments: contract.ScenarioToolArguments{Path: "."}}
	callRun   = contract.ScenarioToolCall{Ability: contract.AbilityRunCommand, Arguments: contract.ScenarioToolArguments{Command: "sh check.sh"}}
	callWrite = contract.ScenarioToolCall{Ability: contract.AbilityWriteFile, Arguments: contract.ScenarioToolArguments{Path: "a.html", Content: "<p>it's\nthere</p>\n"}}
)

const writeCommand = `printf '%s' '<p>it'\''s\nthere</p>\n' > a.html` // with \n for the line breaks

// function is a tool in the Responses API; in the others only the wrapping differs.
func function(name, properties, required string) string {
	return fmt.Sprintf(`{"type":"function","name":%q,"parameters":{"type":"object","properties":{%s},"required":[%s]}}`, name, properties, required)
}

// The tools of known releases, with the properties that matter here.
var (
	shellOf020   = function("shell", `"command":{"type":"array","items":{"type":"string"}},"workdir":{"type":"string"},"timeout":{"type":"number"}`, `"command"`)
	shellCommand = function("shell_command", `"command":{"type":"string"},"workdir":{"type":"string"},"timeout_ms":{"type":"number"}`, `"command"`)
	execCommand  = function("exec_command", `"cmd":{"type":"string"},"workdir":{"type":"string"},"yield_time_ms":{"type":"number"},"sandbox_permissions":{"type":"string","enum":["use_default","require_escalated"]}`, `"cmd"`)
	writeStdin   = function("write_stdin", `"session_id":{"type":"number"},"chars":{"type":"string"}`, `"session_id"`)
	updatePlan   = function("update_plan", `"plan":{"type":"array"}`, `"plan"`)
	applyPatch   = `{"type":"custom","name":"apply_patch","format":{"type":"grammar"}}`
	codeExec     = `{"type":"custom","name":"exec"}`

	claudeBash  = function("Bash", `"command":{"type":"string"},"timeout":{"type":"number"},"description":{"type":"string"}`, `"command"`)
	claudeWrite = function("Write", `"file_path":{"type":"string"},"content":{"type":"string"}`, `"file_path","content"`)
	claudeLS    = function("LS", `"path":{"type":"string"},"ignore":{"type":"array"}`, `"path"`)
	claudeGlob  = function("Glob", `"pattern":{"type":"string"},"path":{"type":"string"}`, `"pattern"`)
	grokRun     = function("run_terminal_command", `"command":{"type":"string"},"description":{"type":"string"},"timeout":{"type":"number"}`, `"command","description"`)
	claudeEdit  = function("Edit", `"file_path":{"type":"string"},"old_string":{"type":"string"}`, `"file_path"`)
)

func TestPickFromKnownToolLists(t *testing.T) {
	list := func(tools ...string) string { return `"tools":[` + strings.Join(tools, ",") + `]` }
	patch := callWrite.Patch()
	write := strings.ReplaceAll(writeCommand, `\n`, "\n")
	tests := []struct {
		name, body string
		call       contract.ScenarioToolCall
		tool, want string
	}{
		{"codex 0.20 list", list(shellOf020), callList, "shell", `{"command":["bash","-lc","ls"]}`},
		{"codex 0.20 run", list(shellOf020), callRun, "shell", `{"command":["bash","-lc","sh check.sh"]}`},
		{"codex 0.44 write", list(shellOf020, `{"type":"web_search"}`), callWrite, "shell", compact(map[string]any{"command": []string{"bash", "-lc", write}})},
		{"codex 0.60 run", list(shellCommand, updatePlan), callRun, "shell_command", `{"command":"sh check.sh"}`},
		{"codex local shell", list(`{"type":"local_shell"}`), callList, "local_shell", "ls"},
		{"codex 0.133 list", list(execCommand, writeStdin, updatePlan, `{"type":"web_search"}`), callList, "exec_command", `{"cmd":"ls"}`},
		{"codex 0.133 write", list(execCommand, writeStdin), callWrite, "exec_command", compact(map[string]any{"cmd": write})},
		{"codex known slug write", list(execCommand, applyPatch), callWrite, "apply_patch", patch},
		{"codex patch function", list(shellCommand, function("apply_patch", `"input":{"type":"string"}`, `"input"`)), callWrite, "apply_patch", compact(map[string]any{"input": patch})},
		{"codex namespace", list(`{"type":"namespace","name":"functions","tools":[` + execCommand + `]}`), callRun, "exec_command", `{"cmd":"sh check.sh"}`},
		{"codex code mode list", `"input":[{"type":"additional_tools","tools":[` + codeExec + `]}]`, callList, "exec", "const r = await tools.exec_command({cmd: \"ls\"});\ntext(r.output);"},
		{"codex code mode write", `"input":[{"type":"additional_tools","tools":[` + codeExec + `]}]`, callWrite, "exec", "const r = await tools.apply_patch(" + compact(patch) + ");\ntext(JSON.stringify(r));"},
		{"claude 1.0 list", list(claudeBash, claudeGlob, claudeLS, claudeWrite), callList, "LS", `{"path":"/w"}`},
		{"claude 2.0 list", list(claudeBash, claudeGlob, claudeEdit, claudeWrite), callList, "Glob", `{"path":"/w","pattern":"*"}`},
		{"claude 2.1.332 list", list(claudeBash, claudeEdit), callList, "Bash", `{"command":"ls"}`},
		{"claude run", list(claudeGlob, claudeBash), callRun, "Bash", `{"command":"sh check.sh"}`},
		{"grok 1.0 run", list(function("read_file", `"target_file":{"type":"string"}`, `"target_file"`), grokRun), callRun, "run_terminal_command", `{"command":"sh check.sh","description":"Part of the task"}`},
		{"claude write", list(claudeBash, claudeEdit, claudeWrite), callWrite, "Write", compact(map[string]any{"file_path": "/w/a.html", "content": callWrite.Arguments.Content})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := parseRequest(DialectResponses, []byte(`{"stream":true,`+tt.body+`}`))
			if err != nil {
				t.Fatal(err)
			}
			got, ok := pick(req.tools, &tt.call, "/w")
			if !ok || got.tool.name != tt.tool || got.input != tt.want {
				t.Errorf("picked %s with\n %s\nwant %s with\n %s", got.tool.name, got.input, tt.tool, tt.want)
			}
		})
	}
}

func TestNoToolForIt(t *testing.T) {
	req, err := parseRequest(DialectResponses, []byte(`{"tools":[`+writeStdin+`,`+updatePlan+`,{"type":"web_search"},{"type":"custom","name":"shell"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []contract.ScenarioToolCall{callList, callRun, callWrite} {
		if got, ok := pick(req.tools, &c, "/w"); ok {
			t.Errorf("%s: picked %s", c.Ability, got.tool.name)
		}
	}
}

// A file search that needs a download is no list tool, where there is another.
func TestSearchOfTheChatAPIIsTheLastResort(t *testing.T) {
	glob, shell := tool{name: "Glob"}, tool{name: "bash"}
	for _, tt := range []struct {
		dialect Dialect
		tools   []tool
		want    string
	}{
		{DialectChat, []tool{glob, shell}, "bash"},
		{DialectChat, []tool{glob}, "Glob"},
		{DialectMessages, []tool{glob, shell}, "Glob"},
	} {
		got, ok := pick(usable(&request{dialect: tt.dialect, tools: tt.tools}), &callList, "/w")
		if !ok || got.tool.name != tt.want {
			t.Errorf("%s: picked %q of %d tools, want %q", tt.dialect, got.tool.name, len(tt.tools), tt.want)
		}
	}
}

func TestFillSuppliesWhatIsRequired(t *testing.T) {
	schema := `{"properties":{
		"command":{"type":["string","null"]},
		"description":{"type":"string"},
		"is_background":{"type":"boolean"},
		"mode":{"enum":["sync","async"]},
		"timeout_ms":{"type":"integer"},
		"cwd":{"type":"string"},
		"tags":{"type":"array"},
		"meta":{"type":"object"},
		"odd":{"type":{}},
		"optional":{"type":"string"}
	},"required":["command","description","is_background","mode","timeout_ms","cwd","tags","meta","odd"]}`
	var got map[string]any
	if err := json.Unmarshal([]byte(fill(json.RawMessage(schema), &callRun, "/w")), &got); err != nil {
		t.Fatal(err)
	}
	if got["command"] != "sh check.sh" || got["cwd"] != "/w" || got["mode"] != "sync" || got["is_background"] != false || got["timeout_ms"] != 10000.0 {
		t.Errorf("arguments = %v", got)
	}
	if _, has := got["optional"]; has || len(got) != 9 {
		t.Errorf("arguments = %v, want the nine required ones", got)
	}
	if got := fill(nil, &callRun, "/w"); got != "{}" {
		t.Errorf("without a schema: %s", got)
	}
}

// A command that is to leave the sandbox says so in the words of each tool.
func TestEscalatedCommand(t *testing.T) {
	c := callRun
	c.Arguments.Escalate = true
	schema := `{"properties":{"cmd":{"type":"string"},"sandbox_permissions":{"type":"string"},"with_escalated_permissions":{"type":"boolean"},"justification":{"type":"string"}},"required":["cmd"]}`
	for _, escalate := range []bool{true, false} {
		c.Arguments.Escalate = escalate
		got := fill(json.RawMessage(schema), &c, "/w")
		if strings.Contains(got, `"sandbox_permissions":"require_escalated"`) != escalate || strings.Contains(got, `"with_escalated_permissions":true`) != escalate || strings.Contains(got, "justification") != escalate {
			t.Errorf("escalate %v: %s", escalate, got)
		}
		if strings.Contains(script(&c), "require_escalated") != escalate {
			t.Errorf("escalate %v: %s", escalate, script(&c))
		}
	}
}

// The kinds of call that only the Responses API has.
func TestResponsesCallItems(t *testing.T) {
	ask := func(tools string) string {
		return `{"model":"m","stream":true,` + tools + `,"input":[]}`
	}
	tests := []struct {
		name, tools, itemType string
		check                 func(item any) bool
	}{
		{"custom", `"tools":[{"type":"namespace","name":"functions","tools":[` + codeExec + `]}]`, "custom_tool_call", func(item any) bool {
			return at(item, "namespace") == "functions" && strings.Contains(at(item, "input").(string), "exec_command")
		}},
		{"local shell", `"tools":[{"type":"local_shell"}]`, "local_shell_call", func(item any) bool {
			return at(item, "action", "command", 2) == "ls" && at(item, "action", "type") == "exec"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, scenario(contract.ScenarioReply{Kind: contract.ReplyAnswer, ToolCalls: []contract.ScenarioToolCall{callList}}), Options{})
			_, body, err := post(t, s, "/v1/responses", ask(tt.tools))
			if err != nil {
				t.Fatal(err)
			}
			events := parseEvents(t, body)
			item := at(events[len(events)-1].data, "response", "output", 0)
			if at(item, "type") != tt.itemType || at(item, "call_id") == nil || !tt.check(item) {
				t.Errorf("item = %v", item)
			}
		})
	}
}
