/**
 * The claims alone, for those who want nothing else: the support matrix
 * without what only the registry's own tools read, in the bundle. No file is
 * read, so that it works in any bundler and any runtime.
 *
 * The data is not part of the sources: the build makes it from the registry.
 */
import { text } from "./generated/compact.js";

import { coverageOf, type Coverage } from "./coverage.js";
import { claimOf, respond, type AgentCliCompatibilityResponse, type ClassifyOptions } from "./compatibility.js";
import { Support, type Claim, type FoundEntry, type Probed, type SupportData } from "./support.js";
import type { SupportStatus } from "./words.js";

let parsed: (SupportData & Parameters<typeof coverageOf>[0]) | undefined;

/** The data as text: an import that asks nothing reads nothing. */
const data = () => (parsed ??= JSON.parse(text) as NonNullable<typeof parsed>);

let own: Support | undefined;

/** The claims of this version of the package. */
export function support(): Support {
  return (own ??= new Support(data()));
}

/** The entry that speaks about a version; undefined where nothing is claimed. */
export function findSupportEntry(query: { agent: string; version: string; platform: string }): FoundEntry | undefined {
  return support().findSupportEntry(query);
}

/** Whether a version lies below the floor that people set; without a platform only if it does on every one. */
export function isOlderThanMinSupported(agent: string, version: string, platform?: string): boolean {
  return support().isOlderThanMinSupported(agent, version, platform);
}

/** Whether a version is known to break; without a platform only if it is on every one. */
export function isKnownBreaking(agent: string, version: string, platform?: string): boolean {
  return support().isKnownBreaking(agent, version, platform);
}

/** Whether a version is newer than every verified one. */
export function isNewerThanLatestVerified(agent: string, version: string): boolean {
  return support().isNewerThanLatestVerified(agent, version);
}

/** What is known about a version, at once. */
export function classify(agent: string, version: string, platform: string, probed?: Probed): Claim {
  return support().classify(agent, version, platform, probed);
}

/** The status of an installed CLI: the specification's function, with the probe given. */
export async function classifyInstalledCli(agent: string, version: string, platform: string, options: ClassifyOptions = {}): Promise<SupportStatus> {
  return (await claimOf(options.support ?? support(), agent, version, platform, options.probe)).status;
}

/** The whole answer about an installed CLI, as the daemon's API gives it. */
export async function compatibility(
  agent: string,
  version: string | null,
  platform: string,
  options: ClassifyOptions = {},
): Promise<AgentCliCompatibilityResponse> {
  return respond(await claimOf(options.support ?? support(), agent, version ?? "", platform, options.probe));
}

/** Whether every agent that a consumer starts has a claim, or a reason for none. */
export function checkCoverage(agentIds: readonly string[], exemptions: Readonly<Record<string, string>> = {}): Coverage {
  return coverageOf(data(), agentIds, exemptions);
}

export { Support, allowRun, userAction } from "./support.js";
export type { AgentFacts, AgentPolicy, Claim, FoundEntry, ObservedShape, Probed, SupportData, SupportEntry } from "./support.js";
export { compatibilityExamples, respond } from "./compatibility.js";
export type {
  AgentCliCompatibilityEvidence,
  AgentCliCompatibilityRequest,
  AgentCliCompatibilityResponse,
  AgentCliCompatibilityStatus,
  ClassifyOptions,
  LocalProbe,
  ProbeRunner,
} from "./compatibility.js";
export type { Coverage } from "./coverage.js";
export { compareVersions, parseVersion, versionIn } from "./version.js";
export type { Version, VersionScheme } from "./version.js";
export type { AllowRun, Evidence, EvidenceSource, SupportStatus, UserAction } from "./words.js";
