/**
 * Versions as the CLIs print them, ordered by the agent's scheme: the rules of
 * the Go package tools/agents. A version has two or three numbers; a suffix is
 * a pre-release, which comes before its release, or a build, which does not.
 */
import { inRange, parseRange, parseSemver, type Range } from "./ranges.js";

/** How an agent's suffixes are ordered. */
export type VersionScheme = "prerelease" | "build";

/** A version that was read. */
export interface Version {
  /** As it was written, without a leading v. */
  readonly token: string;
  /** Two or three numbers, without leading zeros. */
  readonly parts: readonly string[];
  readonly prerelease: string;
  readonly build: string;
}

const token =
  /[vV]?([0-9]{1,15})\.([0-9]{1,15})(?:\.([0-9]{1,15}))?(?:-([0-9A-Za-z][0-9A-Za-z.-]*))?(?:\+([0-9A-Za-z][0-9A-Za-z.-]*))?/g;

/** Reads a version; undefined for a text that is none. */
export function parseVersion(text: string, scheme: VersionScheme = "prerelease"): Version | undefined {
  for (const m of text.matchAll(token)) {
    if (!standsAlone(text, m.index, m.index + m[0].length)) continue;
    const trim = (s: string | undefined) => (s ?? "").replace(/[.-]+$/, "");
    const found = trim(m[0]).replace(/^[vV]+/, "");
    if (found !== text.replace(/^[vV]+/, "")) return undefined;
    const parts = [m[1], m[2], m[3]].filter((p) => p !== undefined).map((p) => p.replace(/^0+(?=.)/, ""));
    const suffix = trim(m[4]);
    let build = trim(m[5]);
    let prerelease = suffix;
    if (scheme === "build" && build === "") [build, prerelease] = [suffix, ""];
    return { token: found, parts, prerelease, build };
  }
  return undefined;
}

const word = /[0-9A-Za-z_]/;

/** Whether a part of a line is a word of its own, not a part of a name, a path or an address. */
function standsAlone(line: string, from: number, to: number): boolean {
  if (from > 0 && (word.test(line[from - 1] ?? "") || ".-+".includes(line[from - 1] ?? ""))) return false;
  const rest = line.slice(to);
  if (rest === "") return true;
  if (rest[0] === ".") return rest.length === 1 || !word.test(rest[1] ?? "");
  return !word.test(rest[0] ?? "") && !"/\\%".includes(rest[0] ?? "");
}

/** Orders two versions of one agent: -1, 0 or 1. */
export function compareVersions(a: Version, b: Version): -1 | 0 | 1 {
  for (let i = 0; i < 3; i++) {
    const n = digits(a.parts[i] ?? "0", b.parts[i] ?? "0");
    if (n !== 0) return n;
  }
  if ((a.prerelease === "") !== (b.prerelease === "")) return a.prerelease === "" ? 1 : -1;
  return identifiers(a.prerelease, b.prerelease) || identifiers(a.build, b.build);
}

function order<T extends number | string>(a: T, b: T): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}

function digits(a: string, b: string): -1 | 0 | 1 {
  return order(a.length, b.length) || order(a, b);
}

/** Dotted identifiers as semantic versions order them; the empty one first. */
function identifiers(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0;
  if (a === "" || b === "") return order(a, b);
  const [as, bs] = [a.split("."), b.split(".")];
  for (let i = 0; i < Math.min(as.length, bs.length); i++) {
    const [x, y] = [as[i] ?? "", bs[i] ?? ""];
    const [xn, yn] = [/^[0-9]+$/.test(x), /^[0-9]+$/.test(y)];
    const zeros = (s: string) => s.replace(/^0+(?=.)/, "");
    const n = xn && yn ? digits(zeros(x), zeros(y)) || order(x, y) : xn ? -1 : yn ? 1 : order(x, y);
    if (n !== 0) return n;
  }
  return order(as.length, bs.length);
}

const ranges = new Map<string, Range>();

/** Whether a version lies in a range such as ">=1.2 <2" or "~0.4". Throws a TypeError for a text that is no range. */
export function versionIn(v: Version, range: string): boolean {
  if (range === "*") return true;
  let parsed = ranges.get(range);
  if (parsed === undefined) ranges.set(range, (parsed = parseRange(range)));
  const release = [0, 1, 2].map((i) => v.parts[i] ?? "0").join(".");
  const exact = v.prerelease === "" ? undefined : parseSemver(`${release}-${v.prerelease}`);
  const semver = exact ?? parseSemver(release);
  return semver !== undefined && inRange(semver, parsed);
}
