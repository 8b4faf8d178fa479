package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Scenario is a probe's scenario.json: what the loopback model provider
// answers, turn by turn, and the settings a capture pins so that two runs of
// one probe differ only where the CLI differs (DESIGN D1).
type Scenario struct {
	SchemaVersion int `json:"schema_version"`
	// Model is the model slug the CLI is told to ask for. No release knows it,
	// so that a release's model catalogue does not change the stream.
	Model string `json:"model"`
	// MaxRetries is the retry limit the capture sets in the CLI, where it has one.
	MaxRetries int `json:"max_retries"`
	// PostToolDelayMS is the pause in milliseconds before an answer that
	// follows a tool result, and before a connection ends whose answer was cut:
	// some releases lose or reorder events without it.
	PostToolDelayMS int `json:"post_tool_delay_ms"`
	// ChunkRunes cuts every text into deltas of that many runes; 0 sends the
	// pieces of ScenarioReply.Text as they are.
	ChunkRunes int              `json:"chunk_runes"`
	Timeouts   ScenarioTimeouts `json:"timeouts"`
	// Turns is empty for a probe that asks the model nothing. Then every
	// request is unexpected.
	Turns []ScenarioTurn `json:"turns"`
	// Interrupt, if set, sends the CLI a signal in the middle of its work.
	Interrupt *ScenarioInterrupt `json:"interrupt,omitempty"`
	// Client says what the client of a two-way protocol does; nil is the
	// ordinary course.
	Client *ScenarioClient `json:"client,omitempty"`
	// Fault changes the run on its way to the recorder; nil for a real run.
	Fault      *Fault         `json:"fault,omitempty"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// DefaultPostToolDelayMS is the pause that made every measured Codex release
// print the same stream.
const DefaultPostToolDelayMS = 400

// ScenarioTimeouts bounds one run of the probe, in milliseconds.
type ScenarioTimeouts struct {
	WallMS int `json:"wall_ms"`
	IdleMS int `json:"idle_ms"`
}

// ScenarioTurn is the answer to a request that carries exactly ToolResults
// tool results.
type ScenarioTurn struct {
	ToolResults int `json:"tool_results"`
	// Attempts holds the reply to the first, second, … request of this turn;
	// the last one answers every further attempt. Never empty.
	Attempts []ScenarioReply `json:"attempts"`
}

// ReplyKind says what the provider does with a request.
type ReplyKind string

// The reply kinds.
const (
	ReplyAnswer ReplyKind = "answer" // text, tool calls or both, complete
	ReplyEmpty  ReplyKind = "empty"  // a complete answer without any content
	ReplyError  ReplyKind = "error"  // an HTTP error
	ReplyCut    ReplyKind = "cut"    // the text, then the connection drops
	ReplyStall  ReplyKind = "stall"  // the text, then silence until the client leaves
	// ReplyTruncated is the text and a proper end of the body, without what
	// says in the API that the answer is complete.
	ReplyTruncated ReplyKind = "truncated"
	ReplyReset     ReplyKind = "reset" // the connection is reset before the first byte of an answer
)

// ScenarioReply is one reply of the provider.
type ScenarioReply struct {
	Kind ReplyKind `json:"kind"`
	// Text holds the pieces of the assistant text, one delta each.
	Text      []string           `json:"text,omitempty"`
	ToolCalls []ScenarioToolCall `json:"tool_calls,omitempty"`
	// Error is set for ReplyError only.
	Error *ScenarioError `json:"error,omitempty"`
}

// Ability names what a tool can do; the provider looks for the tool that the
// CLI offers for it.
type Ability string

// The abilities.
const (
	AbilityListFiles  Ability = "list_files"
	AbilityRunCommand Ability = "run_command"
	AbilityWriteFile  Ability = "write_file"
	AbilityMCPTool    Ability = "mcp_tool" // a tool of an MCP server, by its name
)

// Abilities lists every ability.
var Abilities = []Ability{AbilityListFiles, AbilityRunCommand, AbilityWriteFile, AbilityMCPTool}

// ScenarioToolCall asks the CLI to use a tool.
type ScenarioToolCall struct {
	Ability   Ability               `json:"ability"`
	Arguments ScenarioToolArguments `json:"arguments"`
}

// ScenarioToolArguments are the abstract arguments: Path for list_files (the
// workspace if empty), Command for run_command, Path and Content for
// write_file, Tool and Content for mcp_tool. Paths are relative to the
// workspace.
type ScenarioToolArguments struct {
	Path    string `json:"path,omitempty"`
	Command string `json:"command,omitempty"`
	Content string `json:"content,omitempty"`
	// Tool is the server's name for the tool; CLIs put words before it.
	Tool string `json:"tool,omitempty"`
	// Escalate asks to run the command outside of the CLI's sandbox, in the
	// CLIs whose tool has an argument for it (Codex).
	Escalate bool `json:"escalate,omitempty"`
}

// ErrorCode names an API failure; the provider knows its status, body and
// headers in each API.
type ErrorCode string

// The error codes, with their statuses.
const (
	ErrorInvalidAPIKey      ErrorCode = "invalid_api_key"         // 401
	ErrorTokenExpired       ErrorCode = "token_expired"           // 401
	ErrorForbidden          ErrorCode = "forbidden"               // 403
	ErrorModelNotFound      ErrorCode = "model_not_found"         // 404
	ErrorModelNotSupported  ErrorCode = "model_not_supported"     // 400
	ErrorClientOutdated     ErrorCode = "client_outdated"         // 400: the model needs a newer CLI
	ErrorRouting            ErrorCode = "provider_routing_error"  // 404, and no API's body
	ErrorContextLength      ErrorCode = "context_length_exceeded" // 400
	ErrorRateLimited        ErrorCode = "rate_limited"            // 429
	ErrorQuotaExhausted     ErrorCode = "quota_exhausted"         // 429
	ErrorServer             ErrorCode = "server_error"            // 500
	ErrorServiceUnavailable ErrorCode = "service_unavailable"     // 503
	ErrorOverloaded         ErrorCode = "overloaded"              // 529, in the OpenAI APIs 503
)

// ErrorCodes lists every error code.
var ErrorCodes = []ErrorCode{
	ErrorInvalidAPIKey, ErrorTokenExpired, ErrorForbidden, ErrorModelNotFound, ErrorModelNotSupported,
	ErrorClientOutdated, ErrorRouting, ErrorContextLength, ErrorRateLimited, ErrorQuotaExhausted, ErrorServer, ErrorServiceUnavailable, ErrorOverloaded,
}

// ScenarioError is an HTTP error.
type ScenarioError struct {
	Code ErrorCode `json:"code"`
	// Headers are added to those that belong to the code (retry-after, x-should-retry).
	Headers map[string]string `json:"headers,omitempty"`
}

// ScenarioSideText answers a request that belongs to the CLI and not to the
// probe (a title, a warm-up, a topic check). It is model text too.
const ScenarioSideText = "Nothing to add."

// ScenarioClassifierText answers a CLI that asks the model whether a tool call
// must be blocked: the verdict in each of the forms that releases read.
const ScenarioClassifierText = "<severity>0</severity><block>no</block>"

// UnmarshalJSON fills in the default delay and refuses members that the
// format does not have.
func (s *Scenario) UnmarshalJSON(b []byte) error {
	type plain Scenario
	p := plain{PostToolDelayMS: DefaultPostToolDelayMS}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return fmt.Errorf("reading scenario: %w", err)
	}
	*s = Scenario(p)
	return nil
}

// Validate reports every rule that the scenario breaks, joined; the JSON
// Schema says the same about single members.
func (s *Scenario) Validate() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if s.SchemaVersion != SchemaVersion {
		bad("schema_version is %d, this program reads %d", s.SchemaVersion, SchemaVersion)
	}
	if s.Model == "" {
		bad("model is empty")
	}
	if s.MaxRetries < 0 || s.PostToolDelayMS < 0 || s.ChunkRunes < 0 {
		bad("max_retries, post_tool_delay_ms and chunk_runes must not be negative")
	}
	if s.Timeouts.WallMS <= 0 || s.Timeouts.IdleMS <= 0 {
		bad("timeouts.wall_ms and timeouts.idle_ms must be positive")
	}
	seen := map[int]bool{}
	for i, t := range s.Turns {
		if t.ToolResults < 0 || seen[t.ToolResults] {
			bad("turns[%d]: tool_results %d is negative or used twice", i, t.ToolResults)
		}
		seen[t.ToolResults] = true
		if len(t.Attempts) == 0 {
			bad("turns[%d]: attempts is empty", i)
		}
		for j := range t.Attempts {
			if err := t.Attempts[j].validate(); err != nil {
				bad("turns[%d].attempts[%d]: %w", i, j, err)
			}
		}
	}
	if s.Fault != nil {
		if err := s.Fault.validate(); err != nil {
			bad("fault: %w", err)
		}
	}
	if s.Interrupt != nil {
		s.Interrupt.check(len(s.Turns), bad)
	}
	if s.Client != nil {
		s.Client.check(bad)
	}
	if len(s.Turns) > 0 && !seen[0] {
		bad("turns: none answers a request without tool results")
	}
	return errors.Join(errs...)
}

func (r *ScenarioReply) validate() error {
	hasText, hasTools, hasError := len(r.Text) > 0, len(r.ToolCalls) > 0, r.Error != nil
	fits := false
	switch r.Kind {
	case ReplyAnswer:
		fits = (hasText || hasTools) && !hasError
	case ReplyEmpty, ReplyReset:
		fits = !hasText && !hasTools && !hasError
	case ReplyError:
		fits = hasError && !hasText && !hasTools
	case ReplyCut, ReplyStall, ReplyTruncated:
		fits = !hasTools && !hasError
	default:
		return fmt.Errorf("unknown kind %q", r.Kind)
	}
	if !fits {
		return fmt.Errorf("text, tool_calls and error do not fit kind %q", r.Kind)
	}
	if hasError && !slices.Contains(ErrorCodes, r.Error.Code) {
		return fmt.Errorf("unknown error code %q", r.Error.Code)
	}
	if slices.Contains(r.Text, "") {
		return errors.New("a piece of text is empty")
	}
	for i := range r.ToolCalls {
		if err := r.ToolCalls[i].validate(); err != nil {
			return fmt.Errorf("tool_calls[%d]: %w", i, err)
		}
	}
	return nil
}

func (c *ScenarioToolCall) validate() error {
	a, fits := c.Arguments, false
	if (a.Tool != "") != (c.Ability == AbilityMCPTool) {
		return fmt.Errorf("the argument tool does not fit ability %q", c.Ability)
	}
	if a.Escalate && c.Ability != AbilityRunCommand {
		return fmt.Errorf("the argument escalate does not fit ability %q", c.Ability)
	}
	switch c.Ability {
	case AbilityListFiles:
		fits = a.Command == "" && a.Content == ""
	case AbilityRunCommand:
		fits = a.Command != "" && a.Path == "" && a.Content == ""
	case AbilityWriteFile:
		fits = a.Path != "" && a.Command == ""
	case AbilityMCPTool:
		fits = a.Content != "" && a.Path == "" && a.Command == ""
	default:
		return fmt.Errorf("unknown ability %q", c.Ability)
	}
	if !fits {
		return fmt.Errorf("the arguments do not fit ability %q", c.Ability)
	}
	return nil
}

// ShellCommand returns the command line that does what the call asks, for a
// CLI that offers a shell and no better tool.
func (c *ScenarioToolCall) ShellCommand() string {
	switch c.Ability {
	case AbilityListFiles:
		if c.Arguments.Path == "" || c.Arguments.Path == "." {
			return "ls"
		}
		return "ls " + shellQuote(c.Arguments.Path)
	case AbilityWriteFile:
		// printf needs no here-document and so no temporary file, which a
		// CLI's sandbox may forbid.
		return "printf '%s' " + shellQuote(c.Arguments.Content) + " > " + shellQuote(c.Arguments.Path)
	}
	return c.Arguments.Command
}

// Patch returns the write as a patch that adds the file, in the format of
// Codex's apply_patch tool.
func (c *ScenarioToolCall) Patch() string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Add File: " + c.Arguments.Path + "\n")
	for line := range strings.Lines(c.Arguments.Content) {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}

// shellQuote quotes s for a POSIX shell, only where it must.
func shellQuote(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-", r)
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Texts returns every text that the provider may send as the model's, without
// duplicates: pieces, whole texts, tool arguments in each form, and the
// answers to side requests. Redaction takes any other text at a model path for
// one that the CLI wrote itself (DESIGN D5).
func (s *Scenario) Texts() []string {
	var out []string
	add := func(texts ...string) {
		for _, t := range texts {
			if t != "" && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	for _, t := range s.Turns {
		for _, r := range t.Attempts {
			add(r.Text...)
			add(strings.Join(r.Text, ""))
			for _, c := range r.ToolCalls {
				add(c.Arguments.Path, c.Arguments.Command, c.Arguments.Content, c.ShellCommand())
				if c.Ability == AbilityWriteFile {
					add(c.Patch())
				}
			}
		}
	}
	add(ScenarioSideText, ScenarioClassifierText)
	return out
}
