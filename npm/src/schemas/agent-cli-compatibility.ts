/* Made from schemas/agent-cli-compatibility.schema.json by scripts/types.mjs; do not edit. */

/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `AgentCliCompatibility`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * Operating system and processor.
 *
 * This interface was referenced by `AgentCliCompatibility`'s JSON-Schema
 * via the `definition` "platform".
 */
export type Platform = "darwin-arm64" | "darwin-x64" | "linux-x64" | "linux-arm64" | "win32-x64" | "unknown";
/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `AgentCliCompatibility`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * UTC time, ISO 8601 with Z, or null for none.
 *
 * This interface was referenced by `AgentCliCompatibility`'s JSON-Schema
 * via the `definition` "timestamp_or_null".
 */
export type TimestampOrNull = string | null;

/**
 * What is known about the CLI installed on one machine: the answer of compatibility --json and of the daemon's API.
 */
export interface AgentCliCompatibility {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * When the answer was made.
   */
  generated_at: string;
  agent: AgentId;
  /**
   * Version that the installed CLI names, null when there is none or it names none.
   */
  installed_version: string | null;
  platform: Platform;
  /**
   * The classification, in the words of the support matrix.
   */
  status:
    | "local_shape_verified"
    | "version_range_verified"
    | "server_variant_possible"
    | "newer_than_verified"
    | "too_old"
    | "known_breaking"
    | "known_breaking_shape"
    | "active_shape_unknown"
    | "unknown";
  /**
   * What to do about it.
   */
  policy: {
    /**
     * Whether the consumer should start the CLI.
     */
    allow_run: "allow" | "warn" | "block";
    /**
     * What its user can do.
     */
    user_action: "none" | "run_local_probe" | "upgrade_cli" | "pin_supported_version" | "report_unknown_shape";
  };
  /**
   * What the answer rests on.
   */
  evidence: {
    /**
     * Versions of the claim, null without one.
     */
    version_range: string | null;
    /**
     * Shape of the agent's representative probe, null when it is not known or not one.
     */
    shape_signature: string | null;
    /**
     * When it was observed, null when nothing was.
     */
    observed_at: string | null;
    /**
     * Where the answer comes from.
     */
    source: "local_probe" | "support_matrix" | "known_breaking" | "none";
    /**
     * Whether the server is known to choose between shapes of this version.
     */
    server_variant_possible: boolean;
  };
}
