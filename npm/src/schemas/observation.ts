/* Made from schemas/observation.schema.json by scripts/types.mjs; do not edit. */

/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * Operating system and processor.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "platform".
 */
export type Platform = "darwin-arm64" | "darwin-x64" | "linux-x64" | "linux-arm64" | "win32-x64" | "unknown";
/**
 * Id of a probe: its folder's name under probes/.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "probe_id".
 */
export type ProbeId = string;
/**
 * A wire protocol with its version.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "protocol_family".
 */
export type ProtocolFamily =
  | "plain/v1"
  | "claude-stream-json/v1"
  | "json-event-stream/v1"
  | "qoder-stream-json/v1"
  | "copilot-stream-json/v1"
  | "acp-json-rpc/v1"
  | "pi-rpc/v1";
/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * A SHA-256 hash in the registry's one spelling.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
/**
 * Place of a shape under shapes/.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "shape_path".
 */
export type ShapePath = string;
/**
 * A SHA-256 hash, or null for none.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "digest_or_null".
 */
export type DigestOrNull = string | null;
/**
 * An HTTPS URL, or null for none.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "https_url_or_null".
 */
export type HttpsUrlOrNull = string | null;
/**
 * Place of a file in the registry, relative, with forward slashes.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "place".
 */
export type Place = string;

/**
 * One real capture: which version of which CLI printed what, where and when. Never edited after it was written.
 */
export interface Observation {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  agent: AgentId;
  /**
   * Exact version that the runtime version probe printed; unknown is not allowed.
   */
  cli_version: string;
  platform: Platform;
  probe: ProbeId;
  protocol_family: ProtocolFamily;
  /**
   * Level at capture time; levels of sources are not observations.
   */
  validity_level: "runtime_observed" | "confirmed" | "community_confirmed" | "server_variant";
  /**
   * What was run.
   */
  install: {
    /**
     * Package, binary, source checkout or manual install, such as npm:@openai/codex@0.133.0.
     */
    source: string;
    /**
     * Hash of the binary, where a stable one can be hashed.
     */
    binary_sha256?: string | null;
  };
  /**
   * How it was started.
   */
  command: {
    /**
     * Arguments after the binary; secrets and paths are templates.
     */
    argv_template: string[];
    /**
     * How the CLI gets its prompt.
     */
    stdin_mode: "none" | "text-prompt" | "jsonl-open" | "prompt-file" | "rpc";
  };
  /**
   * When and where, and the hashes of the raw bytes.
   */
  capture: {
    captured_at: Timestamp;
    /**
     * Runner image or name.
     */
    runner: string;
    /**
     * Workflow run of an automated capture.
     */
    workflow_run_url?: string | null;
    /**
     * Hash of stdout; required for stream transports when there is any.
     */
    raw_stdout_sha256?: string | null;
    /**
     * Hash of stderr; required when there is any.
     */
    raw_stderr_sha256?: string | null;
    /**
     * Hash of the transcript bundle of stdin, stdout, stderr and process events.
     */
    raw_client_transcript_sha256: string;
    /**
     * What became of the raw bytes.
     */
    raw_artifact_visibility: "private" | "public" | "discarded_after_redaction";
  };
  /**
   * What the redactor made of the raw transcript.
   */
  redaction: {
    /**
     * Semver of the redaction tool.
     */
    tool_version: string;
    /**
     * Outcome; only passed may be published.
     */
    status: "passed" | "failed" | "manual_review_required";
  };
  /**
   * The shape that was observed.
   */
  shape: {
    signature: Digest;
    path: ShapePath;
  };
  /**
   * What the consumer's parser made of it at capture time.
   */
  parser_replay?: {
    /**
     * Commit whose parser was used, null if none.
     */
    open_design_commit?: string | null;
    /**
     * Whether the parser lost anything.
     */
    status?: "compatible" | "incompatible" | "not_run";
    /**
     * Place of the parser's events.
     */
    golden?: string;
  };
  /**
   * What the specification's fields cannot say.
   */
  extensions?: {
    /**
     * Who played the model provider.
     */
    provider: "emulated" | "live";
    /**
     * Argv profile: production is the consumer's argv, others are named.
     */
    profile: string;
    /**
     * Whether the child had a network namespace with loopback only.
     */
    isolated: boolean;
    /**
     * Which program was called: native or npm-wrapper.
     */
    launcher: string;
    /**
     * A SHA-256 hash in the registry's one spelling.
     */
    probe_revision: string;
    /**
     * Id of the dialect in registry/families.json.
     */
    dialect: string;
    /**
     * The version probe's whole line, redacted.
     */
    version_output: string;
    /**
     * Place of the sanitized transcript.
     */
    fixture: string;
    /**
     * A SHA-256 hash in the registry's one spelling.
     */
    fixture_sha256: string;
    /**
     * Place of the reference adapter's events.
     */
    reference_golden?: string;
    /**
     * Version of the normalizer.
     */
    normalizer?: string;
    /**
     * Version of the adapters that read the transcript.
     */
    readers?: string;
    /**
     * Exit code, null if the child did not exit by itself.
     */
    exit_code?: number | null;
    /**
     * Signal that ended the child.
     */
    signal?: string;
    /**
     * How the run ended: exit, timeout or kill.
     */
    ended?: string;
    /**
     * Why we ended it; not_started for a program that could not be started, args_too_long where its arguments were the cause.
     */
    end_reason?: string;
    /**
     * Class of stderr before diagnostic and debug count as none.
     */
    stderr_detail?: "none" | "diagnostic" | "auth" | "quota" | "upstream" | "protocol" | "debug" | "unknown";
    /**
     * What the CLI said the run came to, verbatim; empty if it said nothing.
     */
    reported_result?: string;
    /**
     * Our reading of what the run came to.
     */
    run_result?: string;
    /**
     * A success without substance.
     */
    weak_success?: boolean;
    /**
     * How often the CLI itself said that its work was of little use or not its to do. We never say it for it.
     */
    usefulness?: {
      /**
       * The outcome is well formed and of little use.
       */
      low_utility?: number;
      /**
       * The task is not one for this tool.
       */
      wrong_tool_boundary?: number;
    };
    /**
     * Frame kinds whose presence is chance, outside the shape's identity.
     */
    optional_kinds?: FrameShape[];
    /**
     * Frames after the terminal response, outside the shape's identity.
     */
    after_terminal?: FrameShape[];
    /**
     * Version of the check that gave acp_deviations; only in ACP runs.
     */
    acp_schema?: string;
    /**
     * How the frames of an ACP run deviate from the protocol's official JSON Schema and rules; absent if they do not.
     *
     * @minItems 1
     */
    acp_deviations?: {
      /**
       * Who sent the frames.
       */
      by: "agent" | "client";
      /**
       * Their method, with the kind of an update, :result or :error behind it; absent for what is no message.
       */
      frame?: string;
      /**
       * missing_member, wrong_type, unknown_value, out_of_range, broken_rule: of the schema. not_json, batch, unknown_method, wrong_form, unasked_answer, http_status_code: of JSON-RPC and its names. shared_id: a request with an id that the other side has used. late_update: after the answer to the prompt. unannounced_call: a tool call without a tool_call.
       */
      kind:
        | "missing_member"
        | "wrong_type"
        | "unknown_value"
        | "out_of_range"
        | "broken_rule"
        | "not_json"
        | "batch"
        | "unknown_method"
        | "wrong_form"
        | "unasked_answer"
        | "http_status_code"
        | "shared_id"
        | "late_update"
        | "unannounced_call";
      /**
       * Place in the frame; * stands for every place in a list and for names that are data.
       */
      pointer?: string;
      /**
       * How often.
       */
      count: number;
    }[];
    /**
     * Settings that the probe pins.
     */
    pinned?: {
      /**
       * Model slug that the CLI was told to ask for.
       */
      model: string;
      /**
       * Provider's delay before an answer that follows a tool result.
       */
      delay_ms: number;
      /**
       * Retry limit set in the CLI.
       */
      max_retries: number;
      /**
       * Size of the provider's text pieces in runes; 0 as the scenario says, -1 each text whole.
       */
      chunk_runes: number;
      /**
       * Longest run.
       */
      timeout_ms: number;
      /**
       * Model API that the CLI spoke.
       */
      provider_api: string;
    };
    /**
     * Broken expectations of the probe.
     */
    violations?: {
      /**
       * Name of the expectation.
       */
      kind: string;
      /**
       * Place in the expectation, a JSON pointer.
       */
      path: string;
      /**
       * What was expected.
       */
      expected: string;
      /**
       * What was seen, redacted.
       */
      actual: string;
    }[];
    /**
     * Short, redacted statements that a maintainer should see.
     */
    findings?: string[];
    /**
     * What the CLI asked the emulated provider.
     */
    requests?: {
      /**
       * Requests answered by the scenario.
       */
      model: number;
      /**
       * Recognised side requests.
       */
      side: number;
      /**
       * Requests that the scenario does not expect.
       */
      unexpected: number;
      /**
       * The model's former answers in the first request of a run that resumes a session.
       */
      history?: number;
      /**
       * Images in the request that had most.
       */
      images?: number;
    };
  };
}
/**
 * The union of the frames of one kind.
 *
 * This interface was referenced by `Observation`'s JSON-Schema
 * via the `definition` "frame_shape".
 */
export interface FrameShape {
  /**
   * Who wrote the frame.
   */
  direction: "server->cli" | "cli->server";
  /**
   * The pipe it came through.
   */
  stream: "stdin" | "stdout" | "stderr";
  /**
   * The frame's stable type name.
   */
  event_type: string;
  /**
   * Every path of the frames, sorted by path, then type; a path that had two types has two entries.
   */
  paths: {
    /**
     * Members joined by dots, elements as [], keys of maps as <key>; $ is the frame itself.
     */
    path: string;
    /**
     * JSON type; unknown for a value that is serialised by chance.
     */
    type: "string" | "number" | "boolean" | "null" | "object" | "array" | "unknown";
    /**
     * Whether every frame of the kind has the path.
     */
    required: boolean;
  }[];
  /**
   * For each enum path that occurred the sorted set of its values.
   */
  enums: {
    /**
     * @minItems 1
     */
    [k: string]: (string | number | boolean | null)[];
  };
}
