/* Made from schemas/request.schema.json by scripts/types.mjs; do not edit. */

/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `Request`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * A SHA-256 hash in the registry's one spelling.
 *
 * This interface was referenced by `Request`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
/**
 * UTC time, ISO 8601 with Z, or null for none.
 *
 * This interface was referenced by `Request`'s JSON-Schema
 * via the `definition` "timestamp_or_null".
 */
export type TimestampOrNull = string | null;
/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `Request`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * Place of a file in the registry, or null for none.
 *
 * This interface was referenced by `Request`'s JSON-Schema
 * via the `definition` "place_or_null".
 */
export type PlaceOrNull = string | null;

/**
 * A question that a step of a run cannot go on without.
 */
export interface Request {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * Hash of run, step, ordinal, kind and prompt.
   */
  id: string;
  /**
   * Id of the run that asks.
   */
  run: string;
  /**
   * Step of the run that asks and runs again with the answer.
   */
  step: string;
  /**
   * Counts the questions of a step from 0.
   */
  ordinal: number;
  /**
   * What is asked for: leave to use a tool, a yes or no, a value, a sign-in elsewhere.
   */
  kind: "permission" | "approval" | "input" | "authorization";
  /**
   * The question, as shown to people.
   */
  prompt: string;
  /**
   * JSON Schema, draft 2020-12, of the Answer's data; complete in itself.
   */
  data_schema: {
    [k: string]: unknown;
  };
  created_at: Timestamp;
  /**
   * When it expires; null for never.
   */
  expires_at?: string | null;
  /**
   * Id under which the agent asked; identifies nothing.
   */
  wire_id?: string | null;
  /**
   * Agent of the run, if it has one.
   */
  agent?: string;
  /**
   * Place of the record in question.
   */
  subject?: string | null;
  /**
   * The prompt holds text that was not redacted, so the Request stays private.
   */
  raw?: boolean;
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
