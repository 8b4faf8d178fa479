package machine

// Value is a value that was read from somewhere that can fail (D7). Available
// with an empty value means that there is definitely none; not available means
// that it could not be established, and then ReasonCode says why in one word
// and Detail in a sentence for people.
type Value[T any] struct {
	Available  bool    `json:"available"`
	Value      *T      `json:"value"`
	ReasonCode *string `json:"reason_code"`
	Detail     *string `json:"detail"`
}

// The reason codes of values that could not be established.
const (
	ReasonNotYet     = "not_yet"    // its writer has not come to it
	ReasonAbsent     = "absent"     // it should be there and is not
	ReasonUnreadable = "unreadable" // the system refused the read
	ReasonMalformed  = "malformed"  // it is not what it should be
)

// Got is a value that was read.
func Got[T any](v T) Value[T] { return Value[T]{Available: true, Value: &v} }

// Missing is a value that could not be established.
func Missing[T any](reasonCode, detail string) Value[T] {
	return Value[T]{ReasonCode: &reasonCode, Detail: &detail}
}

// Handshake is the data of the handshake (D2). Module is where the program is;
// ImplementationVersion and Module are for people, never to branch on.
type Handshake struct {
	ContractVersion       int    `json:"contract_version"`
	MinSupportedVersion   int    `json:"min_supported_version"`
	Implementation        string `json:"implementation"`
	ImplementationVersion string `json:"implementation_version"`
	Module                string `json:"module"`
}

// Result is the data of a command that answers in one go: the exit code that it
// has without --machine (DESIGN section 6), what it said about an outcome that
// is no refusal, and what it printed as JSON. Commands that print lines have a
// list of them, commands that print text have a string.
type Result[T any] struct {
	ExitCode int      `json:"exit_code"`
	Message  *string  `json:"message"`
	Result   Value[T] `json:"result"`
}
