package contract

import "slices"

// ScenarioClient is what the client of a two-way protocol does in a probe.
type ScenarioClient struct {
	// Permission is the answer to every permission question, "" for grant. The
	// consumer's own session always grants.
	Permission ClientPermission `json:"permission,omitempty"`
	// CancelAfter is when the client cancels the turn, "" for never.
	CancelAfter ClientMoment `json:"cancel_after,omitempty"`
	// Hello is what is wrong with the first frame, "" for nothing.
	Hello ClientHello `json:"hello,omitempty"`
	// Attach are files of the workspace that go with the prompt of a strict
	// client: slash paths.
	Attach []string `json:"attach,omitempty"`
	// CloseSession ends a strict client's session by a request of its own.
	CloseSession bool `json:"close_session,omitempty"`
	// ResumeSession has a strict client ask which sessions there are, and take
	// its one up without hearing again what was said in it.
	ResumeSession bool `json:"resume_session,omitempty"`
}

// ClientPermission is an answer to a permission question.
type ClientPermission string

// The answers.
const (
	PermissionGrant  ClientPermission = "grant"
	PermissionReject ClientPermission = "reject"
	PermissionCancel ClientPermission = "cancel" // no answer; the turn is to be cancelled
	PermissionAsk    ClientPermission = "ask"    // a person answers (docs/REQUESTS.md)
)

// ClientMoment is a moment in a turn: right after the prompt was sent, the
// first text, the first announced tool call, the first question, the first
// tool result.
type ClientMoment string

// The moments.
const (
	MomentPrompt     ClientMoment = "prompt"
	MomentText       ClientMoment = "text"
	MomentTool       ClientMoment = "tool"
	MomentPermission ClientMoment = "permission"
	MomentToolResult ClientMoment = "tool_result"
)

// ClientHello is a fault of the first frame.
type ClientHello string

// The faults.
const (
	HelloWrongVersion ClientHello = "wrong_version" // a protocol version that nobody has
	HelloInvalid      ClientHello = "invalid"       // a request without its required member
	HelloGarbage      ClientHello = "garbage"       // a line that is no JSON, then the ordinary frame
)

func (c *ScenarioClient) check(bad func(format string, a ...any)) {
	if !slices.Contains([]ClientPermission{"", PermissionGrant, PermissionReject, PermissionCancel, PermissionAsk}, c.Permission) {
		bad("client.permission: unknown answer %q", c.Permission)
	}
	if !slices.Contains([]ClientMoment{"", MomentPrompt, MomentText, MomentTool, MomentPermission, MomentToolResult}, c.CancelAfter) {
		bad("client.cancel_after: unknown moment %q", c.CancelAfter)
	}
	if !slices.Contains([]ClientHello{"", HelloWrongVersion, HelloInvalid, HelloGarbage}, c.Hello) {
		bad("client.hello: unknown fault %q", c.Hello)
	}
	if c.Permission == PermissionCancel && c.CancelAfter == "" {
		bad("client.permission: cancel needs cancel_after")
	}
}
