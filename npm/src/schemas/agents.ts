/* Made from schemas/agents.schema.json by scripts/types.mjs; do not edit. */

/**
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "name".
 */
export type Name = string;
/**
 * Range of semantic versions, for example >=0.44.0 <0.100.0, or *. Prereleases are in it by order.
 *
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "range".
 */
export type Range = string;
/**
 * Text in which {cwd}, {home}, {tmp}, {prompt}, {prompt_file}, {base_url}, {model}, {max_retries}, {uuid}, {api_key} and {session_id} are filled in.
 *
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "template".
 */
export type Template = string;
/**
 * Name of an environment variable.
 *
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "variable".
 */
export type Variable = string;

/**
 * registry/agents.json: every agent CLI as data, from its package to the environment of a hermetic run.
 */
export interface Agents {
  /**
   * Version of this format.
   */
  schema_version: 1;
  /**
   * @minItems 1
   */
  agents: Agent[];
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
}
/**
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "agent".
 */
export interface Agent {
  id: Name;
  /**
   * Name for people.
   */
  name: string;
  /**
   * 0: coverage must be complete.
   */
  tier: number;
  /**
   * Empty for an exempt agent whose protocol is none of these.
   */
  protocol_families: (
    | "plain/v1"
    | "claude-stream-json/v1"
    | "json-event-stream/v1"
    | "qoder-stream-json/v1"
    | "copilot-stream-json/v1"
    | "acp-json-rpc/v1"
    | "pi-rpc/v1"
  )[];
  /**
   * Names of the program on PATH, in the order in which the consumer looks for them; absent: the npm package's command, else the id.
   *
   * @minItems 1
   */
  commands?: string[];
  /**
   * Where the CLI has its credentials from.
   */
  credential_model?: "vendor_login" | "api_key" | "hosted_account" | "host_supplied";
  /**
   * Age at which a claim is stale, in days.
   */
  freshness_days?: number;
  representative_probe?: Name;
  /**
   * Why the agent has no records.
   */
  exemption?: string;
  install?: Install;
  discover?: Discover;
  source?: Source;
  version_probe?: VersionProbe;
  help_probe?: HelpProbe;
  /**
   * @minItems 1
   */
  launches?: Launch[];
  /**
   * @minItems 1
   */
  providers?: Provider[];
  home_files?: HomeFile[];
  /**
   * File in which the CLI keeps what it knows of a session and does not print: a pattern of one path under HOME, with * for any part of a name. Captures record it beside the pipes.
   */
  session_log?: string;
  env?: Env;
  coverage?: {
    [k: string]: Coverage;
  };
  extensions?: {
    [k: string]: unknown;
  };
}
/**
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "install".
 */
export interface Install {
  npm: Npm;
}
/**
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "npm".
 */
export interface Npm {
  package: string;
  /**
   * The command's name in the package's bin.
   */
  bin: string;
  /**
   * Names that the package had before, for exact versions; the first match wins.
   *
   * @minItems 1
   */
  earlier?: {
    versions: Range;
    package: string;
    bin: string;
  }[];
  /**
   * Lets install scripts run.
   */
  allow_scripts?: boolean;
  /**
   * Node.js ranges where package.json understates what the JavaScript needs.
   */
  node?: {
    versions: Range;
    node: Range;
  }[];
  /**
   * Programs to call directly; the first match wins.
   */
  native?: Native[];
  /**
   * Value of {triple} by platform.
   */
  triples?: {
    [k: string]: string;
  };
}
/**
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "native".
 */
export interface Native {
  versions: Range;
  /**
   * Relative to node_modules, with {platform}, {triple} and {exe}.
   */
  path: string;
  /**
   * npm specification, with {version} and {platform}, of a package that npm does not install by itself.
   */
  platform_package?: string;
}
/**
 * Where else than at npm the newest release can be seen.
 *
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "discover".
 */
export interface Discover {
  github?: {
    /**
     * owner/name
     */
    repository: string;
    /**
     * What stands before the version in a release's tag.
     */
    tag_prefix?: string;
  };
  homebrew?: {
    kind: "formula" | "cask";
    name: string;
  };
  vendor?: {
    url: string;
    /**
     * An RE2 expression with a group named version; absent: the answer is the version.
     */
    pattern?: string;
  };
}
/**
 * What source-scan asks a release about itself.
 *
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "source".
 */
export interface Source {
  /**
   * Arguments of the commands that print help; absent: --help.
   *
   * @minItems 1
   */
  help?: string[][];
  /**
   * Arguments of the command that writes its protocol's JSON Schemas into the folder {out}.
   *
   * @minItems 1
   */
  json_schema?: string[];
}
/**
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "version_probe".
 */
export interface VersionProbe {
  args: string[];
  timeout_ms: number;
  /**
   * Whether a suffix comes before the release or is a build of it.
   */
  scheme: "prerelease" | "build";
  /**
   * For releases that print no version: they are started without arguments, and the version is in the first line that they answer.
   */
  handshake?: {
    versions: Range;
    /**
     * The first request of the protocol, one line.
     */
    request: string;
  };
  /**
   * Products of one command name, told apart by the line that holds the version.
   *
   * @minItems 1
   */
  products: {
    id: Name;
    /**
     * RE2 expression; a group named version says where the version stands.
     */
    pattern: string;
  }[];
}
/**
 * Flags that stay in an argv only if the output of these arguments contains them.
 *
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "help_probe".
 */
export interface HelpProbe {
  args: string[];
  timeout_ms: number;
  /**
   * @minItems 1
   */
  flags: string[];
}
/**
 * One way to start the CLI; the first whose profile, version and probe fit is used.
 *
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "launch".
 */
export interface Launch {
  /**
   * production is the consumer's argv byte for byte, compatible the nearest one that a release accepts, or its own event stream where the consumer uses another transport.
   */
  profile: string;
  /**
   * Id in registry/families.json.
   */
  dialect: string;
  versions: Range;
  /**
   * Only for these probes; ID-first is the first run of a probe ID that has one before it.
   *
   * @minItems 1
   */
  probes?: Name[];
  /**
   * Arguments after the binary.
   */
  argv: Template[];
  stdin_mode: "none" | "text-prompt" | "jsonl-open" | "prompt-file" | "rpc";
  /**
   * Who talks to the CLI in a two-way protocol: the consumer's session, or one that keeps to the protocol's specification.
   */
  client?: "open-design" | "strict";
  /**
   * Session mode that the strict client asks for.
   */
  session_mode?: string;
  /**
   * Model that the strict client selects, if the agent offers it.
   */
  session_model?: Template;
  /**
   * Id of the method by which the strict client authenticates before it opens a session, if the agent offers it.
   */
  auth_method?: string;
  /**
   * Variables of this launch alone.
   */
  env?: Variables;
  /**
   * Where the run before this one printed the session's id: names of members, joined by dots, in one of its frames. Without it the host minted the id, {uuid} of that run.
   */
  session_id?: string;
  /**
   * Where the run before this one left its session, when a session is known by its file: a pattern of one path under HOME, with * for any part of a name. Stands in for session_id; the file's absolute path is the session.
   */
  session_file?: string;
}
/**
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "variables".
 */
export interface Variables {
  [k: string]: Template;
}
/**
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "provider".
 */
export interface Provider {
  versions: Range;
  api: "openai-responses" | "openai-chat" | "anthropic-messages" | "gemini";
}
/**
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "home_file".
 */
export interface HomeFile {
  /**
   * Relative to HOME, or to the workspace after {cwd}/.
   */
  path: string;
  versions?: Range;
  /**
   * Only for these probes, for which it replaces a file of the same path without that limit.
   *
   * @minItems 1
   */
  probes?: Name[];
  text: Template;
}
/**
 * The whole environment of a child.
 *
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "env".
 */
export interface Env {
  /**
   * Variables of the host that the child may see.
   */
  inherit: Variable[];
  /**
   * Variables that every child gets.
   */
  set: Variables;
  /**
   * Variables that a child gets unless the capture is live: the provider's address, pinned settings, switches that silence the network.
   */
  hermetic: Variables;
  /**
   * Variables of the host that hold real credentials; only a live capture hands them over.
   */
  live: Variable[];
  /**
   * Variables added by the credential state that a probe asks for.
   */
  credentials: {
    dummy: Variables;
    none: Variables;
    invalid: Variables;
  };
}
/**
 * This interface was referenced by `Agents`'s JSON-Schema
 * via the `definition` "coverage".
 */
export interface Coverage {
  status: "captured" | "impossible" | "missing";
  reason?: string;
}
