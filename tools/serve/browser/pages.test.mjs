// The pages in a real Chromium: they load, filter, go by keyboard, open the
// drawer, have no serious accessibility fault, and work without script.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, decided, files, installed, program, repository, serve, work } from "./world.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let chrome, repo, machine, written;

before(async () => {
  const bin = program();
  const path = installed({ codex: "codex-cli 1.2.3", claude: "99.0.0 (Claude Code)", gemini: "0.1.0" });
  execFileSync(bin, ["site", "--out", join(work, "site"), "--registry", repository, "-q"], { stdio: "inherit" });
  [chrome, repo, machine, written] = await Promise.all([browser(), serve(bin, repository, path), serve(bin, decided(), path), files(join(work, "site"))]);
});

after(async () => {
  await chrome?.close();
  await Promise.all([repo, machine, written].map((s) => s?.end()));
  rmSync(work, { recursive: true, force: true });
});

// page opens an address, lets the test look, and fails on any error of the page.
async function page(url, options, look) {
  const context = await chrome.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const p = await context.newPage();
  const faults = [];
  p.on("pageerror", (e) => faults.push(String(e)));
  p.on("console", (m) => m.type() === "error" && faults.push(m.text()));
  p.on("response", (r) => r.status() >= 400 && faults.push(`${r.status()} ${r.url()}`));
  try {
    await p.goto(url, { timeout: 120_000 });
    await look(p);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}

const shown = (p) => p.locator("tr[data-search]:visible");

for (const kind of ["served", "written"]) {
  const at = (path) => (kind === "served" ? repo.url : written.url) + path;

  test(`${kind}: the overview filters as one types`, () => page(at(""), {}, async (p) => {
    const all = await shown(p).count();
    assert.ok(all > 20, `${all} agents`);
    await p.keyboard.press("/");
    await p.keyboard.type("codex");
    assert.equal(await p.evaluate(() => document.activeElement.id), "q");
    const few = await shown(p).count();
    assert.ok(few > 0 && few < 5, `${few} agents with codex`);
    assert.match(await p.locator("#found").textContent(), new RegExp(`^${few} of ${all} agents`));
    await p.reload();
    assert.equal(await shown(p).count(), few, "the filter is in the address");
    await p.fill("#q", "no such agent");
    assert.ok(await p.locator(".empty").isVisible());
    await p.fill("#q", "");
    assert.equal(await shown(p).count(), all);
  }));

  test(`${kind}: a cell's evidence opens by keyboard, and focus comes back`, () => page(at("codex/"), {}, async (p) => {
    for (let i = 0; i < 60 && !(await p.evaluate(() => document.activeElement.matches(".grid a.c"))); i++) await p.keyboard.press("Tab");
    const cell = () => p.evaluate(() => document.activeElement.getAttribute("href"));
    const first = await cell();
    assert.match(first, /#chat-tool-success$/);
    await p.keyboard.press("ArrowRight");
    const second = await cell();
    assert.notEqual(second, first);
    assert.match(second, /#chat-tool-success$/, "right stays with the probe");
    await p.keyboard.press("ArrowDown");
    const below = await cell();
    assert.equal(below.split("#")[0], second.split("#")[0], "down stays with the version");
    await p.keyboard.press("End");
    await p.keyboard.press("Home");
    await p.keyboard.press("ArrowUp");
    assert.equal(await cell(), first);
    await p.keyboard.press("Enter");
    const drawer = p.locator("dialog.drawer[open]");
    await drawer.waitFor();
    assert.ok(await p.evaluate(() => document.activeElement.closest("dialog") !== null), "focus is in the drawer");
    const text = await drawer.innerText();
    assert.match(text, /agent-contracts capture codex@\S+ --probe chat-tool-success/);
    for (const word of ["observation", "raw transcript", "fixture", "shape"]) assert.ok(text.includes(word), word);
    assert.match(await drawer.locator("code.hash").first().getAttribute("title"), /^sha256:[0-9a-f]{64}$/);
    await p.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" }).catch(() => {});
    assert.equal(await p.locator("dialog[open]").count(), 0);
    assert.equal(await cell(), first, "focus is where it was");
  }));

  test(`${kind}: links of the drawer lead on`, () => page(at("codex/"), {}, async (p) => {
    await p.locator(".grid a.c").first().click();
    await p.locator("dialog.drawer[open] a.hash").first().click();
    await p.waitForURL(/\/shapes\/[0-9a-f]{12}\/$/);
    assert.ok((await p.locator("article.frame").count()) > 0);
  }));

  test(`${kind}: without script a cell leads to its evidence`, () => page(at("codex/"), { javaScriptEnabled: false }, async (p) => {
    const href = await p.locator(".grid a.c").first().getAttribute("href");
    await p.locator(".grid a.c").first().click();
    await p.waitForURL(new RegExp("/codex/[^/]+/[^/]+/#"));
    const probe = p.locator("#" + href.split("#")[1]);
    if (!(await probe.isVisible())) await p.locator("details.proof summary").first().click();
    assert.ok(await probe.isVisible());
    assert.match(await probe.innerText(), /raw transcript/);
    assert.match(await p.locator("h1").innerText(), /Codex CLI/);
  }));
}

test("without script the overview filters by its form", () => page(repo.url, { javaScriptEnabled: false }, async (p) => {
  await p.fill("#q", "claude");
  await p.press("#q", "Enter");
  await p.waitForURL(/\?q=claude$/);
  const few = await shown(p).count();
  assert.ok(few > 0 && few < 6, `${few} agents`);
}));

test("without script every kind of page can be read", async () => {
  for (const path of ["", "codex/", "consumer/", "consumer/claude/", "health/", "api/", "machine/", "review/"]) {
    await page(repo.url + path, { javaScriptEnabled: false }, async (p) => {
      assert.ok((await p.locator("main").innerText()).length > 60, path);
      assert.equal(await p.locator("h1").count(), 1, path);
    });
  }
});

test("no accessibility fault but minor ones, light and dark", async () => {
  let shape, diff;
  await page(repo.url + "codex/", {}, async (p) => {
    diff = await p.locator("ol.changes .probes a").first().evaluate((a) => a.pathname);
    shape = "/shapes/" + diff.split("/")[2].split("..")[0] + "/";
  });
  const paths = ["/", "/codex/", "/gemini/", "/amr/", "/codex/0.144.0/linux-x64/", shape, diff, "/consumer/", "/consumer/codex/", "/health/", "/api/", "/machine/", "/review/"];
  for (const colorScheme of ["light", "dark"]) {
    for (const path of colorScheme === "light" ? paths : ["/", "/codex/", diff, "/consumer/"]) { // the other pages have no further colours
      await page(new URL(path, repo.url).href, { colorScheme, bypassCSP: true }, (p) => inspect(p, `${path} ${colorScheme}`));
    }
    await page(repo.url + "codex/", { colorScheme, bypassCSP: true, reducedMotion: "reduce" }, async (p) => {
      await p.locator(".grid a.c").first().click();
      await p.locator("dialog.drawer[open]").waitFor();
      await inspect(p, `drawer ${colorScheme}`);
    });
    await page(machine.url + "machine/", { colorScheme, bypassCSP: true }, (p) => inspect(p, `decided machine ${colorScheme}`));
  }
});

async function inspect(p, what) {
  await p.evaluate(axe);
  const found = await p.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter((v) => v.impact !== "minor");
  assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].failureSummary}`), [], what);
}

// What the page of this machine shows is what the compatibility route answers.
test("this machine: normal, warning and blocking", () => page(machine.url + "machine/", {}, async (p) => {
  const want = {
    codex: { allow: "allow", tone: "good", head: "Run it.", chip: "verified" },
    claude: { allow: "warn", tone: "warn", head: "It may run, with care.", command: "agent-contracts compatibility claude --probe" },
    gemini: { allow: "block", tone: "bad", head: "Do not run it.", chip: "too old" },
  };
  for (const [agent, w] of Object.entries(want)) {
    const dto = await (await fetch(`${machine.url}api/agents/${agent}/cli-compatibility?probe=0`)).json();
    assert.equal(dto.policy.allow_run, w.allow, agent);
    const card = p.locator(`[data-agent="${agent}"]`);
    const text = await card.innerText();
    assert.equal(await card.getAttribute("data-policy"), w.allow);
    assert.ok((await card.getAttribute("class")).split(" ").includes(w.tone), agent);
    assert.equal(text.includes("verified range"), w.allow === "allow", `${agent}: what is not verified has no verified range`);
    assert.equal(await card.locator("[role=alert]").count(), w.allow === "block" ? 1 : 0, "a blocking status is announced");
    for (const part of [w.head, w.chip, w.command, dto.status, dto.installed_version, dto.evidence.version_range]) if (part) assert.ok(text.includes(part), `${agent}: ${part}`);
    const times = await card.locator("time").evaluateAll((list) => list.map((t) => t.getAttribute("datetime")));
    if (dto.evidence.observed_at) assert.ok(times.includes(dto.evidence.observed_at), `${agent}: evidence time`);
    else assert.ok(text.includes("nothing was observed"), agent);
  }
}));

test("the freshness clock runs in the browser", () => page("about:blank", {}, async (p) => {
  const made = (await (await fetch(repo.url + "api/v1/codex.json")).json()).last_observed_at;
  const later = (days) => new Date(Date.parse(made) + days * 864e5);
  await p.clock.setFixedTime(later(1));
  await p.goto(repo.url + "codex/");
  assert.match(await p.locator(".facts .fresh").innerText(), /13 days left/);
  await p.clock.setFixedTime(later(20));
  await p.goto(repo.url + "codex/");
  assert.match(await p.locator(".facts .fresh").innerText(), /stale for 6 days/);
  assert.equal(await p.locator(".facts .fresh.stale").count(), 1);
}));

test("a narrow screen scrolls tables, not the page", async () => {
  for (const path of ["", "codex/", "codex/0.144.0/linux-x64/", "consumer/", "consumer/codex/", "health/", "api/", "machine/", "review/"]) {
    await page(repo.url + path, { viewport: { width: 320, height: 740 } }, async (p) => {
      const over = await p.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `/${path} is ${over} pixels too wide`);
    });
  }
});
