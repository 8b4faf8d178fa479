/** The consumer's consistency test: has every agent it starts a contract, or a reason for none? */

/** What is known of the agents that a consumer starts. */
export interface Coverage {
  /** Nothing is missing. */
  ok: boolean;
  /** Agents with an entry in the matrix. */
  covered: string[];
  /** Agents without one, and why: the consumer's reason, or the registry's. */
  exempt: { agent: string; reason: string; by: "consumer" | "registry" }[];
  /** Agents with neither. */
  missing: { agent: string; why: string }[];
  /** The consumer's exemptions of agents that are covered, or that it does not start. */
  unneeded: string[];
}

/** What checkCoverage reads. */
export interface CoverageData {
  agents: { agents: { id: string; exemption?: string }[] };
  matrix: { agents: { agent: string; observed_shapes?: unknown[] }[] };
}

/** Checks the ids of the agents that a consumer starts; exemptions gives its reasons by agent. */
export function coverageOf(data: CoverageData, agentIds: readonly string[], exemptions: Readonly<Record<string, string>> = {}): Coverage {
  const entries = new Set(data.matrix.agents.filter((e) => (e.observed_shapes ?? []).length > 0).map((e) => e.agent));
  const out: Coverage = { ok: true, covered: [], exempt: [], missing: [], unneeded: [] };
  for (const agent of new Set(agentIds)) {
    const known = data.agents.agents.find((a) => a.id === agent);
    const reason = Object.hasOwn(exemptions, agent) ? (exemptions[agent] ?? "").trim() : undefined;
    if (entries.has(agent)) out.covered.push(agent);
    else if (reason) out.exempt.push({ agent, reason, by: "consumer" });
    else if (known?.exemption) out.exempt.push({ agent, reason: known.exemption, by: "registry" });
    else out.missing.push({ agent, why: why(known !== undefined, reason) });
  }
  out.unneeded = Object.keys(exemptions).filter((a) => entries.has(a) || !agentIds.includes(a));
  out.ok = out.missing.length === 0;
  return out;
}

function why(known: boolean, reason: string | undefined): string {
  if (reason === "") return "its exemption has no reason";
  return known ? "the registry has no claim about it" : "the registry does not know it";
}
