/* Made from schemas/error-case.schema.json by scripts/types.mjs; do not edit. */

/**
 * One failing run as the consumer's failure classifier sees it.
 */
export type ErrorCase = {
  /**
   * Version of this format; a higher one needs a migration.
   */
  schema_version: 1;
  agent: AgentId;
  /**
   * Id of the error probe.
   */
  probe: string;
  /**
   * Hash of the raw transcript bundle.
   */
  raw_shape: string;
  /**
   * The arguments of classifyRunFailure.
   */
  classifier_input: {
    /**
     * What the consumer's daemon takes the run for; a failure that it overlooks is a success here.
     */
    result: "success" | "failed" | "cancelled";
    /**
     * Status of the daemon run.
     */
    status: {
      /**
       * State of the run: failed, canceled, succeeded …
       */
      status: string;
      /**
       * Error text, redacted.
       */
      error?: string | null;
      /**
       * Daemon error code.
       */
      errorCode?: string | null;
      /**
       * Exit code of the child.
       */
      exitCode?: number | null;
      /**
       * Signal that ended the child.
       */
      signal?: string | null;
    };
    /**
     * Daemon error code.
     */
    errorCode?: string | null;
    /**
     * Daemon events of the run, oldest first, redacted.
     */
    events?: {
      /**
       * Name: start, agent, error, stderr …
       */
      event: string;
      /**
       * The event's payload.
       */
      data: {
        [k: string]: unknown;
      };
    }[];
  };
  expected_failure_classification: FailureClassification;
  /**
   * What the specification's fields cannot say.
   */
  extensions?: {
    /**
     * Level of the case's source.
     */
    validity_level?:
      | "runtime_observed"
      | "confirmed"
      | "community_confirmed"
      | "server_variant"
      | "source_derived"
      | "vendor_documented"
      | "synthetic_mock";
    cli_version?: Version;
    platform?: Platform;
    /**
     * Id of the dialect in registry/families.json.
     */
    dialect?: string;
    recorded_at?: Timestamp;
    /**
     * Place of the observation of the same run.
     */
    observation?: string;
    /**
     * Place of the sanitized transcript.
     */
    fixture?: string;
    /**
     * Hash of the sanitized transcript.
     */
    fixture_sha256?: string;
    /**
     * Further argument of the classifier: who cancelled.
     */
    cancel_origin?: "user_stop" | "project_cleanup" | "daemon_shutdown" | "unknown";
    /**
     * Further argument of the classifier: what forced the end.
     */
    terminal_trigger?:
      | "user_stop"
      | "project_cleanup"
      | "daemon_shutdown"
      | "unknown"
      | "first_output_deadline"
      | "inactivity_watchdog"
      | "daemon_restart";
    /**
     * What each consumer says, keyed name@version; null where it gives no classification.
     */
    consumers?: {
      [k: string]: FailureClassification1;
    };
    /**
     * Public report that the case was made from.
     */
    source?: string;
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
 * The right classification, the reference adapter's; null only for the result success, and not even there when the consumer overlooked a failure.
 */
export type FailureClassification = {
  /**
   * Broad kind of the failure.
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
   * Exact cause.
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
  /**
   * How far the run had come (TrackingRunFailureStage).
   */
  failure_stage:
    | "preflight"
    | "spawn"
    | "session_init"
    | "model_select"
    | "prompt_send"
    | "first_token_wait"
    | "tool_execution"
    | "tool_outstanding"
    | "post_tool_resume"
    | "artifact_write"
    | "child_close"
    | "finalize";
  /**
   * Whether the same run may succeed when repeated.
   */
  retryable: boolean;
  /**
   * What the user can do.
   */
  user_action:
    | "retry"
    | "login"
    | "recharge"
    | "upgrade"
    | "switch_model"
    | "reduce_context"
    | "install_cli"
    | "fix_config"
    | "none";
  /**
   * Who cancelled; cancelled runs only.
   */
  cancel_origin?: "user_stop" | "project_cleanup" | "daemon_shutdown" | "unknown";
  /**
   * What forced the end, if anything did.
   */
  terminal_trigger?:
    | "user_stop"
    | "project_cleanup"
    | "daemon_shutdown"
    | "unknown"
    | "first_output_deadline"
    | "inactivity_watchdog"
    | "daemon_restart";
} | null;
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
 * UTC time, ISO 8601 with Z.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "timestamp".
 */
export type Timestamp = string;
/**
 * A RunFailureClassification of OpenDesign v0.19.2, exactly; null where there is no failure.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "failure_classification".
 */
export type FailureClassification1 = {
  /**
   * Broad kind of the failure.
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
   * Exact cause.
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
  /**
   * How far the run had come (TrackingRunFailureStage).
   */
  failure_stage:
    | "preflight"
    | "spawn"
    | "session_init"
    | "model_select"
    | "prompt_send"
    | "first_token_wait"
    | "tool_execution"
    | "tool_outstanding"
    | "post_tool_resume"
    | "artifact_write"
    | "child_close"
    | "finalize";
  /**
   * Whether the same run may succeed when repeated.
   */
  retryable: boolean;
  /**
   * What the user can do.
   */
  user_action:
    | "retry"
    | "login"
    | "recharge"
    | "upgrade"
    | "switch_model"
    | "reduce_context"
    | "install_cli"
    | "fix_config"
    | "none";
  /**
   * Who cancelled; cancelled runs only.
   */
  cancel_origin?: "user_stop" | "project_cleanup" | "daemon_shutdown" | "unknown";
  /**
   * What forced the end, if anything did.
   */
  terminal_trigger?:
    | "user_stop"
    | "project_cleanup"
    | "daemon_shutdown"
    | "unknown"
    | "first_output_deadline"
    | "inactivity_watchdog"
    | "daemon_restart";
} | null;
/**
 * A SHA-256 hash in the registry's one spelling.
 *
 * This interface was referenced by `undefined`'s JSON-Schema
 * via the `definition` "digest".
 */
export type Digest = string;
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
