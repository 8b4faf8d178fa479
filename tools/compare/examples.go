package compare

import "strings"

// Output is what a child printed and how it ended, or a help text.
type Output struct {
	Stdout   string `json:"stdout,omitempty"`
	Stderr   string `json:"stderr,omitempty"`
	ExitCode int    `json:"exit_code"`
	Help     string `json:"help,omitempty"`
}

// Example is an older and a newer run. The rule's positive one gives Signal,
// the negative one gives no signal of the rule although it looks like it.
type Example struct {
	Dialect string `json:"dialect,omitempty"` // of both; "" for help texts
	// NewDialect is the newer run's, if it is another one.
	NewDialect string `json:"new_dialect,omitempty"`
	Older      Output `json:"older"`
	Newer      Output `json:"newer"`
	Signal     string `json:"signal,omitempty"` // as Signal.String spells it
	Why        string `json:"why"`
}

// The stream that most examples change.
const (
	exThread  = `{"type":"thread.started","thread_id":"t"}` + "\n"
	exTurn    = `{"type":"turn.started"}` + "\n"
	exStarted = `{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}` + "\n"
	exDone    = `{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0,"status":"completed"}}` + "\n"
	exMessage = `{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}` + "\n"
	exUsage   = `{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}` + "\n"
	exRun     = exThread + exTurn + exStarted + exDone + exMessage + exUsage

	exClaude = `{"type":"result","subtype":"success","is_error":false,"result":"x"}` + "\n"
	exAlive  = `{"type":"keep_alive"}` + "\n"
	exLimit  = `{"type":"result","subtype":"success","is_error":true,"result":"x","errors":["Usage limit reached"]}` + "\n"
	exHelp   = "Options:\n  --json            Print events\n  --experimental-x  Do x\n"
)

// other is a second tool call.
func other(s string) string { return strings.ReplaceAll(s, "item_0", "item_9") }

// edit is an example made of the codex run by one replacement.
func edit(from, to, signal, why string) Example {
	return Example{
		Dialect: "codex", Older: Output{Stdout: exRun}, Newer: Output{Stdout: strings.Replace(exRun, from, to, 1)},
		Signal: signal, Why: why,
	}
}

func ended(code int, stderr string) Output {
	return Output{Stdout: exRun, ExitCode: code, Stderr: stderr}
}

func claude(older, newer, signal, why string) Example {
	return Example{Dialect: "claude", Older: Output{Stdout: older}, Newer: Output{Stdout: newer}, Signal: signal, Why: why}
}

func help(newer, signal, why string) Example {
	return Example{Older: Output{Help: exHelp}, Newer: Output{Help: newer}, Signal: signal, Why: why}
}

// pairOf is a rule's positive and negative example.
type pairOf struct{ positive, negative Example }

// examples makes the examples of every rule, by its id.
func examples() map[string]pairOf {
	return map[string]pairOf{
		EnvelopeChanged: {
			Example{
				Dialect: "codex", NewDialect: "codex-msg", Older: Output{Stdout: exRun},
				Newer:  Output{Stdout: `{"id":"0","msg":{"type":"agent_message","message":"OK"}}` + "\n"},
				Signal: "envelope_changed:type->msg.type", Why: "every frame is wrapped in msg",
			},
			edit(exThread, `{"type":"thread.started","thread_id":"t","msg":{"x":1}}`+"\n", "", "one member named msg wraps nothing"),
		},
		MissingTerminalEvent: {
			edit(exUsage, "", "missing_terminal_event:turn.completed", "nothing ends the turn"),
			edit(exUsage, `{"type":"turn.failed","error":{"message":"x"}}`+"\n", "", "another terminal frame ends it"),
		},
		EventRemoved: {
			edit(exMessage, "", "event_removed:item.completed", "the answer is gone; a command's end has the same event type and another item"),
			edit(exMessage, exMessage+exMessage, "", "two of a kind are not one less"),
		},
		FieldRemoved: {
			edit(`,"output_tokens":1`, "", "field_removed:usage.output_tokens", "a count is gone"),
			edit(`"output_tokens":1`, `"output_tokens":0`, "", "a count of zero is there"),
		},
		FieldRenamed: {
			edit(`"thread_id"`, `"session_id"`, "field_renamed:thread_id<->session_id", "one member gone, one of its type come, in one object"),
			edit(`"thread_id":"t"`, `"session":{"id":"t"}`, "", "a member of another type is no new name"),
		},
		TypeChanged: {
			edit(`"text":"done"`, `"text":["done"]`, "type_changed:item.text:string->array", "a text became a list"),
			edit(`"text":"done"`, `"text":"[\"done\"]"`, "", "JSON in a text is a text"),
		},
		EnumChanged: {
			edit(`"type":"agent_message"`, `"type":"assistant_message"`, "enum_changed:agent_message<->assistant_message", "the item has another word for itself"),
			edit(`"command":"ls"`, `"command":"dir"`, "", "a command is content"),
		},
		TerminalMoved: {
			edit(exMessage+exUsage, exUsage+exMessage, "terminal_moved:turn.completed", "the answer comes after the end"),
			edit(exMessage+exUsage, exMessage+exMessage+exUsage, "", "the end is still the last"),
		},
		ExitChanged: {
			Example{Dialect: "codex", Older: ended(0, ""), Newer: ended(1, ""), Signal: "exit_changed:success->nonzero", Why: "the same stream, another end"},
			Example{Dialect: "codex", Older: ended(1, ""), Newer: ended(2, ""), Why: "both are non-zero: exit_code_changed"},
		},
		OrderChanged: {
			edit(exThread+exTurn, exTurn+exThread, "order_changed:thread.started", "two kinds changed places"),
			edit(`"input_tokens":1,"cached_input_tokens":0`, `"cached_input_tokens":0,"input_tokens":1`, "", "the order of members is no structure"),
		},
		ConcurrencyChanged: {
			Example{
				Dialect: "codex", Older: Output{Stdout: strings.Replace(exRun, exDone, exDone+other(exStarted+exDone), 1)},
				Newer:  Output{Stdout: strings.Replace(exRun, exDone, other(exStarted)+exDone+other(exDone), 1)},
				Signal: "concurrency_changed:serial->parallel", Why: "the second call starts before the first has ended",
			},
			edit(exDone, exDone+other(exStarted+exDone), "", "two calls one after the other are several, not parallel"),
		},
		CardinalityChanged: {
			edit(exMessage, exMessage+exMessage, "cardinality_changed:item.completed", "one answer became two"),
			claude(
				`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}}`+"\n"+exClaude,
				strings.Repeat(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}}`+"\n", 3)+exClaude,
				"", "a stream may come in any number of pieces"),
		},
		RequirednessChanged: {
			Example{
				Dialect: "codex", Older: Output{Stdout: strings.Replace(exRun, exMessage, exMessage+exMessage, 1)},
				Newer:  Output{Stdout: strings.Replace(exRun, exMessage, exMessage+strings.Replace(exMessage, `"id":"item_1",`, "", 1), 1)},
				Signal: "requiredness_changed:item.id", Why: "one of two answers has no id",
			},
			edit(`"id":"item_1",`, "", "", "the only answer has no id: field_removed"),
		},
		StderrClassChanged: {
			Example{Dialect: "codex", Older: ended(1, ""), Newer: ended(1, "Error: 401 Unauthorized: not logged in\n"), Signal: "stderr_class_changed:none->auth", Why: "stderr now speaks of the login"},
			Example{Dialect: "codex", Older: ended(0, ""), Newer: ended(0, "2026-01-01T00:00:00Z  WARN codex_core: slow\n"), Why: "a log line is no class of its own"},
		},
		ExitCodeChanged: {
			Example{Dialect: "codex", Older: ended(1, ""), Newer: ended(2, ""), Signal: "exit_code_changed:1->2", Why: "another code of the same kind"},
			Example{Dialect: "codex", Older: ended(1, ""), Newer: ended(1, ""), Why: "the same code"},
		},
		ErrorTextChanged: {
			claude(exLimit, strings.Replace(exLimit, "Usage limit reached", "You have hit your limit", 1), "error_text_changed:errors[]", "the same failure in other words"),
			claude(strings.Replace(exLimit, "reached", "reached, try again in 5 s", 1), strings.Replace(exLimit, "reached", "reached, try again in 9 s", 1), "", "numbers are not words"),
		},
		OptionalKindGone: {
			claude(exAlive+exClaude, exClaude, "optional_kind_gone:keep_alive", "what comes by chance did not come"),
			claude(exClaude, exAlive+exClaude, "", "what comes by chance came"),
		},
		FlagRemoved: {
			help(strings.Replace(exHelp, "  --json            Print events\n", "", 1), "flag_removed:--json", "the help text no longer has it"),
			help(strings.Replace(exHelp, "Print events", "Print all events", 1), "", "other words about the same flag"),
		},
		FlagRequired: {
			Example{Dialect: "codex", Older: ended(0, ""), Newer: ended(1, "Error: --json requires --verbose\n"), Signal: "flag_requirement_added:--verbose", Why: "the old command line is refused"},
			Example{Dialect: "codex", Older: ended(0, ""), Newer: ended(1, "Error: unknown option --verbose\n"), Why: "a flag that is refused is not asked for"},
		},
		FlagDeprecated: {
			help(strings.Replace(exHelp, "Do x", "Do x (deprecated, use --x instead)", 1), "flag_deprecated:--experimental-x", "the help text warns"),
			help(exHelp+"  --old             Do y (deprecated)\n", "", "a flag that comes deprecated is new, and was never promised"),
		},
		EventAdded: {
			edit(exTurn, exTurn+`{"type":"turn.plan","steps":[]}`+"\n", "event_added:turn.plan", "a kind that no older frame has"),
			edit(exMessage, exMessage+exMessage, "", "another frame of a known kind"),
		},
		EnumAdded: {
			edit(exMessage, exMessage+`{"type":"item.completed","item":{"id":"x","type":"future_item","n":1}}`+"\n", "enum_added:item.type=future_item", "a word that the older stream does not have"),
			edit(`"type":"agent_message"`, `"type":"assistant_message"`, "", "a word in the place of another one: enum_changed"),
		},
		FieldAdded: {
			edit(`"thread_id"`, `"cwd":{"x":1},"thread_id"`, "field_added:cwd", "a new member; what lies below it comes with it"),
			edit(`"thread_id"`, `"session_id"`, "", "a new name of an old member: field_renamed"),
		},
		FlagAdded: {
			help(exHelp+"  --acp             Speak ACP\n", "flag_added:--acp", "the help text has one more"),
			help(strings.Replace(exHelp, "Print events", "Print events, see also --x", 1), "", "a flag that is only mentioned"),
		},
	}
}
