/** Types of records that the package's functions give out, beside those of the schemas. */
import type { AgentFacts } from "./support.js";

/** registry/agents.json, as far as this package reads it. */
export interface AgentsFile {
  schema_version: 1;
  agents: (AgentFacts & { name: string; tier: number })[];
}

/** One event of OpenDesign's daemon. */
export interface DaemonEvent {
  type: string;
  [member: string]: unknown;
}

/** One recorded run of one agent that the consumer reads without a loss. */
export interface SupportedShape {
  /** AGENT/FIXTURE. */
  id: string;
  agent: string;
  protocolFamily: string;
  /** One of several formats of a family. */
  dialect: string;
  shape: string;
  validityLevel: string;
  probes: string[];
  /** Newest last. */
  versions: string[];
  platforms: string[];
  /** Place of the fixture in the registry. */
  fixture: string;
  /** Place of the golden in the registry. */
  golden: string;
  /** The sanitized transcript, one JSON object a line. */
  readonly sanitizedFixture: string;
  /** Raw events that a parser may make of it; any other one is unexpected. */
  allowedRawEvents: DaemonEvent[];
  /** Types of events without which the run means something else. */
  requiredDaemonEvents: string[];
  /** What OpenDesign v0.19.2 makes of it. */
  readonly expectedDaemonEvents: DaemonEvent[];
}

/** How a played child ended. */
export interface ChildExit {
  code: number | null;
  signal: string | null;
}

/** What the host of a played child is expected to write. */
export interface ExpectedStdin {
  /** none, text-prompt, jsonl-open, rpc or prompt-file. */
  mode: string;
  /** Frames, each with the number of stdout lines that came before it. Only their kinds count. */
  frames: { afterStdoutLine: number; data: string | null }[];
  /** The number of stdout lines after which the host closes stdin; null for never. */
  closedAt: number | null;
  /** The child lives on after its turn until stdin ends. */
  waitsForEnd: boolean;
}

/** What the daemon's run of a recorded child must come to. */
export interface ExpectedRun {
  /** Lines of stdout after which stdin is closed; 0 at once, null never by the daemon. */
  stdinClosedAt: number | null;
  turnCompletedCleanly: boolean;
  events: { event: string; data: unknown }[];
  status: { status: string; error: string | null; errorCode: string | null; exitCode: number | null; signal: string | null };
}

/** A supported shape whose run can be played as a child process. */
export interface DaemonRunShape {
  id: string;
  agent: string;
  protocolFamily: string;
  dialect: string;
  shape: string;
  probes: string[];
  versions: string[];
  runtimeDef: { id: string; streamFormat: string; eventParser?: string; stdinMode: string; argvTemplate: string[] };
  readonly transcript: import("./transcript.js").TranscriptRecord[];
  readonly stdoutFrames: string[];
  readonly stderrFrames: string[];
  readonly expectedStdin: ExpectedStdin;
  exit: ChildExit;
  readonly prompt: string;
  cwd: string;
  expectedRun: ExpectedRun;
}
