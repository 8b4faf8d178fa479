/* Made from schemas/probe.schema.json by scripts/types.mjs; do not edit. */

/**
 * env-policy.json of a probe folder probes/<id>/. The folder also holds prompt.md, scenario.json (scenario.schema.json), expected-min-events.json (expectation.schema.json) and fixture-files/, the content of the workspace.
 */
export interface Probe {
  /**
   * Version of this format.
   */
  schema_version: 1;
  /**
   * dummy is a made-up key that the provider takes, none no key at all, invalid a made-up key that the provider refuses.
   */
  credentials: "dummy" | "none" | "invalid";
  /**
   * Variables that this probe sets, after those of the agent.
   */
  set?: {
    /**
     * Text with the template variables of an agent's env.
     */
    [k: string]: string;
  };
  /**
   * Variables that this probe takes away.
   */
  unset?: string[];
  /**
   * Arguments that follow those of the launch, with the template variables of an agent's argv.
   */
  append_args?: string[];
  /**
   * missing starts a path that does not exist instead of the CLI.
   */
  executable?: "missing";
  /**
   * read-only takes away the CLI's right to write into its working folder.
   */
  workspace?: "read-only";
  /**
   * Probe that is run first, in the same place, and has to succeed: it leaves the session that this one resumes.
   */
  before?: string;
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
