// Makes pages quicker to use. Everything works without it: cells are links to
// the page that the drawer shows a part of, and times are dates.
"use strict";
(() => {
  const $ = (q, at = document) => [...at.querySelectorAll(q)];

  // Copy buttons, for commands and hashes.
  const wire = (at) => {
    if (!navigator.clipboard) return;
    for (const code of $(".command code, code.hash", at)) {
      const text = code.title || code.textContent, b = document.createElement("button");
      b.type = "button";
      b.className = "copy";
      b.textContent = "copy";
      b.setAttribute("aria-label", "copy " + code.textContent);
      b.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(text);
          b.textContent = "copied";
        } catch {
          b.textContent = "not allowed";
        }
        setTimeout(() => (b.textContent = "copy"), 1500);
      });
      code.after(b);
    }
  };
  wire(document);

  // The freshness clock: how much of its time the evidence has left, today.
  const dayMS = 864e5;
  for (const f of $(".fresh")) {
    const at = Date.parse(f.dataset.at), until = Date.parse(f.dataset.until), now = Date.now();
    if (isNaN(at) || isNaN(until)) continue;
    const left = Math.max(0, Math.min(1, (until - now) / (until - at)));
    const days = until < now ? Math.floor((now - until) / dayMS) : Math.ceil((until - now) / dayMS);
    $(".left", f)[0].style.strokeDasharray = left * 100 + " 100";
    f.classList.toggle("stale", until < now);
    const text = (n) => n + (n === 1 ? " day" : " days");
    $(".until", f)[0].textContent = until < now ? ", stale for " + text(days) : ", " + text(days) + " left";
  }

  // The filter of the overview.
  const q = document.getElementById("q");
  if (q) {
    q.form.hidden = false;
    const rows = $("[data-search]"), found = document.getElementById("found");
    const apply = () => {
      const words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const r of rows) {
        r.hidden = !words.every((w) => r.dataset.search.includes(w));
        if (!r.hidden) shown++;
      }
      found.textContent = words.length ? shown + " of " + rows.length + " agents" : "";
      for (const e of $(".empty")) e.hidden = $("table.agents tbody tr").some((r) => !r.hidden);
      const url = new URL(location.href);
      if (q.value) url.searchParams.set("q", q.value);
      else url.searchParams.delete("q");
      history.replaceState(null, "", url);
    };
    const asked = new URL(location.href).searchParams.get("q");
    if (asked && !q.value) q.value = asked;
    q.addEventListener("input", apply);
    q.form.addEventListener("submit", (e) => { e.preventDefault(); apply(); });
    if (q.value) apply();
    document.addEventListener("keydown", (e) => {
      if (e.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) && !e.ctrlKey && !e.metaKey) {
        e.preventDefault();
        q.focus();
      }
    });
  }

  // The evidence that the address names is open.
  const reveal = () => {
    const e = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const d = e && e.closest("details");
    if (d && !d.open) { d.open = true; e.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();

  // The grid: one stop for Tab, arrow keys inside.
  for (const grid of $("[data-grid]")) {
    const rows = $("tbody tr", grid).map((r) => $("td", r).map((td) => td.querySelector("a.c"))).filter((r) => r.some(Boolean));
    const all = rows.flat().filter(Boolean);
    if (!all.length) continue;
    const enter = (a) => { for (const x of all) x.tabIndex = -1; a.tabIndex = 0; };
    enter(all[0]);
    grid.addEventListener("focusin", (e) => { if (all.includes(e.target)) enter(e.target); });
    grid.addEventListener("keydown", (e) => {
      const y = rows.findIndex((r) => r.includes(e.target));
      if (y < 0) return;
      const x = rows[y].indexOf(e.target), row = rows[y];
      let to;
      switch (e.key) {
        case "ArrowRight": to = row.slice(x + 1).find(Boolean); break;
        case "ArrowLeft": to = row.slice(0, x).reverse().find(Boolean); break;
        case "Home": to = row.find(Boolean); break;
        case "End": to = [...row].reverse().find(Boolean); break;
        case "ArrowDown": to = rows.slice(y + 1).map((r) => r[x]).find(Boolean); break;
        case "ArrowUp": to = rows.slice(0, y).reverse().map((r) => r[x]).find(Boolean); break;
        default: return;
      }
      e.preventDefault();
      if (to) to.focus();
    });
  }

  // The drawer shows the evidence behind a cell. Its content is a part of the
  // page that the cell links to.
  let drawer;
  const open = async (link) => {
    const url = new URL(link.href), id = decodeURIComponent(url.hash.slice(1));
    url.hash = "";
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const part = page.getElementById(id);
    if (!part) throw new Error("no evidence of " + id);
    for (const a of $("a[href]", part)) a.href = new URL(a.getAttribute("href"), url).href;
    if (!drawer) {
      drawer = document.createElement("dialog");
      drawer.className = "drawer";
      drawer.setAttribute("aria-labelledby", "drawer-title");
      drawer.addEventListener("click", (e) => { if (e.target === drawer) drawer.close(); });
      document.body.append(drawer);
    }
    drawer.onclose = () => link.focus();
    const header = document.createElement("header"), title = document.createElement("h2"), close = document.createElement("button");
    title.id = "drawer-title";
    title.textContent = page.title.replace(/ · agent-contracts$/, "");
    close.className = "close";
    close.type = "button";
    close.textContent = "Close";
    close.addEventListener("click", () => drawer.close());
    header.append(title, close);
    const whole = document.createElement("p"), more = document.createElement("a");
    more.href = link.href;
    more.textContent = "The whole page of this version";
    whole.append(more);
    part.removeAttribute("id");
    drawer.replaceChildren(header, part, whole);
    wire(drawer);
    drawer.showModal();
    drawer.scrollTop = 0;
  };
  document.addEventListener("click", (e) => {
    const link = e.target.closest && e.target.closest("[data-grid] td a.c");
    if (!link || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    open(link).catch(() => { location.href = link.href; });
  });
})();
