// Package mcp offers the read verbs and the job verbs to agents as tools of the
// Model Context Protocol. It is one more consumer of the machine-result
// contract: each tool runs the command and hands its data on unchanged, so what
// an agent learns is what the command says.
package mcp

import (
	"context"
	"encoding/json"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

// Caller runs one command and decodes its data; machine.Client is one.
type Caller interface {
	Call(ctx context.Context, data any, args ...string) error
}

// Server makes the server. global are arguments that every command gets, such
// as --registry=DIR.
func Server(version string, call Caller, global ...string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "agent-contracts", Title: "Agent CLI contracts", Version: version}, nil)
	for _, v := range verbs {
		destroys, no := v.effect == ends, false
		tool := &sdk.Tool{Name: v.name, Description: v.about, InputSchema: v.schema(),
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: v.effect == reads, DestructiveHint: &destroys, OpenWorldHint: &no}}
		s.AddTool(tool, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			args, err := v.args(r.Params.Arguments)
			if err != nil {
				return failed(machine.Errorf(machine.InvalidInput, "%v", err)), nil
			}
			var data json.RawMessage
			if err := call.Call(ctx, &data, append(append([]string(nil), global...), args...)...); err != nil {
				return refused(ctx, err)
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(data)}}, StructuredContent: data}, nil
		})
	}
	return s
}

// Serve speaks the protocol on stdin and stdout until stdin ends.
func Serve(ctx context.Context, s *sdk.Server) error {
	err := s.Run(ctx, &sdk.StdioTransport{})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// refused tells an agent why there is no answer, so that it can do something
// else. A caller who went away is told nothing; the work goes on.
func refused(ctx context.Context, err error) (*sdk.CallToolResult, error) {
	var refusal *machine.Error
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &refusal):
		return failed(refusal), nil
	}
	return failed(machine.Errorf(machine.Unavailable, "%v", err)), nil
}

func failed(e *machine.Error) *sdk.CallToolResult {
	b, err := json.Marshal(e)
	if err != nil {
		b = []byte(`{"kind":"internal"}`)
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(b)}}}
}
