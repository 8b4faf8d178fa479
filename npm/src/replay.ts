/** Replays fixtures through a program that reads runs as JSON lines and writes events (docs/ADAPTERS.md of the registry). */
import { spawn } from "node:child_process";

import { same } from "./contracts.js";
import type { DaemonEvent, SupportedShape } from "./records.js";
import { exitOf, lineOf, parseTranscript, type TranscriptRecord } from "./transcript.js";

/** What came of one fixture. */
export interface Replayed {
  status: "same" | "differs" | "not_run" | "broken";
  /** The index of the first event that differs, or why the program is broken. */
  at?: number;
  why?: string;
  events: DaemonEvent[];
}

/** Cuts a command at spaces; quotes keep words together. No shell sees it. */
export function words(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3] ?? "");
}

/** What the program is told about a run. */
function messages(c: SupportedShape, transcript: readonly TranscriptRecord[]): string {
  const chunks = transcript.filter((r) => r.dir !== "process" && r.dir !== "cli->file" && lineOf(r) !== undefined);
  const { code, signal } = exitOf(transcript);
  return [
    { kind: "start", protocol: 1, agent: c.agent, dialect: c.dialect, family: c.protocolFamily, version: c.versions.at(-1) },
    ...chunks.map((r, n) => ({ kind: "chunk", n, stream: r.stream, data: lineOf(r) })),
    { kind: "exit", code, signal, cause: "exit" },
    { kind: "end" },
  ]
    .map((m) => JSON.stringify(m) + "\n")
    .join("");
}

/** Replays one fixture and holds the events against what OpenDesign makes of it. */
export async function replayThrough(command: string, c: SupportedShape, timeoutMs = 30_000): Promise<Replayed> {
  const [program = "", ...args] = words(command);
  const { text, problem } = await run(program, args, messages(c, parseTranscript(c.sanitizedFixture)), timeoutMs);
  const events: DaemonEvent[] = [];
  let ended = false;
  for (const line of text.split("\n").filter((l) => l.trim() !== "")) {
    let m: DaemonEvent & { kind?: string };
    try {
      m = JSON.parse(line) as DaemonEvent & { kind?: string };
    } catch {
      return { status: "broken", why: "a line of its answer is no JSON", events };
    }
    if (m.kind === "not_run") return { status: "not_run", events };
    if (m.kind === "result") ended = true;
    else if (m.kind !== "read") events.push(m);
  }
  if (!ended) return { status: "broken", why: problem ?? "it ended without a result", events };
  const want = c.expectedDaemonEvents;
  const at = Array.from({ length: Math.max(want.length, events.length) }, (_, i) => i).find((i) => !same(want[i], events[i]));
  return at === undefined ? { status: "same", events } : { status: "differs", at, events };
}

function run(program: string, args: string[], input: string, timeout: number): Promise<{ text: string; problem?: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], timeout });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (d: string) => (text += d));
    child.on("error", () => resolve({ text, problem: `${program} cannot be started` }));
    child.on("close", (code, signal) => resolve(signal === null && code === 0 ? { text } : { text, problem: `it ended with ${signal ?? code}` }));
    child.stdin.on("error", () => undefined); // it need not read to the end
    child.stdin.end(input);
  });
}
