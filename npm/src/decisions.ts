/** What people decided (registry/policy.json), as far as the matrix holds it. */
import type { DerivedEntry, Records } from "./derive.js";
import type { AgentPolicy } from "./support.js";
import type { SupportStatus } from "./words.js";

/** Where a decision holds; what is empty is not limited. */
export interface DecisionScope {
  platforms?: string[];
  protocol_families?: string[];
}

/** One agent's decisions. */
export interface Decisions extends Omit<AgentPolicy, "known_breaking_shapes"> {
  too_old?: { below: string; reason: string; evidence?: string[]; scope?: DecisionScope }[];
  known_breaking?: { version_ranges: string[]; reason: string; evidence: string[]; scope?: DecisionScope }[];
  known_breaking_shapes?: { shape: string; reason: string; evidence: string }[];
  notes?: { version_ranges?: string[]; text: string; scope?: DecisionScope }[];
}

/** registry/policy.json. */
export interface PolicyFile {
  agents?: Decisions[];
}

export function policyOf(policy: PolicyFile | null | undefined, agent: string): Decisions | undefined {
  return policy?.agents?.find((p) => p.agent === agent);
}

export function inScope(scope: DecisionScope | undefined, platform: string, family: string): boolean {
  const { platforms = [], protocol_families: families = [] } = scope ?? {};
  return (platforms.length === 0 || platforms.includes(platform)) && (families.length === 0 || family === "" || families.includes(family));
}

const platforms = ["darwin-arm64", "darwin-x64", "linux-x64", "linux-arm64", "win32-x64", "unknown"];

/** The decisions themselves, which hold for versions that nobody captured. */
export function decidedEntries(records: Records, have: readonly DerivedEntry[]): DerivedEntry[] {
  const out: DerivedEntry[] = [];
  for (const p of records.policy?.agents ?? []) {
    const agent = records.agents.agents.find((a) => a.id === p.agent);
    if (agent === undefined) continue;
    const add = (status: SupportStatus, ranges: string[], scope: DecisionScope | undefined, reason: string, evidence: string[]) => {
      for (const family of agent.protocol_families ?? []) {
        for (const platform of platforms) {
          if ((platform === "unknown" && (scope?.platforms ?? []).length === 0) || !inScope(scope, platform, family)) continue;
          const e = decided(p.agent, status, ranges, platform, family, reason, evidence);
          const same = (o: DerivedEntry) =>
            o.agent === e.agent && o.platforms[0] === platform && o.protocol_families[0] === family && o.version_ranges.join("\n") === ranges.join("\n");
          if (![...have, ...out].some(same)) out.push(e);
        }
      }
    };
    for (const old of p.too_old ?? []) add("too_old", ["<" + old.below], old.scope, old.reason, old.evidence ?? []);
    for (const k of p.known_breaking ?? []) add("known_breaking", k.version_ranges, k.scope, k.reason, k.evidence);
  }
  return out;
}

function decided(agent: string, status: SupportStatus, ranges: string[], platform: string, family: string, reason: string, evidence: string[]): DerivedEntry {
  return {
    agent,
    version_ranges: ranges,
    platforms: [platform],
    protocol_families: [family],
    support_status: status,
    observed_shapes: [],
    last_observed_at: null,
    latest_verified: null,
    latest_seen: null,
    server_variants: [],
    known_breaking_shapes: [],
    policy: { allow_run: "block" },
    notes: [],
    extensions: { ...(reason === "" ? {} : { reason }), ...(evidence.length === 0 ? {} : { evidence }), profile: "production" },
  };
}
