// Package enumgen writes the enumerations of the specification and of
// OpenDesign as Go from the JSON Schemas, which are their one source.
package enumgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"io/fs"
	"slices"
	"strings"
)

// File is the name of the generated file in tools/contract.
const File = "enums_gen.go"

// enum is one enumeration: where the schemas have it, and its names in Go.
type enum struct {
	// places are file and JSON pointer. The first one gives the order; the
	// others must have the same values.
	places []string
	typ    string // of the values
	list   string // name of the variable that lists them
	doc    string // of the list
	prefix string // of the constants; "" for an enumeration without constants
	// names are constants that are not prefix and value.
	names map[string]string
	// order replaces the schema's order.
	order []string
}

const (
	failure    = "error-case.schema.json#/$defs/failure_classification/properties/"
	correction = "evidence.schema.json#/properties/user_correction/properties/"
)

var enums = []enum{
	{
		places: []string{"shape.schema.json#/$defs/protocol_family", "observation.schema.json#/$defs/protocol_family", "source-evidence.schema.json#/$defs/protocol_family", "policy.schema.json#/$defs/protocol_family"},
		typ:    "ProtocolFamily", list: "ProtocolFamilies", doc: "lists every family in the specification's order.", prefix: "Family",
		names: map[string]string{
			"plain/v1": "Plain", "claude-stream-json/v1": "Claude", "json-event-stream/v1": "Events", "qoder-stream-json/v1": "Qoder",
			"copilot-stream-json/v1": "Copilot", "acp-json-rpc/v1": "ACP", "pi-rpc/v1": "Pi",
		},
	},
	{
		places: []string{"shape.schema.json#/properties/validity_level", "error-case.schema.json#/properties/extensions/properties/validity_level"},
		typ:    "ValidityLevel", list: "ValidityLevels", doc: "lists the levels, weakest first (FINE-PRINT 1, level order).", prefix: "Level",
		order: []string{"synthetic_mock", "vendor_documented", "source_derived", "server_variant", "runtime_observed", "confirmed", "community_confirmed"},
	},
	{
		places: []string{"observation.schema.json#/$defs/platform", "error-case.schema.json#/$defs/platform", "evidence.schema.json#/$defs/platform", "policy.schema.json#/$defs/platform", "source-evidence.schema.json#/$defs/platform", "support-matrix.schema.json#/$defs/platform", "agent-cli-compatibility.schema.json#/$defs/platform"},
		typ:    "Platform", list: "Platforms", doc: "lists the platforms of the specification.",
	},
	{
		places: []string{"shape.schema.json#/properties/transport", "families.schema.json#/$defs/dialect/properties/transport"},
		typ:    "Transport", list: "Transports", doc: "lists every transport.", prefix: "Transport",
		names: map[string]string{"jsonl": "JSONL", "json": "JSON", "json-rpc": "JSONRPC", "pi-rpc": "PiRPC"},
	},
	{
		places: []string{"shape.schema.json#/properties/stderr_class", "observation.schema.json#/properties/extensions/properties/stderr_detail"},
		typ:    "StderrClass", list: "StderrClasses", doc: "lists the classes of the specification. In a shape's identity diagnostic\n// and debug count as none (DESIGN D6).",
	},
	{
		places: []string{"shape.schema.json#/properties/exit"},
		typ:    "ExitClass", list: "ExitClasses", doc: "lists every exit class.", prefix: "Exit",
	},
	{
		places: []string{"observation.schema.json#/properties/command/properties/stdin_mode", "agents.schema.json#/$defs/launch/properties/stdin_mode"},
		typ:    "StdinMode", list: "StdinModes", doc: "lists every stdin mode. jsonl-open is a stream-json line on a stdin that\n// stays open.", prefix: "Stdin",
		names: map[string]string{"text-prompt": "Text", "jsonl-open": "JSONLOpen", "rpc": "RPC"},
	},
	{
		places: []string{"observation.schema.json#/properties/redaction/properties/status"},
		typ:    "RedactionStatus", list: "RedactionStatuses", doc: "lists the outcomes of redaction.", prefix: "Redaction",
		names: map[string]string{"manual_review_required": "Review"},
	},
	{
		places: []string{"observation.schema.json#/properties/parser_replay/properties/status", "source-evidence.schema.json#/properties/extensions/properties/parser_replay/properties/status"},
		typ:    "ReplayStatus", list: "ReplayStatuses", doc: "lists every replay status.", prefix: "Replay",
	},
	{
		places: []string{"support-matrix.schema.json#/$defs/entry/properties/support_status", "policy.schema.json#/properties/agents/items/properties/overrides/items/properties/support_status", "agent-cli-compatibility.schema.json#/properties/status"},
		typ:    "SupportStatus", list: "SupportStatuses", doc: "lists every support status.", prefix: "Support",
	},
	{
		places: []string{"observation.schema.json#/properties/extensions/properties/provider", "source-evidence.schema.json#/properties/extensions/properties/provider"},
		typ:    "ProviderKind", list: "ProviderKinds", doc: "lists the provider kinds of DESIGN D1.", prefix: "Provider",
	},
	{
		places: []string{"error-case.schema.json#/properties/classifier_input/properties/result", correction + "run_result"},
		typ:    "RunResult", list: "RunResults", doc: "lists what a run can come to.", prefix: "Run",
	},
	{
		places: []string{failure + "failure_category", correction + "failure/properties/failure_category"},
		typ:    "FailureCategory", list: "FailureCategories", doc: "lists every category.", prefix: "Category",
		names: map[string]string{"entitlement_required": "Entitlement", "upstream_unavailable": "Upstream"},
	},
	{
		places: []string{failure + "failure_stage"},
		typ:    "FailureStage", list: "FailureStages", doc: "lists every stage, in the order in which a run passes them.", prefix: "Stage",
	},
	{
		places: []string{failure + "user_action"},
		typ:    "UserAction", list: "UserActions", doc: "lists every user action.", prefix: "Action",
		names: map[string]string{"install_cli": "InstallCLI"},
	},
	{
		places: []string{"agent-cli-compatibility.schema.json#/properties/policy/properties/user_action"},
		typ:    "CLIAction", list: "CLIActions", doc: "lists what a user can do about an installed CLI.", prefix: "CLIAction",
		names: map[string]string{"upgrade_cli": "UpgradeCLI"},
	},
	{
		places: []string{"agent-cli-compatibility.schema.json#/properties/evidence/properties/source"},
		typ:    "EvidenceSource", list: "EvidenceSources", doc: "lists where an answer about an installed CLI can come from.", prefix: "EvidenceFrom",
	},
	{
		places: []string{failure + "failure_detail", correction + "failure/properties/failure_detail"},
		typ:    "string", list: "FailureDetails", doc: "lists every value of failure_detail, the exact cause.",
	},
	{
		places: []string{failure + "cancel_origin", "error-case.schema.json#/properties/extensions/properties/cancel_origin"},
		typ:    "string", list: "CancelOrigins", doc: "lists who can cancel a run.",
	},
	{
		places: []string{failure + "terminal_trigger", "error-case.schema.json#/properties/extensions/properties/terminal_trigger"},
		typ:    "string", list: "TerminalTriggers", doc: "lists what can force a run to end.",
	},
}

// Source returns the content of File for a folder of schemas. An error says
// which place has no enumeration, or has another one than its first place.
func Source(schemas fs.FS) ([]byte, error) {
	files := map[string]any{}
	var b bytes.Buffer
	b.WriteString("// Code generated from schemas/ by go generate; DO NOT EDIT.\n\npackage contract\n")
	for i := range enums {
		values, err := enums[i].values(schemas, files)
		if err != nil {
			return nil, err
		}
		enums[i].write(&b, values)
	}
	out, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("generating %s: %w", File, err)
	}
	return out, nil
}

func (e *enum) values(schemas fs.FS, files map[string]any) ([]string, error) {
	var values []string
	for i, place := range e.places {
		here, err := lookUp(schemas, files, place)
		if err != nil {
			return nil, fmt.Errorf("generating %s: %w", e.list, err)
		}
		if i == 0 {
			values = here
		} else if !sameSet(values, here) {
			return nil, fmt.Errorf("generating %s: %s has other values than %s", e.list, place, e.places[0])
		}
	}
	if e.order == nil {
		return values, nil
	}
	if !sameSet(values, e.order) {
		return nil, fmt.Errorf("generating %s: the order names other values than %s has", e.list, e.places[0])
	}
	return e.order, nil
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// lookUp returns the enum at file#pointer. A null among the values says that
// the member may be missing and is no value.
func lookUp(schemas fs.FS, files map[string]any, place string) ([]string, error) {
	file, pointer, _ := strings.Cut(place, "#/")
	if files[file] == nil {
		b, err := fs.ReadFile(schemas, file)
		if err != nil {
			return nil, err
		}
		var doc any
		if err := json.Unmarshal(b, &doc); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		files[file] = doc
	}
	at := files[file]
	for key := range strings.SplitSeq(pointer, "/") {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	m, _ := at.(map[string]any)
	list, _ := m["enum"].([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no enum", place)
	}
	return out, nil
}

func (e *enum) write(b *bytes.Buffer, values []string) {
	elements := make([]string, len(values))
	for i, v := range values {
		elements[i] = fmt.Sprintf("%q", v)
	}
	if e.prefix != "" {
		fmt.Fprintf(b, "\n// The values of %s.\nconst (\n", e.typ)
		for i, v := range values {
			name := e.names[v]
			if name == "" {
				name = camel(v)
			}
			elements[i] = e.prefix + name
			fmt.Fprintf(b, "\t%s %s = %q\n", elements[i], e.typ, v)
		}
		b.WriteString(")\n")
	}
	fmt.Fprintf(b, "\n// %s %s\nvar %s = []%s{\n", e.list, e.doc, e.list, e.typ)
	for _, x := range elements {
		fmt.Fprintf(b, "\t%s,\n", x)
	}
	b.WriteString("}\n")
}

func camel(value string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
