package provider

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// call is a tool call in the terms of the CLI that is asked to make it.
type call struct {
	tool tool
	// input is the JSON arguments of a function, the text of a custom tool,
	// or the command line of the built-in shell.
	input string
}

// The names of tools by ability, best first, as tools of known CLIs have them
// with case, "_" and "-" taken away.
var (
	listTools  = []string{"ls", "list", "listdir", "listdirectory", "listfiles", "directorylist", "glob"}
	writeTools = []string{"write", "writefile", "create", "createfile", "writetofile", "savefile", "mcpacpwrite"}
	shellTools = []string{
		"bash", "execcommand", "shellcommand", "shell", "localshell", "runshellcommand",
		"execute", "executecommand", "runcommand", "runterminalcommand", "launchprocess",
		"mcpacpbash", // claude-code-acp before 0.17, which runs commands in its client's terminal
	}
)

const (
	patchTool = "applypatch"
	// codeTool takes JavaScript that calls the tools which the request does
	// not offer by themselves (Codex's code mode).
	codeTool = "exec"
)

func canonicalName(s string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(s))
}

// usable leaves out the file search of CLIs that speak the Chat API, unless
// there is no shell: they download ripgrep when it is first used, which fails
// without a network (opencode, kimi).
func usable(req *request) []tool {
	shell := slices.ContainsFunc(req.tools, func(t tool) bool { return slices.Contains(shellTools, canonicalName(t.name)) })
	if req.dialect != DialectChat || !shell {
		return req.tools
	}
	return slices.DeleteFunc(slices.Clone(req.tools), func(t tool) bool { return canonicalName(t.name) == "glob" })
}

func pickAll(tools []tool, calls []contract.ScenarioToolCall, workdir string) ([]call, error) {
	var out []call
	for i := range calls {
		c, ok := pick(tools, &calls[i], workdir)
		if !ok {
			return nil, fmt.Errorf("none of the %d tools on offer can %s", len(tools), calls[i].Ability)
		}
		out = append(out, c)
	}
	return out, nil
}

// pick finds the tool for a call: one made for the ability, then a patch tool,
// then a shell, then code.
func pick(tools []tool, c *contract.ScenarioToolCall, workdir string) (call, bool) {
	if c.Ability == contract.AbilityMCPTool {
		return pickMCP(tools, c, workdir)
	}
	own := map[contract.Ability][]string{
		contract.AbilityListFiles: listTools, contract.AbilityWriteFile: writeTools,
	}[c.Ability]
	for _, name := range own {
		if t, ok := find(tools, name, toolFunction); ok {
			return call{t, fill(t.schema, c, workdir)}, true
		}
	}
	if c.Ability == contract.AbilityWriteFile {
		if t, ok := find(tools, patchTool, toolCustom); ok {
			return call{t, c.Patch()}, true
		}
		if t, ok := find(tools, patchTool, toolFunction); ok {
			return call{t, fill(t.schema, c, workdir)}, true
		}
	}
	for _, name := range shellTools {
		if t, ok := find(tools, name, toolFunction); ok {
			return call{t, fill(t.schema, c, workdir)}, true
		}
		if t, ok := find(tools, name, toolLocalShell); ok {
			return call{t, c.ShellCommand()}, true
		}
	}
	if t, ok := find(tools, codeTool, toolCustom); ok {
		return call{t, script(c)}, true
	}
	return call{}, false
}

// pickMCP finds a server's tool: CLIs put the server's name before its own.
func pickMCP(tools []tool, c *contract.ScenarioToolCall, workdir string) (call, bool) {
	i := slices.IndexFunc(tools, func(t tool) bool {
		return t.kind == toolFunction && strings.HasSuffix(canonicalName(t.name), canonicalName(c.Arguments.Tool))
	})
	if i < 0 {
		return call{}, false
	}
	return call{tools[i], fill(tools[i].schema, c, workdir)}, true
}

func find(tools []tool, name string, kind toolKind) (tool, bool) {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.kind == kind && canonicalName(t.name) == name })
	if i < 0 {
		return tool{}, false
	}
	return tools[i], true
}

// script is the call as JavaScript for the code tool.
func script(c *contract.ScenarioToolCall) string {
	if c.Ability == contract.AbilityWriteFile {
		return "const r = await tools.apply_patch(" + compact(c.Patch()) + ");\ntext(JSON.stringify(r));"
	}
	args := "cmd: " + compact(c.ShellCommand())
	if c.Arguments.Escalate {
		args += ", sandbox_permissions: " + compact(escalated) + ", justification: " + compact(justification)
	}
	return "const r = await tools.exec_command({" + args + "});\ntext(r.output);"
}

// How Codex's shell tools are asked to leave the sandbox.
const (
	escalated     = "require_escalated"
	justification = "The task needs this command"
)

// property is what fill reads of a property's schema.
type property struct {
	Type typeName          `json:"type"`
	Enum []json.RawMessage `json:"enum"`
}

// typeName is a schema's type; of a list of types the first that is not null.
type typeName string

// UnmarshalJSON accepts a string or a list; anything else is no type.
func (t *typeName) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = typeName(strings.ToLower(one)) // Gemini's schemas shout
		return nil
	}
	var many []string
	_ = json.Unmarshal(b, &many) // a schema may hold anything; then there is no type
	for _, m := range many {
		if m != "null" {
			*t = typeName(m)
			break
		}
	}
	return nil
}

// fill makes a function's arguments from its schema: what the call says, under
// the names that the schema has for it, and a neutral value for whatever else
// is required.
func fill(schema json.RawMessage, c *contract.ScenarioToolCall, workdir string) string {
	var s struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	_ = json.Unmarshal(schema, &s) // without a readable schema there is nothing to fill
	args := map[string]any{}
	for name, p := range s.Properties {
		required := slices.Contains(s.Required, name)
		if v := meant(name, p, c, workdir, required); v != nil {
			args[name] = v
		} else if required {
			args[name] = neutral(name, p, workdir)
		}
	}
	return compact(args)
}

// neutralObject is an object with a neutral value for each required property,
// or for each property if the schema requires none.
func neutralObject(schema json.RawMessage) string {
	var s struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	_ = json.Unmarshal(schema, &s) // without a readable schema the object is empty
	out := map[string]any{}
	for name, p := range s.Properties {
		if len(s.Required) == 0 || slices.Contains(s.Required, name) {
			out[name] = neutral(name, p, "")
		}
	}
	return compact(out)
}

// meant returns what the call says about a property, or nil.
func meant(name string, p property, c *contract.ScenarioToolCall, workdir string, required bool) any {
	isList, isWrite := c.Ability == contract.AbilityListFiles, c.Ability == contract.AbilityWriteFile
	switch canonicalName(name) {
	case "command", "cmd", "script":
		if p.Type == "array" {
			return []string{"bash", "-lc", c.ShellCommand()}
		}
		return c.ShellCommand()
	case "path", "filepath", "absolutepath", "dirpath", "directorypath", "directory", "dir", "filename", "file":
		// A list tool without a path lists the workspace.
		if isWrite || isList && (required || c.Arguments.Path != "") {
			abs := path.Join(workdir, c.Arguments.Path)
			if p.Type == "array" {
				return []string{abs}
			}
			return abs
		}
	case "content", "contents", "filetext", "text", "filecontent":
		if isWrite || c.Ability == contract.AbilityMCPTool {
			return c.Arguments.Content
		}
	case "pattern", "globpattern":
		if isList {
			return "*"
		}
	case "input", "patch":
		if isWrite {
			return c.Patch()
		}
	case "sandboxpermissions":
		if c.Arguments.Escalate {
			return escalated
		}
	case "withescalatedpermissions": // Codex before 0.80
		if c.Arguments.Escalate {
			return true
		}
	case "justification":
		if c.Arguments.Escalate {
			return justification
		}
	}
	return nil
}

// neutral returns a value for a required property that the call says nothing
// about.
func neutral(name string, p property, workdir string) any {
	if len(p.Enum) > 0 {
		return p.Enum[0]
	}
	switch canonicalName(name) {
	case "cwd", "workdir", "workingdirectory":
		return workdir
	case "timeout", "timeoutms":
		return 10000
	}
	switch p.Type {
	case "integer", "number":
		return 1
	case "boolean":
		return false
	case "array":
		return []any{}
	case "object":
		return struct{}{}
	}
	return "Part of the task"
}
