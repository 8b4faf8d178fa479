// The consumer of the machine-result contract, against programs that keep it and
// programs that do not.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import * as c from "../dist/index.js";

const folder = mkdtempSync(join(tmpdir(), "machine-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const envelope = (data, version = 1) => JSON.stringify({ ok: true, contract_version: version, data, error: null });
const greeting = envelope({ contract_version: 1, min_supported_version: 1, implementation: "fake", of_tomorrow: 1 });

/** Puts a program at a place, all at once: it answers the handshake, and anything else by body. */
function install(path, body, hello = greeting) {
  writeFileSync(path + ".new", `#!/bin/sh\nif [ "$1" = handshake ]; then echo '${hello}'; exit 0; fi\n${body}\n`, { mode: 0o755 });
  renameSync(path + ".new", path);
}

let made = 0;
async function connect(body) {
  const path = join(folder, `producer-${made++}`);
  install(path, body);
  const { client, handshake } = await c.MachineClient.connect(path, 60_000);
  assert.equal(handshake.implementation, "fake");
  return { client, path };
}

const refusal = JSON.stringify({ ok: false, contract_version: 1, data: null, error: { kind: "conflict", message: "m", detail: null } });
const ok = envelope({ n: 5, new: [1], log: { available: false, value: null, reason_code: "unreadable", detail: null } });

for (const [name, body, want] of [
  ["an answer", `echo '${ok}'`],
  ["a valid envelope wins over the exit status", `echo '${ok}'; exit 9`],
  ["talk on stderr is not looked at", `echo progress >&2; echo '${ok}'`],
  ["a refusal", `echo '${refusal}'; exit 0`, c.RefusedError],
  ["78 is not parsed", `echo '${ok}'; exit 78`, c.InstallationError],
  ["nothing and a fault", "exit 3", c.TransportError],
  ["killed", "kill -9 $$", c.TransportError],
  ["something else at exit 0", "echo hello", c.TransportError],
  ["two objects", `echo '${ok}${ok}'`, c.TransportError],
  ["success and refusal at once", `echo '${refusal.replace('"ok":false', '"ok":true')}'`, c.TransportError],
  ["neither success nor refusal", `echo '${envelope(null)}'`, c.TransportError],
  ["a kind of refusal outside the closed set", `echo '${refusal.replace("conflict", "odd")}'`, c.TransportError],
  ["no error member", `echo '{"ok":true,"contract_version":1,"data":{"n":5,"log":{"available":false,"value":null,"reason_code":"unreadable","detail":null}}}'`],
  ["another version whose data would not decode", `echo '{"ok":"yes","contract_version":2}'`, c.ContractVersionError],
]) {
  test(name, async () => {
    const { client } = await connect(body);
    if (want) return void (await assert.rejects(client.call(["x"]), want));
    const data = await client.call(["x"]);
    assert.equal(data.n, 5);
    assert.deepEqual(data.log, { available: false, value: null, reason_code: "unreadable", detail: null });
  });
}

test("the program is named by its absolute path", async () => {
  await assert.rejects(c.MachineClient.connect("agent-contracts"), /absolute/);
  await assert.rejects(c.MachineClient.connect(join(folder, "none")), c.TransportError);
});

test("a program that has left our version behind is refused at the handshake", async () => {
  const path = join(folder, "ahead");
  install(path, "exit 3", envelope({ contract_version: 3, min_supported_version: 2, implementation: "fake" }));
  await assert.rejects(c.MachineClient.connect(path), c.ContractVersionError);
});

test("--machine stands before what belongs to another program", async () => {
  const { client } = await connect(`printf '{"ok":true,"contract_version":1,"error":null,"data":"%s"}' "$*"`);
  assert.equal(await client.call(["capture", "--", "claude", "--json"]), "capture --machine -- claude --json");
});

test("the program is replaced between two calls: the client degrades and says so", async () => {
  const { client, path } = await connect(`echo '${ok}'`);
  assert.equal((await client.call(["x"])).n, 5);
  assert.equal(client.degraded, undefined);
  install(path, `echo '${envelope({ n: "five" }, 2)}'`);
  await assert.rejects(client.call(["x"]), (e) => e instanceof c.ContractVersionError && e.got === 2 && /version 2/.test(e.message));
  assert.equal(client.degraded, 2);
  // Nothing is offered again by chance: not until somebody connects.
  install(path, `echo '${ok}'`);
  await assert.rejects(client.call(["x"]), c.ContractVersionError);
  const again = await c.MachineClient.connect(path);
  assert.equal((await again.client.call(["x"])).n, 5);
});

test("a call that takes too long, or whose caller goes away, says nothing about the work", async () => {
  const path = join(folder, "slow");
  install(path, "exec sleep 600");
  const { client } = await c.MachineClient.connect(path, 60_000);
  const abort = new AbortController();
  const call = client.call(["x"], { signal: abort.signal });
  abort.abort(new Error("gone"));
  await assert.rejects(call, /gone/);
  const hang = join(folder, "hang");
  writeFileSync(hang, "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
  await assert.rejects(c.MachineClient.connect(hang, 50), (e) => e instanceof c.TransportError && /50 ms/.test(e.message));
});

test("every outcome has a branch", () => {
  const want = { succeeded: "succeeded", failed: "failed", cancelled: "cancelled", indeterminate: "not_established", of_tomorrow: "not_established", toString: "not_established" };
  for (const [outcome, ending] of Object.entries(want)) assert.equal(c.endingOf(outcome), ending);
  assert.equal(c.endingOf(null), "not_ended");
});

test("a run that nobody will ever end is given up, the others are reported", async () => {
  const run = (run_id, terminal, outcome, error = null) => ({ run_id, status: "s", terminal, outcome, reason_code: null, error });
  const waited = envelope({
    entries: [run("a", true, "succeeded"), run("b", false, null), run("c", false, null), run("d", false, null, { kind: "not_found", message: "m", detail: null }), run("e", true, "of_tomorrow")],
    pending: [],
    stopped_without_end: ["b"],
    unresolved_spawn: ["c"],
  });
  const { client } = await connect(`echo "$*" >>'${folder}/waits'; echo '${waited}'`);
  const got = await c.awaitRuns(client, ["a", "b", "c", "d", "e"], { window: 1000, poll: 100, attempts: 2, backoff: 1 });
  assert.deepEqual(got.map((r) => [r.run.run_id, r.ending, r.abandoned]), [
    ["a", "succeeded", false],
    ["b", "not_ended", true],
    ["c", "not_ended", true],
    ["d", "not_ended", false],
    ["e", "not_established", false],
  ]);
});

const asked = (id) => (status, terminal, outcome, list = "") =>
  envelope({
    entries: [{ run_id: id, status, terminal, outcome, reason_code: null }],
    ...Object.fromEntries(["pending", "stopped_without_end", "unresolved_spawn"].map((l) => [l, l === list ? [id] : []])),
  });
const waiting = asked("a");
const once = { window: 1000, poll: 1000, attempts: 1, backoff: 1 };

/** A body that answers each call with the next text, and at the end with the last; it notes its arguments. */
function inTurn(log, ...answers) {
  answers.forEach((a, i) => writeFileSync(`${log}.${i}`, a));
  return `echo "$*" >>'${log}'\nn=$(($(wc -l <'${log}')-1))\n[ -e '${log}'.$n ] || n=${answers.length - 1}\ncat '${log}'.$n`;
}

test("a status is only shown: the outcome alone decides", async () => {
  const want = { succeeded: "succeeded", failed: "failed", cancelled: "cancelled", indeterminate: "not_established", of_tomorrow: "not_established" };
  for (const status of ["completed", "failed", "of_tomorrow"]) {
    for (const [outcome, ending] of Object.entries(want)) {
      const { client } = await connect(`echo '${waiting(status, true, outcome)}'`);
      const [got] = await c.awaitRuns(client, ["a"], once);
      assert.deepEqual([got.run.status, got.ending, got.abandoned], [status, ending, false]);
    }
    const { client } = await connect(`echo '${waiting(status, false, null, "stopped_without_end")}'`);
    const [got] = await c.awaitRuns(client, ["a"], once);
    assert.deepEqual([got.run.status, got.ending, got.abandoned], [status, "not_ended", true]);
  }
});

test("a value that could not be established is not an empty one", async () => {
  const none = { available: true, value: [], reason_code: null, detail: null };
  const unknown = { available: false, value: null, reason_code: "unreadable", detail: "permission denied" };
  const { client } = await connect(`echo '${envelope({ none, unknown })}'`);
  assert.deepEqual(await client.call(["x"]), { none, unknown });
});

test("whichever build talks, the version of the contract alone decides", async () => {
  for (const implementation_version of ["0.0.1", "99.0.0-of-tomorrow", ""]) {
    const path = join(folder, `build-${made++}`);
    install(path, "exit 3", envelope({ contract_version: 1, min_supported_version: 1, implementation: "another", implementation_version, module: "/x" }));
    assert.equal((await c.MachineClient.connect(path)).client.degraded, undefined);
  }
});

test("a run that is pending is waited for again until its record says that it has ended, and no notice is needed", async () => {
  const log = join(folder, "pending");
  const pending = waiting("running", false, null, "pending");
  const { client } = await connect(inTurn(log, pending, pending, waiting("completed", true, "failed")));
  const [got] = await c.awaitRuns(client, ["a"], once);
  assert.deepEqual([got.ending, got.abandoned], ["failed", false]);
  assert.equal(readFileSync(log, "utf8"), "job wait --max-wait 1 --poll-interval 1 a --machine\n".repeat(3));
});

test("a run that never ends is waited for until the caller goes away", async () => {
  const abort = new AbortController();
  const log = join(folder, "for-ever");
  const { client } = await connect(inTurn(log, waiting("running", false, null, "pending")));
  const call = client.call.bind(client);
  let calls = 0;
  client.call = (...args) => (++calls === 3 && abort.abort(new Error("gone")), call(...args));
  await assert.rejects(c.awaitRuns(client, ["a"], once, { signal: abort.signal }), /gone/);
  assert.equal(calls, 3);
});

test("a wait that says nothing of a run is no answer, and not asked for again", async () => {
  const { client } = await connect(`echo '${asked("b")("running", false, null, "pending")}'`);
  await assert.rejects(c.awaitRuns(client, ["a"], once), c.TransportError);
});
