package contract

import "strings"

// Families is registry/families.json: everything about a protocol that the
// normalizer, the redactor and the comparer need to know as data (DESIGN D5,
// D6). Its schema is schemas/families.schema.json.
type Families struct {
	SchemaVersion int       `json:"schema_version"`
	Dialects      []Dialect `json:"dialects"`
	// SessionLogs are the forms of the files in which CLIs keep their sessions
	// (Agent.SessionLog).
	SessionLogs []SessionLog `json:"session_logs,omitempty"`
}

// SessionLog is one form of a session file: JSON lines of which only those
// that a Match of Keep fits are published, and of them only the values that
// the paths name, beside numbers.
type SessionLog struct {
	ID       string   `json:"id"`
	Keep     []Match  `json:"keep"`
	Literals []string `json:"literals"`
	Measured []string `json:"measured,omitempty"`
}

// Dialect is one of the formats behind a protocol family.
type Dialect struct {
	ID             string         `json:"id"`
	ProtocolFamily ProtocolFamily `json:"protocol_family"`
	Transport      Transport      `json:"transport"`
	// Parser is the kind of the open-design adapter, or "" when that
	// consumer has no parser for the dialect.
	Parser string `json:"parser,omitempty"`
	// Detect has one Match per tell-tale frame; the dialect with the first
	// matching stdout frame is guessed when none is named.
	Detect []Match `json:"detect,omitempty"`
	// EventType has the paths whose first string names a frame's type. In a
	// JSON-RPC transport the method is the type, and it adds to that.
	EventType []string `json:"event_type"`
	// Untyped names frames that have none of these: the first match counts.
	Untyped []NamedMatch `json:"untyped,omitempty"`
	// StdinFrames says that stdin is a protocol, so that its lines are frames
	// too (FINE-PRINT 6). In RPC transports they always are.
	StdinFrames bool `json:"stdin_frames,omitempty"`
	// Kind tells frames of different kinds apart, beside direction and stream.
	Kind []Discriminator `json:"kind"`
	// Stream kinds fold: a run of one counts once.
	Stream []Match `json:"stream,omitempty"`
	// Floating kinds come at a position by chance, Optional ones by chance at all.
	Floating []Match `json:"floating,omitempty"`
	Optional []Match `json:"optional,omitempty"`
	// Terminal frames end a run; what follows is outside the identity.
	Terminal []Match `json:"terminal,omitempty"`
	// Turn is the method whose answer ends a run, in a JSON-RPC transport.
	Turn string `json:"turn,omitempty"`
	// Opaque payloads keep their own type only, Maps are objects whose keys
	// are data, Racy values have type unknown. All are path patterns.
	Opaque []string `json:"opaque,omitempty"`
	Maps   []string `json:"maps,omitempty"`
	Racy   []string `json:"racy,omitempty"`
	// Sampled payloads are state as it was when the frame was written: opaque
	// in the frames that meet the condition, which looks at discriminators.
	Sampled []SampledPath `json:"sampled,omitempty"`
	// Enums are the paths whose values belong to the identity.
	Enums []string `json:"enums"`
	// Calls names the paths that hold a tool call's id, for ordering
	// stretches of several calls by call.
	Calls []CallPath `json:"calls,omitempty"`
	// StderrChatter is how lines begin that a healthy run may print on stderr
	// or not: they have no class.
	StderrChatter []string    `json:"stderr_chatter,omitempty"`
	Redact        RedactRules `json:"redact"`
}

// Match is a condition on a frame: each path pattern must hold one of the
// literals (spelled as in JSON without quotes: initialize, true, null). "*"
// asks for any value but null, "" for an absent path, "prefix*" and "*suffix"
// for a string.
type Match map[string][]string

// NamedMatch gives matching frames a name.
type NamedMatch struct {
	When Match  `json:"when"`
	Name string `json:"name"`
}

// Discriminator is one part of a frame's kind.
type Discriminator struct {
	Path string `json:"path"`
	// Mode is value (the literal), set (sorted set over array elements),
	// presence (absent, null or present), empty (empty string or not), or
	// zero (0 or not).
	Mode string `json:"mode"`
	When Match  `json:"when,omitempty"`
}

// SampledPath is a place that is opaque in some frames only.
type SampledPath struct {
	When Match  `json:"when"`
	Path string `json:"path"`
}

// CallPath says where frames of one kind carry the id of their tool call.
type CallPath struct {
	When Match  `json:"when"`
	Path string `json:"path"`
}

// RedactRules says, by path pattern, how tokens are treated. A path that is
// not listed is redacted by the rules for its value (DESIGN D5).
type RedactRules struct {
	// Literals survive when they look like an enum value.
	Literals []string `json:"literals,omitempty"`
	// Names survive when they look like a public tool, model field, variable
	// or flag name and are in the vocabulary.
	Names []string `json:"names,omitempty"`
	// Vocabulary paths hold texts of the CLI or provider: known words survive.
	Vocabulary []string `json:"vocabulary,omitempty"`
	// Outputs are Vocabulary paths that hold what a tool gave back: a text of
	// more than 2,000 UTF-16 units there is somebody's data and no message.
	Outputs []string `json:"outputs,omitempty"`
	// Model paths hold text that the model wrote. In a hermetic run, text there
	// that the scenario did not send was written by the CLI and is treated like
	// text at a Vocabulary path.
	Model []string `json:"model,omitempty"`
	// Synthetic frames hold texts of the CLI at Model paths, also in a live run.
	Synthetic []Match `json:"synthetic,omitempty"`
	// Measured numbers (times, durations, costs, quotas, resets, ports, pids)
	// become 1; zero stays zero.
	Measured []string `json:"measured,omitempty"`
	// Pieces are texts cut over several frames: joined, redacted, cut again.
	Pieces []PieceRule `json:"pieces,omitempty"`
	// Encoded values hold text as base64 or as an array of byte numbers.
	Encoded []string `json:"encoded,omitempty"`
}

// PieceRule says which frames carry pieces of one text.
type PieceRule struct {
	When Match  `json:"when"`
	Path string `json:"path"`
	// Key paths tell texts apart that interleave (block index, item id).
	Key []string `json:"key,omitempty"`
	// End frames close the texts with the same key values; a key path that the
	// frame lacks matches every text.
	End []Match `json:"end,omitempty"`
	// Prefix says that readers look whether a later text begins with the
	// pieces so far, and take the rest: such a text is redacted as both.
	Prefix bool `json:"prefix,omitempty"`
}

// Dialect returns the dialect with the id, or nil.
func (f *Families) Dialect(id string) *Dialect {
	for i := range f.Dialects {
		if f.Dialects[i].ID == id {
			return &f.Dialects[i]
		}
	}
	return nil
}

// IsEnumLiteral reports whether a string at an enum path looks like an enum
// value: it starts with a letter, and its words are letters with up to two
// digits at their end, or up to four digits, joined by one _ . / : or - each;
// no digits follow a _; 64 bytes and eight digits in all. Redaction keeps such a string and
// normalization puts it into a shape; both treat every other string there as
// text, so that raw and sanitized transcripts have one shape.
func IsEnumLiteral(s string) bool {
	if s == "" || len(s) > 64 || !isASCIILetter(s[0]) {
		return false
	}
	letters, digits, all := 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case isASCIILetter(c):
			if digits > 0 {
				return false
			}
			letters++
		case c >= '0' && c <= '9':
			if i > 0 && s[i-1] == '_' {
				return false // item_0 is an id
			}
			digits++
			all++
		case strings.IndexByte("_./:-", c) >= 0:
			if letters+digits == 0 {
				return false
			}
			letters, digits = 0, 0
		default:
			return false
		}
		if letters > 32 || digits > 4 || letters > 0 && digits > 2 || all > 8 {
			return false
		}
	}
	return letters+digits > 0
}

func isASCIILetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
