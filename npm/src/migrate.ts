/** Schema versions: what this package reads, and how it learns to read more. */

/** The version of every record that this package reads. */
export const SCHEMA_VERSION = 1;

/** Turns a record of one schema version into one that is nearer to SCHEMA_VERSION; it must set schema_version. */
export type Migration = (record: Record<string, unknown>) => Record<string, unknown>;

/** A record has a schema version that nothing here can read. */
export class SchemaVersionError extends Error {
  override readonly name = "SchemaVersionError";

  constructor(
    readonly place: string,
    readonly found: unknown,
    why: string,
  ) {
    super(`${place}: ${why}; this package reads schema_version ${SCHEMA_VERSION}: install a newer one`);
  }
}

/** Knows how to read records of other schema versions. An empty one knows none. */
export class Migrations {
  private readonly steps = new Map<string, Migration>();

  /** Adds the migration of records of a kind (its schema's name) from one version. */
  register(kind: string, from: number, migration: Migration): this {
    const key = `${kind}@${from}`;
    if (from === SCHEMA_VERSION || from < 1) throw new RangeError(`only versions other than ${SCHEMA_VERSION} migrate, not ${key}`);
    if (this.steps.has(key)) throw new RangeError(`there is a migration from ${key} already`);
    this.steps.set(key, migration);
    return this;
  }

  /** The record in SCHEMA_VERSION; throws a SchemaVersionError where no way leads there. */
  apply<T extends object>(kind: string, place: string, record: T): T {
    let now = record as Record<string, unknown>;
    for (;;) {
      const from = now["schema_version"];
      if (from === SCHEMA_VERSION) return now as T;
      if (typeof from !== "number" || !Number.isInteger(from) || from < 1) {
        throw new SchemaVersionError(place, from, "it has no schema_version");
      }
      const step = this.steps.get(`${kind}@${from}`);
      if (step === undefined) throw new SchemaVersionError(place, from, `its schema_version is ${from}, and there is no migration`);
      const next = step(now);
      const to = next["schema_version"];
      if (typeof to !== "number" || Math.abs(to - SCHEMA_VERSION) >= Math.abs(from - SCHEMA_VERSION)) {
        throw new SchemaVersionError(place, to, `the migration from schema_version ${from} does not come nearer to ${SCHEMA_VERSION}`);
      }
      now = next;
    }
  }
}

/** The migrations that come with this package. There are none: every record has schema_version 1. */
export const migrations = new Migrations();
