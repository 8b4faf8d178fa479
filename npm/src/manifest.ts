/**
 * The manifest of the package's files: their hashes, a sequence number that
 * only grows, and signatures (golang.org/x/mod/sumdb/note). Who keeps the last
 * sequence that they saw can refuse to be rolled back.
 */
import { crypto, fileURLToPath, fs, join } from "./builtin.js";

/** A manifest that was read. */
export interface Manifest {
  /** Name and version of the package. */
  package: string;
  sequence: number;
  /** Time of the newest record. */
  records: string;
  /** sha256 in hex by place. */
  files: Map<string, string>;
  /** The signed text, and who signed it. */
  text: string;
  signatures: { name: string; hash: string; signature: Buffer }[];
}

/** What to hold a manifest against. */
export interface ManifestOptions {
  /** The package's folder; this package's unless said otherwise. */
  root?: string;
  /** Verifier keys (NAME+HASH+BASE64), of which one must have signed. Without any, no signature is asked for. */
  keys?: readonly string[];
  /** The last sequence that was seen; a lower one is a rollback. */
  minSequence?: number;
}

/** What came of it. */
export interface ManifestCheck {
  ok: boolean;
  sequence: number | null;
  /** Names of the keys that signed. */
  signedBy: string[];
  files: number;
  problems: { place: string; problem: string }[];
}

/** The file's name. */
export const MANIFEST = "manifest.txt";
const head = "agent-contracts-manifest/v1";

/** Reads a manifest. Throws a SyntaxError for a text that is none. */
export function parseManifest(note: string): Manifest {
  const cut = note.lastIndexOf("\n\n— ");
  const text = cut < 0 ? note : note.slice(0, cut + 1);
  const signatures = (cut < 0 ? "" : note.slice(cut + 2)).split("\n").flatMap((line) => signature(line));
  const [header = "", body = ""] = text.split("\n\n", 2);
  const [first, ...members] = header.split("\n");
  if (first !== head) throw new SyntaxError(`${MANIFEST}: its first line is not ${head}`);
  const member = new Map(members.map((l) => [l.slice(0, l.indexOf(": ")), l.slice(l.indexOf(": ") + 2)]));
  const files = new Map(body.split("\n").filter((l) => l !== "").map((l) => [l.slice(66), l.slice(0, 64)]));
  const sequence = Number(member.get("sequence"));
  if (!Number.isSafeInteger(sequence) || sequence < 1) throw new SyntaxError(`${MANIFEST}: it has no sequence`);
  if (Number(member.get("files")) !== files.size) throw new SyntaxError(`${MANIFEST}: it is cut short`);
  return { package: member.get("package") ?? "", sequence, records: member.get("records") ?? "", files, text, signatures };
}

function signature(line: string): Manifest["signatures"] {
  const m = /^— (\S+) (\S+)$/.exec(line);
  if (m === null) return [];
  const bytes = Buffer.from(m[2] ?? "", "base64");
  return [{ name: m[1] ?? "", hash: bytes.subarray(0, 4).toString("hex"), signature: bytes.subarray(4) }];
}

/** A text is no verifier key. */
export class KeyError extends TypeError {}

/** Whether a key signed a manifest. */
export function signedBy(manifest: Manifest, key: string): boolean {
  const m = /^([^+\s]+)\+([0-9a-f]{8})\+(.+)$/.exec(key);
  const bytes = Buffer.from(m?.[3] ?? "", "base64");
  if (m === null || bytes.length !== 33 || bytes[0] !== 1) throw new KeyError("a verifier key has the form NAME+HASH+BASE64, with an Ed25519 key");
  const hash = crypto().createHash("sha256").update(`${m[1]}\n`).update(bytes).digest("hex").slice(0, 8);
  if (hash !== m[2]) throw new TypeError("the verifier key's hash is not its own");
  // The fixed head of an Ed25519 key in DER.
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), bytes.subarray(1)]);
  const publicKey = crypto().createPublicKey({ key: der, format: "der", type: "spki" });
  return manifest.signatures.some((s) => s.name === m[1] && s.hash === hash && crypto().verify(null, Buffer.from(manifest.text), publicKey, s.signature));
}

/** Holds every file of the package against its manifest. */
export function verifyManifest(options: ManifestOptions = {}): ManifestCheck {
  const root = options.root ?? fileURLToPath(new URL("..", import.meta.url));
  const out: ManifestCheck = { ok: false, sequence: null, signedBy: [], files: 0, problems: [] };
  const find = (place: string, problem: string) => out.problems.push({ place, problem });
  if (!fs().existsSync(join(root, MANIFEST))) {
    find(MANIFEST, "the package has no manifest: it was built, and not published");
    return out;
  }
  const manifest = parseManifest(fs().readFileSync(join(root, MANIFEST), "utf8"));
  out.sequence = manifest.sequence;
  out.signedBy = (options.keys ?? []).filter((k) => signedBy(manifest, k)).map((k) => k.split("+")[0] ?? "");
  if ((options.keys ?? []).length > 0 && out.signedBy.length === 0) find(MANIFEST, "none of the given keys signed it");
  // What is no number refuses everything: the check is not to go away unseen.
  if (!(manifest.sequence >= (options.minSequence ?? 0))) find(MANIFEST, `a rollback: its sequence ${manifest.sequence} is lower than ${options.minSequence}, which was seen`);
  for (const [place, want] of manifest.files) {
    out.files++;
    const at = join(root, place);
    if (place.split("/").includes("..") || !fs().existsSync(at)) find(place, "it is not there");
    else if (crypto().createHash("sha256").update(fs().readFileSync(at)).digest("hex") !== want) find(place, "it has other bytes than the manifest says");
  }
  for (const place of filesBelow(root)) if (place !== MANIFEST && !manifest.files.has(place)) find(place, "the manifest does not name it");
  out.ok = out.problems.length === 0;
  return out;
}

function filesBelow(root: string, at = ""): string[] {
  return fs().readdirSync(join(root, at), { withFileTypes: true }).flatMap((e) => {
    if (e.name === "node_modules") return [];
    return e.isDirectory() ? filesBelow(root, `${at}${e.name}/`) : [at + e.name];
  });
}
