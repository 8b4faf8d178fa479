/** How the members of two corresponding kinds of frames differ. */
import { byText, likeness, type Add, type Severity } from "./compare-rules.js";
import { spell, type Frame } from "./compare-kinds.js";

/** Compares two frames of corresponding kinds. */
export function fieldSignals(a: Frame, b: Frame, add: Add): void {
  const [gone, come] = [only(a, b), only(b, a)];
  const renamed = renames(a, b, gone, come);
  const targets = new Set(renamed.values());
  const of = { event_type: b.shape.event_type, kind: b.label };
  for (const p of gone) {
    const to = renamed.get(p);
    if (to !== undefined) {
      add({ id: "field_renamed", ...of, path: to, from: p, to });
      enums(a, b, p, to, add);
    } else if (!covered(p, gone)) {
      add({ id: "field_removed", severity: a.required.has(p) ? undefined : "warning", ...of, path: p, from: typesOf(a, p).join("|") });
    }
  }
  for (const p of come) {
    if (!covered(p, come) && !targets.has(p)) add({ id: "field_added", ...of, path: p, to: typesOf(b, p).join("|") });
  }
  for (const p of [...a.types.keys()].sort(byText)) if (b.types.has(p)) member(a, b, p, add);
}

const typesOf = (f: Frame, path: string) => f.types.get(path) ?? [];
const equal = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((x, i) => x === b[i]);
const subset = (a: readonly string[], b: readonly string[]) => a.every((x) => b.includes(x));

/** Compares a member that both frames have. */
function member(a: Frame, b: Frame, path: string, add: Add): void {
  const of = { event_type: b.shape.event_type, kind: b.label, path };
  const [from, to] = [typesOf(a, path), typesOf(b, path)];
  if (!equal(from, to)) {
    const severity: Severity | undefined = subset(to, from) ? (equal(to, ["null"]) ? "warning" : "info") : subset(from, to) ? "warning" : undefined;
    add({ id: "type_changed", severity, ...of, from: from.join("|"), to: to.join("|") });
  }
  const [had, has] = [a.required.has(path), b.required.has(path)];
  if (had !== has && !sameAbove(a, b, path)) {
    if (has) add({ id: "requiredness_changed", severity: "info", ...of, from: "optional", to: "required" });
    else add({ id: "requiredness_changed", ...of, from: "required", to: "optional" });
  }
  enums(a, b, path, path, add);
}

/** Whether an object that the member lies in changed its requiredness in the same way. */
function sameAbove(a: Frame, b: Frame, path: string): boolean {
  for (let p = parent(path); p !== ""; p = parent(p)) {
    const both = a.types.has(p) && b.types.has(p);
    if (both && a.required.has(p) === a.required.has(path) && b.required.has(p) === b.required.has(path)) return true;
  }
  return false;
}

/** Compares the values at a member; from and to differ if it was renamed. */
function enums(a: Frame, b: Frame, from: string, to: string, add: Add): void {
  const [va, vb] = [a.shape.enums[from] ?? [], b.shape.enums[to] ?? []];
  const [lost, come] = [va.filter((v) => !vb.includes(v)), vb.filter((v) => !va.includes(v))];
  const of = { event_type: b.shape.event_type, kind: b.label, path: to };
  if (from !== to && vb.length === 0) return; // values are not kept under the new name
  if (lost.length === 0) for (const v of come) add({ id: "enum_added", ...of, to: spell([v]) });
  else add({ id: "enum_changed", severity: come.length === 0 ? "warning" : undefined, ...of, from: spell(lost), to: spell(come) });
}

function only(a: Frame, b: Frame): string[] {
  return [...a.types.keys()].filter((p) => !b.types.has(p)).sort(byText);
}

/** Whether a path lies below another one of the list: what is below an object that is gone is gone with it. */
const covered = (p: string, list: readonly string[]) => list.some((q) => q !== p && below(p, q));

/** Whether a path lies below another one. */
export function below(p: string, q: string): boolean {
  return p.startsWith(q) && (p[q.length] === "." || p[q.length] === "[");
}

/** A path without its last step. */
function parent(p: string): string {
  return p.slice(0, Math.max(0, p.lastIndexOf("."), p.lastIndexOf("[")));
}

/**
 * Finds members that are gone and have come back under another name in the same
 * object: with the same types and requiredness, and either the only such pair
 * or one whose names share most of their letters.
 */
function renames(a: Frame, b: Frame, gone: string[], come: string[]): Map<string, string> {
  const out = new Map<string, string>();
  const used = new Set<string>();
  const name = (p: string, q: string) => likeness(p.slice(parent(p).length), q.slice(parent(q).length));
  for (const p of gone) {
    const alike = (q: string) => parent(p) === parent(q) && equal(typesOf(a, p), typesOf(b, q)) && a.required.has(p) === b.required.has(q);
    const fits = come.filter((q) => alike(q) && !used.has(q) && !covered(q, come));
    const rival = gone.some((q) => q !== p && parent(p) === parent(q) && equal(typesOf(a, p), typesOf(a, q)));
    const [first, ...rest] = fits;
    if (covered(p, gone) || first === undefined) continue;
    const best = rest.reduce((x, y) => (name(p, y) > name(p, x) ? y : x), first);
    if ((fits.length === 1 && !rival) || name(p, best) >= 0.5) {
      out.set(p, best);
      used.add(best);
    }
  }
  return out;
}
