#!/usr/bin/env node
/** npx @open-design/agent-cli-contracts: a few questions to the package, from a shell. */
import { parseArgs } from "node:util";

import { classify, support } from "./compact.js";
import { compareShapes, spellSignal } from "./compare.js";
import { supportedShapes } from "./contracts.js";
import { KeyError, verifyManifest, type ManifestOptions } from "./manifest.js";
import type { SupportedShape } from "./records.js";
import { Registry } from "./registry.js";
import { replayThrough } from "./replay.js";
import type { Platform } from "./schemas/agent-cli-compatibility.js";
import type { Families } from "./schemas/families.js";
import type { Shape } from "./schemas/shape.js";
import { parseVersion } from "./version.js";
import { verifyRecords } from "./verify.js";

const usage = `agent-cli-contracts: contracts of coding-agent CLIs, offline

  can-i-use AGENT VERSION [--platform P]   yes (exit 0), no (1) or cannot know (3)
  compare A B                              what changed from shape A to shape B: a signature (eight digits are enough)
                                           or AGENT@VERSION[:PROBE]; 0 the same or compatible, 1 breaking, 3 cannot know
  replay [AGENT|ID] [--adapter COMMAND]    the recorded runs and OpenDesign's events; with --adapter,
                                           those of a program held against them; 1 if any differs
  verify [--key K]… [--min-sequence N]     the package against itself: manifest, claims, records; 1 if anything is wrong

Options: --json, --help. Exit code 2 is a usage error.
`;

class UsageError extends Error {}

const say = (line: string) => process.stdout.write(line + "\n");
const talk = (line: string) => process.stderr.write(line + "\n");

const platforms: readonly Platform[] = ["darwin-arm64", "darwin-x64", "linux-x64", "linux-arm64", "win32-x64", "unknown"];

/** This machine's platform: unknown for one that the registry has no word for. */
const platform = (): Platform => platforms.find((p) => p === `${process.platform}-${process.arch}`) ?? "unknown";

function canIUse(agent: string | undefined, version: string | undefined, on: string, json: boolean): number {
  if (agent === undefined || version === undefined) throw new UsageError("can-i-use wants AGENT VERSION");
  if (!platforms.includes(on as Platform)) throw new UsageError(`there is no platform ${JSON.stringify(on)}: give one of ${platforms.join(", ")}`);
  // Code gets an answer in any case; a person who mistyped is told.
  const known = support().agents();
  if (!known.includes(agent)) throw new UsageError(`unknown agent ${JSON.stringify(agent)}; known are ${known.join(", ")}`);
  if (parseVersion(version) === undefined) throw new UsageError(`${JSON.stringify(version)} is not a version: want two or three numbers, as in 0.133.0`);
  const c = classify(agent, version, on);
  if (json) say(JSON.stringify(c));
  else say(`${c.answer.replace("_", " ")}: ${agent} ${version} on ${on} is ${c.status} (${c.policy.allow_run}, ${c.policy.user_action})`);
  return { yes: 0, no: 1, cannot_know: 3 }[c.answer];
}

/** There is not what was named, so that nothing can be said. */
class CannotKnowError extends Error {}

/** The shape that a word names: a signature or the beginning of one, or an agent's version and probe. */
function shapeOf(registry: Registry, word: string): Shape {
  const version = /^([^@]+)@([^:]+)(?::(.+))?$/.exec(word);
  const found = version ? recorded(registry, version[1] ?? "", version[2] ?? "", version[3]) : signatures(registry, word);
  const [first, ...more] = found;
  if (more.length > 0) throw new UsageError(`${word} has ${found.length} shapes: give one of ${found.join(", ")}`);
  const shape = first === undefined ? undefined : registry.shape(first);
  if (shape === undefined) throw new CannotKnowError(`there is no shape ${word} here`);
  return shape;
}

/** The shapes that were recorded of a version, of the representative probe unless another one is named. */
function recorded(registry: Registry, agent: string, version: string, probe?: string): string[] {
  const asked = probe ?? registry.agents().agents.find((a) => a.id === agent)?.representative_probe;
  const shapes = registry.matrix().agents.flatMap((e) => (e.agent === agent ? e.observed_shapes : []));
  const of = (s: { extensions?: { probe?: string; versions?: string[] } }) => s.extensions?.probe === asked && s.extensions?.versions?.includes(version);
  return [...new Set(shapes.filter(of).map((s) => s.shape))];
}

function signatures(registry: Registry, word: string): string[] {
  const start = word.replace(/^sha256[:-]/, "");
  if (!/^[0-9a-f]{8,64}$/.test(start)) throw new UsageError(`${word} is no signature of at least eight digits, and no AGENT@VERSION[:PROBE]`);
  const name = /\/sha256-(\w+)\.shape\.json$/;
  return registry.places("shapes", ".shape.json").flatMap((p) => (name.exec(p)?.[1]?.startsWith(start) ? [p.replace(/^.*\/sha256-(\w+)\..*$/, "sha256:$1")] : []));
}

function compare(words: string[], json: boolean): number {
  const [a, b, ...rest] = words;
  if (a === undefined || b === undefined || rest.length > 0) throw new UsageError("compare wants two shapes");
  const registry = new Registry();
  const { dialects } = registry.record<Families>("families", "registry/families.json");
  const result = compareShapes(shapeOf(registry, a), shapeOf(registry, b), dialects);
  if (json) say(JSON.stringify(result));
  else for (const line of [result.verdict, ...result.signals.map((s) => `${s.severity.padEnd(8)}  ${spellSignal(s)}`)]) say(line);
  return result.verdict === "parser_incompatible" ? 1 : 0;
}

async function replay(which: string | undefined, adapter: string | undefined, json: boolean): Promise<number> {
  const shapes = supportedShapes().filter((c) => which === undefined || c.agent === which || c.id.startsWith(which));
  if (shapes.length === 0) throw new UsageError(`there is no recorded run of ${which}`);
  if (adapter === undefined) {
    for (const c of shapes) show(c, json);
    return 0;
  }
  const counts = new Map<string, number>();
  for (const c of shapes) {
    const r = await replayThrough(adapter, c);
    counts.set(r.status, (counts.get(r.status) ?? 0) + 1);
    if (json) say(JSON.stringify({ id: c.id, ...r }));
    else if (r.status !== "same") say(`${r.status} ${c.id}${r.at === undefined ? "" : ` at event ${r.at}`}${r.why === undefined ? "" : `: ${r.why}`}`);
  }
  talk([...counts].map(([status, n]) => `${n} ${status}`).join(", "));
  return counts.has("differs") || counts.has("broken") ? 1 : 0;
}

function show(c: SupportedShape, json: boolean): void {
  if (json) say(JSON.stringify({ id: c.id, versions: c.versions, probes: c.probes, fixture: c.fixture, events: c.expectedDaemonEvents }));
  else say(`${c.id} ${c.versions.join(",")} ${c.probes.join(",")} ${c.expectedDaemonEvents.length} events`);
}

function verify(options: ManifestOptions, json: boolean): number {
  const manifest = verifyManifest(options);
  const records = verifyRecords();
  const problems = [...manifest.problems, ...records.problems];
  if (json) say(JSON.stringify({ ok: problems.length === 0, manifest, records }));
  else for (const p of problems) say(`${p.place}: ${p.problem}`);
  const { cells, observations, shapes, answers } = records.checked;
  talk(`${manifest.files} files, ${cells} claims, ${observations} observations, ${shapes} shapes, ${answers} answers: ${problems.length} problems`);
  return problems.length === 0 ? 0 : 1;
}

function sequence(word: string): number {
  if (!/^[0-9]{1,15}$/.test(word)) throw new UsageError("--min-sequence is no number: " + JSON.stringify(word));
  return Number(word);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      platform: { type: "string" },
      adapter: { type: "string" },
      key: { type: "string", multiple: true },
      "min-sequence": { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const [command, ...words] = positionals;
  const [a, b] = words;
  if (values.help || command === undefined) {
    process.stdout.write(usage);
    return command === undefined && !values.help ? 2 : 0;
  }
  switch (command) {
    case "can-i-use":
      return canIUse(a, b, values.platform ?? platform(), values.json);
    case "compare":
      return compare(words, values.json);
    case "replay":
      return replay(a, values.adapter, values.json);
    case "verify":
      return verify({ keys: values.key ?? [], minSequence: sequence(values["min-sequence"] ?? "0") }, values.json);
  }
  throw new UsageError(`unknown command ${JSON.stringify(command)}`);
}

main().then(
  (code) => (process.exitCode = code),
  (e: unknown) => {
    const known = e instanceof UsageError || e instanceof KeyError || (e as { code?: string }).code?.startsWith("ERR_PARSE_ARGS") === true;
    talk(`error: ${e instanceof Error ? e.message : String(e)}${known ? "\nhint: see agent-cli-contracts --help" : ""}`);
    process.exitCode = known ? 2 : e instanceof CannotKnowError ? 3 : 70;
  },
);
