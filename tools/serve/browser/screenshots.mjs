// Makes the pictures of docs/SERVE.md: node screenshots.mjs DIR
import { rmSync } from "node:fs";
import { join } from "node:path";
import { browser, installed, program, repository, serve, work } from "./world.mjs";

const dir = process.argv[2];
if (!dir) throw new Error("usage: node screenshots.mjs DIR");
const server = await serve(program(), repository, installed({}));
const chrome = await browser();
const page = await chrome.newPage({ viewport: { width: 1120, height: 820 } });
for (const [name, path] of [["overview", ""], ["agent", "codex/"]]) {
  await page.goto(server.url + path);
  await page.screenshot({ path: join(dir, name + ".png") });
}
await chrome.close();
await server.end();
rmSync(work, { recursive: true, force: true });
