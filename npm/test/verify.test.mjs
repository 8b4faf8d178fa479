// The package checks itself: its data, and its derivation against the table of
// the Go package (derive_table_test.go).
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { dataDir, deriveMatrix, Registry, verifyRecords } from "@open-design/agent-cli-contracts/verify";

const table = readFileSync(new URL("../../testdata/derive-table.jsonl", import.meta.url), "utf8").trimEnd().split("\n").map((l) => JSON.parse(l));

test("the matrices of the table are Go's", () => {
  const { agents, policy } = table[0];
  assert.ok(table.length > 50);
  table.forEach((t, i) => {
    const derived = deriveMatrix({ ...t, agents, policy: t.decided ? policy : null });
    assert.deepEqual(JSON.parse(JSON.stringify(derived)), t.matrix, `line ${i + 1}`);
  });
});

test("every cell of the package's matrix follows from its records", () => {
  const v = verifyRecords();
  assert.deepEqual(v.problems, []);
  assert.ok(v.ok && v.checked.cells > 20 && v.checked.observations > 500 && v.checked.shapes > 300 && v.checked.answers > 200);
});

// A registry with a part of the package's data, in which one thing is wrong.
const parts = ["registry", "observations/qwen", "evidence/qwen", "shapes/plain", "fixtures/plain", "goldens/open-design-parser/plain", "goldens/reference/plain"];

function changed(t, change) {
  const dir = mkdtempSync(join(tmpdir(), "verify-"));
  t.after(() => rmSync(dir, { recursive: true }));
  for (const p of parts) cpSync(join(dataDir(), p), join(dir, p), { recursive: true });
  writeFileSync(join(dir, "answers.jsonl"), "");
  const registry = new Registry(dir);
  const observations = registry.places("observations", ".json").filter((p) => !registry.record("observation", p).extensions.fixture.startsWith("fixtures/plain"));
  for (const p of observations) rmSync(join(dir, p));
  const matrix = registry.matrix();
  matrix.agents = deriveMatrix({ agents: registry.agents(), statements: [], observations: registry.places("observations", ".json").map((path) => ({ ...registry.record("observation", path), path })) }).agents;
  const times = registry.places("observations", ".json").map((p) => registry.record("observation", p).capture.captured_at);
  matrix.generated_at = times.sort().at(-1);
  const write = (place, value) => writeFileSync(join(dir, place), typeof value === "string" ? value : JSON.stringify(value));
  write("registry/support-matrix.json", matrix);
  change({ registry, write, dir });
  return verifyRecords(registry);
}

test("an unchanged part verifies", (t) => assert.deepEqual(changed(t, () => {}).problems, []));

for (const [what, change, place] of [
  ["a claim that was edited", ({ registry, write }) => {
    const m = registry.matrix();
    m.agents[0].support_status = m.agents[0].support_status === "unknown" ? "version_range_verified" : "unknown";
    write("registry/support-matrix.json", m);
  }, /support-matrix.json#\/agents\/0/],
  ["a claim that was added", ({ registry, write }) => {
    const m = registry.matrix();
    m.agents.push({ ...m.agents[0], version_ranges: ["99.0.0"] });
    write("registry/support-matrix.json", m);
  }, /support-matrix.json/],
  ["an observation that is gone", ({ registry, dir }) => rmSync(join(dir, registry.places("observations", "chat-tool-success.observation.json")[0])), /support-matrix.json/],
  ["a fixture with another byte", ({ registry, write }) => {
    const p = registry.places("fixtures")[0];
    write(p, registry.text(p).replace('"at_ms":0', '"at_ms":1'));
  }, /observations/],
  ["a shape with another structure", ({ registry, write }) => {
    const p = registry.places("shapes")[0];
    write(p, { ...registry.record("shape", p), stderr_class: "auth", exit: "timeout" });
  }, /shapes\/plain/],
  ["an answer that is another one", ({ write }) => write("answers.jsonl", JSON.stringify({ agent: "qwen", version: "0.0.1", platform: "linux-x64", status: "too_old", policy: {}, evidence: {} })), /answers/],
]) {
  test(`verify finds ${what}`, (t) => {
    const v = changed(t, change);
    assert.ok(!v.ok && v.problems.some((p) => place.test(p.place)), JSON.stringify(v.problems));
  });
}
