/** Which kinds of frames of two shapes correspond, and which only one of them has. */
import { common, likeness, type Add } from "./compare-rules.js";
import type { CompareDialect } from "./compare.js";
import type { FrameShape, Shape } from "./schemas/shape.js";

type Literal = string | number | boolean | null;
type Discriminator = NonNullable<CompareDialect["kind"]>[number];
type Match = NonNullable<CompareDialect["terminal"]>[number];

/** A frame shape, ready to compare. */
export interface Frame {
  shape: FrameShape;
  /** One text for each discriminator. */
  kind: string[];
  /** What tells the kind apart beside its event type. */
  label: string;
  types: Map<string, string[]>;
  required: Set<string>;
  /** Its structure without its values. */
  places: Set<string>;
  terminal: boolean;
  streamed: boolean;
}

/** A kind of the older shape and the kind of the newer one that it corresponds to. */
export interface Pair {
  a: Frame;
  b: Frame;
}

/** The frames of a shape, by a dialect's rules; without one they are told apart by their event types. */
export function listOf(s: Shape, d: CompareDialect | undefined): Frame[] {
  return s.frame_shapes.map((shape) => {
    const types = new Map<string, string[]>();
    const required = new Set<string>();
    for (const p of shape.paths) {
      types.set(p.path, [...(types.get(p.path) ?? []), p.type]);
      if (p.required) required.add(p.path);
    }
    const by = d?.kind ?? [];
    const kind = by.map((k) => aspect(shape, types, k));
    return {
      shape,
      kind,
      label: labelOf(shape, kind, by),
      types,
      required,
      places: new Set(shape.paths.map((p) => `${p.path} ${p.type}`)),
      terminal: matches(shape, types, d?.terminal),
      streamed: matches(shape, types, d?.stream),
    };
  });
}

/** Lists literals without quotes. */
export function spell(literals: readonly Literal[]): string {
  return literals.map((l) => JSON.stringify(l).replace(/^"+|"+$/g, "")).join(",");
}

function aspect(f: FrameShape, types: Map<string, string[]>, k: Discriminator): string {
  const at = types.get(k.path);
  if (at === undefined) return "";
  if (k.mode === "presence") return at.length === 1 && at[0] === "null" ? "null" : "present";
  const values = f.enums[k.path] ?? [];
  return values.length === 0 ? at.join("|") : spell(values);
}

function labelOf(f: FrameShape, kind: string[], by: readonly Discriminator[]): string {
  return kind
    .flatMap((k, i) => {
      if (k === "" || k === f.event_type) return [];
      if (by[i]?.mode === "presence") return k === "present" ? [by[i].path] : [];
      return [k];
    })
    .join(" ");
}

function matches(f: FrameShape, types: Map<string, string[]>, ms: readonly Match[] | undefined): boolean {
  return (ms ?? []).some((m) => Object.entries(m).every(([path, wants]) => matchesPath(f, types, path, wants as string[])));
}

function matchesPath(f: FrameShape, types: Map<string, string[]>, path: string, wants: readonly string[]): boolean {
  if (!types.has(path)) return wants.includes("");
  const values = (f.enums[path] ?? []).map((l) => spell([l]));
  return wants.some((w) => {
    if (w === "*") return true;
    if (w.endsWith("*")) return values.some((v) => v.startsWith(w.slice(0, -1)));
    if (w.startsWith("*")) return values.some((v) => v.endsWith(w.slice(1)));
    return values.includes(w);
  });
}

const sameSource = (f: Frame, g: Frame) =>
  f.shape.direction === g.shape.direction && f.shape.stream === g.shape.stream && f.shape.event_type === g.shape.event_type;

/** From this similarity on two kinds of one event type count as one kind that changed. */
const minSimilar = 0.6;

/** Finds corresponding kinds: equal discriminators first, then by similarity among kinds of one event type. */
export function pairOf(as: Frame[], bs: Frame[]): Pair[] {
  const out: Pair[] = [];
  const used = new Set<Frame>();
  const use = (a: Frame, b: Frame) => {
    used.add(a).add(b);
    out.push({ a, b });
  };
  for (const a of as) {
    const b = bs.find((f) => !used.has(f) && sameSource(a, f) && a.kind.every((k, i) => k === f.kind[i]));
    if (b !== undefined) use(a, b);
  }
  const candidates = as.flatMap((a) =>
    bs.flatMap((b) => {
      if (used.has(a) || used.has(b) || !sameSource(a, b)) return [];
      const score = similarity(a, b);
      return score >= minSimilar ? [{ a, b, score }] : [];
    }),
  );
  candidates.sort((x, y) => y.score - x.score);
  for (const { a, b } of candidates) if (!used.has(a) && !used.has(b)) use(a, b);
  return out;
}

function similarity(a: Frame, b: Frame): number {
  const words = (f: Frame) => new Set(f.kind.filter((k) => k !== ""));
  return 0.2 + 0.5 * common(a.places, b.places) + 0.3 * common(words(a), words(b));
}

/** Reports kinds that only one shape has. */
export function unpairedSignals(as: Frame[], bs: Frame[], pairs: Pair[], by: readonly Discriminator[], add: Add): void {
  const paired = new Set(pairs.flatMap((p) => [p.a, p.b]));
  if (as.some((f) => f.terminal) && !bs.some((f) => f.terminal)) {
    for (const a of as.filter((f) => f.terminal)) {
      paired.add(a);
      add({ id: "missing_terminal_event", event_type: a.shape.event_type, kind: a.label });
    }
  }
  const renamed = renamedKinds(as, bs, paired);
  for (const a of as) {
    // No reader of frames waits for a line that is none.
    const severity = a.shape.event_type === "non_json" ? "warning" : undefined;
    if (!paired.has(a)) add({ id: "event_removed", severity, event_type: a.shape.event_type, kind: a.label, from: a.label, renamed: renamed.get(a) });
  }
  for (const b of bs) if (!paired.has(b)) added(as, b, renamed.get(b), by, add);
}

/** Reports a new kind: as new values where the protocol has a fixed set, else as a new event. */
function added(as: Frame[], b: Frame, renamed: string | undefined, by: readonly Discriminator[], add: Add): void {
  const known = as.some((a) => sameSource(a, b));
  let value = false;
  for (const [i, k] of by.entries()) {
    const kind = b.kind[i] ?? "";
    if ((k.mode !== "value" && k.mode !== "set") || kind === "" || kind === b.shape.event_type) continue;
    for (const to of newValues(as, b, k.path, known)) {
      add({ id: "enum_added", event_type: b.shape.event_type, kind: b.label, path: k.path, to });
      value = true;
    }
    if (value && known) return;
  }
  add({ id: "event_added", event_type: b.shape.event_type, kind: b.label, to: b.label, renamed });
}

/** The values of a discriminator that no older frame had; only where the older stream had others. */
function newValues(as: Frame[], b: Frame, path: string, known: boolean): string[] {
  const older = as.filter((a) => !known || sameSource(a, b));
  const others = known || older.some((a) => (a.shape.enums[path] ?? []).length > 0);
  return (b.shape.enums[path] ?? [])
    .filter((v) => others && !older.some((a) => (a.shape.enums[path] ?? []).includes(v)))
    .map((v) => spell([v]));
}

/** The share of their paths that a kind and its renamed self have in common at least. */
const minStructure = 0.6;

/** Pairs kinds that are gone with new ones that have their structure under another event type. */
function renamedKinds(as: Frame[], bs: Frame[], paired: Set<Frame>): Map<Frame, string> {
  const out = new Map<Frame, string>();
  for (const a of as) {
    let [best, score]: [Frame | undefined, number] = [undefined, 0];
    for (const b of bs) {
      const apart = a.shape.direction !== b.shape.direction || a.shape.stream !== b.shape.stream || a.shape.event_type === b.shape.event_type;
      if (paired.has(a) || paired.has(b) || out.has(b) || apart) continue;
      const [shared, name] = [common(a.places, b.places), likeness(a.shape.event_type, b.shape.event_type)];
      if (shared >= minStructure && (a.types.size > 2 || name >= 0.5) && shared + name / 10 > score) [best, score] = [b, shared + name / 10];
    }
    if (best !== undefined) out.set(a, best.shape.event_type).set(best, a.shape.event_type);
  }
  return out;
}
