// What importing the package and a first answer take over bare node: medians of
// whole processes, started in turn so that load hits all alike.
//   npm run build && node bench/import.mjs
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const answer = (path) => `import { classify } from "@open-design/agent-cli-contracts${path}"; if (!classify("codex", "0.133.0", "linux-x64").status) process.exit(1);`;
const programs = { "bare node": "", "import and a first answer": answer(""), "the compact matrix and a first answer": answer("/matrix") };
const runs = Number(process.argv[2] ?? 15);
const times = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));

for (let i = 0; i < runs; i++) {
  for (const [name, code] of Object.entries(programs)) {
    const start = process.hrtime.bigint();
    execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: root });
    times[name].push(Number(process.hrtime.bigint() - start) / 1e6);
  }
}
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const bare = median(times["bare node"]);
for (const [name, list] of Object.entries(times)) console.log(`${name}: ${median(list).toFixed(1)} ms (+${(median(list) - bare).toFixed(1)} ms)`);

const { classify } = await import("@open-design/agent-cli-contracts/matrix");
const n = 200_000;
const start = process.hrtime.bigint();
for (let i = 0; i < n; i++) classify("codex", "0.133.0", "linux-x64");
console.log(`a look-up in process: ${(Number(process.hrtime.bigint() - start) / n / 1000).toFixed(2)} µs`);
