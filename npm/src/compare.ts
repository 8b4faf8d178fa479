/**
 * How two shapes differ, structure by structure: a light form of the registry's
 * `compare`. It names what is gone and what is new; what a change means for a
 * reader is for the registry's program to say.
 */
import type { Shape } from "./schemas/shape.js";

/** One difference. */
export interface Difference {
  change: "envelope" | "event_removed" | "event_added" | "field_removed" | "field_added" | "type_changed" | "enum_removed" | "enum_added" | "order" | "exit" | "stderr";
  /** The kind of frames concerned: direction, stream and type. */
  kind?: string;
  path?: string;
  from?: string;
  to?: string;
}

/** The outcome: the same shape, or what differs, losses first. */
export interface Comparison {
  same: boolean;
  /** Something that a reader may rely on is gone or has another meaning. */
  loses: boolean;
  differences: Difference[];
}

interface Kind {
  paths: Map<string, string>;
  enums: Map<string, Set<string>>;
}

/** Compares an older shape with a newer one. */
export function compareShapes(a: Shape, b: Shape): Comparison {
  if (a.signature === b.signature) return { same: true, loses: false, differences: [] };
  const out: Difference[] = [];
  const envelope = (s: Shape) => `${s.protocol_family} ${s.transport}`;
  if (envelope(a) !== envelope(b)) out.push({ change: "envelope", from: envelope(a), to: envelope(b) });
  const [ka, kb] = [kinds(a), kinds(b)];
  for (const [kind, x] of ka) {
    const y = kb.get(kind);
    if (y === undefined) out.push({ change: "event_removed", kind });
    else fields(kind, x, y, out);
  }
  for (const kind of kb.keys()) if (!ka.has(kind)) out.push({ change: "event_added", kind });
  if (a.exit !== b.exit) out.push({ change: "exit", from: a.exit, to: b.exit });
  if (a.stderr_class !== b.stderr_class) out.push({ change: "stderr", from: a.stderr_class, to: b.stderr_class });
  if (out.length === 0) out.push({ change: "order" });
  const losses = new Set(["envelope", "event_removed", "field_removed", "type_changed", "enum_removed", "exit"]);
  out.sort((x, y) => Number(losses.has(y.change)) - Number(losses.has(x.change)));
  return { same: false, loses: out.some((d) => losses.has(d.change)), differences: out };
}

/** The kinds of frames of a shape, several of one name together. */
function kinds(s: Shape): Map<string, Kind> {
  const out = new Map<string, Kind>();
  for (const f of s.frame_shapes) {
    const name = `${f.direction} ${f.stream} ${f.event_type}`;
    const kind = out.get(name) ?? { paths: new Map<string, string>(), enums: new Map<string, Set<string>>() };
    out.set(name, kind);
    for (const p of f.paths) kind.paths.set(p.path, union(kind.paths.get(p.path), String(p.type)));
    for (const [path, values] of Object.entries(f.enums ?? {})) {
      const all = kind.enums.get(path) ?? new Set<string>();
      for (const v of values) all.add(String(v));
      kind.enums.set(path, all);
    }
  }
  return out;
}

function union(a: string | undefined, b: string): string {
  return [...new Set([...(a?.split("|") ?? []), ...b.split("|")])].sort().join("|");
}

function fields(kind: string, a: Kind, b: Kind, out: Difference[]): void {
  for (const [path, from] of a.paths) {
    const to = b.paths.get(path);
    if (to === undefined) out.push({ change: "field_removed", kind, path });
    else if (to !== from) out.push({ change: "type_changed", kind, path, from, to });
  }
  for (const path of b.paths.keys()) if (!a.paths.has(path)) out.push({ change: "field_added", kind, path });
  for (const path of new Set([...a.enums.keys(), ...b.enums.keys()])) {
    if (!a.paths.has(path) || !b.paths.has(path)) continue;
    const [x, y] = [a.enums.get(path) ?? new Set<string>(), b.enums.get(path) ?? new Set<string>()];
    for (const from of x) if (!y.has(from)) out.push({ change: "enum_removed", kind, path, from });
    for (const to of y) if (!x.has(to)) out.push({ change: "enum_added", kind, path, to });
  }
}
