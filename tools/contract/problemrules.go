package contract

import "sync"

// Rule is one rule that a record can break. IDs are stable: people script
// against them and `explain` looks them up.
type Rule struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	// Meaning says what the rule asks for and why, Action what to do when it
	// is broken.
	Meaning string `json:"meaning"`
	Action  string `json:"action"`
	// Source names the document that asks for it.
	Source string `json:"source"`
}

// Rules returns the catalogue of every rule, by topic.
func Rules() []Rule {
	var all []Rule
	for _, topic := range [][]Rule{textRules, schemaRules, recordOnlyRules, peopleRules, crossFileRules, derivedRules} {
		all = append(all, topic...)
	}
	return all
}

var rulesByID = sync.OnceValue(func() map[string]Rule {
	m := map[string]Rule{}
	for _, r := range Rules() {
		m[r.ID] = r
	}
	return m
})

// RuleOf looks a rule up by its id.
func RuleOf(id string) (Rule, bool) {
	r, ok := rulesByID()[id]
	return r, ok
}

const (
	specShared = "specification, Registry Schema Contract, rules that all records share"
	specRecord = "specification, table of the record's schema"
)

// textRules are about the JSON text.
var textRules = []Rule{
	{"JSON-BOM", SeverityError, "A record starts with its first brace, not with a byte order mark.", "Save the file as UTF-8 without BOM.", "RFC 8259, 8.1"},
	{"JSON-UTF8", SeverityError, "Records are valid UTF-8 without half surrogate pairs, so that every reader sees the same text.", "Save the file as UTF-8.", "RFC 8259, 8.1; RFC 8785"},
	{"JSON-SYNTAX", SeverityError, "A record is one JSON text.", "Correct the text at the line and column named.", "RFC 8259"},
	{"JSON-TRAILING", SeverityError, "A file holds one record.", "Remove what follows the record, or make it a file of its own.", "RFC 8259"},
	{"JSON-DUPLICATE-KEY", SeverityError, "A member is there once: readers disagree about which of two counts.", "Remove one of the two members.", "RFC 8785, 3.1"},
	{"JSON-NUMBER", SeverityError, "Numbers have their canonical spelling (1, not 1.0 or 1e0) and an exact double form, so that hashes agree everywhere.", "Write the number in canonical form, or as a string.", "RFC 8785, 3.2.2.3"},
}

// schemaRules are broken when a value does not have the form of its schema.
var schemaRules = []Rule{
	{"RECORD-KIND", SeverityError, "The kind of the record is one that this program has a schema for.", "Check the file's name, or use a newer program.", "specification, Repository Shape"},
	{"SCHEMA-VERSION", SeverityError, "schema_version is the one that this program reads, or there is a migration from it.", "Use a program that knows this version; never lower the number by hand.", specShared},
	{"SCHEMA-REQUIRED", SeverityError, "A required member is there.", "Add the member; docs/SCHEMA.md lists its values.", specRecord},
	{"SCHEMA-UNKNOWN-MEMBER", SeverityError, "A record has the members of its format and no others.", "Remove the member, or move it into extensions where the format has them.", specShared},
	{"SCHEMA-TYPE", SeverityError, "A value has the JSON type of its format.", "Write a value of that type.", specRecord},
	{"SCHEMA-ENUM", SeverityError, "A value is one of the enumerated ones.", "Use one of the values named.", specRecord},
	{"SCHEMA-PATTERN", SeverityError, "A text has the form of its format.", "Correct the text.", specRecord},
	{"SCHEMA-RANGE", SeverityError, "A number, text or list is within its bounds.", "Correct the value.", specRecord},
	{"SCHEMA-UNIQUE", SeverityError, "The entries of a set are different.", "Remove the repetition.", specRecord},
	{"SCHEMA-FORBIDDEN", SeverityError, "A value or member is not one that its context rules out.", "Remove it, or change the member it contradicts.", specRecord},
	{"SCHEMA-CHOICE", SeverityError, "A value has one of several allowed forms.", "Give it one of the forms named.", specRecord},
	{"SCHEMA-OTHER", SeverityError, "The value fits its schema.", "Correct the value; schemas/ has the format.", specRecord},
	{"SCHEMA-HASH", SeverityError, "A hash is spelled sha256: and 64 lowercase hexadecimal characters.", "Write the hash in this spelling.", specShared},
	{"SCHEMA-TIMESTAMP", SeverityError, "A time is UTC, ISO 8601 with Z, and on the calendar.", "Write it like 2026-06-27T10:00:00Z.", specShared},
	{"SCHEMA-FAMILY", SeverityError, "protocol_family is one of the registry's.", "Use one of the families named.", specShared},
	{"SCHEMA-PLATFORM", SeverityError, "platform is one of the registry's.", "Use one of the platforms named.", specShared},
	{"SCHEMA-LEVEL", SeverityError, "validity_level is one of the registry's.", "Use one of the levels named.", specShared},
	{"SCHEMA-ID", SeverityError, "Ids of agents and probes are lowercase, because they are parts of paths.", "Use the id from registry/agents.json or the folder's name under probes/.", specShared},
	{"SCHEMA-VERSION-TOKEN", SeverityError, "A version is the one token that the CLI prints, because it is part of a path.", "Use the version alone, without product name or spaces.", "FINE-PRINT 3"},
	{"SCHEMA-SEMVER", SeverityError, "A tool's version is semver.", "Write it like 0.1.0.", specRecord},
	{"SCHEMA-URL", SeverityError, "Links are HTTPS URLs.", "Use the https:// address.", specRecord},
	{"SCHEMA-PLACE", SeverityError, "A place in the registry is relative, with forward slashes, and stays inside.", "Use the file's path from the registry's root.", specRecord},
	{"SCHEMA-LINK", SeverityError, "Evidence is the place of a record or an HTTPS URL.", "Name a record of this registry, or a public page.", specRecord},
}

// recordOnlyRules are about one record of the registry.
var recordOnlyRules = []Rule{
	{"OBS-CLI-VERSION-UNKNOWN", SeverityError, "An observation knows the version that the runtime version probe printed.", "Capture again with a binary that tells its version; without a version there is no observation.", "specification, observation.schema.json; DESIGN D3"},
	{"OBS-VALIDITY-LEVEL", SeverityError, "Observations are runtime captures; levels of sources and mocks belong to source evidence.", "Use a runtime level, or make it a source-evidence record.", "specification, observation.schema.json"},
	{"OBS-SHAPE-PATH", SeverityError, "shape.path follows from the family and the signature.", "Write the path named.", "specification, Repository Shape"},
	{"OBS-REPLAY-COMMIT", SeverityWarning, "A replay names the parser it used, or nobody can repeat it.", "Set parser_replay.open_design_commit.", "specification, observation.schema.json"},
	{"OBS-STDIN-MODE", SeverityError, "An RPC family speaks RPC on stdin, and no other does.", "Correct command.stdin_mode or protocol_family.", "specification, Transport Granularity"},
	{"SRC-VALIDITY-LEVEL", SeverityError, "Source evidence has a level of sources; runtime levels need a capture.", "Use source_derived, vendor_documented or synthetic_mock.", "specification, source-evidence.schema.json"},
	{"SRC-REFS-EMPTY", SeverityError, "Source evidence names its sources.", "Name at least one tag, commit, file, URL or fixture.", "specification, source-evidence.schema.json"},
	{"SRC-SHAPE-PATH", SeverityError, "derived_shape.path follows from the family and the signature.", "Write the path named.", "specification, Repository Shape"},
	{"SRC-FIXTURE", SeverityError, "A synthetic_mock record has the fixture it was built from, others have none.", "Add extensions.fixture and fixture_sha256, or remove them.", "FINE-PRINT 9"},
	{"SHAPE-SIGNATURE", SeverityError, "The signature is the hash of the shape's canonical form.", "Derive the shape again with normalize; never edit one by hand.", "specification, shape.schema.json; DESIGN D6"},
	{"SHAPE-FRAME-COUNT", SeverityError, "frame_count is the number of frame shapes.", "Derive the shape again with normalize.", "DESIGN D6, FINE-PRINT 6"},
	{"SHAPE-EVENT-TYPES-ORDER", SeverityError, "event_types is a sorted set.", "Derive the shape again with normalize.", "specification, shape.schema.json"},
	{"SHAPE-EVENT-TYPES-MISSING", SeverityError, "event_types has every event type that frame_shapes uses.", "Derive the shape again with normalize.", "specification, shape.schema.json"},
	{"SHAPE-EVENT-TYPES-UNUSED", SeverityError, "event_types has no type that no frame has.", "Derive the shape again with normalize.", "specification, shape.schema.json"},
	{"SHAPE-PATHS-ORDER", SeverityError, "paths is sorted by path, then type, without repetition.", "Derive the shape again with normalize.", "DESIGN D6"},
	{"SHAPE-ENUMS-ORDER", SeverityError, "The values of an enum path are a sorted set.", "Derive the shape again with normalize.", "DESIGN D6"},
	{"SHAPE-FRAME-STREAM", SeverityError, "A frame's direction and stream agree.", "Derive the shape again with normalize.", "specification, transcript.schema.json"},
	{"SHAPE-SEQUENCE", SeverityError, "extensions.sequence points at frame shapes that are there.", "Derive the shape again with normalize.", "DESIGN D6"},
	{"SHAPE-STDERR-CLASS", SeverityWarning, "diagnostic and debug count as none in a shape, or chatter would make new shapes.", "Derive the shape again with normalize.", "DESIGN D6"},
	{"MATRIX-STATUS", SeverityError, "support_status says what was verified; a plain \"verified\" is ambiguous and not allowed.", "Use one of the statuses named.", "specification, support-matrix.schema.json"},
	{"MATRIX-NO-SHAPES", SeverityError, "A range of versions is claimed from observed shapes.", "Generate the matrix from the records; never write a claim by hand.", "specification, support-matrix.schema.json"},
	{"MATRIX-BREAKING-UNEXPLAINED", SeverityError, "What is known to break has a reason and evidence.", "Give reason and evidence in registry/policy.json and generate the matrix.", "specification, support-matrix.schema.json"},
	{"MATRIX-WEAK-EVIDENCE", SeverityError, "A normal claim is backed by a runtime observation, not by sources or mocks alone.", "Capture the CLI, or drop the claim.", "specification, support-matrix.schema.json"},
	{"MATRIX-EXCLUDED-LEVEL", SeverityError, "Shapes of sources and mocks take no part in normal claims.", "Generate the matrix from the records.", "specification, support-matrix.schema.json"},
	{"MATRIX-LOCAL-STATUS", SeverityWarning, "local_shape_verified is what a local probe finds; the published matrix cannot know it.", "Use version_range_verified.", "FINE-PRINT 16"},
	{"MATRIX-LAST-OBSERVED", SeverityError, "last_observed_at is the newest observed_at, not after generated_at.", "Generate the matrix from the records.", "specification, support-matrix.schema.json; FINE-PRINT 16"},
	{"MATRIX-DUPLICATE", SeverityError, "One entry speaks about one agent, family, platform and range.", "Generate the matrix from the records.", "FINE-PRINT 16"},
	{"VERSION-RANGE", SeverityError, "A range is an exact version, or comparators joined by spaces or ||.", "Write it like >=0.133.0 <0.134.0.", "specification, support-matrix.schema.json"},
	{"ERR-CLASSIFICATION-MISSING", SeverityError, "A failed or cancelled run has an expected classification.", "Add expected_failure_classification.", "specification, Error Case Records"},
	{"ERR-CLASSIFICATION-OF-SUCCESS", SeverityError, "The classifier gives nothing for a success; only a failure that the pinned consumer takes for a success has a classification.", "Write null, correct classifier_input.result, or say in extensions.consumers that the consumer gives null.", "specification, Error Case Records"},
	{"ERR-ENUM", SeverityError, "The classification has the consumer's words.", "Use one of the values named.", "specification, Error Case Records"},
	{"ERR-STAGE", SeverityError, "failure_stage is one of the consumer's TrackingRunFailureStage.", "Use one of the values named.", "specification, Error Case Records"},
	{"ERR-USER-ACTION", SeverityError, "user_action is one that the consumer offers; for auth that is login.", "Use one of the values named.", "specification, Error Case Records"},
	{"ERR-CANCEL", SeverityError, "user_cancel, cancel_origin and the result cancelled belong together, unless the pinned consumer misreads the run.", "Correct the classification or classifier_input.result.", "FINE-PRINT 10"},
}

// peopleRules are about evidence, decisions, questions and probes.
var peopleRules = []Rule{
	{"EVID-PAYLOAD", SeverityError, "An evidence record has exactly the member that is named like its kind.", "Add that member and remove the others.", "specification, Validity Levels; FINE-PRINT 1"},
	{"EVID-RETENTION", SeverityError, "What is kept has a date in the future until which it is kept; what was discarded has none.", "Correct retained_until or visibility.", "specification, Validity Levels"},
	{"EVID-PROMOTION-LEVEL", SeverityError, "A promotion goes up, or to server_variant.", "Correct from and to.", "FINE-PRINT 1"},
	{"EVID-PROMOTION-REPRODUCTION", SeverityError, "community_confirmed rests on a reproduction of the same observation, a server variant on none.", "Name the reproduction record, or make the promotion with agent-contracts promote.", "specification, Validity Levels"},
	{"POLICY-MAINTAINERS", SeverityError, "Maintainers are sorted by handle, each once.", "Sort the entries and merge those of one handle.", "FINE-PRINT 2"},
	{"POLICY-ORDER", SeverityError, "The policy has one entry an agent, sorted by agent.", "Sort the entries and merge those of one agent.", "FINE-PRINT 2"},
	{"POLICY-BREAKING-UNEXPLAINED", SeverityError, "What is known to break has a reason and evidence.", "Add reason and at least one link.", "specification, support-matrix.schema.json; FINE-PRINT 2"},
	{"LATEST-ORDER", SeverityError, "latest-seen has one entry an agent, sorted by agent.", "Run discover again.", "FINE-PRINT 2"},
	{"RELEASES-RULE", SeverityError, "The releases have one entry an agent and platform, each release once, in order.", "Run bisect again, or sort the entries.", "DESIGN D7"},
	{"INCIDENTS-RULE", SeverityError, "An incident names two captures, or why no capture shows it.", "Correct the entry that the message names.", "DESIGN D7"},
	{"DRIFT-IGNORE-ORDER", SeverityError, "drift-ignores has one entry a fingerprint and agent, sorted.", "Sort the entries and remove what is there twice.", "DESIGN D7"},
	{"ALIAS-ORDER", SeverityError, "Aliases are sorted by from, and each from is there once.", "Sort the entries.", "FINE-PRINT 1"},
	{"ALIAS-CYCLE", SeverityError, "Following aliases ends.", "Remove the alias that leads back.", "FINE-PRINT 1"},
	{"REQ-ID", SeverityError, "A Request's id is the hash of run, step, ordinal, kind and prompt.", "Make Requests with the program, not by hand.", "FINE-PRINT 21"},
	{"REQ-DATA-SCHEMA", SeverityError, "A Request carries the JSON Schema of its Answer's data, complete in itself.", "Correct data_schema; it may not refer to other documents.", "FINE-PRINT 20"},
	{"REQ-EXPIRY", SeverityError, "A Request expires after it was made.", "Correct expires_at.", "FINE-PRINT 20"},
	{"ANS-DATA-MISSING", SeverityError, "An answered Request has data.", "Add the data that the Request's data_schema asks for, or decline.", "specification, ADR 0026; FINE-PRINT 20"},
	{"ANS-DATA-UNEXPECTED", SeverityError, "A declined or expired Request has no data.", "Remove data.", "specification, ADR 0026"},
	{"ANS-REQUEST", SeverityError, "An Answer names the Request it is for.", "Answer the Request that is pending; review list shows it.", "specification, ADR 0026"},
	{"ANS-KIND", SeverityError, "An Answer has its Request's kind.", "Make the Answer with the command for that kind.", "DESIGN D11"},
	{"ANS-DATA", SeverityError, "An Answer's data validates against its Request's data_schema; nothing is guessed.", "review show prints the data_schema; answer with data that fits.", "FINE-PRINT 20"},
	{"AGENTS-RULE", SeverityError, "The agents file is consistent in itself.", "Correct what the message names.", "DESIGN D2"},
	{"SCENARIO-RULE", SeverityError, "A scenario says what the provider can answer.", "Correct what the message names.", "DESIGN D1"},
	{"EXPECTATION-RULE", SeverityError, "An expectation is machine-checkable.", "Correct what the message names.", "DESIGN D9, FINE-PRINT 13"},
}
