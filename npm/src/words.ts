/** The words of the answers, which are those of the registry's schemas. */

/** What is known about an installed CLI. */
export type SupportStatus =
  | "local_shape_verified"
  | "version_range_verified"
  | "server_variant_possible"
  | "newer_than_verified"
  | "too_old"
  | "known_breaking"
  | "known_breaking_shape"
  | "active_shape_unknown"
  | "unknown";

/** Whether to start it. */
export type AllowRun = "allow" | "warn" | "block";

/** What its user can do. */
export type UserAction = "none" | "run_local_probe" | "upgrade_cli" | "pin_supported_version" | "report_unknown_shape";

/** Where an answer comes from. */
export type EvidenceSource = "local_probe" | "support_matrix" | "known_breaking" | "none";

/** What an answer rests on. */
export interface Evidence {
  version_range: string | null;
  shape_signature: string | null;
  observed_at: string | null;
  source: EvidenceSource;
  server_variant_possible: boolean;
}
