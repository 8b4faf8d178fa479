/* Made from schemas/shape.schema.json by scripts/types.mjs; do not edit. */

/**
 * A SHA-256 hash in the registry's one spelling.
 *
 * This interface was referenced by `Shape`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
/**
 * A wire protocol with its version.
 *
 * This interface was referenced by `Shape`'s JSON-Schema
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
 * An index into frame_shapes, a block that came two or more times in a row, or a mark.
 *
 * @minItems 1
 *
 * This interface was referenced by `Shape`'s JSON-Schema
 * via the `definition` "seq".
 */
export type Seq = number | Seq[] | string;

/**
 * The structure of one kind of run. Its identity is its structure: the signature is the hash of the canonical form without signature, validity_level and extensions, but with extensions.sequence.
 */
export interface Shape {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  signature: Digest;
  protocol_family: ProtocolFamily;
  /**
   * Level of the strongest accepted observation or source evidence; derived, not part of the identity.
   */
  validity_level:
    | "runtime_observed"
    | "confirmed"
    | "community_confirmed"
    | "server_variant"
    | "source_derived"
    | "vendor_documented"
    | "synthetic_mock";
  /**
   * How frames travel.
   */
  transport: "plain" | "jsonl" | "json" | "json-rpc" | "pi-rpc";
  /**
   * Number of entries in frame_shapes; 0 for a silent child.
   */
  frame_count: number;
  /**
   * Sorted set of the frames' event types.
   */
  event_types: string[];
  /**
   * One entry for each kind of frame: ordered kinds by first appearance, then floating kinds.
   */
  frame_shapes: FrameShape[];
  /**
   * What stderr was about; diagnostic and debug count as none in a shape.
   */
  stderr_class?: "none" | "diagnostic" | "auth" | "quota" | "upstream" | "protocol" | "debug" | "unknown";
  /**
   * How the child ended.
   */
  exit: "success" | "nonzero" | "signal" | "timeout" | "unknown";
  /**
   * What the specification's fields cannot say.
   */
  extensions: {
    /**
     * Order of the frames as indexes into frame_shapes; part of the identity.
     */
    sequence: Seq[];
    /**
     * Dialect by whose rules the shape was made.
     */
    dialect?: string;
    /**
     * Version of the normalizer.
     */
    normalizer?: string;
  };
}
/**
 * The union of the frames of one kind.
 *
 * This interface was referenced by `Shape`'s JSON-Schema
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
