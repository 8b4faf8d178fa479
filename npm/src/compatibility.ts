/** The specification's DTO about an installed CLI, and the classification behind it. */
import type { Claim, Probed, Support } from "./support.js";
import type { AllowRun, Evidence, SupportStatus, UserAction } from "./words.js";

/** The status of an installed CLI; the same words as the support matrix has. */
export type AgentCliCompatibilityStatus = SupportStatus;

/** What the answer rests on. */
export type AgentCliCompatibilityEvidence = Evidence;

/** What is asked: GET /api/agents/:agent/cli-compatibility?probe=0|1. */
export interface AgentCliCompatibilityRequest {
  agent: string;
  /** Whether a bounded local probe may run. */
  probe: boolean;
}

/** The answer, the same on every surface. */
export interface AgentCliCompatibilityResponse {
  schema_version: 1;
  /** When the answer was made. */
  generated_at: string;
  agent: string;
  installed_version: string | null;
  platform: string;
  status: AgentCliCompatibilityStatus;
  policy: { allow_run: AllowRun; user_action: UserAction };
  evidence: AgentCliCompatibilityEvidence;
}

/**
 * What a local probe found: its active shape, which the matrix then judges, or
 * the judgement itself, in the words of the specification's listing.
 */
export type LocalProbe =
  | Probed
  | { matchedSupportedShape?: boolean; matchedKnownBreakingShape?: boolean; shapeUnknown?: boolean; at?: string };

/** Runs a bounded probe of the installed CLI; nothing for no probe. */
export type ProbeRunner = (agent: string) => LocalProbe | null | undefined | Promise<LocalProbe | null | undefined>;

/** How to classify. */
export interface ClassifyOptions {
  /** Asked only where neither too old nor known breaking has decided. */
  probe?: ProbeRunner;
  /** The claims; those of this package unless said otherwise. */
  support?: Support;
}

/** Classifies with a given matrix: the specification's classifyInstalledCli, in its order. */
export async function claimOf(support: Support, agent: string, version: string, platform: string, probe?: ProbeRunner): Promise<Claim> {
  const before = support.classify(agent, version, platform);
  // What is known not to work is not started to find out more.
  if (before.status === "too_old" || before.status === "known_breaking" || probe === undefined) return before;
  const found = await probe(agent);
  if (found === null || found === undefined) return before;
  if ("shape" in found) return support.classify(agent, version, platform, found);
  return judged(before, found);
}

function judged(before: Claim, found: Exclude<LocalProbe, Probed>): Claim {
  const by = (status: SupportStatus, allow_run: AllowRun, user_action: UserAction): Claim => ({
    ...before,
    status,
    policy: { allow_run, user_action },
    evidence: { ...before.evidence, source: "local_probe", observed_at: found.at ?? null, shape_signature: null },
    answer: allow_run === "allow" ? "yes" : allow_run === "block" ? "no" : "cannot_know",
  });
  if (found.matchedSupportedShape) return by("local_shape_verified", "allow", "none");
  if (found.matchedKnownBreakingShape) return by("known_breaking_shape", "block", "pin_supported_version");
  return found.shapeUnknown ? by("active_shape_unknown", "warn", "report_unknown_shape") : before;
}

/** Makes the response of a claim. */
export function respond(claim: Claim, generatedAt: Date = new Date()): AgentCliCompatibilityResponse {
  return {
    schema_version: 1,
    generated_at: generatedAt.toISOString().replace(/\.\d+Z$/, "Z"),
    agent: claim.agent,
    installed_version: claim.version === "" ? null : claim.version,
    platform: claim.platform,
    status: claim.status,
    policy: claim.policy,
    evidence: claim.evidence,
  };
}

const shape = (digit: string) => "sha256:" + digit.repeat(64);

function example(
  status: SupportStatus,
  allow_run: AllowRun,
  user_action: UserAction,
  evidence: Partial<Evidence> = {},
  installed_version: string | null = "0.133.0",
): AgentCliCompatibilityResponse {
  return {
    schema_version: 1,
    generated_at: "2026-06-27T10:00:00Z",
    agent: "codex",
    installed_version,
    platform: "darwin-arm64",
    status,
    policy: { allow_run, user_action },
    evidence: {
      version_range: ">=0.133.0 <0.134.0",
      shape_signature: shape("a"),
      observed_at: "2026-06-27T10:00:00Z",
      source: "support_matrix",
      server_variant_possible: false,
      ...evidence,
    },
  };
}

const nothing: Partial<Evidence> = { version_range: null, shape_signature: null, observed_at: null, source: "none" };

/** A payload of each status, for tests of what shows or passes them on. */
export const compatibilityExamples: Record<SupportStatus, AgentCliCompatibilityResponse> = {
  local_shape_verified: example("local_shape_verified", "allow", "none", { source: "local_probe" }),
  version_range_verified: example("version_range_verified", "allow", "none"),
  server_variant_possible: example("server_variant_possible", "warn", "run_local_probe", { server_variant_possible: true }),
  newer_than_verified: example("newer_than_verified", "warn", "run_local_probe", nothing, "0.200.0"),
  too_old: example("too_old", "block", "upgrade_cli", { version_range: "<0.44.0", shape_signature: null, observed_at: null }, "0.20.0"),
  known_breaking: example("known_breaking", "block", "pin_supported_version", { source: "known_breaking" }),
  known_breaking_shape: example("known_breaking_shape", "block", "pin_supported_version", { source: "local_probe", shape_signature: shape("c") }),
  active_shape_unknown: example("active_shape_unknown", "warn", "report_unknown_shape", { source: "local_probe", shape_signature: shape("d") }),
  unknown: example("unknown", "warn", "run_local_probe", nothing, null),
};
