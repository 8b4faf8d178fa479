/* Made from schemas/evidence.schema.json by scripts/types.mjs; do not edit. */

/**
 * A statement about one observation, made at capture time or later. Exactly the member named like kind is there.
 */
export type Evidence = {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  /**
   * What the record adds.
   */
  kind: "capture" | "attestation" | "reproduction" | "promotion" | "withdrawal" | "user_correction";
  agent: AgentId;
  cli_version: Version;
  platform: Platform;
  probe: ProbeId;
  observation: FileRef;
  recorded_at: Timestamp;
  /**
   * Program with its version, or person.
   */
  recorded_by: string;
  /**
   * Traces the fixture back to the retained raw bytes.
   */
  capture?: {
    fixture: FileRef1;
    /**
     * The private artifact.
     */
    raw: {
      sha256: Digest;
      /**
       * What became of it.
       */
      visibility: "private" | "public" | "discarded_after_redaction";
      /**
       * Its size.
       */
      bytes: number;
      /**
       * Until when it is kept; null when discarded.
       */
      retained_until: string | null;
    };
    /**
     * Workflow run, null for a capture by hand.
     */
    workflow_run_url: string | null;
    /**
     * Runner image or name.
     */
    runner: string;
    /**
     * Hash of the binary that ran.
     */
    binary_sha256: string | null;
    /**
     * Version of the capture tool.
     */
    tool_version: string;
  };
  /**
   * A maintainer checked the redaction against the raw artifact.
   */
  attestation?: {
    /**
     * Who: a maintainer's or contributor's handle.
     */
    by: string;
    /**
     * What is attested.
     */
    statement: string;
    /**
     * How: the fixture was derived again, or a person read both.
     */
    audited: "re_derived" | "read";
    /**
     * A SHA-256 hash in the registry's one spelling.
     */
    raw_sha256: string;
  };
  /**
   * A contributor got the same shape independently.
   */
  reproduction?: {
    /**
     * Who: a maintainer's or contributor's handle.
     */
    by: string;
    /**
     * Where it was published.
     */
    url: string;
    /**
     * A SHA-256 hash in the registry's one spelling.
     */
    shape: string;
    /**
     * The contributor's own observation, null if not submitted.
     */
    observation: FileRef2 | null;
  };
  /**
   * A maintainer gives the observation another level: an accepted reproduction, or a server variant.
   */
  promotion?: {
    /**
     * Who: a maintainer's or contributor's handle.
     */
    by: string;
    /**
     * Level before.
     */
    from: "server_variant" | "runtime_observed" | "confirmed";
    /**
     * Level after; confirmed is derived and cannot be given.
     */
    to: "server_variant" | "community_confirmed";
    /**
     * The reproduction record; null for a server variant.
     */
    reproduction: FileRef2 | null;
    /**
     * Why.
     */
    reason: string;
  };
  /**
   * The observation, or one statement about it, no longer counts. It stays where it is.
   */
  withdrawal?: {
    /**
     * Who: a maintainer's or contributor's handle.
     */
    by: string;
    /**
     * Why.
     */
    reason: string;
    record?: FileRef3;
    superseded_by?: FileRef4;
  };
  /**
   * A maintainer says what the run really came to. The reading, the observation and every claim stay as they are; health counts it.
   */
  user_correction?: {
    /**
     * What the run came to.
     */
    run_result: "success" | "failed" | "cancelled";
    /**
     * Why it did not succeed; never for a success.
     */
    failure?: {
      /**
       * Broad kind, one of the consumer's words.
       */
      failure_category:
        | "auth"
        | "rate_limit"
        | "insufficient_balance"
        | "entitlement_required"
        | "model_unavailable"
        | "prompt_too_large"
        | "upstream_unavailable"
        | "timeout"
        | "empty_output"
        | "tool_error"
        | "process_exit"
        | "user_cancel"
        | "unknown";
      /**
       * Exact cause, one of the consumer's words.
       */
      failure_detail:
        | "auth_required"
        | "stale_profile"
        | "refresh_token_reused"
        | "missing_api_key"
        | "invalid_api_key"
        | "hard_quota"
        | "model_window_limit"
        | "workspace_credits_exhausted"
        | "rate_limit_429"
        | "amr_insufficient_balance"
        | "amr_tier_upgrade_required"
        | "model_not_found"
        | "model_not_supported"
        | "model_disabled"
        | "local_model_not_loaded"
        | "cli_version_incompatible"
        | "prompt_too_large"
        | "request_too_large"
        | "attachment_media_type_unsupported"
        | "tool_schema_invalid"
        | "prompt_tokenization_failed"
        | "provider_resource_not_found"
        | "upstream_5xx"
        | "upstream_client_error"
        | "stream_disconnected"
        | "network_error"
        | "provider_high_demand"
        | "provider_routing_error"
        | "inactivity_timeout"
        | "timeout"
        | "empty_output"
        | "tool_error"
        | "plugin_artifact_missing"
        | "cli_not_installed"
        | "git_bash_missing"
        | "agent_config_invalid"
        | "spawn_failed"
        | "spawn_enoexec"
        | "spawn_ebadf"
        | "spawn_eperm"
        | "stdin_write_eof"
        | "agent_protocol_error"
        | "session_resume_expired"
        | "fabricated_role_marker"
        | "permission_request_not_found"
        | "qoder_stop_sequence"
        | "signal_killed"
        | "process_crashed"
        | "cpu_unsupported"
        | "interrupted"
        | "exit_code"
        | "terminated_unknown"
        | "stream_error"
        | "exit_nonzero"
        | "fatal_rpc_error"
        | "execution_failed"
        | "user_cancelled"
        | "unknown";
    };
    /**
     * Why the reading is wrong, without a word that redaction would take out.
     */
    reason: string;
    /**
     * Public reports that say so.
     *
     * @minItems 1
     */
    evidence?: HttpsUrl[];
    /**
     * Who: a maintainer's or contributor's handle. Without it the commit that added the record tells.
     */
    by?: string;
  };
  /**
   * Anything else; readers ignore what they do not know.
   */
  extensions?: {
    [k: string]: unknown;
  };
};
/**
 * Id of an agent in registry/agents.json.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "agent_id".
 */
export type AgentId = string;
/**
 * A version as the CLI prints it, without spaces.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "version".
 */
export type Version = string;
/**
 * Operating system and processor.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "platform".
 */
export type Platform = "darwin-arm64" | "darwin-x64" | "linux-x64" | "linux-arm64" | "win32-x64" | "unknown";
/**
 * Id of a probe: its folder's name under probes/.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "probe_id".
 */
export type ProbeId = string;
/**
 * Place of a file in the registry, relative, with forward slashes.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "place".
 */
export type Place = string;
/**
 * A SHA-256 hash in the registry's one spelling.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
/**
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * An HTTPS URL.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "https_url".
 */
export type HttpsUrl = string;
/**
 * A SHA-256 hash, or null for none.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "digest_or_null".
 */
export type DigestOrNull = string | null;
/**
 * UTC time, ISO 8601 with Z, or null for none.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "timestamp_or_null".
 */
export type TimestampOrNull = string | null;
/**
 * An HTTPS URL, or null for none.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "https_url_or_null".
 */
export type HttpsUrlOrNull = string | null;

/**
 * The observation.
 */
export interface FileRef {
  path: Place;
  sha256: Digest;
}
/**
 * The public sanitized transcript.
 */
export interface FileRef1 {
  path: Place;
  sha256: Digest;
}
/**
 * A file of the registry, by place and content.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "file_ref".
 */
export interface FileRef2 {
  path: Place;
  sha256: Digest;
}
/**
 * A file of the registry, by place and content.
 */
export interface FileRef3 {
  path: Place;
  sha256: Digest;
}
/**
 * A file of the registry, by place and content.
 */
export interface FileRef4 {
  path: Place;
  sha256: Digest;
}
