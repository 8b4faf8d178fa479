/** What observations count for after everything that was said about them later: the Go package tools/matrix, standing.go and probeclaim.go. */
import { compareSemver, parseSemver } from "./ranges.js";

/** An observation, as far as claims follow from it. */
export interface ObservationFacts {
  path: string;
  agent: string;
  cli_version: string;
  platform: string;
  probe: string;
  protocol_family: string;
  validity_level: string;
  install: { source: string };
  capture: { captured_at: string; runner: string; raw_client_transcript_sha256: string };
  shape: { signature: string };
  parser_replay: { status: string };
  extensions: { provider: string; profile: string; readers?: string; violations?: unknown[] };
}

/** What was said about an observation later. */
export interface Statement {
  path: string;
  observation: { path: string };
  recorded_at: string;
  withdrawal?: { reason: string; record?: { path: string } | null };
  reproduction?: { observation?: { path: string } | null };
  promotion?: { to: string; reproduction?: { path: string } | null };
}

/** From the weakest level to the strongest. */
export const levels = ["synthetic_mock", "vendor_documented", "source_derived", "server_variant", "runtime_observed", "confirmed", "community_confirmed"];

/** Orders texts by their bytes, which for ASCII is by their characters. */
export function byText(a: string, b: string): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Which observations were withdrawn or promoted. */
export class Standing {
  readonly withdrawn = new Set<string>();
  readonly promoted = new Map<string, string>();
  /** The time of the newest statement that changes a claim, "" for none. */
  newest = "";

  constructor(statements: readonly Statement[]) {
    const takenBack = new Set<string>();
    const reproduced = new Map<string, Statement>();
    for (const e of statements) {
      if (e.withdrawal?.record) takenBack.add(e.withdrawal.record.path);
      else if (e.withdrawal) this.withdrawn.add(e.observation.path);
      else if (e.reproduction) reproduced.set(e.path, e);
      if ((e.withdrawal || e.promotion) && e.recorded_at > this.newest) this.newest = e.recorded_at;
    }
    const last = new Map<string, Statement>();
    for (const e of statements) {
      if (!e.promotion || takenBack.has(e.path)) continue;
      const at = e.observation.path;
      const ref = e.promotion.reproduction;
      if (ref && (takenBack.has(ref.path) || !this.holds(reproduced.get(ref.path), at))) continue;
      const old = last.get(at);
      if (old !== undefined && (byText(e.recorded_at, old.recorded_at) || byText(e.path, old.path)) <= 0) continue;
      last.set(at, e);
      this.promoted.set(at, e.promotion.to);
    }
  }

  /** Whether a reproduction is one of this observation, by a run that was not withdrawn. */
  private holds(e: Statement | undefined, observation: string): boolean {
    const own = e?.reproduction?.observation;
    return e?.observation.path === observation && !(own && this.withdrawn.has(own.path));
  }

  level(o: ObservationFacts): string {
    return this.promoted.get(o.path) ?? o.validity_level;
  }
}

/** The level of each observed shape. */
export function levelsOf(observations: readonly ObservationFacts[], standing: Standing): Map<string, string> {
  const out = new Map<string, string>();
  const bySignature = new Map<string, ObservationFacts[]>();
  for (const o of observations) {
    const sig = o.shape.signature;
    if (!standing.withdrawn.has(o.path)) bySignature.set(sig, [...(bySignature.get(sig) ?? []), o]);
    else if (!out.has(sig) || levels.indexOf(o.validity_level) < levels.indexOf(out.get(sig) ?? "")) out.set(sig, o.validity_level);
  }
  for (const [sig, list] of bySignature) {
    const each = list.map((o) => standing.level(o));
    const strongest = each.reduce((a, b) => (levels.indexOf(b) > levels.indexOf(a) ? b : a));
    const observed = list.filter((o) => standing.level(o) === "runtime_observed");
    out.set(sig, strongest === "runtime_observed" && independent(observed) ? "confirmed" : strongest);
  }
  return out;
}

const confirmGap = 60 * 60 * 1000;

function independent(observed: readonly ObservationFacts[]): boolean {
  const runs = new Set<string>();
  // The same run once more counts once, whatever the record says of when and where.
  const list = observed.filter(({ capture: { raw_client_transcript_sha256: run } }) => !runs.has(run) && runs.add(run));
  if (list.some((o) => o.capture.runner !== list[0]?.capture.runner)) return true;
  const times = list.map((o) => o.capture.captured_at).sort(byText);
  return Date.parse(times.at(-1) ?? "") - Date.parse(times[0] ?? "") >= confirmGap;
}

function newest(list: readonly ObservationFacts[]): ObservationFacts {
  return list.reduce((a, b) => ((byText(b.capture.captured_at, a.capture.captured_at) || byText(b.path, a.path)) >= 0 ? b : a));
}

/** What is known of one probe of one version. */
export class ProbeClaim {
  /** The signature that counts, "" for a dispute. */
  readonly settled: string;
  /** Several signatures, seen from a live provider. */
  readonly live: boolean;
  /** The newest capture of each signature that was not withdrawn. */
  readonly newest = new Map<string, ObservationFacts>();
  private readonly bySignature = new Map<string, ObservationFacts[]>();

  constructor(
    observations: readonly ObservationFacts[],
    private readonly standing: Standing,
  ) {
    for (const o of observations) this.bySignature.set(o.shape.signature, [...(this.bySignature.get(o.shape.signature) ?? []), o]);
    const active = (list: readonly ObservationFacts[]) => list.filter((o) => !standing.withdrawn.has(o.path));
    let settled = "";
    for (const [sig, all] of this.bySignature) {
      const mine = active(all);
      if (mine.length > 0) this.newest.set(sig, newest(mine));
      const outvotes = [...this.bySignature].every(([other, others]) => other === sig || mine.length > others.length);
      if (mine.length > 0 && outvotes) settled = sig;
    }
    this.settled = settled;
    this.live = this.isLive();
  }

  /** Two signatures from a live provider; one beside emulated ones has a vote like theirs. */
  private isLive(): boolean {
    return [...this.bySignature.values()].filter((all) => all.some((o) => o.extensions.provider === "live")).length > 1;
  }

  /** What the consumer makes of the settled shape. */
  reading(): string {
    const votes = this.voters().filter((o) => !this.standing.withdrawn.has(o.path) || o.parser_replay.status !== "compatible");
    const count = (status: string) => votes.filter((o) => o.parser_replay.status === status).length;
    let best = "not_run";
    // From what asks for most care to what asks for least.
    for (const status of ["incompatible", "not_run", "compatible"]) if (count(status) > count(best)) best = status;
    return best;
  }

  /** Whether at least half of the captures of the settled shape break the probe's expectation. */
  violated(): boolean {
    const voters = this.voters();
    const broken = voters.filter((o) => (o.extensions.violations ?? []).length > 0).length;
    return broken > 0 && 2 * broken >= voters.length;
  }

  private voters(): ObservationFacts[] {
    const careless = (o: ObservationFacts) => o.parser_replay.status === "compatible" && (o.extensions.violations ?? []).length === 0;
    const all = (this.bySignature.get(this.settled) ?? []).filter((o) => !(this.standing.withdrawn.has(o.path) && careless(o)));
    let best = "";
    for (const o of all) if (best === "" || compareReaders(o.extensions.readers ?? "", best) > 0) best = o.extensions.readers ?? "";
    return all.filter((o) => compareReaders(o.extensions.readers ?? "", best) === 0);
  }
}

/** Orders versions of the adapters; what is no version is older than all that are. */
function compareReaders(a: string, b: string): number {
  const [x, y] = [parseSemver(a), parseSemver(b)];
  if (a === b) return 0;
  if (x === undefined && y === undefined) return byText(a, b);
  if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
  return compareSemver(x, y);
}
