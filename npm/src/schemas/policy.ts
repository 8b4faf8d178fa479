/* Made from schemas/policy.schema.json by scripts/types.mjs; do not edit. */

/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `Policy`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * Evidence: the place of a record in the registry, or an HTTPS URL.
 *
 * This interface was referenced by `Policy`'s JSON-Schema
 * via the `definition` "link".
 */
export type Link = string;
/**
 * Operating system and processor.
 *
 * This interface was referenced by `Policy`'s JSON-Schema
 * via the `definition` "platform".
 */
export type Platform = "darwin-arm64" | "darwin-x64" | "linux-x64" | "linux-arm64" | "win32-x64" | "unknown";
/**
 * A wire protocol with its version.
 *
 * This interface was referenced by `Policy`'s JSON-Schema
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
 * A SHA-256 hash in the registry's one spelling.
 *
 * This interface was referenced by `Policy`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
/**
 * A version as the CLI prints it, without spaces.
 *
 * This interface was referenced by `Policy`'s JSON-Schema
 * via the `definition` "version".
 */
export type Version = string;

/**
 * What people decided and nothing can derive.
 */
export interface Policy {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * Who may attest, promote and withdraw, sorted by handle. Without the list nobody attests or promotes, and the commit that adds a withdrawal tells who is behind it.
   */
  maintainers?: {
    /**
     * Handle, as in the records' by.
     */
    handle: string;
    /**
     * Public age keys that raw bundles are encrypted to.
     *
     * Items: X25519 recipient.
     */
    age_recipients?: string[];
  }[];
  /**
   * Decisions, at most one entry an agent, sorted by agent.
   */
  agents: {
    agent: AgentId;
    /**
     * Floors.
     */
    too_old?: {
      /**
       * Versions below this one are too old.
       */
      below: string;
      /**
       * Why.
       */
      reason: string;
      /**
       * Evidence; at least one link.
       *
       * @minItems 1
       */
      evidence?: Link[];
      scope?: Scope;
    }[];
    /**
     * Versions that do not work.
     */
    known_breaking?: {
      /**
       * Semver ranges or exact versions.
       *
       * @minItems 1
       */
      version_ranges: string[];
      /**
       * Why.
       */
      reason: string;
      /**
       * Evidence; at least one link.
       *
       * @minItems 1
       */
      evidence: Link[];
      scope?: Scope;
    }[];
    /**
     * Shapes that the consumer does not survive.
     */
    known_breaking_shapes?: KnownBreakingShape[];
    /**
     * Notes for people.
     */
    notes?: {
      /**
       * Ranges it is shown with; absent: all.
       *
       * @minItems 1
       */
      version_ranges?: string[];
      /**
       * The note.
       */
      text: string;
      scope?: Scope;
    }[];
    /**
     * Replaces what a consumer is told to do; never the status.
     */
    overrides?: {
      /**
       * Ranges it is about; absent: all.
       *
       * @minItems 1
       */
      version_ranges?: string[];
      /**
       * Only entries with this status.
       */
      support_status?:
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
       * What a consumer should do.
       */
      allow_run: "allow" | "warn" | "block";
      /**
       * Why.
       */
      reason: string;
      scope?: Scope;
    }[];
  }[];
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
/**
 * Limits a decision; what is absent is not limited.
 *
 * This interface was referenced by `Policy`'s JSON-Schema
 * via the `definition` "scope".
 */
export interface Scope {
  /**
   * Platforms it is about.
   *
   * @minItems 1
   */
  platforms?: Platform[];
  /**
   * Protocol families it is about.
   *
   * @minItems 1
   */
  protocol_families?: ProtocolFamily[];
}
/**
 * A shape that the consumer does not survive.
 *
 * This interface was referenced by `Policy`'s JSON-Schema
 * via the `definition` "known_breaking_shape".
 */
export interface KnownBreakingShape {
  shape: Digest;
  /**
   * Why it breaks.
   */
  reason: string;
  evidence: Link;
}
