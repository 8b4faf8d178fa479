/**
 * Version ranges as the registry's Go side reads them (Masterminds/semver
 * v3.5.0, pre-releases included). There is no dependency here on purpose: the
 * package has none, and the rules of another library would differ in corners.
 */

/** Three numbers and a pre-release, "" for none. */
export interface Semver {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  readonly pre: string;
}

/** One comparison, such as >=1.2. */
interface Comparison extends Semver {
  readonly op: string;
  readonly dirty: boolean;
  readonly minorDirty: boolean;
  readonly patchDirty: boolean;
}

/** A parsed range: groups of comparisons, of which one group must hold. */
export type Range = readonly (readonly Comparison[])[];

const cv =
  String.raw`v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?` +
  String.raw`(-([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?(?:\+(?:[0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?`;
const ops = String.raw`=||!=|>|<|>=|=>|<=|=<|~|~>|\^`;
// RE2 takes the longest way through an alternation only where it leads to a
// match; an anchored expression tries them all here too. For finding, the order
// matters: longest operators first give the same cuts.
const opsLongestFirst = String.raw`>=|=>|<=|=<|~>|!=|=|>|<|~|\^|`;
const single = new RegExp(`^\\s*(${ops})\\s*${cv}\\s*$`);
const finder = new RegExp(`(?:${opsLongestFirst})\\s*${cv}`, "g");
const valid = new RegExp(`^\\s*(?:${ops})\\s*${cv}\\s*(?:(?:\\s+|,\\s*)(?:${ops})\\s*${cv}\\s*)*$`);
const hyphen = new RegExp(`\\s*(${cv})\\s+-\\s+(${cv})\\s*`, "g");
const strict =
  /^v?(0|[1-9]\d*)(?:\.(0|[1-9]\d*))?(?:\.(0|[1-9]\d*))?(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/;

/** Reads a semantic version; undefined for a text that is none. */
export function parseSemver(text: string): Semver | undefined {
  const m = strict.exec(text);
  if (m === null) return undefined;
  return { major: Number(m[1]), minor: Number(m[2] ?? 0), patch: Number(m[3] ?? 0), pre: m[4] ?? "" };
}

/** Reads a range; throws a TypeError for a text that is none. */
export function parseRange(text: string): Range {
  const rewritten = text.length > 512 ? "!" : text.replace(hyphen, (...m: string[]) => `>= ${m[1]}, <= ${m[7]} `);
  const groups = rewritten.split("||");
  if (groups.length > 32) throw new TypeError(`too many groups in the version range ${JSON.stringify(text)}`);
  return groups.map((group) => {
    if (!valid.test(group)) throw new TypeError(`${JSON.stringify(text)} is not a version range`);
    return (group.match(finder) ?? [group]).map((one) => comparison(one, text));
  });
}

function comparison(one: string, whole: string): Comparison {
  const m = single.exec(one);
  if (m === null) throw new TypeError(`${JSON.stringify(whole)} is not a version range`);
  const [, op = "", major = "", minor = "", patch = "", pre = ""] = m;
  const isX = (part: string) => part === "" || /^\.?[xX*]$/.test(part);
  let version = one.trim().slice(op.length).trim();
  let [dirty, minorDirty, patchDirty] = [true, false, false];
  if (isX(major)) version = "0.0.0" + pre;
  else if (isX(minor)) [version, minorDirty] = [`${major}.0.0${pre}`, true];
  else if (isX(patch)) [version, patchDirty] = [`${major}${minor}.0${pre}`, true];
  else dirty = false;
  const v = parseSemver(version);
  if (v === undefined) throw new TypeError(`${JSON.stringify(whole)} is not a version range`);
  return { ...v, op, dirty, minorDirty, patchDirty };
}

/** Whether a version lies in a range; pre-releases lie where their order says. */
export function inRange(v: Semver, range: Range): boolean {
  return range.some((group) => group.every((c) => holds(v, c)));
}

function holds(v: Semver, c: Comparison): boolean {
  switch (c.op) {
    case "":
    case "=":
      return c.dirty ? tilde(v, c) : compareSemver(v, c) === 0;
    case "!=":
      return differs(v, c);
    case ">":
      return greater(v, c);
    case "<":
      return compareSemver(v, c) < 0;
    case ">=":
    case "=>":
      return compareSemver(v, c) >= 0;
    case "<=":
    case "=<":
      if (!c.dirty) return compareSemver(v, c) <= 0;
      return !(v.major > c.major || (v.major === c.major && v.minor > c.minor && !c.minorDirty));
    case "^":
      return caret(v, c);
    default:
      return tilde(v, c);
  }
}

function differs(v: Semver, c: Comparison): boolean {
  if (c.dirty) {
    if (c.major !== v.major) return true;
    if (c.minor !== v.minor && !c.minorDirty) return true;
    if (c.minorDirty) return false;
    if (c.patch !== v.patch && !c.patchDirty) return true;
    if (c.patchDirty) return (v.pre !== "" || c.pre !== "") && comparePre(v.pre, c.pre) !== 0;
  }
  return compareSemver(v, c) !== 0;
}

function greater(v: Semver, c: Comparison): boolean {
  if (!c.dirty || v.major !== c.major) return c.dirty ? v.major > c.major : compareSemver(v, c) > 0;
  if (c.minorDirty) return false;
  return c.patchDirty ? v.minor > c.minor : compareSemver(v, c) > 0;
}

function tilde(v: Semver, c: Comparison): boolean {
  if (compareSemver(v, c) < 0) return false;
  if (c.major === 0 && c.minor === 0 && c.patch === 0 && !c.minorDirty && !c.patchDirty) return true;
  return v.major === c.major && (v.minor === c.minor || c.minorDirty);
}

function caret(v: Semver, c: Comparison): boolean {
  if (compareSemver(v, c) < 0) return false;
  if (c.major > 0 || c.minorDirty) return v.major === c.major;
  if (v.major > 0) return false;
  if (c.minor > 0 || c.patchDirty) return v.minor === c.minor;
  return v.minor === 0 && c.patch === v.patch;
}

/** Orders two semantic versions. */
export function compareSemver(v: Semver, w: Semver): number {
  const n = v.major - w.major || v.minor - w.minor || v.patch - w.patch;
  if (n !== 0) return Math.sign(n);
  if (v.pre === "" || w.pre === "") return v.pre === w.pre ? 0 : v.pre === "" ? 1 : -1;
  return comparePre(v.pre, w.pre);
}

function comparePre(a: string, b: string): number {
  const [x, y] = [a.split("."), b.split(".")];
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const n = comparePart(x[i] ?? "", y[i] ?? "");
    if (n !== 0) return n;
  }
  return 0;
}

function comparePart(s: string, o: string): number {
  if (s === o) return 0;
  if (s === "" || o === "") return s === "" ? -1 : 1;
  const [sn, on] = [/^\d+$/.test(s), /^\d+$/.test(o)];
  if (sn && on) return BigInt(s) > BigInt(o) ? 1 : -1;
  if (sn !== on) return sn ? -1 : 1;
  return s > o ? 1 : -1;
}
