/* Made from schemas/drift-report.schema.json by scripts/types.mjs; do not edit. */

/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `DriftReport`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * A wire protocol with its version.
 *
 * This interface was referenced by `DriftReport`'s JSON-Schema
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
 * Operating system and processor.
 *
 * This interface was referenced by `DriftReport`'s JSON-Schema
 * via the `definition` "platform".
 */
export type Platform = "darwin-arm64" | "darwin-x64" | "linux-x64" | "linux-arm64" | "win32-x64" | "unknown";
/**
 * Id of a probe: its folder's name under probes/.
 *
 * This interface was referenced by `DriftReport`'s JSON-Schema
 * via the `definition` "probe_id".
 */
export type ProbeId = string;
/**
 * A SHA-256 hash in the registry's one spelling.
 *
 * This interface was referenced by `DriftReport`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
/**
 * Place of a file in the registry, relative, with forward slashes.
 *
 * This interface was referenced by `DriftReport`'s JSON-Schema
 * via the `definition` "place".
 */
export type Place = string;
/**
 * A version as the CLI prints it, without spaces.
 *
 * This interface was referenced by `DriftReport`'s JSON-Schema
 * via the `definition` "version".
 */
export type Version = string;

/**
 * What changed between two neighbouring versions of an agent.
 */
export interface DriftReport {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  agent: AgentId;
  /**
   * First version seen with the newer shape.
   */
  cli_version: string;
  protocol_family: ProtocolFamily;
  /**
   * The shape before.
   */
  older: {
    /**
     * The shape's signature.
     */
    signature: string;
    /**
     * Dialect of registry/families.json.
     */
    dialect: string;
  };
  /**
   * The shape after.
   */
  newer: {
    /**
     * The shape's signature.
     */
    signature: string;
    /**
     * Dialect of registry/families.json.
     */
    dialect: string;
  };
  /**
   * Where it was seen, sorted.
   *
   * @minItems 1
   */
  cells: {
    platform: Platform;
    probe: ProbeId;
    /**
     * Argv profile of both captures.
     */
    profile: string;
    /**
     * The nearest older version with an observation of this cell.
     */
    older_version: string;
    /**
     * The observation with the older shape.
     */
    older_observation: string;
    /**
     * The observation with the newer shape.
     */
    newer_observation: string;
  }[];
  /**
   * What compare says of the change.
   */
  verdict: "same_shape" | "compatible_new_shape" | "server_variant" | "parser_incompatible" | "redaction_failed";
  /**
   * The changes, the most severe first.
   */
  signals: {
    /**
     * Rule of compare; explain says what it means.
     */
    id: string;
    /**
     * What it means for a reader of the older shape.
     */
    severity: "info" | "warning" | "breaking";
    /**
     * Type of the frames concerned; absent for the whole run.
     */
    event_type?: string;
    /**
     * What else tells their kinds apart.
     */
    kinds?: string[];
    /**
     * Member concerned, under its new name if it was renamed.
     */
    path?: string;
    /**
     * What it was.
     */
    from?: string;
    /**
     * What it is.
     */
    to?: string;
    /**
     * The other name of a kind that came or went with its structure.
     */
    renamed?: string;
    /**
     * Same for the same change in every run and version.
     */
    fingerprint: string;
    /**
     * What the adapters make of it, measured on the older run; sorted by adapter.
     */
    readers: {
      /**
       * Adapter whose coverage was measured.
       */
      adapter: string;
      /**
       * Whether the adapter reads what changed.
       */
      effect: "reads" | "never_reads" | "new_to_it" | "not_measured";
      /**
       * What it reads there.
       */
      paths?: string[];
    }[];
    /**
     * Reason of the entry in registry/drift-ignores.json that covers it.
     */
    ignored?: string;
  }[];
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
