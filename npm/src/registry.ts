/**
 * The records that this package carries, as they lie in the registry
 * (observations/, shapes/, fixtures/, …). Nothing is read before it is asked
 * for, and nothing is kept that is large.
 */
import { fileURLToPath, fs, join } from "./builtin.js";

import { migrations as own, type Migrations } from "./migrate.js";
import type { AgentsFile } from "./records.js";
import type { SupportMatrix } from "./schemas/support-matrix.js";
import type { Shape } from "./schemas/shape.js";
import type { Policy } from "./schemas/policy.js";

/** The folder of the package's records. */
export const dataDir = (): string => fileURLToPath(new URL("../data", import.meta.url));

/** Records in a folder, read with the migrations that one knows. */
export class Registry {
  constructor(
    readonly dir: string = dataDir(),
    private readonly migrations: Migrations = own,
  ) {}

  /** Whether there is such a file; places use forward slashes. */
  has(place: string): boolean {
    return fs().existsSync(this.path(place));
  }

  /** The text of a file. */
  text(place: string): string {
    return fs().readFileSync(this.path(place), "utf8");
  }

  /** The bytes of a file. */
  bytes(place: string): Buffer {
    return fs().readFileSync(this.path(place));
  }

  /** A record of a kind (its schema's name). Throws a SchemaVersionError for one that is newer than this package. */
  record<T extends object>(kind: string, place: string): T {
    return this.migrations.apply(kind, place, JSON.parse(this.text(place)) as T);
  }

  /** The places of all files below a folder whose names end so, sorted. */
  places(folder: string, suffix = ""): string[] {
    const out: string[] = [];
    const walk = (at: string) => {
      for (const e of fs().readdirSync(this.path(at), { withFileTypes: true })) {
        if (e.isDirectory()) walk(`${at}/${e.name}`);
        else if (e.name.endsWith(suffix)) out.push(`${at}/${e.name}`);
      }
    };
    if (this.has(folder)) walk(folder);
    // By bytes, as the registry sorts everywhere; places are ASCII.
    return out.sort((a, b) => (a < b ? -1 : 1));
  }

  /** The whole matrix, with every probe's shapes. */
  matrix(): SupportMatrix {
    return this.record<SupportMatrix>("support-matrix", "registry/support-matrix.json");
  }

  /** The agents' definitions. */
  agents(): AgentsFile {
    return this.record<AgentsFile>("agents", "registry/agents.json");
  }

  /** What people decided. */
  policy(): Policy {
    if (!this.has("registry/policy.json")) return { schema_version: 1, agents: [] };
    return this.record<Policy>("policy", "registry/policy.json");
  }

  /** The shape with a signature; undefined for none. */
  shape(signature: string): Shape | undefined {
    const name = signature.replace(":", "-") + ".shape.json";
    for (const family of fs().readdirSync(this.path("shapes"), { withFileTypes: true })) {
      const place = `shapes/${family.name}/${name}`;
      if (family.isDirectory() && this.has(place)) return this.record<Shape>("shape", place);
    }
    return undefined;
  }

  private path(place: string): string {
    if (place.split("/").includes("..")) throw new RangeError(`${JSON.stringify(place)} is no place in a registry`);
    return join(this.dir, place);
  }
}
