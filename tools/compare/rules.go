package compare

// Severity says what a change means for a reader of the stream that was
// written for the older shape.
type Severity string

// The severities, weakest first.
const (
	Info     Severity = "info"     // a reader need not do anything
	Warning  Severity = "warning"  // a reader may show or count something wrong
	Breaking Severity = "breaking" // a reader loses or misreads something
)

func (s Severity) rank() int {
	switch s {
	case Breaking:
		return 2
	case Warning:
		return 1
	}
	return 0
}

// Rule is a kind of change that compare names (DESIGN D7, FINE-PRINT 14).
type Rule struct {
	ID string `json:"id"`
	// Severity is the usual one; a signal may be milder, never stronger.
	Severity Severity `json:"severity"`
	Meaning  string   `json:"meaning"`
	// Positive shows the change, Negative something that looks like it.
	Positive Example `json:"positive"`
	Negative Example `json:"negative"`
}

// The signals, losses before additions: signals of one severity are listed in
// this order.
const (
	EnvelopeChanged      = "envelope_changed"
	MissingTerminalEvent = "missing_terminal_event"
	EventRemoved         = "event_removed"
	FieldRemoved         = "field_removed"
	FieldRenamed         = "field_renamed"
	TypeChanged          = "type_changed"
	EnumChanged          = "enum_changed"
	TerminalMoved        = "terminal_moved"
	ExitChanged          = "exit_changed"
	OrderChanged         = "order_changed"
	ConcurrencyChanged   = "concurrency_changed"
	CardinalityChanged   = "cardinality_changed"
	RequirednessChanged  = "requiredness_changed"
	StderrClassChanged   = "stderr_class_changed"
	ExitCodeChanged      = "exit_code_changed"
	ErrorTextChanged     = "error_text_changed"
	OptionalKindGone     = "optional_kind_gone"
	EventAdded           = "event_added"
	EnumAdded            = "enum_added"
	FieldAdded           = "field_added"
	FlagAdded            = "flag_added"
	FlagRemoved          = "flag_removed"
	FlagRequired         = "flag_requirement_added"
	FlagDeprecated       = "flag_deprecated"
)

var rules = []Rule{
	{ID: EnvelopeChanged, Severity: Breaking, Meaning: "The frames are wrapped in another way: another family, dialect or transport, or an array instead of lines."},
	{ID: MissingTerminalEvent, Severity: Breaking, Meaning: "No frame ends the run any more; a reader waits or guesses."},
	{ID: EventRemoved, Severity: Breaking, Meaning: "A kind of frame is gone. A reader that waits for it loses what it carried, without an error; a warning if it was a line that is no frame."},
	{ID: FieldRemoved, Severity: Breaking, Meaning: "A member is gone from every frame of a kind; a warning if only some frames had it."},
	{ID: FieldRenamed, Severity: Breaking, Meaning: "A member has another name."},
	{ID: TypeChanged, Severity: Breaking, Meaning: "A member has another type; a warning if it only gained one or if only null is left, an information if it only lost one."},
	{ID: EnumChanged, Severity: Breaking, Meaning: "A value that belongs to the protocol is gone, and perhaps another one in its place; a warning if there is none."},
	{ID: TerminalMoved, Severity: Breaking, Meaning: "The frame that ends the run comes at another place."},
	{ID: ExitChanged, Severity: Breaking, Meaning: "The child ends in another way."},
	{ID: OrderChanged, Severity: Warning, Meaning: "Frames come in another order."},
	{ID: ConcurrencyChanged, Severity: Warning, Meaning: "Tool calls overlap now, or no longer do."},
	{ID: CardinalityChanged, Severity: Warning, Meaning: "A kind of frame that came once comes several times, or the reverse."},
	{ID: RequirednessChanged, Severity: Warning, Meaning: "A member that every frame of a kind had is missing in some; an information the other way round."},
	{ID: StderrClassChanged, Severity: Warning, Meaning: "stderr is about something else."},
	{ID: ExitCodeChanged, Severity: Warning, Meaning: "The exit code differs within the same way to end."},
	{ID: ErrorTextChanged, Severity: Warning, Meaning: "The wording of an error text differs; readers that look for words may miss it."},
	{ID: OptionalKindGone, Severity: Info, Meaning: "A kind that comes by chance, or after the end of the turn, did not come this time."},
	{ID: EventAdded, Severity: Warning, Meaning: "A new kind of frame; a reader may show it raw."},
	{ID: EnumAdded, Severity: Warning, Meaning: "A new value where the protocol has a fixed set."},
	{ID: FieldAdded, Severity: Info, Meaning: "A new member."},
	{ID: FlagRemoved, Severity: Breaking, Meaning: "A command-line flag is gone from the help text. Who still passes it gets a usage error."},
	{ID: FlagRequired, Severity: Breaking, Meaning: "The CLI now refuses the old command line without another flag."},
	{ID: FlagDeprecated, Severity: Warning, Meaning: "The help text calls a flag deprecated; a later release may refuse it."},
	{ID: FlagAdded, Severity: Info, Meaning: "A new command-line flag in the help text."},
}

// Rules returns the catalogue of signals with their examples, losses before
// additions.
func Rules() []Rule {
	out, all := append([]Rule(nil), rules...), examples()
	for i := range out {
		e := all[out[i].ID]
		out[i].Positive, out[i].Negative = e.positive, e.negative
	}
	return out
}

// ruleRank returns the place of a signal in the catalogue.
func ruleRank(id string) int {
	for i := range rules {
		if rules[i].ID == id {
			return i
		}
	}
	return len(rules)
}
