/** The kinds of change that two shapes can show, as in the registry's catalogue (`agent-contracts compare --rules`). */

/** What a change means for a reader that was written for the older shape. */
export type Severity = "info" | "warning" | "breaking";

/** Losses before additions: signals of one severity are listed in this order. */
export const rules = [
  { id: "envelope_changed", severity: "breaking" },
  { id: "missing_terminal_event", severity: "breaking" },
  { id: "event_removed", severity: "breaking" },
  { id: "field_removed", severity: "breaking" },
  { id: "field_renamed", severity: "breaking" },
  { id: "type_changed", severity: "breaking" },
  { id: "enum_changed", severity: "breaking" },
  { id: "terminal_moved", severity: "breaking" },
  { id: "exit_changed", severity: "breaking" },
  { id: "order_changed", severity: "warning" },
  { id: "concurrency_changed", severity: "warning" },
  { id: "cardinality_changed", severity: "warning" },
  { id: "requiredness_changed", severity: "warning" },
  { id: "stderr_class_changed", severity: "warning" },
  { id: "event_added", severity: "warning" },
  { id: "enum_added", severity: "warning" },
  { id: "field_added", severity: "info" },
] as const satisfies readonly { id: string; severity: Severity }[];

/** The name of a kind of change. */
export type RuleId = (typeof rules)[number]["id"];

/** A change as it is found. */
export interface Found {
  id: RuleId;
  /** The rule's unless given: a signal may be milder. */
  severity?: Severity | undefined;
  event_type?: string;
  /** What tells the kind apart beside its event type. */
  kind?: string;
  path?: string;
  from?: string;
  to?: string;
  renamed?: string | undefined;
}

/** Takes a change in. */
export type Add = (found: Found) => void;

/** The place of a change in the catalogue. */
export const ruleRank = (id: RuleId): number => rules.findIndex((r) => r.id === id);

/** Orders texts by their bytes, as the registry does everywhere. */
export const byText = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** How much of two sets is in both. */
export function common(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0;
  for (const k of a) if (b.has(k)) both++;
  const all = a.size + b.size - both;
  return all > 0 ? both / all : 1;
}

/** The share of letters that two words have in common, in order. */
export function likeness(x: string, y: string): number {
  const [a, b] = [Buffer.from(x), Buffer.from(y)];
  let prev: number[] = new Array<number>(b.length + 1).fill(0);
  for (const c of a) {
    const next = [0];
    for (let j = 0; j < b.length; j++) next.push(c === b[j] ? (prev[j] ?? 0) + 1 : Math.max(prev[j + 1] ?? 0, next[j] ?? 0));
    prev = next;
  }
  return (2 * (prev[b.length] ?? 0)) / (a.length + b.length);
}
