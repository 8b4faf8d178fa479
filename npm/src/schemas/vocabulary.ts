/* Made from schemas/vocabulary.schema.json by scripts/types.mjs; do not edit. */

/**
 * Public words that survive redaction in texts that a CLI or a model provider wrote, each group with the public source that it comes from.
 */
export interface Vocabulary {
  /**
   * Version of this format.
   */
  schema_version: 1;
  /**
   * @minItems 1
   */
  groups: {
    /**
     * Name of the group, once in the file.
     */
    id: string;
    /**
     * words: of prose, in any usual case. names: tools, models, variables, flags, files, exact. keys: member names in payloads. phrases: found inside text without word borders. verbs: first words of a tool's title. codes: whole strings that survive anywhere. commands: slash commands.
     */
    kind: "words" | "names" | "keys" | "phrases" | "verbs" | "codes" | "commands";
    /**
     * URL or public document that the entries come from.
     */
    source: string;
    /**
     * Ids of the dialects in registry/families.json whose CLIs use the entries; absent: all.
     *
     * @minItems 1
     */
    dialects?: string[];
    /**
     * @minItems 1
     */
    entries: string[];
  }[];
}
