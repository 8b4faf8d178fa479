/** What a consumer's tests are made of (specification, "OpenDesign Consumption"). */
import type { DaemonEvent, DaemonRunShape, ExpectedRun, SupportedShape } from "./records.js";
import { Registry } from "./registry.js";
import type { ErrorCase } from "./schemas/error-case.js";
import { lineOf, linesOf, parseTranscript, type TranscriptRecord } from "./transcript.js";

/** The consumer that the goldens are of. */
export const CONSUMER = "open-design@0.19.2";

/** A line of contracts.jsonl, which the registry's program makes. */
interface ContractLine extends Omit<SupportedShape, "sanitizedFixture" | "expectedDaemonEvents"> {
  run?: {
    runtimeDef: DaemonRunShape["runtimeDef"];
    promptFile: string;
    cwd: string;
    waitsForStdin: boolean;
    exit: DaemonRunShape["exit"];
    expectedRun: ExpectedRun;
  };
}

/** Narrows what is given out. */
export interface ContractFilter {
  agent?: string;
  protocolFamily?: string;
}

/** Gives a property its value when somebody asks for it, once. */
function lazy<T extends object, K extends string, V>(o: T, key: K, make: () => V): T & Record<K, V> {
  return Object.defineProperty(o, key, {
    configurable: true,
    enumerable: true,
    get(this: object) {
      const value = make();
      Object.defineProperty(o, key, { value, enumerable: true, writable: true, configurable: true });
      return value;
    },
  }) as T & Record<K, V>;
}

function lines(registry: Registry, filter: ContractFilter): ContractLine[] {
  const fits = (c: ContractLine) =>
    (filter.agent ?? c.agent) === c.agent && (filter.protocolFamily ?? c.protocolFamily) === c.protocolFamily;
  return jsonLines<ContractLine>(registry.text("contracts.jsonl")).filter(fits);
}

/** Reads a file of one JSON object a line. */
export function jsonLines<T>(text: string): T[] {
  return text.split("\n").flatMap((line) => (line === "" ? [] : (JSON.parse(line) as T)));
}

/** Every recorded run that a claim rests on and that the consumer reads without a loss. */
export function supportedShapes(filter: ContractFilter = {}, registry = new Registry()): SupportedShape[] {
  return lines(registry, filter).map(({ run: _, ...c }) => {
    const withText = lazy(c, "sanitizedFixture", () => registry.text(c.fixture));
    return lazy(withText, "expectedDaemonEvents", () => golden(registry, c.golden));
  });
}

function golden(registry: Registry, place: string): DaemonEvent[] {
  const g = JSON.parse(registry.text(place)) as { events: DaemonEvent[] };
  return g.events;
}

/** Those of the supported shapes whose whole run OpenDesign's daemon makes, ready to be played as a child. */
export function daemonRunShapes(filter: ContractFilter = {}, registry = new Registry()): DaemonRunShape[] {
  return lines(registry, filter).flatMap((c) => (c.run === undefined ? [] : [runShape(c, c.run, registry)]));
}

function runShape(c: ContractLine, run: NonNullable<ContractLine["run"]>, registry: Registry): DaemonRunShape {
  const { id, agent, protocolFamily, dialect, shape, probes, versions } = c;
  const base = {
    id,
    agent,
    protocolFamily,
    dialect,
    shape,
    probes,
    versions,
    runtimeDef: run.runtimeDef,
    cwd: run.cwd,
    exit: run.exit,
    expectedRun: run.expectedRun,
  };
  const transcript = lazy(base, "transcript", () => parseTranscript(registry.text(c.fixture)));
  const stdout = lazy(transcript, "stdoutFrames", () => linesOf(transcript.transcript, "stdout"));
  const stderr = lazy(stdout, "stderrFrames", () => linesOf(transcript.transcript, "stderr"));
  const prompt = lazy(stderr, "prompt", () => (registry.has(run.promptFile) ? registry.text(run.promptFile) : ""));
  return lazy(prompt, "expectedStdin", () => ({
    mode: run.runtimeDef.stdinMode,
    frames: stdinFrames(transcript.transcript),
    closedAt: run.expectedRun.stdinClosedAt,
    waitsForEnd: run.waitsForStdin,
  }));
}

function stdinFrames(transcript: readonly TranscriptRecord[]): { afterStdoutLine: number; data: string | null }[] {
  let afterStdoutLine = 0;
  return transcript.flatMap((r) => {
    if (r.stream === "stdout") afterStdoutLine++;
    return r.stream === "stdin" ? [{ afterStdoutLine, data: lineOf(r) ?? null }] : [];
  });
}

/** Options of errorCases. */
export interface ErrorCaseFilter {
  agent?: string;
  /** Also the cases on which the pinned consumer disagrees. */
  all?: boolean;
  /** Whose classification has to agree; the pinned consumer's unless said otherwise. */
  consumer?: string;
}

/** Failing runs, and how they are to be classified: those on which the pinned consumer agrees, or all. */
export function errorCases(filter: ErrorCaseFilter = {}, registry = new Registry()): ErrorCase[] {
  return registry
    .places(filter.agent === undefined ? "errors" : `errors/${filter.agent}`, ".error.json")
    .map((place) => registry.record<ErrorCase>("error-case", place))
    .filter((e) => filter.all === true || agrees(e, filter.consumer ?? CONSUMER));
}

function agrees(e: ErrorCase, consumer: string): boolean {
  const consumers = (e.extensions as { consumers?: Record<string, unknown> }).consumers ?? {};
  return same(consumers[consumer], e.expected_failure_classification);
}

/** Whether two JSON values are the same, whatever the order of their members. */
export function same(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(x);
  return Array.isArray(a) === Array.isArray(b) && keys.length === Object.keys(y).length && keys.every((k) => k in y && same(x[k], y[k]));
}
