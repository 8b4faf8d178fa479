/* Made from schemas/incidents.schema.json by scripts/types.mjs; do not edit. */

/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `Incidents`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * A version as the CLI prints it, without spaces.
 *
 * This interface was referenced by `Incidents`'s JSON-Schema
 * via the `definition` "version".
 */
export type Version = string;
/**
 * A word of lower-case letters, digits, - and _.
 *
 * This interface was referenced by `Incidents`'s JSON-Schema
 * via the `definition` "word".
 */
export type Word = string;

/**
 * Changes between releases that broke somebody in public, and what the records must say about them.
 */
export interface Incidents {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * The incidents.
   */
  incidents: {
    /**
     * A name of its own.
     */
    id: string;
    /**
     * What changed.
     */
    what: string;
    /**
     * Whom it broke.
     */
    broke: string;
    /**
     * Public reports.
     *
     * @minItems 1
     */
    source: string[];
    agent?: AgentId;
    /**
     * The probe whose captures show it.
     */
    probe?: string;
    /**
     * The way to start the CLI.
     */
    profile?: string;
    /**
     * The older of two captured releases.
     */
    from?: string;
    /**
     * The newer one.
     */
    to?: string;
    /**
     * The right verdict for a reader that was written for the older release.
     */
    verdict?: "same_shape" | "compatible_new_shape" | "parser_incompatible";
    /**
     * Signals that compare must give, as it spells them.
     */
    signals?: string[];
    /**
     * What the captures have to do with the incident, where that is not plain.
     */
    note?: string;
    /**
     * Why no capture shows it; then agent, probe, profile, from, to and verdict are absent.
     */
    reason?: string;
  }[];
}
