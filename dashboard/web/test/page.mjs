// The page in a real browser. browser_test.go runs this and plays the peer: a line of JSON asks it for something, a line of JSON answers.

import assert from "node:assert/strict";
import http from "node:http";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { ask, colours, complainsTo, cut, launch, names, picture, step } from "./parts.mjs";

const browser = await launch("--host-resolver-rules=MAP evil.example 127.0.0.1");
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const complaints = [];

async function openPage(level, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  complainsTo(page, complaints);
  const { link } = await ask("link", { level });
  await page.goto(link);
  await page.locator("main .tiles").waitFor();
  return page;
}

/** The daemon's answer about units and theme, from now on: GET tells them, POST keeps them. */
const prefs = (page, method) => page.waitForResponse((r) => r.url().endsWith("/api/v1/prefs") && r.request().method() === method);

/** Chooses what the daemon is to keep, and waits until it does. */
const choose = (page, label, value) => Promise.all([prefs(page, "POST"), page.getByLabel(label).selectOption(value)]);

/** Loads the page anew, and waits until it knows what the daemon has kept. */
const reload = (page) => Promise.all([prefs(page, "GET"), page.reload()]);

const page = await openPage("control");
const base = new URL(page.url()).origin;

await step("the link leaves no token in the address", async () => {
  assert.equal(page.url(), `${base}/`);
  assert.equal(await page.evaluate(() => document.cookie), "");
});

await step("each view, by key, has what the peer says, as text", async () => {
  for (const [i, name] of names.entries()) {
    await page.keyboard.press(String(i + 1));
    await page.locator(`nav a[href="#${name}"][aria-current=page]`).waitFor();
    await picture(page, name);
    assert.equal(await page.locator("main img, main script").count(), 0);
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(found.violations.map((v) => `${name}: ${v.id}: ${v.nodes[0].html}`), []);
  }
  await page.keyboard.press("4");
  const text = await page.locator("main").innerText();
  assert.ok(text.includes("<img src=x onerror=alert(1)>"), text);
  assert.ok(!/[\u202e\0]/.test(text));
});

await step("the tree shows what became of segments, and is gone through by mouse and keys", async () => {
  await ask("grow");
  await page.keyboard.press("2");
  await page.getByText(/^61 segments, 1 running, 0 folded into others, 3 from before/).waitFor();
  await page.locator("[role=treegrid] tbody tr").nth(9).waitFor();
  assert.ok((await colours(page, "canvas.icicle")) > 6);
  const states = await page.locator("[role=treegrid] tbody").innerText();
  for (const state of ["running", "orphan", "restarted", "aborted", "done, again"]) assert.ok(states.includes(state), `${state} in ${states}`);
  const canvas = page.locator("canvas.icicle"), box = await canvas.boundingBox();
  await canvas.hover({ position: { x: 30, y: 30 } });
  await page.getByText(/^Job 1, done, on A2/).waitFor();
  await canvas.click({ position: { x: 30, y: 30 } });
  await page.locator(".crumbs button").nth(2).waitFor();
  await page.locator("canvas.map").waitFor();
  await canvas.press("Escape");
  await canvas.press("Escape");
  assert.equal(await page.locator(".crumbs button").count(), 1);
  await canvas.press("ArrowDown");
  await canvas.press("ArrowRight");
  await canvas.press("Enter");
  assert.equal(await page.locator(".crumbs button").count(), 3);
  await page.locator(".crumbs button").first().click();
  const before = await colours(page, "canvas.icicle");
  await page.getByLabel("State").selectOption("orphan");
  assert.ok((await colours(page, "canvas.icicle")) < before);
  await page.getByLabel("State").selectOption("");
  for (const width of ["share", "time", "jobs"]) {
    await page.getByLabel("Width").selectOption(width);
    assert.ok((await colours(page, "canvas.icicle")) > 6, width);
  }
  const own = await canvas.evaluate((shown) => { // at the right end of the row below the root
    const c = document.createElement("canvas"), side = shown.width / shown.clientWidth;
    [c.width, c.height] = [40, 20];
    c.getContext("2d").drawImage(shown, shown.width - 48 * side, 32 * side, 40 * side, 20 * side, 0, 0, 40, 20);
    return new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, 40, 20).data.buffer)).size;
  });
  assert.ok(own > 1, "what the root did itself is not drawn");
  const hues = await page.locator(".legend .swatch").evaluateAll((list) => list.map((e) => e.style.backgroundColor));
  assert.equal(new Set(hues).size, hues.length);
  await page.getByLabel("Time that is shown").fill("500");
  await page.getByText(/^5.0 s of 10 s|^5.0 s of 10.0 s/).waitFor();
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText(/^\d.* s of/).waitFor();
  await page.getByRole("button", { name: "Go on" }).click();
  assert.ok(box.width > 300);
  await picture(page, "tree");
});

await step("the timeline shows what the workers did, and is saved as a trace", async () => {
  await page.keyboard.press("3");
  await page.getByRole("cell", { name: "A1" }).waitFor();
  assert.ok((await colours(page, "canvas.icicle")) > 6);
  await page.locator("canvas.icicle").hover({ position: { x: 200, y: 35 } });
  await page.getByText(/^A2 .*: stole \d+ of the segments/).waitFor();
  await page.getByRole("button", { name: /^B / }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save for Perfetto" }).click()]);
  const saved = JSON.parse(await readFile(await download.path(), "utf8"));
  assert.equal(saved.traceEvents.filter((e) => e.ph === "X").length, 61);
  assert.ok(saved.traceEvents.some((e) => e.ph === "s") && saved.traceEvents.some((e) => e.ph === "C"));
  await picture(page, "timeline");
});

await step("the swarm shows the ways between clusters, and the overview why workers are idle", async () => {
  await page.keyboard.press("4");
  await page.getByRole("cell", { name: "30 ms, 3 jobs" }).waitFor();
  await page.keyboard.press("1");
  await page.getByText(/of the workers' time went into waiting/).waitFor();
  await page.getByText(/efficiency \d+ %, as fast as/).waitFor();
  await page.locator(".chart canvas").first().waitFor();
});

await step("units and theme are kept by the daemon", async () => {
  await choose(page, "Units", "binary");
  await page.keyboard.press("6");
  await page.evaluate(() => localStorage.clear());
  await reload(page);
  await page.waitForFunction(() => document.getElementById("units").value === "binary");
  await choose(page, "Units", "decimal");
  await page.locator("main h2").first().click(); // keys are the select's while it has the focus
  await page.keyboard.press("1");
});

await step("50,000 segments are drawn, in each way, and gone through", async () => {
  await ask("many");
  const other = await openPage("view");
  await other.keyboard.press("2");
  await other.getByText(/^5\d,\d{3} segments, .* folded into others/).waitFor({ timeout: 60_000 });
  await other.waitForFunction(() => document.querySelectorAll("[role=treegrid] tbody tr").length >= 20, null, { timeout: 60_000 });
  const times = {};
  for (const width of ["jobs", "share", "time"]) {
    await other.getByLabel("Width").selectOption(width);
    assert.ok((await colours(other, "canvas.icicle")) > 6, width);
    times[width] = await other.evaluate(async () => { // a frame of each step of a scrub through the run: its work, not its rate
      const input = document.querySelector("input[type=range]"), list = [], real = globalThis.requestAnimationFrame;
      let spent = 0;
      globalThis.requestAnimationFrame = (draw) => real((at) => {
        const began = performance.now();
        draw(at);
        spent += performance.now() - began;
      });
      for (let i = 0; i < 60; i++) {
        input.value = String(i * 16);
        const began = performance.now();
        input.dispatchEvent(new Event("input"));
        spent = performance.now() - began;
        await new Promise(real);
        list.push(spent);
      }
      globalThis.requestAnimationFrame = real;
      list.sort((a, b) => a - b);
      return { median: list[30], p95: list[57] };
    });
    await other.getByRole("button", { name: "Go on" }).click();
  }
  process.stderr.write(`     ms of script for a frame of 50,000 segments: ${JSON.stringify(times)}\n`);
  await picture(other, "many");
  await other.context().close();
});

await step("a peer is found by /", async () => {
  await page.keyboard.press("/");
  await page.keyboard.type("no such peer");
  await page.getByText("No peer is like that.").waitFor();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.locator("main tbody tr").nth(1).waitFor();
  await page.locator("main h2").first().click();
});

await step("a peer that is lost is seen", async () => {
  await ask("lose");
  await page.getByText("not heard", { exact: true }).waitFor();
  await page.keyboard.press("1");
  await page.getByText("is not heard any more.").waitFor();
  await page.getByText("is connected, but not heard.").waitFor();
});

await step("below the efficiency is who left and who was excluded, and why, by keys", async () => {
  await ask("decide");
  const strip = page.getByRole("toolbar", { name: "Who takes part" }), marks = strip.getByRole("button");
  await strip.getByRole("button", { name: /not heard any more: / }).waitFor();
  await strip.getByRole("button", { name: /cluster <b>far excluded: it is slow/ }).waitFor();
  await marks.last().focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelector(".strip button")?.getAttribute("aria-label") === document.querySelector("main p.chosen")?.textContent);
  assert.equal(await strip.locator("[tabindex='0']").count(), 1);
  const chart = await page.locator(".chart").last().boundingBox(), bar = await strip.boundingBox();
  for (const box of await Promise.all((await marks.all()).map((m) => m.boundingBox()))) assert.ok(box.x >= chart.x && box.x + box.width <= chart.x + chart.width);
  assert.ok(bar.y >= chart.y + chart.height);
  await page.evaluate(axe);
  assert.deepEqual(await page.evaluate(async () => (await globalThis.axe.run()).violations.map((v) => `${v.id}: ${v.nodes[0].html}`)), []);
  await picture(page, "strip");
});

await step("buttons act", async () => {
  await page.keyboard.press("6");
  await page.getByRole("button", { name: "Pause for an hour" }).click();
  await page.getByText("Done.").waitFor();
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await ask("work", { state: "working" });
  await page.getByRole("button", { name: "Finish, then pause" }).click();
  await page.getByText("Finishing: 3 jobs to be done here, then paused.").waitFor();
  await ask("work", { state: "paused" });
  await page.getByLabel("Time of the day at which the pause ends").fill("18:00");
  await page.getByRole("button", { name: "Pause until", exact: true }).click();
  await page.getByText("Done.").waitFor();
  await page.keyboard.press("5");
  await page.locator("summary").first().click();
  page.once("dialog", (d) => d.accept());
  await page.getByRole("button", { name: "Cancel this run" }).click();
  await page.getByText("Cancelled.").waitFor();
  const { actions } = await ask("actions");
  assert.deepEqual(actions.toSpliced(3, 1), ["pause 1h0m0s", "resume", "finish", "cancel 0123"]);
  assert.match(actions[3], /^pause \d+/);
});

await step("what was verified is shown by the names of those who have signed", async () => {
  await page.keyboard.press("6");
  await page.getByText("90 min, 340 results in 12 runs, by signed receipts of 2 owners").waitFor();
  const row = page.getByRole("row", { name: "<b>desk" });
  assert.match((await row.innerText()).replace(/\s+/g, " "), /<b>desk .* 83 min .*300 .*11/);
});

await step("the owner says what he allows; what cannot be is told, and stays as it was", async () => {
  await page.keyboard.press("6");
  assert.ok(await page.getByLabel("workers", { exact: true }).isDisabled()); // a flag has set it
  await page.getByText("set by --workers until the daemon is started again").waitFor();
  await page.getByLabel("on_battery").check();
  await page.getByText("on_battery is changed").waitFor();
  await page.getByLabel("hours").fill("22:00-06:00, sat/00:00-24:00");
  await page.keyboard.press("Tab");
  await page.getByText("hours is changed").waitFor();
  await page.getByLabel("hours").fill("noon");
  await page.keyboard.press("Tab");
  await page.getByText('Not changed: bad input: hours: got "noon"').waitFor();
  await page.waitForFunction(() => document.querySelector("[name=hours]").value === "22:00-06:00, sat/00:00-24:00");
  await picture(page, "machine-allowed");
  const refused = complaints.findIndex((c) => c.includes("400 (Bad Request)") && c.includes("/api/v1/preferences")); // Chromium says so by itself
  if (refused >= 0) complaints.splice(refused, 1);
  assert.deepEqual((await ask("actions")).actions.slice(-2), ['prefer on_battery ["true"]', 'prefer hours ["22:00-06:00" "sat/00:00-24:00"]']);
});

await step("runs are begun, suspended, resumed and read on the page", async () => {
  const before = (await ask("actions")).actions.length;
  await page.keyboard.press("5");
  await page.getByLabel("Application").selectOption("tsp");
  await page.getByText("Tours.").waitFor();
  await page.getByLabel("Arguments").fill("a b");
  await page.keyboard.press("Enter");
  await page.getByText("Run 4567 has begun.").waitFor();
  if (!(await page.locator("details").first().evaluate((d) => d.open))) await page.locator("summary").first().click();
  await page.getByRole("button", { name: "Suspend it" }).click();
  await page.getByText("Suspended.").waitFor();
  await ask("run", { state: "suspended" });
  await page.getByRole("button", { name: "Go on with it" }).click();
  await page.getByText("It goes on.").waitFor();
  await ask("run", { state: "done" });
  await page.getByRole("button", { name: "Show the answer" }).click();
  await page.locator("pre").filter({ hasText: "the answer" }).waitFor();
  assert.equal(await page.locator("main img, main script").count(), 0);
  await picture(page, "runs-answer");
  await ask("run", { state: "quarantined" }); // whose jobs kill: it says so, and why, and can be let in again
  await page.getByText("in quarantine,").waitFor();
  await page.getByText("the process that computes for it ended twice (stack overflow)").waitFor();
  await picture(page, "runs-quarantine");
  await page.getByRole("button", { name: "Let it in again" }).click();
  await page.getByText("It goes on.").waitFor();
  await ask("run", { state: "running" });
  await page.getByRole("button", { name: "Let it in again" }).waitFor({ state: "hidden" });
  await page.keyboard.press("1");
  await page.getByText("is in quarantine here").waitFor();
  await page.keyboard.press("5");
  assert.deepEqual((await ask("actions")).actions.slice(before), ["start tsp a b", "suspend 0123", "resume 0123", "resume 0123"]);
});

await step("who may only look has no buttons", async () => {
  const other = await openPage("view");
  await other.keyboard.press("6");
  await other.getByText("This session may only look.").waitFor();
  assert.equal(await other.getByRole("button").count(), 0);
  await other.getByLabel("hours").waitFor();
  assert.ok(await other.getByLabel("hours").isDisabled());
  await other.context().close();
});

await step("a page that is hidden wants nothing, and goes on where it was", async () => {
  const context = await browser.newContext();
  const other = await context.newPage();
  const sent = [], got = [];
  other.on("websocket", (w) => {
    w.on("framesent", (f) => sent.push(JSON.parse(f.payload)));
    w.on("framereceived", (f) => got.push(JSON.parse(f.payload)));
  });
  await other.goto((await ask("link", { level: "view" })).link);
  await other.locator("main .tiles").waitFor();
  const hide = (hidden) => other.evaluate((h) => {
    Object.defineProperty(document, "hidden", { value: h, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await hide(true);
  await ask("work", { state: "idle" });
  await hide(false);
  await other.locator(".lead").getByText("Idle: no work").waitFor();
  assert.deepEqual(sent.map((s) => s.topics.length), [9, 0, 9]);
  assert.equal(sent[2].epoch, got[0].epoch);
  assert.deepEqual(got.map((g) => g.kind).filter((k) => k === "snapshot"), ["snapshot"]);
  await ask("work", { state: "paused" });
  await context.close();
});

await step("phones of 320 to 400 pixels show everything without scrolling sideways, light and dark, below a header of two rows, or three", async () => {
  await ask("grow"); // a cluster with a long name, and one of its peers has a name of one word of 60 letters
  for (const [colorScheme, width, rows] of [["light", 320, 3], ["light", 360, 2], ["dark", 400, 2]]) {
    const phone = await openPage("control", { viewport: { width, height: 844 }, colorScheme });
    const header = await phone.locator("header").evaluate((h) => ({
      cut: [...h.querySelectorAll("nav a, select")].filter((e) => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1).length,
      rows: new Set([...h.querySelectorAll("h1, label, nav a")].map((e) => Math.round((e.getBoundingClientRect().top + e.getBoundingClientRect().bottom) / 20))).size,
    }));
    assert.deepEqual(header, { cut: 0, rows });
    for (const name of names) {
      await phone.locator(`nav a[href="#${name}"]`).click();
      await phone.locator(`nav a[href="#${name}"][aria-current=page]`).waitFor();
      if (name === "tree") await phone.locator("[role=treegrid] tbody tr").first().waitFor();
      if (name === "swarm") await phone.getByRole("cell", { name: "30 ms, 3 jobs" }).waitFor();
      assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), width, name);
      assert.deepEqual(await phone.evaluate(cut), []);
      await picture(phone, `phone-${colorScheme}-${name}`);
      await phone.evaluate(axe);
      const found = await phone.evaluate(() => globalThis.axe.run());
      assert.deepEqual(found.violations.map((v) => `${colorScheme} ${name}: ${v.id}: ${v.nodes[0].html}`), []);
    }
    assert.equal(await phone.evaluate(() => document.documentElement.dataset.theme), colorScheme);
    await choose(phone, "Theme", colorScheme === "dark" ? "light" : "dark");
    await reload(phone);
    await phone.waitForFunction((want) => document.documentElement.dataset.theme === want, colorScheme === "dark" ? "light" : "dark");
    await choose(phone, "Theme", "system");
    await phone.context().close();
  }
});

await step("what is selected stays selected when something changes", async () => {
  const select = (list) => list.evaluate((e) => {
    getSelection().selectAllChildren(e);
    return getSelection().toString();
  });
  for (const [key, list, state] of [["6", "main code", "idle"], ["1", "main ul:last-child li", "paused"]]) {
    await page.keyboard.press(key);
    const text = await select(page.locator(list).first());
    await ask("work", { state });
    await page.locator("main .lead", { hasText: state === "idle" ? "Idle" : "Paused" }).waitFor();
    assert.ok(text.length > 5);
    assert.equal(await page.evaluate(() => getSelection().toString()), text);
  }
});

await step("the tree follows the run that begins, unless another is chosen", async () => {
  await page.keyboard.press("2");
  const chosen = page.getByLabel(/^Run /), is = (run) => page.waitForFunction((r) => document.querySelector("main select").value === r, run);
  await ask("begin", { run: "a1", for: 20 });
  await is("a1");
  await chosen.selectOption("0123");
  await ask("begin", { run: "a2", for: 20 });
  await page.locator(`main option[value="a2"]`).waitFor({ state: "attached" });
  await is("0123");
  await chosen.selectOption("a2");
  await ask("begin", { run: "a3", for: 20 });
  await is("a3");
  await page.locator("main h2").first().click(); // keys are the select's while it has the focus
});

await step("the tree of a run grows while nothing is stolen: what its root has done so far, hatched", async () => {
  await page.keyboard.press("2");
  const sum = page.getByText(/^61 segments, 1 running/), jobs = async () => Number((await sum.innerText()).match(/([\d,]+) jobs/)[1].replaceAll(",", ""));
  const before = await jobs(), crumb = page.locator(".crumbs button").last();
  await page.locator("canvas.icicle").press("Escape");
  await page.locator("canvas.icicle").press("Enter"); // the root is the whole
  await crumb.focus();
  const drawn = (share) => page.waitForFunction((at) => { // in the row below the root: a hatch has two colours, beside what was stolen
    const shown = document.querySelector("canvas.icicle"), c = document.createElement("canvas"), side = shown.width / shown.clientWidth;
    [c.width, c.height] = [40, 20];
    const pen = c.getContext("2d", { willReadFrequently: true });
    pen.drawImage(shown, at * shown.width, 32 * side, 40 * side, 20 * side, 0, 0, 40, 20);
    const pixels = [...new Uint32Array(pen.getImageData(0, 0, 40, 20).data.buffer)], back = pixels.filter((p) => p === pixels[0]).length;
    return back > 100 && back < 780 && new Set(pixels).size > 1;
  }, share);
  await ask("further");
  await drawn(0.6);
  await drawn(0.9);
  assert.ok((await jobs()) > before + 50_000);
  assert.ok(await crumb.evaluate((b) => b === document.activeElement), "what had the focus has it no more");
  await picture(page, "tree-of-20-s");
});

await step("the timeline has room for runs of 20 seconds and of 40 minutes, from edge to edge", async () => {
  await page.keyboard.press("3");
  for (const [run, seconds, text] of [["b1", 20, "to 20 s"], ["b2", 2400, "to 40 min"]]) {
    await ask("begin", { run, for: seconds });
    await page.waitForFunction(([r, t]) => {
      const shown = document.querySelector("main canvas.icicle"), c = document.createElement("canvas"), side = shown.width / shown.clientWidth;
      if (document.querySelector("main select").value !== r || !shown.getAttribute("aria-label")?.includes(`from 0.0 s ${t};`)) return false;
      [c.width, c.height] = [shown.width, shown.height];
      const pen = c.getContext("2d", { willReadFrequently: true });
      pen.drawImage(shown, 0, 0);
      const at = (x, y) => [...pen.getImageData(Math.round(x * side), Math.round(y * side), 1, 1).data].join();
      const above = at(shown.clientWidth / 2, 1); // the row's bars begin lower
      return [56, shown.clientWidth / 2, shown.clientWidth - 3].every((x) => at(x, 13) !== above);
    }, [run, text]);
    await picture(page, `timeline-${seconds}`);
  }
});

await step("at one glance: when it will be done; and that a router keeps others out is no alarm", async () => {
  await page.keyboard.press("1");
  await page.getByText(/50 % of the tree, after 40 min, 30 s to 5 min left, on 2 peers/).waitFor();
  const bad = page.locator("main li .bad"), before = await bad.count();
  await ask("nat");
  const note = page.locator("main li", { hasText: "Peers outside the own network cannot connect to this one: the router has no port for it" });
  await note.waitFor();
  assert.equal(await note.locator(":scope > :first-child").innerText(), "i");
  assert.equal(await bad.count(), before);
});

assert.deepEqual(complaints, [], "the browser complains");

await step("a name that leads here is not answered", async () => {
  const other = await page.context().newPage();
  const reply = await other.goto(`http://evil.example:${new URL(base).port}/`);
  assert.equal(reply?.status(), 421);
  await other.close();
});

await step("a page of another port, with the user's cookie, reads, does and hears nothing", async () => {
  const server = http.createServer((_, reply) => reply.setHeader("Content-Type", "text/html").end("<!doctype html><title>x</title>"));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const before = (await ask("actions")).actions.length;
  for (const host of ["127.0.0.1", "evil.example"]) {
    const other = await page.context().newPage();
    await other.goto(`http://${host}:${server.address().port}/`);
    const came = await other.evaluate(async (to) => {
      const reads = await fetch(`${to}/api/v1/status`, { credentials: "include" }).then(() => "read", () => "refused");
      const image = await new Promise((done) => {
        const i = new Image();
        i.onload = () => done("shown");
        i.onerror = () => done("refused");
        i.src = `${to}/icon.svg`;
      });
      await fetch(`${to}/api/v1/resume`, { method: "POST", mode: "no-cors", credentials: "include", body: "{}" }).catch(() => {});
      const hears = await new Promise((done) => {
        const w = new WebSocket(`${to.replace("http", "ws")}/api/v1/live`);
        w.onopen = () => done("open");
        w.onerror = () => done("refused");
      });
      const frame = document.createElement("iframe");
      frame.src = to;
      const framed = await new Promise((done) => {
        frame.onload = () => {
          try { done(frame.contentDocument ? "own" : "foreign"); } catch { done("foreign"); }
        };
        document.body.append(frame);
      });
      return { reads, image, hears, framed };
    }, base);
    assert.deepEqual({ reads: came.reads, hears: came.hears, image: came.image }, { reads: "refused", hears: "refused", image: "refused" });
    const frames = other.frames().slice(1);
    for (const f of frames) assert.ok(!f.url().startsWith(base), `framed: ${f.url()}`);
    await other.close();
  }
  assert.equal((await ask("actions")).actions.length, before);
  server.closeAllConnections();
  server.close();
});

await step("after a restart of the daemon the page says what to do", async () => {
  await ask("restart");
  await page.getByText("The daemon does not know this page").waitFor();
  await picture(page, "refused");
});

await browser.close();
await ask("end");
process.exit();
