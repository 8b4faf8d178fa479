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
)

var rules = []Rule{
	{EnvelopeChanged, Breaking, "The frames are wrapped in another way: another family, dialect or transport, or an array instead of lines."},
	{MissingTerminalEvent, Breaking, "No frame ends the run any more; a reader waits or guesses."},
	{EventRemoved, Breaking, "A kind of frame is gone. A reader that waits for it loses what it carried, without an error."},
	{FieldRemoved, Breaking, "A member is gone from every frame of a kind; a warning if only some frames had it."},
	{FieldRenamed, Breaking, "A member has another name."},
	{TypeChanged, Breaking, "A member has another type; a warning if it only gained one, an information if it only lost one."},
	{EnumChanged, Breaking, "A value that belongs to the protocol is gone, and perhaps another one in its place; a warning if there is none."},
	{TerminalMoved, Breaking, "The frame that ends the run comes at another place."},
	{ExitChanged, Breaking, "The child ends in another way."},
	{OrderChanged, Warning, "Frames come in another order."},
	{ConcurrencyChanged, Warning, "Tool calls overlap now, or no longer do."},
	{CardinalityChanged, Warning, "A kind of frame that came once comes several times, or the reverse."},
	{RequirednessChanged, Warning, "A member that every frame of a kind had is missing in some; an information the other way round."},
	{StderrClassChanged, Warning, "stderr is about something else."},
	{ExitCodeChanged, Warning, "The exit code differs within the same way to end."},
	{ErrorTextChanged, Warning, "The wording of an error text differs; readers that look for words may miss it."},
	{OptionalKindGone, Info, "A kind that comes by chance did not come this time."},
	{EventAdded, Warning, "A new kind of frame; a reader may show it raw."},
	{EnumAdded, Warning, "A new value where the protocol has a fixed set."},
	{FieldAdded, Info, "A new member."},
	{FlagAdded, Info, "A new command-line flag (found by the source scan)."},
}

// Rules returns the catalogue of signals, losses before additions.
func Rules() []Rule { return append([]Rule(nil), rules...) }

// ruleRank returns the place of a signal in the catalogue.
func ruleRank(id string) int {
	for i := range rules {
		if rules[i].ID == id {
			return i
		}
	}
	return len(rules)
}
