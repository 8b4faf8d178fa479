/** What counts of a frame when a live host is held against a recorded one: what it is and which id it has. */

/** A line of a two-way or stream-json protocol. */
export interface Frame {
  /** "request METHOD", "notification METHOD", "answer", "error answer", a type, or "" for any other line. */
  kind: string;
  id: unknown;
}

/** Reads a line. */
export function parseFrame(line: string): Frame {
  let v: unknown;
  try {
    v = JSON.parse(line);
  } catch {
    return { kind: "", id: undefined };
  }
  if (typeof v !== "object" || v === null || Array.isArray(v)) return { kind: "", id: undefined };
  const o = v as Record<string, unknown>;
  const id = o["id"] ?? undefined;
  return { kind: kindOf(o, id), id };
}

function kindOf(o: Record<string, unknown>, id: unknown): string {
  if (typeof o["method"] === "string") return `${id === undefined ? "notification" : "request"} ${o["method"]}`;
  if (typeof o["type"] === "string") return o["type"];
  if ("error" in o) return "error answer";
  return "result" in o ? "answer" : "";
}

const answers = new Set(["answer", "error answer", "response", "extension_ui_response"]);

/** Whether it carries the id of somebody else's request. */
export const isAnswer = (f: Frame): boolean => answers.has(f.kind);

/** Whether a live host's frame is the one that was recorded. Requests are numbered as their sender likes. */
export function fits(live: Frame, recorded: Frame): boolean {
  return live.kind === recorded.kind && (!isAnswer(live) || live.id === recorded.id);
}

/** A frame for people; it quotes no content. */
export function nameOf(f: Frame): string {
  if (f.kind === "") return "a line that is no frame";
  return isAnswer(f) ? `"${f.kind}" to ${JSON.stringify(f.id)}` : JSON.stringify(f.kind.slice(0, 80));
}

/** The ids of the recorded client's requests, as the live client spells them. */
export class Ids {
  private readonly live = new Map<unknown, unknown>();

  /** Takes a request that was found in the recording. */
  learn(recorded: Frame, live: Frame): void {
    if (recorded.id !== undefined && !isAnswer(recorded) && recorded.id !== live.id) this.live.set(recorded.id, live.id);
  }

  /** A line of the child's with the id of an answer as the live client knows it. */
  toClient(line: string): string {
    if (this.live.size === 0) return line;
    const f = parseFrame(line);
    if (!isAnswer(f) || f.kind === "extension_ui_response" || !this.live.has(f.id)) return line;
    const end = /\r?\n?$/.exec(line)?.[0] ?? "";
    return JSON.stringify({ ...(JSON.parse(line) as object), id: this.live.get(f.id) }) + end;
  }
}
