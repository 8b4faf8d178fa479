/* Made from schemas/aliases.schema.json by scripts/types.mjs; do not edit. */

/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `Aliases`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * A SHA-256 hash in the registry's one spelling.
 *
 * This interface was referenced by `Aliases`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;

/**
 * The new signature of each shape that a change of the normalizer renamed.
 */
export interface Aliases {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * Sorted by from, free of cycles.
   */
  aliases: {
    /**
     * Old signature.
     */
    from: string;
    /**
     * New signature.
     */
    to: string;
    /**
     * Version of the normalizer that gave it.
     */
    normalizer: string;
    renamed_at: Timestamp;
  }[];
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
