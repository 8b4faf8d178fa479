// The servers that the tests look at: the real program on the repository's
// registry, on a registry with decisions of its own, and static files.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join, normalize } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const repository = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

// The unprivileged user that runs CLIs must get here.
export const work = mkdtempSync(join(tmpdir(), "browser-"));
chmodSync(work, 0o755);

export function program() {
  if (process.env.AGENT_CONTRACTS_BIN) return process.env.AGENT_CONTRACTS_BIN;
  const bin = join(work, "agent-contracts");
  execFileSync("go", ["build", "-o", bin, "./cmd/agent-contracts"], { cwd: repository, stdio: "inherit" });
  return bin;
}

// serve starts the program and resolves to its address and a way to end it.
export async function serve(bin, registry, path) {
  const child = spawn(bin, ["serve", "--addr", "127.0.0.1:0", "--registry", registry], {
    env: { ...process.env, XDG_STATE_HOME: join(work, "state"), PATH: path },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error("serve ended with " + code)));
    createInterface({ input: child.stdout }).once("line", resolve);
  });
  return { url, end: () => new Promise((resolve) => { child.once("exit", resolve); child.kill("SIGINT"); }) };
}

// installed puts programs on a PATH of their own that name their versions.
export function installed(versions) {
  const dir = join(work, "bin");
  mkdirSync(dir, { recursive: true });
  chmodSync(dir, 0o755);
  for (const [name, line] of Object.entries(versions)) {
    writeFileSync(join(dir, name), `#!/bin/sh\necho '${line}'\n`);
    chmodSync(join(dir, name), 0o755);
  }
  return dir + ":/usr/bin:/bin";
}

// decided makes a registry in which, on this platform, Codex 1.2.3 is verified
// and Gemini below 99 is too old.
export function decided() {
  const dir = join(work, "registry-decided");
  for (const folder of ["registry", "probes", "schemas"]) cpSync(join(repository, folder), join(dir, folder), { recursive: true });
  const file = join(dir, "registry", "support-matrix.json");
  const matrix = JSON.parse(readFileSync(file, "utf8"));
  const platform = `${process.platform}-${process.arch}`;
  const verified = structuredClone(matrix.agents.find((e) => e.agent === "codex" && e.support_status === "version_range_verified"));
  Object.assign(verified, { version_ranges: ["1.2.3"], platforms: [platform], latest_verified: "1.2.3" });
  for (const s of verified.observed_shapes) Object.assign(s.extensions, { versions: ["1.2.3"], interpolated: undefined });
  const old = { ...structuredClone(verified), agent: "gemini", version_ranges: ["<99.0.0"], support_status: "too_old", observed_shapes: [], last_observed_at: null,
    latest_verified: null, latest_seen: null, policy: { allow_run: "block" }, extensions: { reason: "too old for this test" } };
  matrix.agents = [verified, old];
  writeFileSync(file, JSON.stringify(matrix));
  return dir;
}

// files hands out a written site below /sub/, as a project's pages are.
export async function files(dir) {
  const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json" };
  const server = createServer((req, res) => {
    const path = normalize(decodeURIComponent(new URL(req.url, "http://x").pathname)).replace(/^\/sub/, "");
    let file = join(dir, path);
    if (path.endsWith("/")) file = join(file, "index.html");
    if (!existsSync(file)) return res.writeHead(404).end();
    res.writeHead(200, { "Content-Type": types[extname(file)] ?? "text/plain" }).end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/sub/`, end: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}

// browser starts the system's Chromium. That there is none is an error, never a
// reason to skip.
export function browser() {
  const names = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const executablePath = names.find((n) => n && existsSync(n));
  if (!executablePath) throw new Error("no Chromium: install the package chromium, or name one with CHROMIUM");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
