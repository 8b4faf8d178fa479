// Makes src/schemas/*.ts from the JSON Schemas, which are the source. With
// --check it writes nothing and fails when a file is not what it would write.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const schemas = fileURLToPath(new URL("../../schemas/", import.meta.url));
const out = fileURLToPath(new URL("../src/schemas/", import.meta.url));
const check = process.argv.includes("--check");

const read = (name) => JSON.parse(readFileSync(schemas + name, "utf8"));

/** The name of a schema's type: support-matrix.schema.json → SupportMatrix. */
const typeName = (file) => file.replace(".schema.json", "").replace(/(^|-)([a-z])/g, (_, __, c) => c.toUpperCase());

const stale = [];
const wanted = new Set();
for (const file of readdirSync(schemas).filter((f) => f.endsWith(".schema.json")).sort()) {
  const schema = read(file);
  delete schema.$id; // every schema is complete in itself
  schema.title = typeName(file);
  const text = await compile(schema, schema.title, {
    cwd: schemas,
    bannerComment: `/* Made from schemas/${file} by scripts/types.mjs; do not edit. */`,
    additionalProperties: true,
    unreachableDefinitions: true,
    ignoreMinAndMaxItems: true,
  });
  const name = file.replace(".schema.json", ".ts");
  wanted.add(name);
  let have = "";
  try {
    have = readFileSync(out + name, "utf8");
  } catch {
    // not there yet
  }
  if (have === text) continue;
  if (check) stale.push(name);
  else writeFileSync(out + name, text);
}
for (const name of readdirSync(out)) {
  if (wanted.has(name)) continue;
  if (check) stale.push(name);
  else rmSync(out + name);
}
if (stale.length > 0) {
  console.error(`error: src/schemas/ is not what the schemas give: ${stale.join(", ")}\nhint: run npm run types`);
  process.exit(1);
}
