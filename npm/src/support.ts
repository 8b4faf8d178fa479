/**
 * What a support matrix claims about agents and their versions: the same
 * answers as the Go package at the module root, held to them by one table
 * (testdata/support-table.json).
 */
import { compareVersions, parseVersion, versionIn, type Version, type VersionScheme } from "./version.js";
import type { AllowRun, Evidence, EvidenceSource, SupportStatus, UserAction } from "./words.js";

/** What of an agent's definition the claims need. */
export interface AgentFacts {
  id: string;
  representative_probe?: string;
  version_probe?: { scheme?: VersionScheme } | undefined;
  exemption?: string;
}

/** One claim of the matrix, as far as answers need it. */
export interface SupportEntry {
  agent: string;
  version_ranges: string[];
  platforms: string[];
  protocol_families: string[];
  support_status: SupportStatus;
  observed_shapes?: ObservedShape[];
  last_observed_at?: string | null;
  latest_verified?: string | null;
  latest_seen?: string | null;
  server_variants?: { shape: string; status: string }[];
  known_breaking_shapes?: { shape: string; reason: string; evidence: string }[];
  policy?: { allow_run: AllowRun };
  notes?: string[];
  extensions?: { reason?: string; evidence?: string[]; profile?: string };
}

/** One shape behind a claim. */
export interface ObservedShape {
  shape: string;
  observed_at: string;
  validity_level?: string;
  extensions?: { probe?: string; versions?: string[]; interpolated?: string[]; outvoted?: boolean; provider?: string; profile?: string };
}

/** The entry as `findSupportEntry` gives it, with what the specification's listing asks of it. */
export type FoundEntry = SupportEntry & { readonly hasObservedServerVariants: boolean; readonly versionRangeVerified: boolean };

interface Scope {
  platforms?: string[];
  protocol_families?: string[];
}

/** What of registry/policy.json the answers need. */
export interface AgentPolicy {
  agent: string;
  known_breaking_shapes?: { shape: string }[];
  overrides?: { version_ranges?: string[]; support_status?: string; allow_run: AllowRun; scope?: Scope }[];
}

/** The three data files of a registry that claims are in. */
export interface SupportData {
  agents: { agents: AgentFacts[] };
  matrix?: { generated_at?: string; agents: SupportEntry[] } | null;
  policy?: { agents?: AgentPolicy[] } | null;
}

/** What a local probe of an installed CLI found. */
export interface Probed {
  /** The active shape; "" when the run gave none. */
  shape: string;
  /** When the probe ran: UTC, RFC 3339. */
  at?: string;
  /** Against the real provider; a hermetic probe proves the CLI's side alone. */
  live?: boolean;
}

/** What is known about one version of an agent on one platform. */
export interface Claim {
  agent: string;
  version: string;
  platform: string;
  status: SupportStatus;
  /** Whether the representative probe of this very version was captured. */
  observed: boolean;
  policy: { allow_run: AllowRun; user_action: UserAction };
  evidence: Evidence;
  /** yes, no or cannot_know, which follows from the policy. */
  answer: "yes" | "no" | "cannot_know";
  /** The entry that speaks about the version. */
  entry?: SupportEntry;
  /** The agent's newest verified version on any platform, "" for none. */
  latestVerified: string;
}

interface Bounds {
  first?: Version;
  last?: Version;
  below?: Version;
  semver?: string;
}

interface Indexed {
  entry: SupportEntry;
  bounds: Bounds[];
  /** The shapes of the representative probe that count. */
  rep: ObservedShape[];
  /** They by version; null where there are several. */
  at: Map<string, ObservedShape | null>;
  /** Of a family that the representative probe does not speak, though it was captured. */
  foreign: boolean;
}

interface Known {
  facts: AgentFacts;
  scheme: VersionScheme;
  policy?: AgentPolicy;
  entries: Map<string, Indexed[]>;
  supported: Set<string>;
  recorded: Set<string>;
  breaking: Set<string>;
  newest?: Version;
}

/**
 * Answers questions about one matrix. It is immutable and does no I/O. What the
 * matrix says of an agent is read with the first question about it, which
 * throws a TypeError for what is no range.
 */
export class Support {
  readonly generatedAt: string;
  private readonly known = new Map<string, Known>();
  /** The entries that were not read yet, by agent. */
  private readonly unread = new Map<string, SupportEntry[]>();

  constructor(data: SupportData) {
    this.generatedAt = data.matrix?.generated_at ?? "";
    for (const facts of data.agents.agents) {
      const policy = data.policy?.agents?.find((p) => p.agent === facts.id);
      this.known.set(facts.id, {
        facts,
        scheme: facts.version_probe?.scheme === "build" ? "build" : "prerelease",
        ...(policy === undefined ? {} : { policy }),
        entries: new Map(),
        supported: new Set(),
        recorded: new Set(),
        breaking: new Set(policy?.known_breaking_shapes?.map((k) => k.shape)),
      });
    }
    for (const entry of data.matrix?.agents ?? []) {
      if (!this.known.has(entry.agent)) throw new TypeError(`the matrix has an entry of ${JSON.stringify(entry.agent)}, which is not in registry/agents.json`);
      const entries = this.unread.get(entry.agent);
      if (entries === undefined) this.unread.set(entry.agent, [entry]);
      else entries.push(entry);
    }
  }

  /** The ids of all agents. */
  agents(): string[] {
    return [...this.known.keys()];
  }

  /** The entry that speaks about a version; undefined where nothing is claimed. */
  findSupportEntry(query: { agent: string; version: string; platform: string }): FoundEntry | undefined {
    const found = this.version(query.agent, query.version);
    const e = found && best(found.known, found.version, query.platform)?.entry;
    if (e === undefined) return undefined;
    return {
      ...e,
      hasObservedServerVariants: hasVariants(e),
      versionRangeVerified: e.support_status === "version_range_verified",
    };
  }

  /** Whether a version lies below the floor that people set; without a platform only if it does on every one. */
  isOlderThanMinSupported(agent: string, version: string, platform?: string): boolean {
    return this.decidedAs("too_old", agent, version, platform);
  }

  /** Whether people found a version to break; without a platform only if it does on every one. */
  isKnownBreaking(agent: string, version: string, platform?: string): boolean {
    return this.decidedAs("known_breaking", agent, version, platform);
  }

  /** Whether a version is newer than every verified one; not where nothing is verified. */
  isNewerThanLatestVerified(agent: string, version: string): boolean {
    const found = this.version(agent, version);
    return found !== undefined && newer(found.known, found.version);
  }

  /** What is known about an installed CLI, in the specification's order. An unknown agent or version is `unknown`. */
  classify(agent: string, version: string, platform: string, probed?: Probed): Claim {
    const found = this.version(agent, version);
    if (found === undefined) return claim(agent, version, platform);
    return classify(found.known, found.version, platform, probed);
  }

  private version(agent: string, version: string): { known: Known; version: Version } | undefined {
    const known = this.known.get(agent);
    const unread = known && this.unread.get(agent);
    if (known !== undefined && unread !== undefined) {
      for (const entry of unread) add(known, entry);
      markForeign(known);
      this.unread.delete(agent);
    }
    const parsed = known && parseVersion(version, known.scheme);
    return parsed && known ? { known, version: parsed } : undefined;
  }

  private decidedAs(status: SupportStatus, agent: string, version: string, platform?: string): boolean {
    const found = this.version(agent, version);
    if (found === undefined) return false;
    const says = (p: string) =>
      (found.known.entries.get(p) ?? []).some((e) => e.entry.support_status === status && holds(e, found.version));
    if (platform !== undefined && platform !== "") return says(platform);
    return found.known.entries.size > 0 && [...found.known.entries.keys()].every(says);
  }
}

function add(known: Known, entry: SupportEntry): void {
  const e: Indexed = { entry, bounds: entry.version_ranges.map((r) => bounds(known, r)), rep: [], at: new Map(), foreign: false };
  for (const s of entry.observed_shapes ?? []) {
    if (s.extensions?.probe !== known.facts.representative_probe || s.extensions?.outvoted) continue;
    e.rep.push(s);
    for (const v of s.extensions?.versions ?? []) {
      const other = e.at.get(v);
      e.at.set(v, e.at.has(v) && (other === null || other?.shape !== s.shape) ? null : s);
    }
    known.recorded.add(s.shape);
    if (entry.support_status === "version_range_verified") known.supported.add(s.shape);
  }
  for (const v of entry.server_variants ?? []) {
    if (v.status === "compatible" && e.rep.some((s) => s.shape === v.shape)) known.supported.add(v.shape);
  }
  for (const k of entry.known_breaking_shapes ?? []) known.breaking.add(k.shape);
  for (const p of entry.platforms) {
    const list = known.entries.get(p);
    if (list === undefined) known.entries.set(p, [e]);
    else list.push(e);
  }
  if (entry.latest_verified === null || entry.latest_verified === undefined) return;
  const v = parseVersion(entry.latest_verified, known.scheme);
  if (v === undefined) throw new TypeError(`${JSON.stringify(entry.latest_verified)} is not a version of ${entry.agent}`);
  if (known.newest === undefined || compareVersions(v, known.newest) > 0) known.newest = v;
}

/** Finds the entries of families that the representative probe does not speak: they say nothing about how it went. */
function markForeign(known: Known): void {
  const entries = [...known.entries.values()].flat();
  const spoken = new Set(entries.filter((e) => e.rep.length > 0).flatMap((e) => e.entry.protocol_families));
  if (spoken.size === 0) return; // never captured: nobody knows its family
  for (const e of entries) e.foreign = !e.entry.protocol_families.some((f) => spoken.has(f));
}

/** A range of the matrix: of captured versions by the agent's scheme, else a semver range. */
function bounds(known: Known, text: string): Bounds {
  const pair = /^>=(.*?) <=(.*)$/s.exec(text);
  if (pair !== null) {
    const [first, last] = [parseVersion(pair[1] ?? "", known.scheme), parseVersion(pair[2] ?? "", known.scheme)];
    if (first !== undefined && last !== undefined) return { first, last };
  }
  const exact = parseVersion(text, known.scheme);
  if (exact !== undefined) return { first: exact, last: exact };
  const below = text.startsWith("<") ? parseVersion(text.slice(1), known.scheme) : undefined;
  if (below !== undefined) return { below };
  versionIn({ token: "0.0", parts: ["0", "0"], prerelease: "", build: "" }, text);
  return { semver: text };
}

function holds(e: Indexed, v: Version): boolean {
  return e.bounds.some((b) => {
    if (b.semver !== undefined) return versionIn(v, b.semver);
    if (b.below !== undefined) return compareVersions(v, b.below) < 0;
    return b.first !== undefined && b.last !== undefined && compareVersions(v, b.last) <= 0 && compareVersions(b.first, v) <= 0;
  });
}

/** The last rank of what people decided. */
const decidedRank = 3;

/** Orders entries about one version: those that come first speak. */
function rank(e: Indexed): number {
  const bare = (e.entry.observed_shapes ?? []).length === 0 ? 1 : 0;
  switch (e.entry.support_status) {
    case "too_old":
      return bare;
    case "known_breaking":
      return 2 + bare;
  }
  if (e.rep.length === 0) return 9;
  const care: SupportStatus[] = ["known_breaking_shape", "unknown", "server_variant_possible"];
  const i = care.indexOf(e.entry.support_status);
  return i < 0 ? 7 : 4 + i;
}

function best(known: Known, v: Version, platform: string): Indexed | undefined {
  let found: Indexed | undefined;
  for (const e of known.entries.get(platform) ?? []) {
    if (e.foreign && rank(e) > decidedRank) continue;
    if (holds(e, v) && (found === undefined || rank(e) < rank(found))) found = e;
  }
  return found;
}

function newer(known: Known, v: Version): boolean {
  return known.newest !== undefined && compareVersions(v, known.newest) > 0;
}

function hasVariants(e: SupportEntry): boolean {
  return (e.server_variants ?? []).length > 0 || e.support_status === "server_variant_possible";
}

function claim(agent: string, version: string, platform: string): Claim {
  return {
    agent,
    version,
    platform,
    status: "unknown",
    observed: false,
    policy: { allow_run: "warn", user_action: "run_local_probe" },
    evidence: { version_range: null, shape_signature: null, observed_at: null, source: "none", server_variant_possible: false },
    answer: "cannot_know",
    latestVerified: "",
  };
}

function classify(known: Known, v: Version, platform: string, probed: Probed | undefined): Claim {
  const c = claim(known.facts.id, v.token, platform);
  c.latestVerified = known.newest?.token ?? "";
  const e = best(known, v, platform);
  const status = e?.entry.support_status;
  if (e !== undefined) {
    c.entry = e.entry;
    c.evidence = evidence(e, v);
    c.observed = Boolean(e.at.get(v.token));
  }
  const from = (source: EvidenceSource) => (c.evidence.source = source);
  if (e !== undefined && status !== undefined && rank(e) <= decidedRank) {
    c.status = status;
    if (status === "known_breaking") from("known_breaking");
  } else if (probed !== undefined) {
    c.status = byShape(known, c, probed);
  } else if (status === "known_breaking_shape") {
    c.status = status;
    from("known_breaking");
  } else if (c.evidence.server_variant_possible) {
    c.status = "server_variant_possible";
  } else if (status === "version_range_verified") {
    c.status = status;
  } else if (newer(known, v)) {
    c.status = "newer_than_verified";
  }
  c.policy = { allow_run: allowRun(c.status, c.observed), user_action: userAction(c.status, c.observed) };
  override(known, c, v);
  c.answer = c.policy.allow_run === "allow" ? "yes" : c.policy.allow_run === "block" ? "no" : "cannot_know";
  return c;
}

function byShape(known: Known, c: Claim, probed: Probed): SupportStatus {
  c.evidence = {
    ...c.evidence,
    source: "local_probe",
    shape_signature: probed.shape === "" ? null : probed.shape,
    observed_at: probed.at ?? null,
  };
  if (known.breaking.has(probed.shape)) return "known_breaking_shape";
  if (!known.supported.has(probed.shape)) return known.recorded.has(probed.shape) ? "unknown" : "active_shape_unknown";
  return c.evidence.server_variant_possible && !probed.live ? "server_variant_possible" : "local_shape_verified";
}

function evidence(e: Indexed, v: Version): Evidence {
  const out: Evidence = {
    version_range: e.entry.version_ranges.join(" || "),
    shape_signature: null,
    observed_at: e.entry.last_observed_at ?? null,
    source: "support_matrix",
    server_variant_possible: hasVariants(e.entry),
  };
  const s = e.at.get(v.token) ?? (e.rep.length > 0 && e.rep.every((x) => x.shape === e.rep[0]?.shape) ? e.rep[0] : undefined);
  if (s) [out.shape_signature, out.observed_at] = [s.shape, s.observed_at];
  return out;
}

/** What to do about a status (FINE-PRINT 17 of the registry); observed: this very version was captured. */
export function userAction(status: SupportStatus, observed: boolean): UserAction {
  switch (status) {
    case "local_shape_verified":
      return "none";
    case "version_range_verified":
      return observed ? "none" : "run_local_probe";
    case "active_shape_unknown":
      return "report_unknown_shape";
    case "too_old":
      return "upgrade_cli";
    case "known_breaking":
    case "known_breaking_shape":
      return "pin_supported_version";
    default:
      return "run_local_probe";
  }
}

/** Whether to start a CLI of a status. */
export function allowRun(status: SupportStatus, observed: boolean): AllowRun {
  if (status === "local_shape_verified" || (status === "version_range_verified" && observed)) return "allow";
  return status === "too_old" || status === "known_breaking" || status === "known_breaking_shape" ? "block" : "warn";
}

function override(known: Known, c: Claim, v: Version): void {
  const family = c.entry?.protocol_families[0];
  for (const o of known.policy?.overrides ?? []) {
    if (o.support_status && o.support_status !== c.status) continue;
    const { platforms = [], protocol_families: families = [] } = o.scope ?? {};
    if (platforms.length > 0 && !platforms.includes(c.platform)) continue;
    if (families.length > 0 && family !== undefined && !families.includes(family)) continue;
    const versions = o.version_ranges ?? [];
    if (versions.length > 0 && !versions.some((r) => versionIn(v, r))) continue;
    c.policy = { allow_run: o.allow_run, user_action: o.allow_run === "allow" ? "none" : userAction(c.status, c.observed) };
  }
}
