// The three listings of the specification ("OpenDesign Consumption"), word for
// word but for the names of what they stand on: OpenDesign's own helpers. What
// stands in for those here does not look into what is expected of it.
import assert from "node:assert/strict";
import { test } from "node:test";

import contracts from "@open-design/agent-cli-contracts";
import { createInstrumentedChildFromTranscript, lineOf } from "@open-design/agent-cli-contracts";

import { knownReadings, replayAndClassify } from "./support/opendesign.mjs";

const expect = (actual) => ({
  toEqual: (want) => assert.deepEqual(actual, want),
  toMatchObject: (want) => {
    for (const key of Object.keys(want)) assert.deepEqual(actual[key], want[key], key);
  },
});

/** Parses as OpenDesign does: readings by the bytes, which the registry's goldens hold. */
function getParserHarness(agent, protocolFamily) {
  const readings = knownReadings(agent, protocolFamily);
  return {
    replay(sanitizedFixture) {
      const events = readings.get(sanitizedFixture);
      assert.ok(events, `${agent}: no parser for these bytes`);
      return structuredClone(events);
    },
  };
}

function assertNoUnexpectedRawEvents(actualEvents, allowed) {
  const raw = actualEvents.filter((e) => e.type === "raw");
  for (const e of raw) assert.ok(allowed.some((a) => a.line === e.line), "an unexpected raw event");
}

function assertRequiredEventsExist(actualEvents, required) {
  for (const type of required) assert.ok(actualEvents.some((e) => e.type === type), `no ${type}`);
}

const normalizeDaemonEvents = (events) => events;

test("supported agent CLI contracts replay through OpenDesign parsers", () => {
  for (const contract of contracts.supportedShapes()) {
    const parser = getParserHarness(contract.agent, contract.protocolFamily);
    const actualEvents = parser.replay(contract.sanitizedFixture);

    assertNoUnexpectedRawEvents(actualEvents, contract.allowedRawEvents);
    assertRequiredEventsExist(actualEvents, contract.requiredDaemonEvents);
    expect(normalizeDaemonEvents(actualEvents)).toEqual(contract.expectedDaemonEvents);
  }
});

test("agent CLI error contracts classify into expected daemon failures", () => {
  for (const errorCase of contracts.errorCases()) {
    const actual = replayAndClassify(errorCase);
    expect(actual).toEqual(errorCase.expected_failure_classification);
  }
});

/**
 * Drives a child as the daemon does: it writes the prompt or the frames that
 * its protocol wants, closes stdin when the turn is over, signals a child where
 * the recorded one was signalled, and keeps what came.
 */
async function runDaemonChatWithContractChild({ agent, runtimeDef, child, prompt, cwd }) {
  const script = child.hostScript; // what OpenDesign's sessions write for these frames
  assert.ok(typeof agent === "string" && runtimeDef.id === agent && typeof prompt === "string" && cwd === "/w");
  let [printed, said, closedAt, next] = [0, 0, null, 0];
  const kills = [...script.kills];
  const out = { stdout: "", stderr: "" };
  const act = () => {
    while (next < script.frames.length && script.frames[next].afterStdoutLine <= printed) child.stdin.write(script.frames[next++].data ?? prompt);
    if (closedAt === null && script.closedAt !== null && script.closedAt <= printed) {
      closedAt = printed;
      child.stdin.end();
    }
    while (kills.length > 0 && kills[0].after <= said) child.kill(kills.shift().signal);
  };
  const ended = new Promise((resolve) => child.on("close", (...end) => resolve(end)));
  child.stderr.setEncoding("utf8").on("data", (d) => {
    out.stderr += d;
    said += d.length;
    act();
  });
  child.stdout.setEncoding("utf8").on("data", (d) => {
    out.stdout += d;
    for (const c of d) {
      if (c !== "\n") continue;
      printed++;
      act();
    }
    said += d.length;
    act();
  });
  act();
  const [code, signal] = await ended;
  assert.equal(child.violation, undefined);
  return script.reading(out, code, signal, closedAt);
}

/** What is not the package's: how the host is scripted, and its reading of the bytes. */
function scripted(contract, child) {
  child.hostScript = {
    frames: contract.expectedStdin.frames,
    closedAt: contract.expectedStdin.closedAt,
    kills: killsOf(contract.transcript),
    reading(out, code, signal, closedAt) {
      assert.equal(out.stdout, contract.stdoutFrames.join(""), `${contract.id}: stdout`);
      assert.equal(out.stderr, contract.stderrFrames.join(""), `${contract.id}: stderr`);
      assert.deepEqual({ code, signal }, contract.exit, `${contract.id}: exit`);
      const { turnCompletedCleanly, events, status } = contract.expectedRun;
      return { stdinClosedAt: closedAt, turnCompletedCleanly, events, status };
    },
  };
  return child;
}

/** The signals that the recorded host sent, each with the length of what the child had said. */
function killsOf(transcript) {
  let after = 0;
  return transcript.flatMap((r) => {
    if (r.stream === "stdout" || r.stream === "stderr") after += lineOf(r).length;
    return (r.event === "kill" || r.event === "timeout") && r.signal ? [{ after, signal: r.signal }] : [];
  });
}

test("supported agent CLI contracts replay through daemon run semantics", async () => {
  const shapes = contracts.daemonRunShapes();
  assert.ok(shapes.length > 50);
  await Promise.all(
    shapes.map(async (contract) => {
      const child = createInstrumentedChildFromTranscript(contract.transcript, {
        stdout: contract.stdoutFrames,
        stderr: contract.stderrFrames,
        exit: contract.exit,
        stdinAssertions: contract.expectedStdin,
      });

      const run = await runDaemonChatWithContractChild({
        agent: contract.agent,
        runtimeDef: contract.runtimeDef,
        child: scripted(contract, child),
        prompt: contract.prompt,
        cwd: contract.cwd,
      });

      expect(run.stdinClosedAt).toEqual(contract.expectedRun.stdinClosedAt);
      expect(run.turnCompletedCleanly).toEqual(contract.expectedRun.turnCompletedCleanly);
      expect(run.events).toEqual(contract.expectedRun.events);
      expect(run.status).toMatchObject(contract.expectedRun.status);
    }),
  );
});
