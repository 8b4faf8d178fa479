#!/usr/bin/env node
// A sample adapter for agent-contracts replay --adapter (docs/ADAPTERS.md): it
// reads Codex's and Claude Code's streams the way a small consumer would. Copy
// it and put your own parser in the place of the two readers.
import { createInterface } from "node:readline";
import { codexReader } from "./codex.mjs";
import { claudeReader } from "./claude.mjs";

const readers = { codex: codexReader, claude: claudeReader };

const write = (message) => process.stdout.write(JSON.stringify(message) + "\n");

/** The run that is being read; null before the first start. */
let run = null;

function start(message) {
  if (message.protocol !== 1) {
    throw new Error(`this adapter speaks protocol 1, not ${message.protocol}`);
  }
  const reader = readers[message.dialect];
  // stdout can be cut anywhere by other recorders; keep what has no line end.
  run = { reader: reader && reader(write), rest: "", exit: null };
}

function chunk(message) {
  if (!run.reader || message.stream !== "stdout") return;
  const data = message.data ?? Buffer.from(message.base64, "base64").toString("utf8");
  write({ kind: "read", n: message.n }); // the events that follow come from here
  const lines = (run.rest + data).split("\n");
  run.rest = lines.pop();
  for (const line of lines) readLine(line);
}

function readLine(line) {
  if (line.trim() === "") return;
  let frame;
  try {
    frame = JSON.parse(line);
  } catch {
    write({ type: "raw", line });
    return;
  }
  run.reader.frame(frame, line);
}

function end() {
  if (!run.reader) {
    write({ kind: "not_run", more_runs: true });
    return;
  }
  readLine(run.rest);
  write({ kind: "read", end: true }); // what follows comes from no frame
  run.reader.end?.();
  // more_runs: another start may follow on the same stdin.
  write({ kind: "result", ...run.reader.result(run.exit), more_runs: true });
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const message = JSON.parse(line);
  if (message.kind === "start") start(message);
  else if (message.kind === "chunk") chunk(message);
  else if (message.kind === "exit") run.exit = message;
  else if (message.kind === "end") end();
}
