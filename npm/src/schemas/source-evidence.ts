/* Made from schemas/source-evidence.schema.json by scripts/types.mjs; do not edit. */

/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `SourceEvidence`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * A wire protocol with its version.
 *
 * This interface was referenced by `SourceEvidence`'s JSON-Schema
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
 * This interface was referenced by `SourceEvidence`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
/**
 * Place of a shape under shapes/.
 *
 * This interface was referenced by `SourceEvidence`'s JSON-Schema
 * via the `definition` "shape_path".
 */
export type ShapePath = string;
/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `SourceEvidence`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * Operating system and processor.
 *
 * This interface was referenced by `SourceEvidence`'s JSON-Schema
 * via the `definition` "platform".
 */
export type Platform = "darwin-arm64" | "darwin-x64" | "linux-x64" | "linux-arm64" | "win32-x64" | "unknown";
/**
 * Id of a probe: its folder's name under probes/.
 *
 * This interface was referenced by `SourceEvidence`'s JSON-Schema
 * via the `definition` "probe_id".
 */
export type ProbeId = string;
/**
 * A version as the CLI prints it, without spaces.
 *
 * This interface was referenced by `SourceEvidence`'s JSON-Schema
 * via the `definition` "version".
 */
export type Version = string;
/**
 * Place of a file in the registry, relative, with forward slashes.
 *
 * This interface was referenced by `SourceEvidence`'s JSON-Schema
 * via the `definition` "place".
 */
export type Place = string;

/**
 * What was learned about a protocol without running the CLI. Guides captures and never supports a claim.
 */
export interface SourceEvidence {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  agent: AgentId;
  protocol_family: ProtocolFamily;
  /**
   * Levels of sources only.
   */
  validity_level: "source_derived" | "vendor_documented" | "synthetic_mock";
  /**
   * Repository tags, commits, file paths, documentation URLs or places of local fixtures.
   *
   * @minItems 1
   */
  source_refs: string[];
  /**
   * The derived or synthetic shape.
   */
  derived_shape: {
    signature: Digest;
    path: ShapePath;
  };
  discovered_at: Timestamp;
  /**
   * Exact version or tag when known.
   */
  cli_version?: string;
  /**
   * What the specification's fields cannot say.
   */
  extensions?: {
    /**
     * Place of the sanitized transcript of a synthetic_mock record.
     */
    fixture?: string;
    /**
     * A SHA-256 hash in the registry's one spelling.
     */
    fixture_sha256?: string;
    /**
     * Id of the dialect in registry/families.json.
     */
    dialect?: string;
    /**
     * Probe that the fixture stands for.
     */
    probe?: string;
    /**
     * A SHA-256 hash in the registry's one spelling.
     */
    probe_revision?: string;
    /**
     * What changed a real run on its way to the recorder; absent for a transcript written by hand.
     */
    fault?: "malformed_json" | "partial_line" | "unknown_event" | "no_output" | "exit_code";
    /**
     * Where a run with a fault ran.
     */
    platform?: "darwin-arm64" | "darwin-x64" | "linux-x64" | "linux-arm64" | "win32-x64" | "unknown";
    /**
     * Argv profile that the run had or stands for.
     */
    profile?: string;
    /**
     * Who played the model provider of a run with a fault.
     */
    provider?: "emulated" | "live";
    /**
     * Version of the normalizer that made the shape.
     */
    normalizer?: string;
    /**
     * Version of the adapters that read the fixture.
     */
    readers?: string;
    /**
     * What the consumer's parser makes of the fixture.
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
     * Place of the reference adapter's events.
     */
    reference_golden?: string;
    /**
     * What the fixture says the run came to, verbatim.
     */
    reported_result?: string;
    /**
     * Our reading of what the run came to.
     */
    run_result?: string;
    /**
     * What a reader should know.
     */
    note?: string;
  };
}
