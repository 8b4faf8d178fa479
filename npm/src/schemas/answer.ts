/* Made from schemas/answer.schema.json by scripts/types.mjs; do not edit. */

/**
 * A person's reply to one Request.
 */
export type Answer = {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * Id of the Request.
   */
  request_id: string;
  /**
   * The Request's kind.
   */
  kind: "permission" | "approval" | "input" | "authorization";
  /**
   * What became of the Request. unresolved: others of the same step were answered and it was left out.
   */
  status: "answered" | "declined" | "expired" | "unresolved";
  /**
   * Goes to the step as it is; no key is special. Only for an answered Request.
   */
  data?: {
    [k: string]: unknown;
  };
  /**
   * Why it was declined.
   */
  reason?: string;
  answered_at: Timestamp;
  /**
   * Who answered.
   */
  answered_by: string;
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
};
/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * A SHA-256 hash in the registry's one spelling.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
