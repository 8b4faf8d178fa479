#!/usr/bin/env node
/** npx @open-design/agent-cli-contracts: a few questions to the package, from a shell. */
import { parseArgs } from "node:util";

import { classify } from "./compact.js";
import { compareShapes, type Difference } from "./compare.js";
import { supportedShapes } from "./contracts.js";
import { verifyManifest, type ManifestOptions } from "./manifest.js";
import type { SupportedShape } from "./records.js";
import { Registry } from "./registry.js";
import { replayThrough } from "./replay.js";
import type { Shape } from "./schemas/shape.js";
import { verifyRecords } from "./verify.js";

const usage = `agent-cli-contracts: contracts of coding-agent CLIs, offline

  can-i-use AGENT VERSION [--platform P]   yes (exit 0), no (1) or cannot know (3)
  compare A B                              two shapes: a signature, or AGENT@VERSION[:PROBE]; 1 if something is lost
  replay [AGENT|ID] [--adapter COMMAND]    the recorded runs and OpenDesign's events; with --adapter,
                                           those of a program held against them; 1 if any differs
  verify [--key K]… [--min-sequence N]     the package against itself: manifest, claims, records; 1 if anything is wrong

Options: --json, --help. Exit code 2 is a usage error.
`;

class UsageError extends Error {}

const say = (line: string) => process.stdout.write(line + "\n");
const talk = (line: string) => process.stderr.write(line + "\n");

const platform = () => ({ darwin: "darwin", linux: "linux", win32: "win32" })[process.platform as string] + "-" + process.arch;

function canIUse(agent: string | undefined, version: string | undefined, on: string, json: boolean): number {
  if (agent === undefined || version === undefined) throw new UsageError("can-i-use wants AGENT VERSION");
  const c = classify(agent, version, on);
  if (json) say(JSON.stringify(c));
  else say(`${c.answer.replace("_", " ")}: ${agent} ${version} on ${on} is ${c.status} (${c.policy.allow_run}, ${c.policy.user_action})`);
  return { yes: 0, no: 1, cannot_know: 3 }[c.answer];
}

/** The shape that a word names: a signature or the beginning of one, or an agent's version and probe. */
function shapeOf(registry: Registry, word: string | undefined): Shape {
  if (word === undefined) throw new UsageError("compare wants two shapes");
  const version = /^([^@]+)@([^:]+)(?::(.+))?$/.exec(word);
  const agent = registry.agents().agents.find((a) => a.id === version?.[1]);
  const probe = version?.[3] ?? agent?.representative_probe;
  const of = (s: { extensions?: { probe?: string; versions?: string[] } }) => s.extensions?.probe === probe && s.extensions?.versions?.includes(version?.[2] ?? "");
  const signature = version
    ? registry.matrix().agents.filter((e) => e.agent === version[1]).flatMap((e) => e.observed_shapes).find(of)?.shape
    : signatures(registry, word);
  const shape = signature === undefined ? undefined : registry.shape(signature);
  if (shape === undefined) throw new UsageError(`there is no one shape ${word} here`);
  return shape;
}

function signatures(registry: Registry, word: string): string | undefined {
  const start = word.replace(/^sha256[:-]/, "");
  const found = registry.places("shapes", ".shape.json").filter((p) => p.includes(`/sha256-${start}`));
  return found.length === 1 ? found[0]?.replace(/^.*\/sha256-(\w+)\.shape\.json$/, "sha256:$1") : undefined;
}

function compare(a: string | undefined, b: string | undefined, json: boolean): number {
  const registry = new Registry();
  const result = compareShapes(shapeOf(registry, a), shapeOf(registry, b));
  if (json) say(JSON.stringify(result));
  else if (result.same) say("same shape");
  else for (const d of result.differences) say(spell(d));
  return result.loses ? 1 : 0;
}

function spell(d: Difference): string {
  const change = d.from === undefined && d.to === undefined ? "" : ` ${d.from ?? "-"} → ${d.to ?? "-"}`;
  return [d.change, d.kind, d.path].filter((x) => x !== undefined).join(" ") + change;
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
  const [command, a, b] = positionals;
  if (values.help || command === undefined) {
    process.stdout.write(usage);
    return command === undefined && !values.help ? 2 : 0;
  }
  switch (command) {
    case "can-i-use":
      return canIUse(a, b, values.platform ?? platform(), values.json);
    case "compare":
      return compare(a, b, values.json);
    case "replay":
      return replay(a, values.adapter, values.json);
    case "verify":
      return verify({ keys: values.key ?? [], minSequence: Number(values["min-sequence"] ?? 0) }, values.json);
  }
  throw new UsageError(`unknown command ${JSON.stringify(command)}`);
}

main().then(
  (code) => (process.exitCode = code),
  (e: unknown) => {
    const known = e instanceof UsageError || (e as { code?: string }).code?.startsWith("ERR_PARSE_ARGS") === true;
    talk(`error: ${e instanceof Error ? e.message : String(e)}${known ? "\nhint: see agent-cli-contracts --help" : ""}`);
    process.exitCode = known ? 2 : 70;
  },
);
