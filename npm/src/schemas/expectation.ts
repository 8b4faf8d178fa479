/* Made from schemas/expectation.schema.json by scripts/types.mjs; do not edit. */

/**
 * A kind of event in a reading. assistant_text is one text of the model, joined from its deltas; error also is what the CLI of a failed run printed outside of its frames, if it has no error frame; done is the family's terminal frame.
 *
 * This interface was referenced by `Expectation`'s JSON-Schema
 * via the `definition` "event".
 */
export type Event = "init_or_status" | "assistant_text" | "tool_use" | "tool_result" | "usage" | "error" | "done";
/**
 * This interface was referenced by `Expectation`'s JSON-Schema
 * via the `definition` "constraint".
 */
export type Constraint = {
  /**
   * min_count and max_count bound the number of events; min_items and max_items bound the number of entries of a list; non_empty asks for at least one event whose field is never blank, null or empty; required_fields asks that every event has the fields; pairing that every tool result has its call; one_terminal for exactly one terminal frame; run_result for our reading of the run.
   */
  kind:
    | "min_count"
    | "max_count"
    | "min_items"
    | "max_items"
    | "non_empty"
    | "required_fields"
    | "pairing"
    | "one_terminal"
    | "run_result";
  event?: Event;
  count?: number;
  field?: Field;
  /**
   * @minItems 1
   */
  fields?: Field[];
  equals?: "success" | "failed" | "cancelled";
};
/**
 * A member of the event in the daemon's vocabulary, with dots for members of members, such as input.command; a string that holds a JSON object or array counts as what it holds.
 *
 * This interface was referenced by `Expectation`'s JSON-Schema
 * via the `definition` "field".
 */
export type Field = string;

/**
 * What a reading of a probe's run must hold at least (expected-min-events.json). A violation is recorded and never changes what the CLI reported.
 */
export interface Expectation {
  /**
   * Version of this format.
   */
  schema_version: 1;
  /**
   * Events of which there must be at least one.
   */
  must_see: Event[];
  /**
   * Events that may come. Nothing is checked.
   */
  optional: Event[];
  /**
   * Things that the run must not hold.
   */
  forbidden: ("raw_secret" | "local_home_path" | "duplicate_tool_use" | "unknown_raw")[];
  /**
   * Checkable statements. A probe without one does not validate.
   *
   * @minItems 1
   */
  constraints: Constraint[];
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
