/* Made from schemas/transcript.schema.json by scripts/types.mjs; do not edit. */

/**
 * One line of a sanitized transcript: a line that passed through a pipe, an RPC frame, an event of the child process, or a line of the file that the CLI keeps of its session. Offsets never go back from one line to the next. Nothing here holds unredacted home paths, tokens, mail addresses, keys, signed URLs or model text; the leak scan checks that.
 */
export type Transcript = {
  /**
   * Who wrote it; process marks an event of the child itself, cli->file what the CLI wrote to its session file: evidence that no consumer sees.
   */
  dir: "server->cli" | "cli->server" | "process" | "cli->file";
  /**
   * The pipe, or session for the CLI's session file.
   */
  stream?: "stdin" | "stdout" | "stderr" | "session";
  /**
   * Monotonic offset. Fixtures have the record's ordinal instead of a measured time.
   */
  at_ms: number;
  /**
   * One line with its line break if it had one.
   */
  data?: string;
  /**
   * A file of the probe that stands for the bytes: prompt.
   */
  data_ref?: string;
  /**
   * One JSON object of an RPC family, as it was printed.
   */
  frame?: {
    [k: string]: unknown;
  };
  /**
   * What happened to the child.
   */
  event?: "spawn" | "exit" | "timeout" | "kill";
  /**
   * The child's exit code; null when a signal ended it.
   */
  exit_code?: number | null;
  /**
   * exit: the signal that ended the child. timeout, kill: the signal that we sent.
   */
  signal?: string | null;
  /**
   * What the specification has no field for.
   */
  extensions?: {
    /**
     * Why a process event happened: wall_timeout, idle_timeout, output_limit, cancelled, interrupt, leftover_killed, not_started, args_too_long.
     */
    reason?: string;
    /**
     * What is odd about the line: ansi, batch, crlf, duplicate_key, invalid_utf8, no_jsonrpc, not_json, nul, truncated_tail. Sorted in fixtures.
     */
    deviations?: Word[];
  };
} & (StreamRecord | ProcessEvent | SessionRecord);
/**
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "word".
 */
export type Word = string;
/**
 * A stream chunk or an RPC frame.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "stream_record".
 */
export type StreamRecord = {
  [k: string]: unknown;
} & {
  dir?: "server->cli" | "cli->server";
  event?: never;
  exit_code?: null;
  signal?: null;
  extensions?: {
    reason?: never;
    [k: string]: unknown;
  };
  [k: string]: unknown;
};
/**
 * An exit has either exit_code or signal.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "process_event".
 */
export type ProcessEvent = {
  dir?: "process";
  stream?: never;
  data?: never;
  data_ref?: never;
  frame?: never;
  [k: string]: unknown;
};

/**
 * A line of the session file, as it was when the child was gone.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "session_record".
 */
export interface SessionRecord {
  dir?: "cli->file";
  stream: "session";
  data_ref?: never;
  frame?: never;
  event?: never;
  exit_code?: null;
  signal?: null;
  extensions?: {
    reason?: never;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A JSON-RPC request, notification or answer. Further members are allowed: real agents add them.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "jsonrpc".
 */
export interface Jsonrpc {
  jsonrpc?: string;
  id?: string | number | null;
  method?: string;
  params?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | null;
  error?: {
    code: number;
    message: string;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
