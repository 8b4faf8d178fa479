// compare says of committed shapes what the registry's program says
// (compare_table_test.go at the module root), also from a shell.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { compareShapes, Registry, spellSignal } from "@open-design/agent-cli-contracts";

const rows = JSON.parse(readFileSync(new URL("../../testdata/compare-table.json", import.meta.url), "utf8"));
const registry = new Registry();
const { dialects } = registry.record("families", "registry/families.json");
const shape = (place) => registry.record("shape", place);

test("verdicts and signals are Go's", () => {
  assert.ok(rows.length >= 500);
  for (const row of rows) {
    const r = compareShapes(shape(row.a), shape(row.b), dialects);
    const lines = r.signals.map((s) =>
      [s.severity, spellSignal({ ...s, renamed: undefined }), s.event_type, s.kinds?.join(","), s.path, s.from, s.to, s.renamed, s.fingerprint].map((x) => x ?? "").join("\t") + "\n",
    );
    const sha256 = createHash("sha256").update(lines.join("")).digest("hex");
    assert.deepEqual({ a: row.a, b: row.b, verdict: r.verdict, signals: r.signals.length, sha256 }, row, lines.join(""));
  }
});

const cli = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const run = (...args) =>
  promisify(execFile)(process.execPath, [cli, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
const signature = (place) => place.replace(/^.*\/sha256-(\w+)\.shape\.json$/, "sha256:$1");

test("the command has Go's exit codes, and JSON for programs", async () => {
  const of = (verdict) => rows.find((r) => r.verdict === verdict && (r.signals > 0 || verdict === "same_shape"));
  for (const [verdict, code] of [["same_shape", 0], ["compatible_new_shape", 0], ["parser_incompatible", 1]]) {
    const row = of(verdict);
    const [a, b] = [signature(row.a), signature(row.b)];
    const text = await run("compare", a, b.slice(0, 25));
    assert.equal(text.code, code, verdict);
    assert.equal(text.stdout.split("\n")[0], verdict);
    assert.equal(text.stdout.trim().split("\n").length, 1 + row.signals);
    const json = JSON.parse((await run("compare", a, b, "--json")).stdout);
    assert.deepEqual([json.verdict, json.a, json.b, json.signals.length], [verdict, a, b, row.signals]);
  }
});

test("a version's shape has a name; what is none is said", async () => {
  const known = registry.matrix().agents.find((e) => e.agent === "codex" && e.support_status === "version_range_verified");
  const version = known.observed_shapes.find((s) => s.extensions.probe === "chat-text-success").extensions.versions[0];
  const same = await run("compare", `codex@${version}:chat-text-success`, `codex@${version}:chat-text-success`);
  assert.deepEqual([same.code, same.stdout], [0, "same_shape\n"]);
  for (const [args, code, words] of [
    [["sha256:00000000", "sha256:00000000"], 3, /no shape/],
    [["codex@0.0.1", "codex@0.0.1"], 3, /no shape/],
    [["nobody@1.0.0", "nobody@1.0.0"], 3, /no shape/],
    [["sha256:0", "sha256:0"], 2, /digits/],
    [["sha256:00000000"], 2, /two shapes/],
    [["sha256:00000000", "sha256:1", "x"], 2, /two shapes/],
  ]) {
    const r = await run("compare", ...args);
    assert.equal(r.code, code, args.join(" "));
    assert.match(r.stderr, words);
    assert.equal(r.stdout, "");
  }
});
