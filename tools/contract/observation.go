package contract

// Observation is one real capture (spec observation.schema.json). It is never
// edited after it was written (FINE-PRINT 1).
type Observation struct {
	SchemaVersion  int                   `json:"schema_version"`
	Agent          string                `json:"agent"`
	CLIVersion     string                `json:"cli_version"`
	Platform       Platform              `json:"platform"`
	Probe          string                `json:"probe"`
	ProtocolFamily ProtocolFamily        `json:"protocol_family"`
	ValidityLevel  ValidityLevel         `json:"validity_level"`
	Install        ObservationInstall    `json:"install"`
	Command        ObservationCommand    `json:"command"`
	Capture        ObservationCapture    `json:"capture"`
	Redaction      ObservationRedaction  `json:"redaction"`
	Shape          ShapeRef              `json:"shape"`
	ParserReplay   ParserReplay          `json:"parser_replay"`
	Extensions     ObservationExtensions `json:"extensions"`
}

// ObservationInstall says what was run.
type ObservationInstall struct {
	Source       string  `json:"source"` // npm:<package>@<version>, binary:<file name> …
	BinarySHA256 *Digest `json:"binary_sha256"`
}

// ObservationCommand says how it was started; secrets and paths are templates.
type ObservationCommand struct {
	ArgvTemplate []string  `json:"argv_template"`
	StdinMode    StdinMode `json:"stdin_mode"`
}

// ObservationCapture says when and where, and pins the raw bytes by hash.
type ObservationCapture struct {
	CapturedAt                string  `json:"captured_at"` // UTC, RFC 3339 with Z
	Runner                    string  `json:"runner"`
	WorkflowRunURL            *string `json:"workflow_run_url"`
	RawStdoutSHA256           *Digest `json:"raw_stdout_sha256"`
	RawStderrSHA256           *Digest `json:"raw_stderr_sha256"`
	RawClientTranscriptSHA256 Digest  `json:"raw_client_transcript_sha256"`
	RawArtifactVisibility     string  `json:"raw_artifact_visibility"` // private public discarded_after_redaction
}

// ObservationRedaction says what the redactor made of the raw transcript.
type ObservationRedaction struct {
	ToolVersion string          `json:"tool_version"`
	Status      RedactionStatus `json:"status"`
}

// ShapeRef points at a shape by hash and by place in the registry.
type ShapeRef struct {
	Signature Digest `json:"signature"`
	Path      string `json:"path"`
}

// ParserReplay is what the consumer made of the transcript at capture time.
type ParserReplay struct {
	OpenDesignCommit *string      `json:"open_design_commit"`
	Status           ReplayStatus `json:"status"`
	Golden           string       `json:"golden,omitempty"` // place in the registry
}

// ObservationExtensions holds what FINE-PRINT 3 and DESIGN D1, D6 and D9 add.
type ObservationExtensions struct {
	Provider      ProviderKind `json:"provider"`
	Profile       string       `json:"profile"`  // production, compatible …
	Isolated      bool         `json:"isolated"` // own network namespace with loopback only
	Launcher      string       `json:"launcher"` // native or npm-wrapper: which program was called
	ProbeRevision Digest       `json:"probe_revision"`
	Dialect       string       `json:"dialect"`
	VersionOutput string       `json:"version_output"` // the version probe's line, redacted
	Fixture       string       `json:"fixture"`        // place in the registry
	FixtureSHA256 Digest       `json:"fixture_sha256"`
	// ReferenceGolden is the place of the reference reading.
	ReferenceGolden string `json:"reference_golden,omitempty"`
	Normalizer      string `json:"normalizer"`
	// Readers is the version of the adapters that read the transcript.
	Readers string `json:"readers"`

	ExitCode       *int   `json:"exit_code"`
	Signal         string `json:"signal,omitempty"`
	Ended          string `json:"ended"` // exit, timeout or kill
	EndReason      string `json:"end_reason,omitempty"`
	StderrDetail   string `json:"stderr_detail"` // class before folding diagnostic and debug
	ReportedResult string `json:"reported_result"`
	RunResult      string `json:"run_result"`
	WeakSuccess    bool   `json:"weak_success,omitempty"`
	// Usefulness is what the CLI itself said of its work; nil if nothing.
	Usefulness *Usefulness `json:"usefulness,omitempty"`

	// OptionalKinds and AfterTerminal are parts of the run outside the
	// shape's identity.
	OptionalKinds []FrameShape `json:"optional_kinds,omitempty"`
	AfterTerminal []FrameShape `json:"after_terminal,omitempty"`

	// ACPSchema is the version of the check that gave ACPDeviations: how the
	// frames of an ACP run deviate from the protocol's official schema and rules
	// (tools/replay/acpschema), sorted. "" for other families.
	ACPSchema     string         `json:"acp_schema,omitempty"`
	ACPDeviations []ACPDeviation `json:"acp_deviations,omitempty"`

	Pinned     Pinned              `json:"pinned"`
	Violations []ContractViolation `json:"violations,omitempty"`
	// Findings are short, redacted statements about this run that a
	// maintainer should see, such as a refused production argv.
	Findings []string `json:"findings,omitempty"`
	// Requests tells what the CLI asked the emulated provider.
	Requests *RequestSummary `json:"requests,omitempty"`
}

// ACPDeviation is one way in which frames of an ACP run deviate from the
// protocol. It holds no text of the run.
type ACPDeviation struct {
	By string `json:"by"` // agent or client: who sent the frames
	// Frame is their method, with the kind of an update or ":result" or
	// ":error" behind it; empty for what is no message.
	Frame string `json:"frame,omitempty"`
	Kind  string `json:"kind"` // a word of tools/replay/acpschema
	// Pointer is the place in the frame; * stands for every place in a list and
	// every name that is not the protocol's.
	Pointer string `json:"pointer,omitempty"`
	Count   int    `json:"count"`
}

// Usefulness counts what a CLI or an adapter itself said of its work
// (specification 002, decision 3; FINE-PRINT 12). We pass it through and never
// say it for them.
type Usefulness struct {
	LowUtility        int `json:"low_utility,omitempty"`
	WrongToolBoundary int `json:"wrong_tool_boundary,omitempty"`
}

// The words of Usefulness, as CLIs and adapters print them.
const (
	WordLowUtility        = "low_utility"
	WordWrongToolBoundary = "wrong_tool_boundary"
)

// Pinned records the settings that a probe pins (DESIGN D1).
type Pinned struct {
	Model       string `json:"model"`
	DelayMS     int    `json:"delay_ms"` // provider's delay before an answer that follows a tool result
	MaxRetries  int    `json:"max_retries"`
	ChunkRunes  int    `json:"chunk_runes"` // size of the provider's text pieces; 0: as the scenario says, -1: whole
	TimeoutMS   int    `json:"timeout_ms"`
	ProviderAPI string `json:"provider_api"` // openai-responses, anthropic-messages …
}

// RequestSummary counts the requests that reached the emulated provider.
type RequestSummary struct {
	Model      int `json:"model"`      // answered by the scenario
	Side       int `json:"side"`       // recognised side requests
	Unexpected int `json:"unexpected"` // not in the scenario: the capture failed
	// History is the number of the model's former answers in the first request
	// of a run that resumes a session; nil for every other run.
	History *int `json:"history,omitempty"`
	// Images is the number of images in the request that had most.
	Images int `json:"images,omitempty"`
}

// ContractViolation is one broken expectation (DESIGN D9).
type ContractViolation struct {
	Kind     string `json:"kind"`
	Path     string `json:"path"` // place in the expectation, as a JSON pointer
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

// NotAgain says why an observation is no repetition of another one's run, "" if it
// is one.
func (o *Observation) NotAgain(of *Observation) string {
	switch {
	case o.Agent != of.Agent || o.CLIVersion != of.CLIVersion || o.Platform != of.Platform || o.Probe != of.Probe || o.Extensions.Profile != of.Extensions.Profile:
		return "it is about another version, platform, probe or profile"
	case o.Capture.RawClientTranscriptSHA256 == of.Capture.RawClientTranscriptSHA256:
		return "it has the same raw transcript: it is a copy"
	}
	return ""
}
