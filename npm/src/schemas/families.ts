/* Made from schemas/families.schema.json by scripts/types.mjs; do not edit. */

/**
 * Tell-tale frames.
 */
export type Matches = Match[];
/**
 * Members joined by dots, [] for array elements, <key> for members of a map, ["quoted name"], ** at the end for everything below.
 *
 * This interface was referenced by `Families`'s JSON-Schema
 * via the `definition` "path".
 */
export type Path = string;
/**
 * The first of these paths that holds a string names the frame's type; in JSON-RPC transports it adds to the method.
 */
export type Paths = Path[];
/**
 * Kinds of which a run counts once.
 */
export type Matches1 = Match[];
/**
 * Kinds whose position is by chance.
 */
export type Matches2 = Match[];
/**
 * Kinds whose presence is by chance.
 */
export type Matches3 = Match[];
/**
 * Kinds that end a run.
 */
export type Matches4 = Match[];
/**
 * Payloads that keep their own type only.
 */
export type Paths1 = Path[];
/**
 * Objects whose keys are data.
 */
export type Paths2 = Path[];
/**
 * Values that are written by chance of timing; their type is unknown.
 */
export type Paths3 = Path[];
/**
 * Paths whose values belong to the shape, beside those of kind.
 */
export type Paths4 = Path[];
/**
 * Values that survive if they look like an enum value.
 */
export type Paths5 = Path[];
/**
 * Public names that survive if they are in the vocabulary.
 */
export type Paths6 = Path[];
/**
 * Texts of the CLI or provider: known words survive.
 */
export type Paths7 = Path[];
/**
 * Texts that a tool gave back: known words survive in one of at most 2,000 UTF-16 units, a longer one is data.
 */
export type Paths8 = Path[];
/**
 * Texts of the model. In a hermetic run what the scenario did not send there was written by the CLI.
 */
export type Paths9 = Path[];
/**
 * Frames whose texts at model places the CLI wrote itself.
 */
export type Matches5 = Match[];
/**
 * Numbers that a clock, meter or kernel gave: zero stays, the rest becomes 1.
 */
export type Paths10 = Path[];
/**
 * What tells texts apart that interleave.
 */
export type Paths11 = Path[];
/**
 * Frames that close the texts with the same key values.
 */
export type Matches6 = Match[];
/**
 * Base64 or arrays of byte numbers that hold text.
 */
export type Paths12 = Path[];
/**
 * This interface was referenced by `Families`'s JSON-Schema
 * via the `definition` "matches".
 */
export type Matches7 = Match[];
/**
 * Values that survive if they look like an enum value.
 */
export type Paths13 = Path[];
/**
 * Numbers that a clock gave: zero stays, the rest becomes 1.
 */
export type Paths14 = Path[];
/**
 * This interface was referenced by `Families`'s JSON-Schema
 * via the `definition` "paths".
 */
export type Paths15 = Path[];

/**
 * What the normalizer, the redactor and the comparer need to know about each dialect of each protocol family (registry/families.json).
 */
export interface Families {
  /**
   * Version of this format.
   */
  schema_version: 1;
  /**
   * In the order in which a dialect is guessed from content.
   *
   * @minItems 1
   */
  dialects: Dialect[];
  /**
   * The forms of the files in which CLIs keep their sessions, JSON lines. A line that no entry keeps is left out of what is published.
   */
  session_logs?: {
    id: string;
    /**
     * The lines that say how a turn went.
     */
    keep: Matches7;
    literals: Paths13;
    measured?: Paths14;
  }[];
}
/**
 * One of the formats behind a protocol family.
 *
 * This interface was referenced by `Families`'s JSON-Schema
 * via the `definition` "dialect".
 */
export interface Dialect {
  id: string;
  protocol_family:
    | "plain/v1"
    | "claude-stream-json/v1"
    | "json-event-stream/v1"
    | "qoder-stream-json/v1"
    | "copilot-stream-json/v1"
    | "acp-json-rpc/v1"
    | "pi-rpc/v1";
  transport: "plain" | "jsonl" | "json" | "json-rpc" | "pi-rpc";
  /**
   * Kind of the open-design adapter's parser; absent if that consumer has none.
   */
  parser?: string;
  detect?: Matches;
  /**
   * Whether lines on stdin are frames too; in RPC transports they always are.
   */
  stdin_frames?: boolean;
  event_type: Paths;
  /**
   * Names for frames without a type; the first match counts.
   */
  untyped?: {
    when: Match;
    name: string;
  }[];
  /**
   * What tells frames of different kinds apart, beside direction, stream and event type.
   */
  kind: Discriminator[];
  stream?: Matches1;
  floating?: Matches2;
  optional?: Matches3;
  terminal?: Matches4;
  /**
   * Method whose answer ends a run; in JSON-RPC transports only.
   */
  turn?: string;
  opaque?: Paths1;
  maps?: Paths2;
  racy?: Paths3;
  /**
   * Payloads that show state as it was when the frame was written; opaque in these frames only.
   */
  sampled?: Place[];
  enums: Paths4;
  /**
   * Where frames carry the id of their tool call or request.
   */
  calls?: Place[];
  /**
   * How lines begin that a healthy run may print on stderr or not; case does not matter.
   *
   * @minItems 1
   */
  stderr_chatter?: string[];
  redact: Redact;
}
/**
 * Each path must hold one of the literals: a JSON scalar without quotes, "*" for any value but null, "" for an absent path, prefix* or *suffix of a string.
 *
 * This interface was referenced by `Families`'s JSON-Schema
 * via the `definition` "match".
 */
export interface Match {
  /**
   * @minItems 1
   */
  [k: string]: string[];
}
/**
 * This interface was referenced by `Families`'s JSON-Schema
 * via the `definition` "discriminator".
 */
export interface Discriminator {
  path: Path;
  /**
   * value: the literal; set: the sorted set over array elements; presence: absent, null or present; empty and zero: that or not.
   */
  mode: "value" | "set" | "presence" | "empty" | "zero";
  when?: Match;
}
/**
 * This interface was referenced by `Families`'s JSON-Schema
 * via the `definition` "place".
 */
export interface Place {
  when: Match;
  path: Path;
}
/**
 * How tokens are treated by place. What is not listed follows the rules for its value.
 *
 * This interface was referenced by `Families`'s JSON-Schema
 * via the `definition` "redact".
 */
export interface Redact {
  literals?: Paths5;
  names?: Paths6;
  vocabulary?: Paths7;
  outputs?: Paths8;
  model?: Paths9;
  synthetic?: Matches5;
  measured?: Paths10;
  /**
   * Texts that are cut over several frames.
   */
  pieces?: {
    when: Match;
    path: Path;
    key?: Paths11;
    end?: Matches6;
    /**
     * Whether readers take what a later text has beyond the pieces.
     */
    prefix?: boolean;
  }[];
  encoded?: Paths12;
}
