// The table that the Go package at the module root is held to (support_table_test.go).
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { daemonRunShapes, Support, supportedShapes } from "../dist/index.js";

const table = JSON.parse(readFileSync(new URL("../../testdata/support-table.json", import.meta.url), "utf8"));

/** What the package says of a row's question, with the members of the row. */
function ask(support, r) {
  const c = support.classify(r.agent, r.version, r.platform, r.probe);
  const e = support.findSupportEntry(r);
  return {
    registry: r.registry,
    agent: r.agent,
    version: r.version,
    platform: r.platform,
    ...(r.probe ? { probe: r.probe } : {}),
    status: c.status,
    policy: c.policy,
    evidence: c.evidence,
    answer: c.answer,
    installed_version: c.version,
    too_old: support.isOlderThanMinSupported(r.agent, r.version, r.platform),
    too_old_everywhere: support.isOlderThanMinSupported(r.agent, r.version),
    known_breaking: support.isKnownBreaking(r.agent, r.version, r.platform),
    newer: support.isNewerThanLatestVerified(r.agent, r.version),
    entry: e ? `[${e.version_ranges.join(" ")}]` : null,
    has_observed_server_variants: e?.hasObservedServerVariants ?? false,
    version_range_verified: e?.versionRangeVerified ?? false,
    latest_verified: c.latestVerified,
  };
}

for (const [name, registry] of Object.entries(table.registries)) {
  test(`answers about the registry ${name} are Go's`, () => {
    const support = new Support(registry);
    const rows = table.rows.filter((r) => r.registry === name);
    assert.ok(rows.length > 20, `only ${rows.length} rows`);
    for (const r of rows) assert.deepEqual(ask(support, r), r, `${r.agent} ${r.version} ${r.platform} ${r.probe?.shape}`);
  });
}

test("the table is as large as it should be", () => assert.ok(table.rows.length >= 500));

/** What the package says of a daemon run, in the spelling of consumer_test.go. */
function said(run, events) {
  const h = createHash("sha256");
  const text = (s) => h.update(`${Buffer.byteLength(s)}:${s}\n`);
  const list = (l) => {
    h.update(`${l.length}\n`);
    for (const s of l) text(s);
  };
  const word = (v) => text(v === null ? "null" : String(v));
  list(run.stdoutFrames);
  list(run.stderrFrames);
  text(run.expectedStdin.mode);
  for (const f of run.expectedStdin.frames) {
    word(f.afterStdoutLine);
    text(f.data ?? "prompt");
  }
  word(run.expectedStdin.closedAt);
  word(run.expectedStdin.waitsForEnd);
  word(run.exit.code);
  h.update(`${run.transcript.length} ${events.length}\n`);
  return h.digest("hex");
}

test("the runs of the daemon are Go's", () => {
  const rows = JSON.parse(readFileSync(new URL("../../testdata/daemon-runs.json", import.meta.url), "utf8"));
  const events = new Map(supportedShapes().map((s) => [s.id, s]));
  const runs = new Map(daemonRunShapes().map((r) => [r.id, r]));
  assert.ok(rows.length >= 50);
  for (const { id, sha256 } of rows) assert.equal(said(runs.get(id), events.get(id).expectedDaemonEvents), sha256, id);
});
