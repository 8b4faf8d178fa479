/**
 * A recorded child, as an object like the ChildProcess that spawn returns. It
 * prints what the child printed, waits for what the child was told, and ends as
 * the child ended. No process is started.
 */
import type { PassThrough, Writable } from "node:stream";

import { eventEmitter, stream } from "./builtin.js";
import { fits, Ids, isAnswer, nameOf, parseFrame, type Frame } from "./frames.js";
import type { ChildExit, ExpectedStdin } from "./records.js";
import { exitOf, lineOf, parseTranscript, type TranscriptRecord } from "./transcript.js";

/** What a played child is made of beside its transcript. */
export interface ChildOptions {
  /** The lines of stdout and stderr, in the places of the recorded ones. */
  stdout?: readonly string[];
  stderr?: readonly string[];
  exit?: ChildExit;
  /** What the host has to write; without it the order of the transcript is kept and nothing is checked. */
  stdinAssertions?: ExpectedStdin;
  /**
   * The child's pid. There is no process, so it has none: a host that signals
   * a made-up pid would hit somebody else's.
   */
  pid?: number;
}

/** The host did something else than the recorded one. */
export class StdinViolation extends Error {
  override readonly name = "StdinViolation";
}

/** The exit code of a child whose host broke the recording, as `agent-contracts play` has it. */
export const EXIT_HOST = 64;

/** Makes a child of a sanitized transcript: its records, or its text. */
export function createInstrumentedChildFromTranscript(
  transcript: string | readonly TranscriptRecord[],
  options: ChildOptions = {},
): InstrumentedChild {
  return new InstrumentedChild(typeof transcript === "string" ? parseTranscript(transcript) : transcript, options);
}

const EventEmitter = /* @__PURE__ */ eventEmitter();

/** A ChildProcess-like object. Its events are spawn, exit and close. */
export class InstrumentedChild extends EventEmitter {
  readonly stdout: PassThrough = new (stream().PassThrough)();
  readonly stderr: PassThrough = new (stream().PassThrough)();
  /** null where the recorded child had none. */
  readonly stdin: Writable | null;
  readonly pid: number | undefined;
  readonly connected = false;
  readonly spawnargs: string[] = [];
  readonly spawnfile = "";
  exitCode: number | null = null;
  signalCode: string | null = null;
  killed = false;
  /** What the host did wrong; undefined for nothing. */
  violation: StdinViolation | undefined;

  private readonly frames: Frame[] = [];
  private readonly waiting: Frame[] = [];
  private readonly ids = new Ids();
  private readonly signals: string[] = [];
  private readonly recordedSignals: ReadonlySet<string>;
  private partial = "";
  private ended = false;
  private told = false;
  private printed = 0;
  private wake: () => void = () => undefined;

  constructor(
    private readonly transcript: readonly TranscriptRecord[],
    private readonly options: ChildOptions,
  ) {
    super();
    this.pid = options.pid;
    this.recordedSignals = new Set(transcript.flatMap((r) => ((r.event === "kill" || r.event === "timeout") && r.signal) || []));
    this.stdin = this.mode() === "none" ? null : this.openStdin();
    setImmediate(() => void this.play());
  }

  /** Sends the child a signal, as ChildProcess.kill does. */
  kill(signal: string | number = "SIGTERM"): boolean {
    if (signal === 0) return !this.over();
    if (this.over()) return false;
    this.killed = true;
    this.signals.push(String(signal));
    this.wake();
    return true;
  }

  ref(): void {}

  unref(): void {}

  private over(): boolean {
    return this.exitCode !== null || this.signalCode !== null;
  }

  private mode(): string {
    if (this.options.stdinAssertions !== undefined) return this.options.stdinAssertions.mode;
    const first = this.transcript.find((r) => r.stream === "stdin");
    if (first === undefined) return "none";
    const line = lineOf(first) ?? "";
    const kind = parseFrame(line).kind;
    if (kind === "user") return "jsonl-open";
    return kind === "prompt" || kind === "new_session" || line.includes('"jsonrpc"') ? "rpc" : "text-prompt";
  }

  private framed(): boolean {
    return this.mode() === "jsonl-open" || this.mode() === "rpc";
  }

  private openStdin(): Writable {
    const stdin = new (stream().Writable)({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        const parts = (this.partial + chunk.toString()).split("\n");
        this.partial = parts.pop() ?? "";
        if (this.framed()) this.frames.push(...parts.map((p) => parseFrame(p)));
        this.wake();
        done();
      },
      final: (done) => {
        if (this.framed() && this.partial !== "") this.frames.push(parseFrame(this.partial));
        this.ended = true;
        this.wake();
        done();
      },
    });
    stdin.on("close", () => {
      this.ended = true; // destroyed without an end
      this.wake();
    });
    return stdin;
  }

  /** Waits until something of the host's may have changed what is true. */
  private async until(ready: () => boolean): Promise<void> {
    while (!ready()) await new Promise<void>((resolve) => (this.wake = resolve));
  }

  private async play(): Promise<void> {
    this.emit("spawn");
    let end = this.options.exit ?? exitOf(this.transcript);
    try {
      const out = this.options.stdout?.[Symbol.iterator]();
      const err = this.options.stderr?.[Symbol.iterator]();
      for (const r of this.transcript) {
        if (await this.step(r, { stdout: out, stderr: err })) break;
      }
      for (const [list, stream] of [[out, this.stdout], [err, this.stderr]] as const) {
        for (const line of list ?? []) stream.write(line);
      }
      await this.hangUp();
    } catch (e) {
      if (e instanceof StdinViolation) {
        this.violation = e;
        this.stderr.write(e.message + "\n");
        end = { code: EXIT_HOST, signal: null };
      } else if (e instanceof Killed) {
        end = { code: null, signal: e.signal };
      } else {
        throw e;
      }
    }
    this.close(end);
  }

  /** Plays one record; true ends the transcript. */
  private async step(r: TranscriptRecord, given: Record<"stdout" | "stderr", Iterator<string> | undefined>): Promise<boolean> {
    this.obey();
    if (r.dir === "process") {
      if (r.event === "exit") return true;
      if ((r.event === "kill" || r.event === "timeout") && r.signal) await this.stall(r.signal);
      return false;
    }
    if (r.dir === "cli->file") return false;
    if (r.stream === "stdin") {
      await this.read(r);
      return false;
    }
    const closedAt = this.options.stdinAssertions?.closedAt;
    if (this.ended && this.framed() && typeof closedAt === "number" && this.printed < closedAt) {
      throw new StdinViolation("stdin was closed before the turn was over");
    }
    const stream = r.stream === "stderr" ? "stderr" : "stdout";
    const line = given[stream] === undefined ? lineOf(r) : given[stream].next().value;
    if (stream === "stdout") this.printed++;
    if (line !== undefined) this[stream].write(this.ids.toClient(String(line)));
    // A pipe gives its reader a turn between two lines.
    await new Promise((resolve) => setImmediate(resolve));
    return false;
  }

  /** Whether a signal came that the recorded child never got: it ends this one at once. */
  private killedBy(): string | undefined {
    return this.signals.find((s) => !this.recordedSignals.has(s));
  }

  private obey(): void {
    const signal = this.killedBy();
    if (signal !== undefined) throw new Killed(signal);
  }

  /** Is silent until the signal comes that the recorded child got. */
  private async stall(signal: string): Promise<void> {
    await this.until(() => this.signals.includes(signal) || this.killedBy() !== undefined);
    this.obey();
    this.signals.splice(this.signals.indexOf(signal), 1);
    this.told = true;
  }

  /** Waits for what the recorded child read here. */
  private async read(r: TranscriptRecord): Promise<void> {
    if (!this.framed()) {
      await this.until(() => this.ended || this.killedBy() !== undefined);
      return this.obey();
    }
    const recorded = parseFrame(lineOf(r) ?? "");
    const early = this.waiting.findIndex((f) => fits(f, recorded));
    if (early >= 0) {
      this.waiting.splice(early, 1);
      return;
    }
    for (;;) {
      await this.until(() => this.frames.length > 0 || this.ended || this.killedBy() !== undefined);
      this.obey();
      const live = this.frames.shift();
      if (live === undefined) throw new StdinViolation(`stdin was closed where the recorded client sent ${nameOf(recorded)}`);
      if (recorded.kind === "" || fits(live, recorded) || this.options.stdinAssertions === undefined) {
        this.ids.learn(recorded, live);
        return;
      }
      if (!isAnswer(live)) throw new StdinViolation(`the client sent ${nameOf(live)} where the recorded one sent ${nameOf(recorded)}`);
      this.waiting.push(live);
    }
  }

  /** Lives on until the host has hung up, if the recorded child did. */
  private async hangUp(): Promise<void> {
    if (this.options.stdinAssertions?.waitsForEnd !== true || this.told) return;
    await this.until(() => this.ended || this.frames.length > 0 || this.killedBy() !== undefined);
    this.obey();
    const more = this.waiting[0] ?? this.frames[0];
    if (more !== undefined) throw new StdinViolation(`the client sent ${nameOf(more)} after the end of the recorded conversation`);
  }

  private close(end: ChildExit): void {
    this.exitCode = end.signal === null ? (end.code ?? 0) : null;
    this.signalCode = end.signal;
    this.stdin?.destroy();
    const open = new Set([this.stdout, this.stderr]);
    for (const s of open) {
      s.once("close", () => {
        open.delete(s);
        if (open.size === 0) this.emit("close", this.exitCode, this.signalCode);
      });
      s.end();
    }
    this.emit("exit", this.exitCode, this.signalCode);
    // As for a real child, output that nobody reads does not hold up its end.
    for (const s of [this.stdout, this.stderr]) if (s.readableFlowing === null && s.listenerCount("readable") === 0) s.resume();
  }
}

/** The host's signal ended the child. */
class Killed extends Error {
  constructor(readonly signal: string) {
    super(signal);
  }
}
