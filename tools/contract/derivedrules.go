package contract

// derivedRules are about what can be derived again from the records. Package
// validate applies them.
var derivedRules = []Rule{
	{"SHAPE-DERIVED", SeverityError, "A shape is byte for byte what its fixture gives, with the level that its observations give.", "Restore the file from version control, or capture again; never edit a shape.", "DESIGN D6, FINE-PRINT 1"},
	{"GOLDEN-DERIVED", SeverityError, "A golden is byte for byte what its adapter reads in the fixture.", "Restore the file from version control; a changed adapter needs new goldens in the same change.", "specification, Validation Plan"},
	{"MATRIX-DERIVED", SeverityError, "The matrix is byte for byte what the records give.", "Run agent-contracts matrix --write and commit the result.", "DESIGN D10"},
	{"OBS-DERIVED", SeverityError, "What an observation says of its run is what its fixture shows.", "Restore the file from version control; observations are never edited.", "FINE-PRINT 1"},
	{"OBS-EVIDENCE", SeverityError, "Every observation has an evidence record beside it that pins its bytes.", "Restore the evidence record, or capture again.", "specification, Validity Levels"},
	{"ERR-DERIVED", SeverityError, "An error case is byte for byte what its fixture and its observation give.", "Run agent-contracts errors --write and commit the result.", "FINE-PRINT 10"},
	{"OBS-ERROR-CASE", SeverityError, "Every observation and every synthetic run that failed has an error case.", "Run agent-contracts errors --write and commit the result; for a synthetic run restore the file, or make the run again.", "specification, Error Contract Coverage"},
	{"FILE-ORPHAN", SeverityError, "Every shape, fixture and golden belongs to an observation or to source evidence.", "Remove the file, or restore the record that named it.", "FINE-PRINT 7"},
	{"FILE-UNKNOWN", SeverityError, "Folders of records hold nothing but records.", "Remove the file, or give it the name of its kind.", "specification, Repository Shape"},
	{"FIXTURE-SYNTAX", SeverityError, "A fixture is a sanitized transcript in canonical form.", "Restore the file from version control, or capture again.", "specification, transcript.schema.json"},
	{"COVERAGE-UNMARKED", SeverityError, "A Tier 0 agent marks every probe of the specification's breadth as captured, impossible or missing.", "Add the mark in registry/agents.json.", "FINE-PRINT 5"},
	{"COVERAGE-UNTRUE", SeverityWarning, "A probe marked as captured has an observation.", "Capture it, or mark it as missing with a reason.", "FINE-PRINT 5"},
	{"PROBE-FILES", SeverityError, "A probe has a prompt, a scenario, an expectation and an environment policy, and nothing else but fixture-files/.", "Add or rename the file.", "specification, Probe Definition"},
}
