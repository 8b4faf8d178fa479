/* Made from schemas/support-matrix.schema.json by scripts/types.mjs; do not edit. */

/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * Operating system and processor.
 *
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
 * via the `definition` "platform".
 */
export type Platform = "darwin-arm64" | "darwin-x64" | "linux-x64" | "linux-arm64" | "win32-x64" | "unknown";
/**
 * A wire protocol with its version.
 *
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
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
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * Id of a probe: its folder's name under probes/.
 *
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
 * via the `definition` "probe_id".
 */
export type ProbeId = string;
/**
 * A version as the CLI prints it, without spaces.
 *
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
 * via the `definition` "version".
 */
export type Version = string;
/**
 * Evidence: the place of a record in the registry, or an HTTPS URL.
 *
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
 * via the `definition` "link".
 */
export type Link = string;
/**
 * UTC time, ISO 8601 with Z, or null for none.
 *
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
 * via the `definition` "timestamp_or_null".
 */
export type TimestampOrNull = string | null;

/**
 * What the registry claims, derived from its records alone.
 */
export interface SupportMatrix {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * Time of the newest record; readers compute freshness themselves.
   */
  generated_at: string;
  /**
   * Lowest OpenDesign commit that consumed this matrix.
   */
  open_design_min_commit?: string | null;
  /**
   * One entry for each agent, protocol family, platform and maximal version range with one status.
   */
  agents: Entry[];
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
/**
 * One claim.
 *
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
 * via the `definition` "entry".
 */
export interface Entry {
  agent: AgentId;
  /**
   * Semver ranges or exact versions.
   *
   * @minItems 1
   */
  version_ranges: string[];
  /**
   * Platforms it holds on.
   *
   * @minItems 1
   */
  platforms: Platform[];
  /**
   * Protocol families it is about.
   *
   * @minItems 1
   */
  protocol_families: ProtocolFamily[];
  /**
   * The claim.
   */
  support_status:
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
   * Shapes behind the claim.
   */
  observed_shapes: {
    shape: Digest;
    /**
     * Level of the shape.
     */
    validity_level:
      | "runtime_observed"
      | "confirmed"
      | "community_confirmed"
      | "server_variant"
      | "source_derived"
      | "vendor_documented"
      | "synthetic_mock";
    observed_at: Timestamp;
    /**
     * Where it was observed.
     */
    extensions?: {
      probe?: ProbeId;
      /**
       * Who played the model provider.
       */
      provider?: "emulated" | "live";
      /**
       * Argv profile.
       */
      profile?: string;
      /**
       * Versions it was observed at.
       */
      versions?: Version[];
      /**
       * Versions between them that nobody captured.
       */
      interpolated?: Version[];
      /**
       * More captures of these versions have another shape, which is the one that counts.
       */
      outvoted?: boolean;
    };
  }[];
  /**
   * The newest observed_at, null without observed shapes.
   */
  last_observed_at: string | null;
  /**
   * Newest version with a promoted support claim.
   */
  latest_verified?: string | null;
  /**
   * Newest version that discovery or a capture saw.
   */
  latest_seen?: string | null;
  /**
   * Shapes of one version that the server chooses between.
   */
  server_variants?: {
    shape: Digest;
    /**
     * What it is to the consumer.
     */
    status: "compatible" | "compatible_pending_fixture" | "breaking";
  }[];
  /**
   * Shapes that the consumer does not survive.
   */
  known_breaking_shapes?: KnownBreakingShape[];
  /**
   * What a consumer should do.
   */
  policy?: {
    /**
     * Defaults to warn, and to block when the status is too_old, known_breaking or known_breaking_shape.
     */
    allow_run?: "allow" | "warn" | "block";
  };
  /**
   * Operational notes for people.
   */
  notes?: string[];
  /**
   * What the specification's fields cannot say.
   */
  extensions?: {
    /**
     * Why people decided this status.
     */
    reason?: string;
    /**
     * Evidence for it.
     *
     * @minItems 1
     */
    evidence?: Link[];
    /**
     * Argv profile that the claim is about.
     */
    profile?: string;
  };
}
/**
 * A shape that the consumer does not survive.
 *
 * This interface was referenced by `SupportMatrix`'s JSON-Schema
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
