/* Made from schemas/latest-seen.schema.json by scripts/types.mjs; do not edit. */

/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `LatestSeen`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * A version as the CLI prints it, without spaces.
 *
 * This interface was referenced by `LatestSeen`'s JSON-Schema
 * via the `definition` "version".
 */
export type Version = string;
/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `LatestSeen`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * UTC time, ISO 8601 with Z, or null for none.
 *
 * This interface was referenced by `LatestSeen`'s JSON-Schema
 * via the `definition` "timestamp_or_null".
 */
export type TimestampOrNull = string | null;

/**
 * The newest version of each agent that discovery found.
 */
export interface LatestSeen {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * At most one entry an agent, sorted by agent.
   */
  agents: {
    agent: AgentId;
    version: Version;
    /**
     * Where it was found: npm:<package>, github:<owner>/<repository> …
     */
    source: string;
    /**
     * When this version was seen first.
     */
    seen_at: string;
    /**
     * When it was released, where the source says so.
     */
    published_at?: string | null;
  }[];
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
