/** Sanitized transcripts: one JSON object a line (schemas/transcript.schema.json). */

/** One line of a transcript. */
export interface TranscriptRecord {
  dir: "server->cli" | "cli->server" | "process" | "cli->file";
  stream?: "stdin" | "stdout" | "stderr" | "session";
  at_ms: number;
  data?: string;
  data_ref?: string;
  frame?: Record<string, unknown>;
  event?: "spawn" | "exit" | "timeout" | "kill";
  exit_code?: number | null;
  signal?: string | null;
  extensions?: { reason?: string; deviations?: string[] };
}

/** A frame's text as it was printed, by its record. */
const printed = new WeakMap<TranscriptRecord, string>();

/** Reads a transcript. Throws a SyntaxError that names the line. */
export function parseTranscript(text: string): TranscriptRecord[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line, i) => {
    let r: TranscriptRecord;
    try {
      r = JSON.parse(line) as TranscriptRecord;
    } catch {
      throw new SyntaxError(`line ${i + 1} of the transcript is no JSON`);
    }
    if (r.frame !== undefined) printed.set(r, frameText(line));
    return r;
  });
}

/** Cuts the frame out of its record's line: JSON.parse would lose doubled keys and spellings of numbers. */
function frameText(line: string): string {
  const from = line.indexOf('"frame":') + '"frame":'.length;
  let depth = 0;
  for (let i = from; i < line.length; i++) {
    const c = line[i];
    if (c === '"') {
      for (i++; line[i] !== '"'; i++) if (line[i] === "\\") i++;
    } else if (c === "{" || c === "[") {
      depth++;
    } else if ((c === "}" || c === "]") && --depth === 0) {
      return line.slice(from, i + 1);
    }
  }
  return line.slice(from);
}

/** The text that passed through the pipe; undefined for a prompt and for what befell the process. */
export function lineOf(r: TranscriptRecord): string | undefined {
  if (r.frame === undefined) return r.data;
  const text = printed.get(r) ?? JSON.stringify(r.frame);
  const odd = r.extensions?.deviations ?? [];
  if (odd.includes("truncated_tail")) return text;
  return text + (odd.includes("crlf") ? "\r\n" : "\n");
}

/** The lines of one pipe, in order. */
export function linesOf(transcript: readonly TranscriptRecord[], stream: "stdin" | "stdout" | "stderr"): string[] {
  return transcript.filter((r) => r.stream === stream && r.dir !== "process").flatMap((r) => lineOf(r) ?? []);
}

/** How the child ended; both null if nothing says so. */
export function exitOf(transcript: readonly TranscriptRecord[]): { code: number | null; signal: string | null } {
  const end = transcript.findLast((r) => r.event === "exit");
  return { code: end?.exit_code ?? null, signal: end?.signal ?? null };
}
