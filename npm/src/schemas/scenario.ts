/* Made from schemas/scenario.schema.json by scripts/types.mjs; do not edit. */

/**
 * This interface was referenced by `Scenario`'s JSON-Schema
 * via the `definition` "reply".
 */
export type Reply = {
  /**
   * answer and empty are complete; cut drops the connection after the text, stall falls silent after it, truncated ends the body there without saying that the answer is complete, reset ends the connection before the first byte.
   */
  kind: "answer" | "empty" | "error" | "cut" | "stall" | "truncated" | "reset";
  /**
   * Pieces of the assistant text, one delta each.
   *
   * @minItems 1
   */
  text?: string[];
  /**
   * Tools that the CLI is asked to use.
   *
   * @minItems 1
   */
  tool_calls?: ToolCall[];
  error?: Error;
};
/**
 * A tool call by ability; the provider picks the tool that the CLI offers for it.
 *
 * This interface was referenced by `Scenario`'s JSON-Schema
 * via the `definition` "tool_call".
 */
export type ToolCall = {
  ability: "list_files" | "run_command" | "write_file" | "mcp_tool";
  arguments: {
    /**
     * Relative to the workspace.
     */
    path?: string;
    /**
     * A POSIX shell command line.
     */
    command?: string;
    /**
     * Content of the file, or the text for the tool.
     */
    content?: string;
    /**
     * The MCP server's name for its tool.
     */
    tool?: string;
    /**
     * Asks to run a command outside of the CLI's sandbox, where its tool has an argument for that.
     */
    escalate?: boolean;
  };
};
/**
 * Changes what the CLI printed, or its exit code, before it is recorded: a failure that no real CLI can be made to show. The run becomes a source-evidence record (synthetic_mock).
 *
 * This interface was referenced by `Scenario`'s JSON-Schema
 * via the `definition` "fault".
 */
export type Fault = {
  /**
   * malformed_json: a line loses its second half; partial_line: stdout ends in the middle of its last line; unknown_event: a frame that no release has comes in between; no_output: nothing arrives; exit_code: only the exit code is another one.
   */
  kind: "malformed_json" | "partial_line" | "unknown_event" | "no_output" | "exit_code";
  /**
   * The line of stdout that is meant, from 1, among those that begin with {.
   */
  line?: number;
  /**
   * By dialect, the frame that comes in between.
   */
  frames?: {
    [k: string]: {
      [k: string]: unknown;
    };
  };
  /**
   * Replaces the exit code of a CLI that ended by itself.
   */
  exit_code?: number;
};

/**
 * What the loopback model provider answers in a probe, turn by turn, and the settings that a capture pins.
 */
export interface Scenario {
  /**
   * Version of this format.
   */
  schema_version: 1;
  /**
   * Model slug that the CLI is told to ask for; one that no release knows.
   */
  model: string;
  /**
   * Retry limit that the capture sets in the CLI, where it has one.
   */
  max_retries: number;
  /**
   * Pause before an answer that follows a tool result, and before a connection ends whose answer was cut, in milliseconds.
   */
  post_tool_delay_ms?: number;
  /**
   * Length of a text delta in runes; 0 sends the pieces of a reply as they are.
   */
  chunk_runes?: number;
  /**
   * Bounds of one run, in milliseconds.
   */
  timeouts: {
    /**
     * Longest run.
     */
    wall_ms: number;
    /**
     * Longest silence of the child.
     */
    idle_ms: number;
  };
  /**
   * Empty for a probe that asks the model nothing; every request is then unexpected.
   */
  turns: Turn[];
  /**
   * What the client of a two-way protocol does; absent for the ordinary course.
   */
  client?: {
    /**
     * Answer to every permission question; cancel leaves it open until the turn is cancelled, ask asks a person and suspends the run until there is an answer. The consumer's own session always grants.
     */
    permission?: "grant" | "reject" | "cancel" | "ask";
    /**
     * When the client cancels the turn: right after the prompt, the first text, the first announced tool call, the first question, the first tool result.
     */
    cancel_after?: "prompt" | "text" | "tool" | "permission" | "tool_result";
    /**
     * What is wrong with the first frame: a protocol version that nobody has, a missing member, or a line before it that is no JSON.
     */
    hello?: "wrong_version" | "invalid" | "garbage";
    /**
     * Files of the workspace that the strict client sends with the prompt, each in the best form that the agent takes.
     *
     * @minItems 1
     */
    attach?: string[];
    /**
     * The strict client closes the session after the turn, where the agent has that.
     */
    close_session?: boolean;
    /**
     * The strict client asks which sessions there are, and takes up the one of the run before with session/resume, each where the agent has that; without it the session is loaded, and its history with it.
     */
    resume_session?: boolean;
  };
  fault?: Fault;
  /**
   * A signal for the CLI's process alone, sent once in the middle of its work.
   */
  interrupt?: {
    /**
     * SIGINT is what a person's Ctrl-C sends; the others come from the system.
     */
    signal: "SIGINT" | "SIGTERM" | "SIGKILL";
    /**
     * output is the CLI's first byte; request waits until the provider's first reply is out and the CLI is silent again.
     */
    after: "output" | "request";
  };
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
/**
 * The answer to a request that carries exactly tool_results tool results.
 *
 * This interface was referenced by `Scenario`'s JSON-Schema
 * via the `definition` "turn".
 */
export interface Turn {
  /**
   * Number of tool results in the request.
   */
  tool_results: number;
  /**
   * Replies to the first, second, … request of this turn; the last one repeats.
   *
   * @minItems 1
   */
  attempts: Reply[];
}
/**
 * An HTTP error; the code decides status and body in each API.
 *
 * This interface was referenced by `Scenario`'s JSON-Schema
 * via the `definition` "error".
 */
export interface Error {
  code:
    | "invalid_api_key"
    | "token_expired"
    | "forbidden"
    | "model_not_found"
    | "model_not_supported"
    | "client_outdated"
    | "provider_routing_error"
    | "context_length_exceeded"
    | "rate_limited"
    | "quota_exhausted"
    | "server_error"
    | "service_unavailable"
    | "overloaded";
  /**
   * Further response headers.
   */
  headers?: {
    [k: string]: string;
  };
}
