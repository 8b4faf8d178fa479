/**
 * Derives the support matrix from the records: the Go package tools/matrix, so
 * that whoever has this package can check every claim in it without anything
 * else. testdata/derive-table.json holds both to the same matrices.
 */
import { decidedEntries, inScope, policyOf, type PolicyFile } from "./decisions.js";
import { byText, levelsOf, ProbeClaim, Standing, type ObservationFacts, type Statement } from "./standing.js";
import { allowRun, type AgentFacts, type ObservedShape, type SupportEntry } from "./support.js";
import { compareVersions, parseVersion, versionIn, type Version, type VersionScheme } from "./version.js";
import type { AllowRun, SupportStatus } from "./words.js";

/** An agent's definition, as far as claims need it. */
export interface DerivedAgent extends AgentFacts {
  protocol_families?: string[];
}

/** Everything that claims follow from. */
export interface Records {
  agents: { agents: DerivedAgent[] };
  observations: ObservationFacts[];
  statements: Statement[];
  policy?: PolicyFile | null;
  latest_seen?: { agents?: { agent: string; version: string }[] } | null;
}

/** An entry with every member that the matrix has. */
export type DerivedEntry = SupportEntry & Required<Pick<SupportEntry, "observed_shapes" | "server_variants" | "known_breaking_shapes" | "notes">>;

/** The matrix that records give. */
export interface DerivedMatrix {
  schema_version: 1;
  generated_at: string;
  open_design_min_commit: null;
  agents: DerivedEntry[];
}

/** What is known of one version. */
export interface VersionClaim {
  version: string;
  parsed: Version;
  probes: Map<string, ProbeClaim>;
  active: boolean;
  status: SupportStatus;
  notes: string[];
  reason: string;
  evidence: string[];
  policyNotes: string[];
  allow: AllowRun | "";
}

/** Derives the matrix. */
export function deriveMatrix(records: Records): DerivedMatrix {
  const standing = new Standing(records.statements);
  const levels = levelsOf(records.observations, standing);
  const times = ["1970-01-01T00:00:00Z", standing.newest, ...records.observations.map((o) => o.capture.captured_at)];
  const groups = new Map<string, ObservationFacts[]>();
  for (const o of records.observations.filter(backsClaims)) {
    const key = JSON.stringify([o.agent, o.protocol_family, o.platform]);
    groups.set(key, [...(groups.get(key) ?? []), o]);
  }
  const agents = [...groups.keys()]
    .map((key) => JSON.parse(key) as [string, string, string])
    .sort((a, b) => byText(a[0], b[0]) || byText(a[1], b[1]) || byText(a[2], b[2]))
    .flatMap(([id, family, platform]) => {
      const agent = records.agents.agents.find((a) => a.id === id);
      if (agent === undefined) throw new TypeError(`${id} has observations, and is not in registry/agents.json`);
      const group = groups.get(JSON.stringify([id, family, platform])) ?? [];
      return new Builder(records, agent, family, platform, standing, levels).entries(group);
    });
  const all = [...agents, ...decidedEntries(records, agents)];
  return {
    schema_version: 1,
    generated_at: times.reduce((a, b) => (b > a ? b : a)),
    open_design_min_commit: null,
    agents: all.map((e, i) => ({ e, i })).sort((a, b) => byText(a.e.agent, b.e.agent) || a.i - b.i).map(({ e }) => e),
  };
}

function backsClaims(o: ObservationFacts): boolean {
  return (
    !o.install.source.startsWith("binary:") &&
    o.probe !== "version-probe" &&
    o.extensions.profile === "production" &&
    ["runtime_observed", "confirmed", "community_confirmed"].includes(o.validity_level)
  );
}

class Builder {
  private readonly scheme: VersionScheme;

  constructor(
    private readonly records: Records,
    private readonly agent: DerivedAgent,
    private readonly family: string,
    private readonly platform: string,
    private readonly standing: Standing,
    private readonly levels: Map<string, string>,
  ) {
    this.scheme = agent.version_probe?.scheme === "build" ? "build" : "prerelease";
  }

  entries(observations: readonly ObservationFacts[]): DerivedEntry[] {
    const claims = this.claims(observations);
    for (const c of claims) this.judge(c);
    const whole = this.wholeGaps(claims);
    const latestVerified = claims.findLast((c) => c.status === "version_range_verified")?.version ?? null;
    const latestSeen = this.latestSeen(claims);
    const out: DerivedEntry[] = [];
    for (let first = 0; first < claims.length; ) {
      let end = first + 1;
      while (end < claims.length && whole[end]) end++;
      // Nothing is claimed about a version whose captures were all withdrawn.
      if (claims[first]?.active) out.push({ ...this.entry(claims.slice(first, end)), latest_verified: latestVerified, latest_seen: latestSeen });
      first = end;
    }
    return out;
  }

  private parse(version: string): Version {
    const v = parseVersion(version, this.scheme);
    if (v === undefined) throw new TypeError(`${JSON.stringify(version)} is not a version of ${this.agent.id}`);
    return v;
  }

  private claims(observations: readonly ObservationFacts[]): VersionClaim[] {
    const byVersion = group(observations, (o) => o.cli_version);
    return [...byVersion.keys()]
      .sort(byText)
      .map((version) => {
        const mine = byVersion.get(version) ?? [];
        const probes = new Map([...group(mine, (o) => o.probe)].map(([probe, list]) => [probe, new ProbeClaim(list, this.standing)]));
        const active = mine.some((o) => !this.standing.withdrawn.has(o.path));
        return { version, parsed: this.parse(version), probes, active, status: "unknown" as SupportStatus, notes: [], reason: "", evidence: [], policyNotes: [], allow: "" as const };
      })
      .sort((a, b) => compareVersions(a.parsed, b.parsed));
  }

  private judge(c: VersionClaim): void {
    c.status = "version_range_verified";
    for (const [probe, p] of [...c.probes].sort((a, b) => byText(a[0], b[0]))) {
      if (p.live) {
        c.status = "server_variant_possible";
        c.notes.push(`${probe}: several shapes from the live provider; run a local probe to know which one is active`);
      } else if (p.newest.size === 0) c.notes.push(`${probe}: every capture was withdrawn`);
      else if (p.settled === "") c.notes.push(`${probe}: captures disagree about the shape; a third one decides`);
      else if (p.reading() === "incompatible") c.notes.push(`${probe}: the consumer's reading loses or doubles something; see the golden files`);
    }
    if (c.status === "version_range_verified") c.status = this.representative(c);
    this.decide(c);
  }

  private representative(c: VersionClaim): SupportStatus {
    const probe = this.agent.representative_probe ?? "";
    const p = c.probes.get(probe);
    if (p === undefined) c.notes.push(`${probe}: not captured`);
    if (p === undefined || p.settled === "") return "unknown";
    if (p.violated()) {
      c.notes.push(`${probe}: the run does not meet the probe's expectation`);
      return "unknown";
    }
    const reading = p.reading();
    if (reading === "not_run") c.notes.push(`${probe}: the consumer has no parser for this format`);
    return reading === "compatible" ? "version_range_verified" : "unknown";
  }

  /** What people decided about one version. */
  private decide(c: VersionClaim): void {
    const p = policyOf(this.records.policy, this.agent.id);
    if (p === undefined) return;
    const scoped = (s: Parameters<typeof inScope>[0]) => inScope(s, this.platform, this.family);
    const covers = (ranges: string[] | undefined, s: Parameters<typeof inScope>[0]) =>
      scoped(s) && ((ranges ?? []).length === 0 || (ranges ?? []).some((r) => versionIn(c.parsed, r)));
    for (const old of p.too_old ?? []) {
      if (compareVersions(c.parsed, this.parse(old.below)) < 0 && scoped(old.scope)) {
        [c.status, c.reason, c.evidence] = ["too_old", old.reason, old.evidence ?? []];
      }
    }
    for (const k of p.known_breaking ?? []) {
      if (covers(k.version_ranges, k.scope) && c.status !== "too_old") [c.status, c.reason, c.evidence] = ["known_breaking", k.reason, k.evidence];
    }
    for (const k of p.known_breaking_shapes ?? []) {
      const settled = c.probes.get(this.agent.representative_probe ?? "")?.settled;
      if (settled === k.shape && c.reason === "") c.status = "known_breaking_shape";
    }
    for (const n of p.notes ?? []) if (covers(n.version_ranges, n.scope)) c.policyNotes.push(n.text);
    for (const o of p.overrides ?? []) {
      if (covers(o.version_ranges, o.scope) && (!o.support_status || o.support_status === c.status)) c.allow = o.allow_run;
    }
  }

  /** For each version, whether it belongs to one claim with the version before it. */
  private wholeGaps(claims: readonly VersionClaim[]): boolean[] {
    const equal = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((x, i) => x === b[i]);
    const whole = claims.map((y, i) => {
      const x = claims[i - 1];
      if (x === undefined) return false;
      return x.active === y.active && x.status === y.status && x.reason === y.reason && x.allow === y.allow && equal(x.notes, y.notes) && equal(x.policyNotes, y.policyNotes);
    });
    const last = new Map<string, number>();
    claims.forEach((c, i) => {
      for (const [probe, p] of c.probes) {
        const before = last.get(probe);
        const changed = before !== undefined && (p.settled === "" || claims[before]?.probes.get(probe)?.settled !== p.settled);
        if (changed) whole.fill(false, before + 1, i + 1);
        last.set(probe, i);
      }
    });
    this.cutAtDecisions(claims, whole);
    return whole;
  }

  /** Ends a claim where people decided something about versions that nobody captured. */
  private cutAtDecisions(claims: readonly VersionClaim[], whole: boolean[]): void {
    const p = policyOf(this.records.policy, this.agent.id);
    if (p === undefined) return;
    const named = [
      ...(p.too_old ?? []).map((d) => ({ ranges: [d.below], scope: d.scope })),
      ...[...(p.known_breaking ?? []), ...(p.notes ?? []), ...(p.overrides ?? [])].map((d) => ({ ranges: d.version_ranges ?? [], scope: d.scope })),
    ].filter((d) => inScope(d.scope, this.platform, this.family));
    const bounds = named.flatMap((d) => d.ranges.flatMap((r) => this.bounds(r)));
    for (let i = 1; i < claims.length; i++) {
      const [low, high] = [claims[i - 1]?.parsed, claims[i]?.parsed];
      if (low && high && bounds.some((v) => compareVersions(low, v) < 0 && compareVersions(v, high) < 0)) whole[i] = false;
    }
  }

  private bounds(range: string): Version[] {
    const texts = range.match(/[0-9]+(?:\.[0-9]+){0,2}(?:-[0-9A-Za-z.-]+)?/g) ?? [];
    return texts.flatMap((t) => parseVersion(t.includes(".") ? t : t + ".0", this.scheme) ?? []);
  }

  private latestSeen(claims: readonly VersionClaim[]): string {
    let latest = claims.at(-1)?.version ?? "";
    for (const s of this.records.latest_seen?.agents ?? []) {
      if (s.agent === this.agent.id && compareVersions(this.parse(s.version), this.parse(latest)) > 0) latest = s.version;
    }
    return latest;
  }

  private entry(claims: readonly VersionClaim[]): DerivedEntry {
    const [first, last] = [claims[0], claims.at(-1)];
    if (first === undefined || last === undefined) throw new RangeError("an entry needs a version");
    const one = first === last;
    const shapes = this.observed(claims);
    const times = shapes.map((s) => s.observed_at).sort(byText);
    return {
      agent: this.agent.id,
      version_ranges: [one ? first.version : `>=${first.version} <=${last.version}`],
      platforms: [this.platform],
      protocol_families: [this.family],
      support_status: first.status,
      observed_shapes: shapes,
      last_observed_at: times.at(-1) ?? null,
      server_variants: first.status === "server_variant_possible" ? variants(claims) : [],
      known_breaking_shapes: (policyOf(this.records.policy, this.agent.id)?.known_breaking_shapes ?? []).filter((k) => shapes.some((s) => s.shape === k.shape)),
      policy: { allow_run: first.allow || allowRun(first.status, one) },
      notes: [...first.notes, ...first.policyNotes],
      extensions: {
        ...(first.reason === "" ? {} : { reason: first.reason }),
        ...(first.evidence.length === 0 ? {} : { evidence: first.evidence }),
        profile: "production",
      },
    };
  }

  /** Every shape of the range, disputed ones too. */
  private observed(claims: readonly VersionClaim[]): ObservedShape[] {
    const found = new Map<string, ObservedShape & { extensions: NonNullable<ObservedShape["extensions"]> & { versions: string[]; probe: string } }>();
    for (const c of claims) {
      for (const [probe, p] of c.probes) {
        for (const [shape, o] of p.newest) {
          const { provider, profile } = o.extensions;
          const key = JSON.stringify([probe, shape, provider]);
          let s = found.get(key);
          if (s === undefined) {
            s = { shape, validity_level: this.levels.get(shape) ?? "", observed_at: "", extensions: { probe, provider, profile, versions: [] } };
            found.set(key, s);
          }
          if (o.capture.captured_at > s.observed_at) s.observed_at = o.capture.captured_at;
          s.extensions.versions.push(c.version);
          if (p.settled !== "" && shape !== p.settled && !p.live) s.extensions.outvoted = true;
          else delete s.extensions.outvoted;
        }
      }
    }
    return [...found.values()]
      .map((s) => {
        const between = interpolated(claims, s.extensions.probe, s.shape);
        return between.length === 0 ? s : { ...s, extensions: { ...s.extensions, interpolated: between } };
      })
      .sort((a, b) => byText(a.extensions.probe, b.extensions.probe) || byText(a.shape, b.shape) || byText(a.extensions.provider ?? "", b.extensions.provider ?? ""));
  }
}

function group<T>(list: readonly T[], key: (t: T) => string): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const t of list) {
    const mine = out.get(key(t));
    if (mine === undefined) out.set(key(t), [t]);
    else mine.push(t);
  }
  return out;
}

/** The versions between those that a shape was observed at where nobody ran its probe. */
function interpolated(claims: readonly VersionClaim[], probe: string, shape: string): string[] {
  const out: string[] = [];
  let between: string[] = [];
  let inside = false;
  for (const c of claims) {
    const p = c.probes.get(probe);
    if (p === undefined) {
      if (inside) between.push(c.version);
    } else if (p.settled === shape && !p.live) {
      out.push(...between);
      [between, inside] = [[], true];
    } else {
      [between, inside] = [[], false];
    }
  }
  return out;
}

/** The shapes of a live provider's probes; of several statuses of one the most careful. */
function variants(claims: readonly VersionClaim[]): { shape: string; status: string }[] {
  const care = ["compatible", "compatible_pending_fixture", "breaking"];
  const status = new Map<string, string>();
  for (const p of claims.flatMap((c) => [...c.probes.values()]).filter((p) => p.live)) {
    for (const [shape, o] of p.newest) {
      const is = { compatible: "compatible", incompatible: "breaking" }[o.parser_replay.status] ?? "compatible_pending_fixture";
      if (care.indexOf(is) > care.indexOf(status.get(shape) ?? "")) status.set(shape, is);
    }
  }
  return [...status].sort((a, b) => byText(a[0], b[0])).map(([shape, is]) => ({ shape, status: is }));
}
