/**
 * Calls a program that speaks the machine-result contract, and meets the
 * consumer's obligations for its user: the program is named by its absolute
 * path, every envelope's version is checked before its data is looked at, a
 * damaged installation and a broken channel are never a failed piece of work.
 * No state of any run is kept here.
 */
import { isAbsolute } from "./builtin.js";

/** The version of the contract that this consumer speaks. */
export const CONTRACT_VERSION = 1;

/** The exit status of a program whose own installation is damaged. */
export const EXIT_INSTALLATION = 78;

/** Why a request is refused. The set is closed: another kind is another version of the contract. */
const ERROR_KINDS: ReadonlySet<unknown> = new Set(["not_found", "invalid_input", "conflict", "unavailable", "internal"]);

/** The most that one call may answer, in bytes. */
const MAX_STDOUT = 256 * 1024 * 1024;

/** The program refused the command. kind is for branching, message for people. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";

  constructor(
    readonly kind: string,
    message: string,
    readonly detail: unknown,
  ) {
    super(message);
  }
}

/** The program speaks another version: nothing of it may be used or offered until somebody connects again. */
export class ContractVersionError extends Error {
  override readonly name = "ContractVersionError";

  constructor(readonly got: number) {
    super(`the program speaks contract version ${got}, and this consumer ${CONTRACT_VERSION}: use it no further, and connect again when one of the two has been updated`);
  }
}

/** The program's own installation is damaged (exit status 78): nothing was executed, and no work failed. */
export class InstallationError extends Error {
  override readonly name = "InstallationError";

  constructor(readonly path: string) {
    super(`the installation of ${path} is damaged: install it again`);
  }
}

/**
 * A call brought no envelope: the program could not be started, was killed, took
 * too long, or wrote something else. It says nothing about the work.
 */
export class TransportError extends Error {
  override readonly name = "TransportError";

  constructor(readonly path: string, what: string) {
    super(`calling ${path}: ${what}`);
  }
}

/** What a program says of itself. */
export interface Handshake {
  contract_version: number;
  min_supported_version: number;
  implementation: string;
}

/** A value that was read from somewhere, or the reason why it was not. It is never read as absent or empty. */
export type Available<T> =
  | { available: true; value: T; reason_code: null; detail: null }
  | { available: false; value: null; reason_code: string; detail: string | null };

/** How a call is bounded. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** A program that was connected to. */
export class MachineClient {
  private version: ContractVersionError | undefined;

  private constructor(
    readonly path: string,
    private readonly timeout: number,
  ) {}

  /**
   * Makes the handshake. path is absolute: a name that is looked up may be
   * another program tomorrow. timeout bounds each call, in milliseconds; 0
   * leaves it to the caller's signal.
   */
  static async connect(path: string, timeout = 0, options: CallOptions = {}): Promise<{ client: MachineClient; handshake: Handshake }> {
    if (!isAbsolute(path)) throw new TypeError(`calling ${JSON.stringify(path)}: a consumer names the program by its absolute path`);
    const client = new MachineClient(path, timeout);
    const h = await client.call<Handshake>(["handshake"], options);
    if (!Number.isInteger(h?.contract_version) || !Number.isInteger(h.min_supported_version)) throw new TransportError(path, "its handshake names no versions");
    if (h.min_supported_version > CONTRACT_VERSION || h.contract_version < CONTRACT_VERSION) throw new ContractVersionError(h.contract_version);
    return { client, handshake: h };
  }

  /** The version that the program was replaced by; undefined while it speaks ours. */
  get degraded(): number | undefined {
    return this.version?.got;
  }

  /**
   * Runs one command with --machine and returns its data, members that the
   * caller does not know included. It throws RefusedError; ContractVersionError,
   * after which every further call throws it too; InstallationError;
   * TransportError; or the signal's reason.
   */
  async call<T>(args: readonly string[], options: CallOptions = {}): Promise<T> {
    if (this.version !== undefined) throw this.version;
    try {
      return dataOf(this.path, await this.run(args, options)) as T;
    } catch (e) {
      if (e instanceof ContractVersionError) this.version = e;
      throw e;
    }
  }

  private async run(args: readonly string[], options: CallOptions): Promise<Answer> {
    options.signal?.throwIfAborted();
    // Before "--" and what belongs to somebody else's program.
    const at = args.indexOf("--") < 0 ? args.length : args.indexOf("--");
    const answer = await execute(this.path, [...args.slice(0, at), "--machine", ...args.slice(at)], this.timeout, options.signal);
    options.signal?.throwIfAborted();
    return answer;
  }
}

/** What a call left. failed says why there may be no envelope. */
interface Answer {
  stdout: string;
  code: number | null;
  failed: string | undefined;
}

async function execute(path: string, args: readonly string[], timeout: number, signal: AbortSignal | undefined): Promise<Answer> {
  const { spawn } = await import("node:child_process"); // which who only asks for claims need not load
  signal?.throwIfAborted();
  return new Promise((resolve) => {
    let failed: string | undefined;
    const chunks: Buffer[] = [];
    let size = 0;
    const child = spawn(path, args, { stdio: ["ignore", "pipe", "ignore"] });
    const stop = (why: string) => {
      failed ??= why;
      child.kill("SIGKILL");
      child.stdout.destroy(); // somebody else may hold it open
    };
    const timer = timeout > 0 ? setTimeout(() => stop(`it took longer than ${timeout} ms`), timeout) : undefined;
    const abort = () => stop("the caller went away");
    signal?.addEventListener("abort", abort, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_STDOUT) stop(`it wrote more than ${MAX_STDOUT} bytes`);
      else chunks.push(chunk);
    });
    child.on("error", (e: NodeJS.ErrnoException) => (failed ??= `it could not be started (${e.code ?? "unknown"})`));
    child.on("close", (code, killed) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      if (killed !== null) failed ??= `it was ended by ${killed}`;
      resolve({ stdout: Buffer.concat(chunks).toString("utf8"), code, failed });
    });
  });
}

/** Reads an envelope: its version first, then whether it is one, then its data. */
function dataOf(path: string, answer: Answer): unknown {
  if (answer.code === EXIT_INSTALLATION) throw new InstallationError(path); // whatever it wrote is not looked at
  const nothing = answer.failed ?? (answer.code === 0 ? "it answered with no envelope" : `it ended with status ${answer.code} and without an envelope`);
  let e: Record<string, unknown>;
  try {
    e = JSON.parse(answer.stdout) as Record<string, unknown>;
  } catch {
    throw new TransportError(path, nothing);
  }
  if (!isObject(e) || !Number.isInteger(e.contract_version)) throw new TransportError(path, nothing);
  if (e.contract_version !== CONTRACT_VERSION) throw new ContractVersionError(e.contract_version as number);
  const data = e.data ?? null; // a producer may leave a null out
  const error = e.error ?? null;
  if (e.ok === true && error === null && data !== null) return data; // a valid envelope wins over the exit status
  if (e.ok === false && data === null && isObject(error) && ERROR_KINDS.has(error.kind) && typeof error.message === "string") {
    throw new RefusedError(error.kind as string, error.message, error.detail ?? null);
  }
  throw new TransportError(path, "its envelope says both or neither of success and refusal, or refuses without a known reason");
}

function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/** What a consumer does with a run. */
export type Ending = "not_ended" | "succeeded" | "failed" | "cancelled" | "not_established";

/** Branches on an outcome. One that is not in the vocabulary is not established: never a success and never a failure. */
export function endingOf(outcome: string | null | undefined): Ending {
  switch (outcome) {
    case null:
    case undefined:
      return "not_ended";
    case "succeeded":
    case "failed":
    case "cancelled":
      return outcome;
    default:
      return "not_established";
  }
}

/** What a consumer reads of a run. status is for showing only. */
export interface SeenRun {
  run_id: string;
  status: string;
  terminal: boolean;
  outcome: string | null;
  reason_code: string | null;
  /** Why the run could not be observed. */
  error?: { kind: string; message: string; detail: unknown } | null;
}

/** What becomes of runs that no bounded wait resolves. */
export interface WaitPolicy {
  /** The length of one wait and of the pauses in it, in milliseconds. */
  window: number;
  poll: number;
  /** Waits in which a run may be unresolved before it is given up. */
  attempts: number;
  /** The pause before the next wait, in milliseconds; doubled each time. */
  backoff: number;
}

/** Where the waiting for one run ended. */
export interface Resolution {
  run: SeenRun;
  ending: Ending;
  /** The policy gave the run up: nobody will ever end it. The run's record does not change by it. */
  abandoned: boolean;
}

interface Waited {
  entries: SeenRun[];
  stopped_without_end: string[];
  unresolved_spawn: string[];
}

/**
 * Waits for runs as the policy says. A run that is pending is waited for until
 * the signal; one that stopped without an end, or never got a process, is given
 * up after the policy's attempts. The answer is in the order of ids.
 */
export async function awaitRuns(client: MachineClient, ids: readonly string[], policy: WaitPolicy, options: CallOptions = {}): Promise<Resolution[]> {
  const known = new Map<string, Resolution>();
  let open = [...new Set(ids)];
  let pause = policy.backoff;
  for (let attempt = 1; open.length > 0; ) {
    const bounds = ["--max-wait", String(policy.window / 1000), "--poll-interval", String(policy.poll / 1000)];
    const w = await client.call<Waited>(["job", "wait", ...bounds, ...open], options);
    const unresolved = new Set([...w.stopped_without_end, ...w.unresolved_spawn]);
    for (const run of w.entries) {
      const ending = run.terminal ? (run.outcome === null ? "not_established" : endingOf(run.outcome)) : "not_ended";
      known.set(run.run_id, { run, ending, abandoned: attempt >= policy.attempts && unresolved.has(run.run_id) });
    }
    open = open.filter((id) => {
      const r = known.get(id);
      if (r === undefined) throw new TransportError(client.path, `its wait does not answer for run ${id}`);
      return !r.run.terminal && !r.run.error && !r.abandoned;
    });
    if (unresolved.size === 0) continue; // the window itself was the pause
    attempt++;
    if (open.length > 0) await (await import("node:timers/promises")).setTimeout(pause, undefined, options);
    pause *= 2;
  }
  return ids.map((id) => known.get(id) as Resolution);
}
