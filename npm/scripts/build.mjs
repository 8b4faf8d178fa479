// Builds the package: data/ and the compact matrix from the registry, types,
// and the code for both module systems. $AGENT_CONTRACTS names the registry's
// program; without it, it is built from these sources.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const registry = fileURLToPath(new URL("../..", import.meta.url));

function run(command, args, cwd = root) {
  execFileSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
}

/** Only what answers need: the shapes of the representative probe, and that there were others. */
function compact(agents, matrix, policy) {
  const probe = new Map(agents.agents.map((a) => [a.id, a.representative_probe]));
  const facts = agents.agents.map(({ id, representative_probe, exemption, version_probe }) => ({
    id,
    representative_probe,
    exemption,
    version_probe: version_probe && { scheme: version_probe.scheme },
  }));
  const entries = matrix.agents.map((e) => {
    const counts = (s) => s.extensions?.probe === probe.get(e.agent) && !s.extensions?.outvoted;
    const of = (s) => ({
      shape: s.shape,
      validity_level: s.validity_level,
      observed_at: s.observed_at,
      extensions: { probe: s.extensions?.probe, versions: s.extensions?.versions },
    });
    const shapes = e.observed_shapes.filter(counts).map(of);
    return { ...e, observed_shapes: shapes.length > 0 ? shapes : e.observed_shapes.slice(0, 1).map((s) => ({ ...of(s), extensions: {} })) };
  });
  return { agents: { agents: facts }, matrix: { generated_at: matrix.generated_at, agents: entries }, policy };
}

const read = (place) => JSON.parse(readFileSync(`${root}data/${place}`, "utf8"));

const program = process.env.AGENT_CONTRACTS;
if (program) run(program, ["publish", "--data", `${root}data`, "--registry", registry, "--quiet"]);
else run("go", ["run", "./cmd/agent-contracts", "publish", "--data", `${root}data`, "--registry", registry, "--quiet"], registry);

mkdirSync(`${root}src/generated`, { recursive: true });
const matrix = compact(read("registry/agents.json"), read("registry/support-matrix.json"), read("registry/policy.json"));
// As text, which is parsed when somebody asks: node reads a string faster than objects.
writeFileSync(`${root}src/generated/compact.ts`, `export const text: string =\n  ${JSON.stringify(JSON.stringify(matrix))};\n`);

rmSync(`${root}dist`, { recursive: true, force: true });
run(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "--emitDeclarationOnly"]);

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20",
  outdir: "dist",
  logLevel: "warning",
  charset: "utf8",
};
// What a daemon imports when it starts is one file each: every further one takes
// node a millisecond. The others share theirs.
const daemon = { index: "src/index.ts", matrix: "src/compact.ts" };
const others = { answers: "src/answers.ts", "verify-all": "src/verify-all.ts" };
await build({ ...common, entryPoints: daemon, format: "esm", minify: true });
await build({ ...common, entryPoints: { ...others, cli: "src/cli.ts" }, format: "esm", splitting: true, chunkNames: "shared-[hash]" });
await build({
  ...common,
  entryPoints: { ...daemon, ...others },
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  define: { "import.meta.url": "importMetaUrl" },
  banner: { js: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;' },
});
// Declarations for require: the same, naming .cjs files.
const declarations = (dir) =>
  readdirSync(`${root}dist/${dir}`, { withFileTypes: true }).flatMap((e) =>
    e.isDirectory() ? declarations(`${dir}${e.name}/`) : e.name.endsWith(".d.ts") ? [`${dir}${e.name}`] : [],
  );
for (const file of declarations("")) {
  const text = readFileSync(`${root}dist/${file}`, "utf8");
  writeFileSync(`${root}dist/${file.replace(/\.d\.ts$/, ".d.cts")}`, text.replace(/(["'])(\.[^"']*)\.js\1/g, "$1$2.cjs$1"));
}
chmodSync(`${root}dist/cli.js`, 0o755);
