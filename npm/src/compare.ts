/**
 * What changed from an older shape to a newer one, and what that means for a
 * reader: the registry's `compare` on shapes, held to the Go one by a table
 * (testdata/compare-table.json). What only whole runs tell (exit codes, error
 * texts, kinds that come by chance) and what an adapter reads of a change is
 * for the registry's program to say.
 */
import { crypto } from "./builtin.js";

import { below, fieldSignals } from "./compare-fields.js";
import { listOf, pairOf, unpairedSignals, type Frame } from "./compare-kinds.js";
import { orderSignals } from "./compare-order.js";
import { byText, ruleRank, rules, type Found, type RuleId, type Severity } from "./compare-rules.js";
import type { Dialect } from "./schemas/families.js";
import type { Shape } from "./schemas/shape.js";

/** One change. */
export interface Signal {
  id: RuleId;
  severity: Severity;
  /** The type of the frames concerned; absent for the whole run. */
  event_type?: string;
  /** What else tells their kinds apart, sorted. */
  kinds?: string[];
  /** The member concerned, under its new name if it was renamed. */
  path?: string;
  from?: string;
  to?: string;
  /** Of a kind that is gone, the new one with its structure, and the reverse. */
  renamed?: string;
  /** The same for the same change in every run and version. */
  fingerprint: string;
}

/** How two shapes differ. */
export interface Comparison {
  verdict: "same_shape" | "compatible_new_shape" | "parser_incompatible";
  /** The signatures. */
  a: string;
  b: string;
  /** By whose rules they were compared; absent where no dialect is known. */
  dialect?: string;
  /** The most severe first, losses before additions. */
  signals: Signal[];
}

/** What of registry/families.json a comparison reads. */
export type CompareDialect = Pick<Dialect, "id"> & Partial<Pick<Dialect, "kind" | "terminal" | "stream" | "event_type" | "parser">>;

/** Compares an older shape with a newer one. dialects are those of the registry's families. */
export function compareShapes(a: Shape, b: Shape, dialects: readonly CompareDialect[] = []): Comparison {
  const of = (s: Shape) => dialects.find((d) => d.id === s.extensions.dialect);
  const [da, db] = [of(a), of(b)];
  const dialect = db ?? da;
  const head = { a: a.signature, b: b.signature, ...(dialect === undefined ? {} : { dialect: dialect.id }) };
  if (a.signature === b.signature) return { verdict: "same_shape", ...head, signals: [] };
  const signals = new Collected(b.protocol_family);
  whole(a, b, signals);
  const [fa, fb] = [listOf(a, dialect), listOf(b, dialect)];
  if (!envelope(a, b, da, db, fa, fb, signals)) {
    const pairs = pairOf(fa, fb);
    for (const p of pairs) fieldSignals(p.a, p.b, signals.add);
    unpairedSignals(fa, fb, pairs, dialect?.kind ?? [], signals.add);
    orderSignals(fa, fb, pairs, a.extensions.sequence, b.extensions.sequence, signals.add);
  }
  const list = signals.sorted();
  const breaking = otherReader(a, b, da, db) || list.some((s) => s.severity === "breaking");
  return { verdict: breaking ? "parser_incompatible" : "compatible_new_shape", ...head, signals: list };
}

/** Spells a signal in a line, as the registry's program does. */
export function spellSignal(s: Signal): string {
  return spelled(s) + (s.renamed === undefined ? "" : ` (renamed: ${s.renamed})`);
}

function spelled(s: Signal): string {
  const join = (what: string | undefined) => (what ? `${s.id}:${what}` : s.id);
  const [from, to] = [s.from ?? "", s.to ?? ""];
  switch (s.id) {
    case "event_added":
    case "event_removed":
    case "terminal_moved":
    case "missing_terminal_event":
    case "order_changed":
    case "cardinality_changed":
      return join(s.event_type);
    case "field_added":
    case "field_removed":
    case "requiredness_changed":
      return join(s.path);
    case "field_renamed":
    case "enum_changed":
      return `${s.id}:${from}<->${to}`;
    case "enum_added":
      return `${s.id}:${s.path ?? ""}=${to}`;
    case "type_changed":
      return `${s.id}:${s.path ?? ""}:${from}->${to}`;
  }
  return `${s.id}:${from}->${to}`;
}

/** The signals so far: one change in several kinds of an event type is one signal. */
class Collected {
  private readonly byFingerprint = new Map<string, Signal>();

  constructor(private readonly family: string) {}

  readonly add = (found: Found): void => {
    const { kind, ...s } = found;
    const words = [this.family, s.id, s.event_type ?? "", s.path ?? "", s.from ?? "", s.to ?? ""];
    const fingerprint = "sha256:" + crypto().createHash("sha256").update(words.join("\0")).digest("hex");
    const severity = s.severity ?? rules[ruleRank(s.id)]?.severity ?? "info";
    const known = this.byFingerprint.get(fingerprint);
    if (known === undefined) {
      const members = { event_type: s.event_type, ...(kind ? { kinds: [kind] } : {}), path: s.path, from: s.from, to: s.to, renamed: s.renamed };
      const given = Object.fromEntries(Object.entries(members).filter(([, v]) => v !== undefined && v !== "")); // as Go leaves them out
      this.byFingerprint.set(fingerprint, { id: s.id, severity, ...given, fingerprint });
      return;
    }
    if (rankOf(severity) > rankOf(known.severity)) known.severity = severity;
    if (kind && !known.kinds?.includes(kind)) known.kinds = [...(known.kinds ?? []), kind];
  };

  sorted(): Signal[] {
    const words = (s: Signal) => [s.event_type ?? "", s.path ?? "", s.from ?? "", s.to ?? ""].join("\0");
    for (const s of this.byFingerprint.values()) s.kinds?.sort(byText);
    return [...this.byFingerprint.values()].sort(
      (x, y) => rankOf(y.severity) - rankOf(x.severity) || ruleRank(x.id) - ruleRank(y.id) || byText(words(x), words(y)),
    );
  }
}

const rankOf = (s: Severity) => ["info", "warning", "breaking"].indexOf(s);

function whole(a: Shape, b: Shape, signals: Collected): void {
  if (a.exit !== b.exit) signals.add({ id: "exit_changed", from: a.exit, to: b.exit });
  const [x, y] = [a.stderr_class ?? "none", b.stderr_class ?? "none"];
  if (x !== y) signals.add({ id: "stderr_class_changed", from: x, to: y });
}

/** Reports that the frames are wrapped in another way; true where that leaves nothing to compare. */
function envelope(a: Shape, b: Shape, da: CompareDialect | undefined, db: CompareDialect | undefined, fa: Frame[], fb: Frame[], signals: Collected): boolean {
  let [from, to] = [wrapping(a), wrapping(b)];
  if (from === to) return false;
  const sameFamily = a.protocol_family === b.protocol_family;
  const [x, y] = [da?.event_type?.[0] ?? "", db?.event_type?.[0] ?? ""];
  if (sameFamily && x !== y && x !== "" && y !== "") {
    [from, to] = [x, y];
    members(fa, fb, x, y, signals);
  }
  signals.add({ id: "envelope_changed", from, to });
  return !sameFamily || (a.extensions.dialect ?? "") !== (b.extensions.dialect ?? "");
}

function wrapping(s: Shape): string {
  const dialect = s.extensions.dialect ? s.extensions.dialect + " " : "";
  return `${s.protocol_family} ${dialect}${s.transport}${s.extensions.sequence[0] === "array" ? " array" : ""}`;
}

/** Compares what every frame has at its top, beside its type. */
function members(fa: Frame[], fb: Frame[], typeA: string, typeB: string, signals: Collected): void {
  const [a, b] = [always(fa), always(fb)];
  for (const [path, to] of b) if (!a.has(path) && path !== top(typeB)) signals.add({ id: "field_added", path, to });
  for (const [path, from] of a) if (!b.has(path) && path !== top(typeA)) signals.add({ id: "field_removed", path, from });
}

const top = (path: string) => /^[^.[]*/.exec(path)?.[0] ?? "";

function always(frames: Frame[]): Map<string, string> {
  const out = new Map<string, string>();
  for (const [path, types] of frames[0]?.types ?? []) out.set(path, types.join("|"));
  for (const path of [...out.keys()]) {
    if (below(path, top(path)) || !frames.every((f) => f.required.has(path))) out.delete(path);
  }
  return out;
}

/** Whether the newer run needs another parser. */
function otherReader(a: Shape, b: Shape, da: CompareDialect | undefined, db: CompareDialect | undefined): boolean {
  if (a.protocol_family !== b.protocol_family) return true;
  const reader = (d: CompareDialect) => d.parser || `\0${d.id}`;
  return da !== undefined && db !== undefined && reader(da) !== reader(db);
}

export type { RuleId, Severity };
