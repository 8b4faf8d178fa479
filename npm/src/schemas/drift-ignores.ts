/* Made from schemas/drift-ignores.schema.json by scripts/types.mjs; do not edit. */

/**
 * A SHA-256 hash in the registry's one spelling.
 *
 * This interface was referenced by `DriftIgnores`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `DriftIgnores`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `DriftIgnores`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;

/**
 * Changes that a person looked at and wants no more to hear of, for a while.
 */
export interface DriftIgnores {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * At most one entry a fingerprint and agent, sorted by fingerprint, then agent.
   */
  ignored: {
    /**
     * Fingerprint of the signal, as compare prints it.
     */
    fingerprint: string;
    /**
     * Only in changes of this agent.
     */
    agent?: string;
    /**
     * Why the change does not matter.
     */
    reason: string;
    /**
     * When somebody has to look again; an entry that is older fails report diffs --check.
     */
    expires_at: string;
  }[];
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
