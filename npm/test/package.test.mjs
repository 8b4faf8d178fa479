// The package as its users meet it: module systems, types, bundlers, versions of
// records, a child whose host does something else.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

import contracts, * as named from "@open-design/agent-cli-contracts";
import * as matrix from "@open-design/agent-cli-contracts/matrix";

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("..", import.meta.url));

test("it has no runtime dependencies", () => {
  const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.deepEqual([dependencies, peerDependencies, optionalDependencies], [undefined, undefined, undefined]);
});

test("require gives what import gives", async () => {
  for (const path of ["", "/matrix", "/answers", "/verify"]) {
    const [cjs, esm] = [require(`@open-design/agent-cli-contracts${path}`), await import(`@open-design/agent-cli-contracts${path}`)];
    assert.deepEqual(Object.keys(cjs).filter((k) => k !== "default").sort(), Object.keys(esm).filter((k) => k !== "default").sort());
  }
  const cjs = require("@open-design/agent-cli-contracts");
  assert.equal(cjs.default.supportedShapes({ agent: "codex" }).length, contracts.supportedShapes({ agent: "codex" }).length);
  assert.deepEqual(cjs.classify("codex", "0.133.0", "linux-x64"), contracts.classify("codex", "0.133.0", "linux-x64"));
});

test("the default export has every function", () => {
  for (const name of ["supportedShapes", "errorCases", "daemonRunShapes", "findSupportEntry", "isOlderThanMinSupported", "isKnownBreaking", "isNewerThanLatestVerified", "classifyInstalledCli", "checkCoverage", "createInstrumentedChildFromTranscript"]) {
    assert.equal(contracts[name], named[name], name);
    assert.equal(typeof contracts[name], "function", name);
  }
});

test("a bundle of one question holds no file access and no transcripts", async () => {
  const bundled = await build({
    stdin: { contents: 'import { isKnownBreaking } from "@open-design/agent-cli-contracts/matrix"; console.log(isKnownBreaking("codex", "1.0.0"));', resolveDir: root },
    bundle: true, write: false, format: "esm", platform: "browser", logLevel: "silent", treeShaking: true,
  });
  const text = bundled.outputFiles[0].text;
  const claims = readFileSync(join(root, "src/generated/compact.ts"), "utf8").length; // they grow with the registry, the code does not
  assert.ok(text.length < claims + 20_000, `${text.length} bytes, ${claims} of them claims`);
  assert.ok(!/node:fs|InstrumentedChild|supportedShapes/.test(text));
});

test("names that nobody imports leave the bundle", async () => {
  const bundled = await build({
    stdin: { contents: 'import { parseVersion } from "@open-design/agent-cli-contracts"; console.log(parseVersion("1.0.0"));', resolveDir: root },
    bundle: true, write: false, format: "esm", platform: "node", logLevel: "silent",
  });
  assert.ok(!/InstrumentedChild|contracts\.jsonl/.test(bundled.outputFiles[0].text));
});

test("the types hold for both module systems, and for the examples of every status", (t) => {
  const dir = mkdtempSync(join(root, "test", ".types-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const code = `import contracts, { compatibilityExamples, type AgentCliCompatibilityResponse, type AgentCliCompatibilityStatus } from "@open-design/agent-cli-contracts";
import { classify } from "@open-design/agent-cli-contracts/matrix";
const all: Record<AgentCliCompatibilityStatus, AgentCliCompatibilityResponse> = compatibilityExamples;
const status: AgentCliCompatibilityStatus = classify("codex", "1.0.0", "linux-x64").status;
for (const c of contracts.daemonRunShapes()) { const n: number | null = c.expectedRun.stdinClosedAt; void n; }
void [all, status];
`;
  writeFileSync(join(dir, "a.mts"), code);
  writeFileSync(join(dir, "b.cts"), code);
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict", "--module", "nodenext", "--types", "node", join(dir, "a.mts"), join(dir, "b.cts")], { cwd: root, stdio: "pipe", encoding: "utf8" });
  // The claims alone need no types of Node.
  writeFileSync(join(dir, "c.mts"), `import { classify } from "@open-design/agent-cli-contracts/matrix";
export const range: string | null = classify("codex", "1.0.0", "linux-x64").evidence.version_range;
`);
  const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2022", types: [] };
  writeFileSync(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["c.mts"] }));
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", dir], { cwd: root, stdio: "pipe", encoding: "utf8" });
});

test("a record of a newer schema is refused, and read where somebody knows how", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "registry-"));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "x.json"), JSON.stringify({ schema_version: 2, agents: [], renamed: 1 }));
  assert.throws(() => new named.Registry(dir).record("policy", "x.json"), (e) => e instanceof named.SchemaVersionError && /schema_version is 2/.test(e.message));
  const migrations = new named.Migrations().register("policy", 2, ({ renamed: _, ...r }) => ({ ...r, schema_version: 1 }));
  assert.deepEqual(new named.Registry(dir, migrations).record("policy", "x.json"), { schema_version: 1, agents: [] });
  assert.throws(() => new named.Migrations().register("policy", 2, (r) => r).apply("policy", "x", { schema_version: 2 }), /does not come nearer/);
  assert.throws(() => new named.Migrations().register("policy", 1, (r) => r), RangeError);
  assert.throws(() => new named.Registry(dir).text("../x"), RangeError);
});

test("the injected probe decides in the specification's order", async () => {
  const support = new matrix.Support({
    agents: { agents: [{ id: "a", representative_probe: "p" }] },
    matrix: { generated_at: "", agents: [{ agent: "a", version_ranges: ["<1.0.0"], platforms: ["linux-x64"], protocol_families: ["plain/v1"], support_status: "too_old" }] },
  });
  let asked = 0;
  const found = (answer) => ({ support, probe: () => (asked++, answer) });
  assert.equal(await matrix.classifyInstalledCli("a", "0.9.0", "linux-x64", found({ matchedSupportedShape: true })), "too_old");
  assert.equal(asked, 0, "what is too old is not started");
  for (const [answer, status] of [
    [{ matchedSupportedShape: true }, "local_shape_verified"],
    [{ matchedKnownBreakingShape: true }, "known_breaking_shape"],
    [{ shapeUnknown: true }, "active_shape_unknown"],
    [{ shape: "sha256:0" }, "active_shape_unknown"],
    [{}, "unknown"],
    [null, "unknown"],
  ]) assert.equal(await matrix.classifyInstalledCli("a", "2.0.0", "linux-x64", found(answer)), status, JSON.stringify(answer));
});

test("the coverage check tells covered, exempt and missing agents apart", () => {
  const c = contracts.checkCoverage(["codex", "devin", "mine", "other", "blank"], { mine: "a private agent", blank: " ", codex: "why?" });
  assert.deepEqual(c.covered, ["codex"]);
  assert.deepEqual(c.exempt.map((e) => [e.agent, e.by]), [["devin", "registry"], ["mine", "consumer"]]);
  assert.deepEqual(c.missing.map((m) => m.agent), ["other", "blank"]);
  assert.deepEqual([c.ok, c.unneeded], [false, ["codex"]]);
});

test("error cases on which the consumer disagrees are asked for", () => {
  const [agreed, all] = [contracts.errorCases(), contracts.errorCases({ all: true })];
  assert.ok(agreed.length > 20 && all.length > agreed.length);
});

const stream = [
  { dir: "process", event: "spawn", at_ms: 0 },
  { dir: "server->cli", stream: "stdin", at_ms: 1, data: '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n' },
  { dir: "cli->server", stream: "stdout", at_ms: 2, data: '{"jsonrpc":"2.0","id":1,"result":{}}\n' },
  { dir: "process", event: "exit", at_ms: 3, exit_code: 0, signal: null },
];
const expectedStdin = { mode: "rpc", frames: [], closedAt: 1, waitsForEnd: true };

function ended(child) {
  let out = "";
  child.stdout.on("data", (d) => (out += d));
  return new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, out })));
}

test("a child answers under the id of its host", async () => {
  const child = contracts.createInstrumentedChildFromTranscript(stream, { stdinAssertions: expectedStdin });
  child.stdin.write('{"jsonrpc":"2.0","id":"x7","method":"initialize"}\n');
  child.stdout.once("data", () => child.stdin.end());
  const { code, out } = await ended(child);
  assert.deepEqual([code, JSON.parse(out).id, child.pid, child.violation], [0, "x7", undefined, undefined]);
});

test("a host that does something else is told, without its words", async () => {
  const child = contracts.createInstrumentedChildFromTranscript(stream, { stdinAssertions: expectedStdin });
  child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"session/new","params":"secret words"}\n');
  const { code } = await ended(child);
  assert.equal(code, named.EXIT_HOST);
  assert.match(child.violation.message, /session\/new.*initialize/);
  assert.doesNotMatch(child.violation.message, /secret/);
});

test("a signal ends a child, once", async () => {
  const child = contracts.createInstrumentedChildFromTranscript(stream, { stdinAssertions: expectedStdin });
  assert.equal(child.kill(0), true);
  assert.equal(child.kill("SIGINT"), true);
  const { code, signal } = await ended(child);
  assert.deepEqual([code, signal, child.killed, child.kill()], [null, "SIGINT", true, false]);
});

test("the manifest of Go is read, its signature checked, and a rollback refused", async () => {
  const { parseManifest, signedBy, verifyManifest } = await import("@open-design/agent-cli-contracts/verify");
  const { note, verifier: key, other } = JSON.parse(readFileSync(new URL("../../tools/publish/testdata/signed.json", import.meta.url), "utf8"));
  const m = parseManifest(note);
  assert.deepEqual([m.sequence, m.files.size, signedBy(m, key), signedBy(m, other)], [42, 2, true, false]);
  const forged = parseManifest(note.replace("sequence: 42", "sequence: 43"));
  assert.equal(signedBy(forged, key), false);
  assert.throws(() => parseManifest(note.replace("files: 2", "files: 3")), /cut short/);
  const dir = mkdtempSync(join(tmpdir(), "package-"));
  try {
    for (const [name, text] of [["manifest.txt", note], ["a.txt", "a\n"], ["b.txt", "b\n"]]) writeFileSync(join(dir, name), text);
    assert.deepEqual(verifyManifest({ root: dir, keys: [other, key], minSequence: 42 }).problems, []);
    assert.match(verifyManifest({ root: dir, minSequence: 43 }).problems[0].problem, /rollback/);
    assert.throws(() => verifyManifest({ root: dir, keys: ["x+00000000+AAAA"] }), /a verifier key has the form/);
    assert.match(verifyManifest({ root: dir, minSequence: NaN }).problems[0].problem, /rollback/, "what is no number refuses everything");
    assert.match(verifyManifest({ root: dir, keys: [other] }).problems[0].problem, /signed/);
    writeFileSync(join(dir, "b.txt"), "c\n");
    writeFileSync(join(dir, "c.txt"), "");
    assert.deepEqual(verifyManifest({ root: dir }).problems.map((p) => p.place), ["b.txt", "c.txt"]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("what is misspelled on the command line is a usage error, and no check that passes", () => {
  const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
  for (const args of [["verify", "--min-sequence", "abc"], ["verify", "--min-sequence", ""], ["verify", "--min-sequence=-1"], ["can-i-use", "codex", "0.144.0", "--platform", "beos"], ["can-i-use", "codexx", "0.144.0"], ["can-i-use", "codex", "latest"]]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { encoding: "utf8" });
    assert.deepEqual([status, stdout], [2, ""], args.join(" "));
    assert.match(stderr, /^error: /);
  }
});
