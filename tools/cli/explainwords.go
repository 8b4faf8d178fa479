package cli

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/plan"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/acpschema"
)

// word is a code that belongs to no rule: what an answer or a table says.
type word struct{ of, code, meaning string }

// wordSources say where there is more to read.
var wordSources = map[string]string{
	"status": "docs/COMPATIBILITY.md", "verdict": "docs/AUTOMATION.md", "plan": "docs/HEALTH.md", "acp": "docs/ACP.md",
}

// words are explained beside the rules. A test holds them against the enums
// that the codes come from.
var words = []word{
	{"status", string(contract.SupportLocalShapeVerified), "A local probe of the installed CLI gave a shape that is verified: it may run."},
	{"status", string(contract.SupportVersionRangeVerified), "The version was captured and the consumer's reading loses nothing, or it lies between two such captures with one shape; then it is interpolated and the answer stays cannot know."},
	{"status", string(contract.SupportServerVariantPossible), "A live provider gave several shapes for this version: a local probe says which one is active."},
	{"status", string(contract.SupportNewerThanVerified), "The version is newer than every verified one: nobody looked yet."},
	{"status", string(contract.SupportTooOld), "People set a floor in registry/policy.json and the version lies below it: upgrade the CLI."},
	{"status", string(contract.SupportKnownBreaking), "People found the version to break and said why in registry/policy.json: pin one that is verified."},
	{"status", string(contract.SupportKnownBreakingShape), "The shape is one that people found to break: pin a version with another one."},
	{"status", string(contract.SupportActiveShapeUnknown), "A local probe gave a shape that nobody ever captured: capture it and report it."},
	{"status", string(contract.SupportUnknown), "Nothing is verified: not captured, captures disagree, or the consumer's reading loses or doubles something. The reasons say which."},

	{"verdict", string(contract.VerdictSameShape), "The structure is the same."},
	{"verdict", string(contract.VerdictCompatibleNewShape), "The structure differs in ways that a tolerant reader takes."},
	{"verdict", string(contract.VerdictServerVariant), "One version has several shapes from a live provider: none replaces the other."},
	{"verdict", string(contract.VerdictParserIncompatible), "A reader that was written for the older shape loses or misreads something; the signals say what."},
	{"verdict", string(contract.VerdictRedactionFailed), "The redaction gate refused the transcript: nothing of it is published."},

	{"plan", string(plan.NewVersion), "Discovery saw a release that nobody captured."},
	{"plan", string(plan.Stale), "The newest capture is older than the agent's freshness_days."},
	{"plan", string(plan.SourceRisk), "Source evidence names a version that nobody captured."},
	{"plan", string(plan.Dispute), "Captures of one version disagree about the shape: a further one decides."},
	{"plan", string(plan.UserCorrection), "A maintainer corrected the reading of the run, and nobody captured it since."},
	{"plan", string(plan.NewViolation), "The run breaks an expectation that the version before met."},
	{"plan", string(plan.WeakSuccess), "The newest run is a success without substance."},
	{"plan", string(plan.UncoveredProbe), "A probe of the agent of which its newest version has no record."},
	{"plan", string(plan.Unconfirmed), "A shape of the newest version was seen once."},
	{"plan", string(plan.OneMore), "One more capture supports a range, or says where it ends."},

	{"acp", acpschema.KindMissingMember, "A member that the protocol's schema requires is not there."},
	{"acp", acpschema.KindWrongType, "A member has another type than the protocol's schema says."},
	{"acp", acpschema.KindUnknownValue, "A member has none of the values that the protocol's schema lists."},
	{"acp", acpschema.KindOutOfRange, "A number lies outside what the protocol's schema allows."},
	{"acp", acpschema.KindBrokenRule, "Another rule of the protocol's schema is broken."},
	{"acp", acpschema.KindNotJSON, "A line is no JSON."},
	{"acp", acpschema.KindBatch, "A list or a bare value stands where one message is due."},
	{"acp", acpschema.KindUnknownMethod, "The method is not of the protocol and has no _ of an extension."},
	{"acp", acpschema.KindWrongForm, "A notification has an id, a request has none, or an answer has both result and error, or neither."},
	{"acp", acpschema.KindUnaskedAnswer, "An answer has an id that nobody asked with."},
	{"acp", acpschema.KindHTTPStatus, "The error's code is an HTTP status, not one of JSON-RPC."},
	{"acp", acpschema.KindSharedID, "A request has an id that the other side has used: legal, and a trap for a client with one table."},
	{"acp", acpschema.KindLateUpdate, "An update of the turn came after the answer to its prompt."},
	{"acp", acpschema.KindUnannouncedCall, "An update or a question is about a tool call that no tool_call announced."},
}
