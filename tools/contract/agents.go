package contract

import "slices"

// AgentsFile is registry/agents.json: every agent CLI as data (DESIGN D2), so
// that a new CLI of a known family needs no code. Its schema is
// schemas/agents.schema.json; Validate checks what a schema cannot say.
type AgentsFile struct {
	SchemaVersion int            `json:"schema_version"`
	Agents        []Agent        `json:"agents"`
	Extensions    map[string]any `json:"extensions,omitempty"`
}

// Agent is one CLI. An agent without an exemption has everything that a
// capture needs; an exempt one may have no more than its id, name and families.
type Agent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Tier is 0 for the CLIs whose coverage must be complete, up to 2.
	Tier             int              `json:"tier"`
	ProtocolFamilies []ProtocolFamily `json:"protocol_families"`
	// Commands names the program on PATH; see ProgramNames.
	Commands        []string        `json:"commands,omitempty"`
	CredentialModel CredentialModel `json:"credential_model,omitempty"`
	// FreshnessDays is the age at which a claim about this agent is stale.
	FreshnessDays int `json:"freshness_days,omitempty"`
	// RepresentativeProbe is the probe whose shape stands for the agent in a
	// compatibility answer (FINE-PRINT 17).
	RepresentativeProbe string `json:"representative_probe,omitempty"`
	// Exemption says why the agent has no records.
	Exemption    string          `json:"exemption,omitempty"`
	Install      *AgentInstall   `json:"install,omitempty"`
	Discover     *AgentDiscover  `json:"discover,omitempty"`
	Source       *AgentSource    `json:"source,omitempty"`
	VersionProbe *VersionProbe   `json:"version_probe,omitempty"`
	HelpProbe    *HelpProbe      `json:"help_probe,omitempty"`
	Launches     []AgentLaunch   `json:"launches,omitempty"`
	Providers    []AgentProvider `json:"providers,omitempty"`
	HomeFiles    []AgentHomeFile `json:"home_files,omitempty"`
	// SessionLog is the file in which the CLI keeps what it knows of a session
	// and does not print: a pattern of one path under HOME. Captures record it
	// beside the pipes; what of it is published is for Families.SessionLogs to
	// say.
	SessionLog string    `json:"session_log,omitempty"`
	Env        *AgentEnv `json:"env,omitempty"`
	// Coverage marks each probe of the agent's tier.
	Coverage   map[string]ProbeCoverage `json:"coverage,omitempty"`
	Extensions map[string]any           `json:"extensions,omitempty"`
}

// CredentialModel says where a CLI has its credentials from.
type CredentialModel string

// The credential models of the consumer's agents.
const (
	CredentialVendorLogin   CredentialModel = "vendor_login"   // a login file or keyring; an API key in the environment works too
	CredentialAPIKey        CredentialModel = "api_key"        // environment or configuration file
	CredentialHostedAccount CredentialModel = "hosted_account" // an account of the consumer's own service
	CredentialHostSupplied  CredentialModel = "host_supplied"  // the consumer hands over its user's key
)

// CredentialModels lists every credential model.
var CredentialModels = []CredentialModel{CredentialVendorLogin, CredentialAPIKey, CredentialHostedAccount, CredentialHostSupplied}

// AgentInstall says where releases come from.
type AgentInstall struct {
	NPM NPMInstall `json:"npm"`
}

// NPMInstall is an npm package and the program inside it.
type NPMInstall struct {
	Package string `json:"package"`
	// Bin is the name of the package's command, a key of `bin` in its package.json.
	Bin string `json:"bin"`
	// Earlier names the package of releases from before it was renamed; the
	// first match wins. Ranges and dist-tags are looked up in Package alone.
	Earlier []EarlierPackage `json:"earlier,omitempty"`
	// AllowScripts lets the package's install scripts run. Real ones edit
	// shell profiles, so it is off unless a release cannot work without.
	AllowScripts bool `json:"allow_scripts,omitempty"`
	// Node is the Node.js range that the JavaScript of these releases needs
	// when their package.json understates it; else package.json decides.
	Node []NodeRequirement `json:"node,omitempty"`
	// Native names the program to call directly, by version; the first match
	// wins. Releases without a match are started as their npm command is.
	Native []NativeBinary `json:"native,omitempty"`
	// Triples maps a platform to the value of {triple} in native paths.
	Triples map[Platform]string `json:"triples,omitempty"`
}

// EarlierPackage is a name that an npm package had before.
type EarlierPackage struct {
	Versions string `json:"versions"`
	Package  string `json:"package"`
	Bin      string `json:"bin"`
}

// NodeRequirement is a Node.js range for a range of releases.
type NodeRequirement struct {
	Versions string `json:"versions"`
	Node     string `json:"node"`
}

// NativeBinary is the place of a release's native program.
type NativeBinary struct {
	Versions string `json:"versions"`
	// Path is relative to node_modules; {platform}, {triple} and {exe} (".exe"
	// on Windows, else nothing) are filled in.
	Path string `json:"path"`
	// PlatformPackage is the npm specification, with {version} and {platform},
	// of the package that holds the program where npm does not install it by itself.
	PlatformPackage string `json:"platform_package,omitempty"`
}

// VersionScheme says what a suffix of a version means.
type VersionScheme string

// The version schemes. The number may have two parts or be a date in each.
const (
	SchemePrerelease VersionScheme = "prerelease" // -alpha.9 comes before the release
	SchemeBuild      VersionScheme = "build"      // -8fe8a63 or -3 is a build of it, never older
)

// VersionProbe says how to ask a CLI for its version (DESIGN D3).
type VersionProbe struct {
	Args      []string      `json:"args"`
	TimeoutMS int           `json:"timeout_ms"`
	Scheme    VersionScheme `json:"scheme"`
	// Products tells programs of one name apart by the line that holds the
	// version; versions of different products are never compared.
	Products []VersionProduct `json:"products"`
	// Handshake asks the releases that print no version.
	Handshake *VersionHandshake `json:"handshake,omitempty"`
}

// VersionHandshake asks a release for its version by its protocol's first
// request: it is started without arguments, and the first line that it prints
// is its answer, which names the version.
type VersionHandshake struct {
	Versions string `json:"versions"`
	Request  string `json:"request"` // one line, without its end
}

// VersionProduct is one product behind a command name.
type VersionProduct struct {
	ID string `json:"id"`
	// Pattern is an RE2 expression that the version line of this product
	// matches. A group named version says where the version stands in it.
	Pattern string `json:"pattern"`
}

// HelpProbe asks a CLI which flags it has, as the consumer does before it uses
// them: a flag of Flags stays in an argv only if the output contains it.
type HelpProbe struct {
	Args      []string `json:"args"`
	TimeoutMS int      `json:"timeout_ms"`
	Flags     []string `json:"flags"`
}

// The argv profiles of DESIGN D1.
const (
	ProfileProduction = "production" // the consumer's argv, byte for byte
	ProfileCompatible = "compatible" // the nearest argv that the release accepts, or its own event stream
)

// The clients of two-way protocols.
const (
	ClientOpenDesign = "open-design"
	ClientStrict     = "strict"
)

// AgentLaunch is one way to start the CLI. The first launch whose profile,
// version and probe fit is used.
type AgentLaunch struct {
	Profile string `json:"profile"`
	// Dialect is an id of registry/families.json.
	Dialect  string `json:"dialect"`
	Versions string `json:"versions"`
	// Probes limits the launch to some probes; empty: all.
	Probes    []string  `json:"probes,omitempty"`
	Argv      []string  `json:"argv"` // with template variables
	StdinMode StdinMode `json:"stdin_mode"`
	// Env holds variables of this launch alone, with template variables.
	Env map[string]string `json:"env,omitempty"`
	// Client is who talks to the CLI in a two-way protocol: "" or
	// ClientOpenDesign for the consumer's session, ClientStrict for one that
	// keeps to the protocol's specification. SessionMode, SessionModel (with
	// template variables) and AuthMethod are what the latter asks for: the
	// session's mode and model, and the id of the method to authenticate with.
	Client       string `json:"client,omitempty"`
	SessionMode  string `json:"session_mode,omitempty"`
	SessionModel string `json:"session_model,omitempty"`
	AuthMethod   string `json:"auth_method,omitempty"`
	// SessionID is where the run before this one printed the session's id: the
	// names of members, joined by dots, in one of its frames. Empty: the host
	// minted it, {uuid} of that run.
	SessionID string `json:"session_id,omitempty"`
	// SessionFile is where that run left its session instead, when a session is
	// known by its file: a pattern of one path under HOME (path/filepath.Match
	// in each part). The file's absolute path is then the session.
	SessionFile string `json:"session_file,omitempty"`
}

// ProviderAPI names the model API that a CLI speaks to its provider.
type ProviderAPI string

// The provider APIs that the loopback provider serves.
const (
	APIOpenAIResponses   ProviderAPI = "openai-responses"
	APIOpenAIChat        ProviderAPI = "openai-chat"
	APIAnthropicMessages ProviderAPI = "anthropic-messages"
	APIGemini            ProviderAPI = "gemini"
)

// ProviderAPIs lists every provider API.
var ProviderAPIs = []ProviderAPI{APIOpenAIResponses, APIOpenAIChat, APIAnthropicMessages, APIGemini}

// AgentProvider says which API a range of releases speaks; first match wins.
type AgentProvider struct {
	Versions string      `json:"versions"`
	API      ProviderAPI `json:"api"`
}

// AgentHomeFile is a file that a hermetic capture puts into the empty HOME.
type AgentHomeFile struct {
	// Path is relative to HOME, or to the workspace after "{cwd}/".
	Path     string `json:"path"`
	Versions string `json:"versions,omitempty"` // empty: all
	// Probes limits the file to some probes, for which it replaces a file of
	// the same path without that limit; empty: all.
	Probes []string `json:"probes,omitempty"`
	Text   string   `json:"text"` // with template variables
}

// WorkspacePrefix begins the path of a HOME file that belongs into the
// workspace: some CLIs read their settings there.
const WorkspacePrefix = "{cwd}/"

// AgentEnv is the environment of a child: nothing else reaches it.
type AgentEnv struct {
	// Inherit names the host's variables that the child may see.
	Inherit []string `json:"inherit"`
	// Set holds values with template variables.
	Set map[string]string `json:"set"`
	// Hermetic is set too unless the capture is live: the provider's address,
	// pinned settings, and switches that silence the network.
	Hermetic map[string]string `json:"hermetic"`
	// Live names the host's variables that hold real credentials; only a live
	// capture hands them to the child.
	Live []string `json:"live"`
	// Credentials adds variables by credential state.
	Credentials map[CredentialState]map[string]string `json:"credentials"`
}

// CredentialState says what a probe gives the CLI to log in with.
type CredentialState string

// The credential states of a hermetic capture.
const (
	CredentialsDummy   CredentialState = "dummy"   // a made-up key that the provider takes
	CredentialsNone    CredentialState = "none"    // no key at all
	CredentialsInvalid CredentialState = "invalid" // a made-up key that the provider refuses
)

// CredentialStates lists every credential state.
var CredentialStates = []CredentialState{CredentialsDummy, CredentialsNone, CredentialsInvalid}

// CoverageStatus says whether a probe of an agent has records.
type CoverageStatus string

// The coverage statuses of FINE-PRINT 5.
const (
	CoverageCaptured   CoverageStatus = "captured"
	CoverageImpossible CoverageStatus = "impossible"
	CoverageMissing    CoverageStatus = "missing"
)

// CoverageStatuses lists every coverage status.
var CoverageStatuses = []CoverageStatus{CoverageCaptured, CoverageImpossible, CoverageMissing}

// ProbeCoverage marks one probe; Reason is required unless it is captured.
type ProbeCoverage struct {
	Status CoverageStatus `json:"status"`
	Reason string         `json:"reason,omitempty"`
}

// BasicProbes are the probes with which an agent begins: the specification's
// minimum, without the list of models, which few have a command for.
var BasicProbes = []string{
	"version-probe", "chat-text-success", "chat-tool-success", "chat-tool-failure",
	"file-write-artifact", "auth-failure", "provider-failure", "interrupted-or-malformed-stream",
}

// MarkedProbes are the probes that every Tier 0 agent marks in its coverage: the
// basic ones and those with which the specification goes on, as far as they
// apply to streams in one direction ("Contract Breadth").
var MarkedProbes = append(slices.Clone(BasicProbes),
	"model-probe", "resume-session", "mcp-injection", "image-attachment", "large-prompt", "empty-output", "stderr-only-failure")

// VersionProbeID is the probe that only asks for the version.
const VersionProbeID = "version-probe"

// ToldProbes are the probes that a CLI has to be told about in a way of its
// own: an agent without a launch or a HOME file for one of them does not do it.
var ToldProbes = []string{
	"model-probe", "resume-session", "resume-missing", "image-attachment",
	"mcp-injection", "mcp-failure", "mcp-unavailable",
	"bad-config", "stderr-only-failure", "max-turns",
	// Those of two-way protocols.
	"permission-request", "permission-rejected", "permission-cancelled",
	"rpc-cancel", "rpc-cancel-text", "rpc-cancel-early", "rpc-cancel-late",
	"acp-handshake-failure", "acp-handshake-invalid", "acp-handshake-garbage",
	"acp-session-setup", "acp-session-resume",
}

// ResumeProbes are the probes whose run takes up a session: one that a run
// before it left, or one that nobody knows.
var ResumeProbes = []string{"resume-session", "resume-missing", "acp-session-resume"}

// FirstRun is the name under which a launch says how the first run of a probe
// with EnvPolicy.Before is started, where that is not as usual.
func FirstRun(probe string) string { return probe + "-first" }

// ProbeFiles are the files of a probe's folder probes/<id>/; the folder
// fixture-files/ beside them is the workspace's content and may be empty.
var ProbeFiles = []string{"prompt.md", "scenario.json", "expected-min-events.json", "env-policy.json"}

// EnvPolicy is a probe's env-policy.json: what the probe changes in the
// agent's environment. Its schema is schemas/probe.schema.json.
type EnvPolicy struct {
	SchemaVersion int `json:"schema_version"`
	// Credentials selects one of the agent's credential states.
	Credentials CredentialState `json:"credentials"`
	// Set and Unset change single variables after everything else; values may
	// hold template variables.
	Set   map[string]string `json:"set,omitempty"`
	Unset []string          `json:"unset,omitempty"`
	// AppendArgs follow the argv of the launch; they may hold template variables.
	AppendArgs []string `json:"append_args,omitempty"`
	// Executable is ExecutableMissing when a path that does not exist is
	// started instead of the CLI, and else empty.
	Executable string `json:"executable,omitempty"`
	// Workspace is WorkspaceReadOnly when the CLI may not write into its
	// working folder, and else empty.
	Workspace string `json:"workspace,omitempty"`
	// Before names a probe that is run first, in the same place, and has to
	// succeed: it leaves the session that this one resumes.
	Before     string         `json:"before,omitempty"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// What a probe may do to the surroundings of a CLI.
const (
	ExecutableMissing = "missing"
	WorkspaceReadOnly = "read-only"
)

// TemplateVariables are the names that may stand in braces in an argv, a HOME
// file or an environment value.
var TemplateVariables = []string{"cwd", "home", "tmp", "prompt", "prompt_file", "base_url", "model", "max_retries", "uuid", "api_key", "session_id"}

// ProgramNames returns the names of the agent's program on PATH, in the order
// in which the consumer looks for them.
func (a *Agent) ProgramNames() []string {
	switch {
	case len(a.Commands) > 0:
		return a.Commands
	case a.Install != nil:
		return []string{a.Install.NPM.Bin}
	}
	return []string{a.ID}
}

// Agent returns the agent with the given id, or nil.
func (f *AgentsFile) Agent(id string) *Agent {
	if i := slices.IndexFunc(f.Agents, func(a Agent) bool { return a.ID == id }); i >= 0 {
		return &f.Agents[i]
	}
	return nil
}
