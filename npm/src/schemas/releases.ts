/* Made from schemas/releases.schema.json by scripts/types.mjs; do not edit. */

/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `Releases`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * Operating system and processor.
 *
 * This interface was referenced by `Releases`'s JSON-Schema
 * via the `definition` "platform".
 */
export type Platform = "darwin-arm64" | "darwin-x64" | "linux-x64" | "linux-arm64" | "win32-x64" | "unknown";
/**
 * A version as the CLI prints it, without spaces.
 *
 * This interface was referenced by `Releases`'s JSON-Schema
 * via the `definition` "version".
 */
export type Version = string;
/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `Releases`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * A word of lower-case letters, digits, - and _.
 *
 * This interface was referenced by `Releases`'s JSON-Schema
 * via the `definition` "word".
 */
export type Word = string;

/**
 * What each agent published, as far as the package registry has it, and what of it could not be captured; written by bisect.
 */
export interface Releases {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * At most one entry an agent and platform, sorted by both.
   */
  agents: {
    agent: AgentId;
    platform: Platform;
    /**
     * When the package registry was asked.
     */
    looked_at: string;
    /**
     * The stable releases, oldest first.
     */
    releases: Version[];
    /**
     * How many prereleases there are beside them.
     */
    prereleases: number;
    /**
     * Attempts that gave no observation, sorted by version, probe and profile.
     */
    not_captured?: {
      version: Version;
      /**
       * The probe; absent for the release as a whole.
       */
      probe?: string;
      /**
       * The way to start the CLI; absent for the release as a whole.
       */
      profile?: string;
      /**
       * Why, as a word: bisect says what it means.
       */
      reason: string;
    }[];
  }[];
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
