/**
 * Checks the package against itself, offline: that every file is the one that
 * the manifest names, that every claim follows from the observations in it, that
 * every observation's fixture, shape and golden are the ones it names, and that
 * the answers are those of the registry's own program.
 */
import { crypto } from "./builtin.js";

import { jsonLines, same } from "./contracts.js";
import { deriveMatrix, type Records } from "./derive.js";
import type { PolicyFile } from "./decisions.js";
import { Registry } from "./registry.js";
import type { ObservationFacts, Statement } from "./standing.js";
import { Support, type SupportData } from "./support.js";

/** What verify found. */
export interface Verification {
  ok: boolean;
  /** How much was checked. */
  checked: { files: number; cells: number; observations: number; shapes: number; answers: number };
  problems: { place: string; problem: string }[];
}

/** Reads everything that the claims of a registry follow from. */
export function recordsOf(registry: Registry): Records {
  const observations = registry.places("observations", ".observation.json").map((path) => ({ ...registry.record<ObservationFacts>("observation", path), path }));
  const statements = registry
    .places("evidence", ".json")
    .filter((path) => !path.endsWith(".source-evidence.json"))
    .map((path) => ({ ...registry.record<Statement>("evidence", path), path }));
  return {
    agents: registry.agents(),
    observations,
    statements,
    policy: registry.policy() as PolicyFile,
    latest_seen: registry.has("registry/latest-seen.json") ? registry.record("latest-seen", "registry/latest-seen.json") : null,
  };
}

/** Verifies the records of a registry; the manifest is verifyManifest's. */
export function verifyRecords(registry = new Registry()): Verification {
  const out: Verification = { ok: true, checked: { files: 0, cells: 0, observations: 0, shapes: 0, answers: 0 }, problems: [] };
  const records = recordsOf(registry);
  verifyMatrix(registry, records, out);
  verifyObservations(registry, records, out);
  verifyShapes(registry, out);
  verifyAnswers(registry, out);
  out.ok = out.problems.length === 0;
  return out;
}

/** Derives every cell again. */
function verifyMatrix(registry: Registry, records: Records, out: Verification): void {
  const place = "registry/support-matrix.json";
  const have = registry.matrix() as unknown as { agents: { version_ranges: string[] }[] };
  const want = deriveMatrix(records);
  const { agents: haveEntries, ...haveRest } = have;
  const { agents: wantEntries, ...wantRest } = want;
  if (!same(haveRest, wantRest)) out.problems.push({ place, problem: "its head is not what the observations give" });
  for (let i = 0; i < Math.max(haveEntries.length, wantEntries.length); i++) {
    out.checked.cells += haveEntries[i]?.version_ranges.length ?? 0;
    if (!same(haveEntries[i], wantEntries[i])) out.problems.push({ place: `${place}#/agents/${i}`, problem: "the observations do not give this claim" });
  }
}

function verifyObservations(registry: Registry, records: Records, out: Verification): void {
  for (const o of records.observations as (ObservationFacts & Named)[]) {
    out.checked.observations++;
    const missing = [o.shape.path, o.extensions.fixture, o.parser_replay.golden, o.extensions.reference_golden].filter((p) => p && !registry.has(p));
    for (const p of missing) out.problems.push({ place: o.path, problem: `${p} is not there` });
    if (missing.length === 0 && o.extensions.fixture && digest(registry.bytes(o.extensions.fixture)) !== o.extensions.fixture_sha256) {
      out.problems.push({ place: o.path, problem: "its fixture has other bytes" });
    }
  }
}

/** What an observation names. */
interface Named {
  shape: { path: string };
  parser_replay: { golden?: string };
  extensions: { fixture?: string; fixture_sha256?: string; reference_golden?: string };
}

/** A shape's signature is the hash of its structure in the form of RFC 8785; of its extensions the sequence is hashed alone. */
function verifyShapes(registry: Registry, out: Verification): void {
  for (const place of registry.places("shapes", ".shape.json")) {
    out.checked.shapes++;
    const { signature, validity_level: _, extensions, ...structure } = registry.record<Record<string, unknown>>("shape", place) as Record<string, unknown> & { extensions?: Record<string, unknown> };
    const sequence = extensions?.["sequence"];
    const hashed = sequence === undefined ? structure : { ...structure, extensions: { sequence } };
    if (digest(canonical(hashed)) !== signature) out.problems.push({ place, problem: "its signature is not the hash of its structure" });
    if (!place.endsWith(`/${String(signature).replace(":", "-")}.shape.json`)) out.problems.push({ place, problem: "it has another name than its signature" });
  }
}

/** Answers what the registry's program answered when the package was made. */
function verifyAnswers(registry: Registry, out: Verification): void {
  interface AnswerLine {
    agent: string;
    version: string;
    platform: string;
    status: string;
    policy: unknown;
    evidence: unknown;
  }
  const support = new Support({ agents: registry.agents(), matrix: registry.matrix(), policy: registry.policy() } as SupportData);
  for (const a of jsonLines<AnswerLine>(registry.text("answers.jsonl"))) {
    out.checked.answers++;
    const { status, policy, evidence } = support.classify(a.agent, a.version, a.platform);
    if (!same({ status, policy, evidence }, { status: a.status, policy: a.policy, evidence: a.evidence })) {
      out.problems.push({ place: "answers.jsonl", problem: `${a.agent} ${a.version} on ${a.platform} gets another answer` });
    }
  }
}

/** sha256:… of bytes. */
export function digest(bytes: Uint8Array | string): string {
  return "sha256:" + crypto().createHash("sha256").update(bytes).digest("hex");
}

/** A JSON value in the form of RFC 8785. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const o = value as Record<string, unknown>;
  // By UTF-16 units, which is JavaScript's own order.
  return `{${Object.keys(o).sort().map((k) => `${JSON.stringify(k)}:${canonical(o[k])}`).join(",")}}`;
}
