// The page of a daemon in a swarm of four real processes. live_browser_test.go runs this and has the swarm. How long anything takes
// depends on what else the machine does: every wait is for something to be seen, and has an end.

import assert from "node:assert/strict";
import { ask, colours, complainsTo, cut, launch, names, picture, step } from "./parts.mjs";

const patience = 60_000; // ms
const browser = await launch();
const complaints = [];

async function openPage(options = {}) {
  const page = await (await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options })).newPage();
  page.setDefaultTimeout(patience);
  complainsTo(page, complaints);
  await page.goto((await ask("link")).link);
  await page.locator("main .tiles").waitFor();
  return page;
}

/** Goes to a view by its key. */
async function go(page, name) {
  await page.keyboard.press(String(names.indexOf(name) + 1));
  await page.locator(`nav a[href="#${name}"][aria-current=page]`).waitFor();
}

const tile = (page, name) => page.locator(".tile", { hasText: name }).locator("b");
const peerRows = (page) => page.getByRole("table", { name: "Other peers" }).locator("tbody tr");

/** Goes through all views on phones and desktops, light and dark: nothing is to be scrolled sideways. */
async function sizes(state) {
  for (const [colorScheme, width] of [["light", 360], ["dark", 400], ["light", 1200], ["dark", 1200]]) {
    const shown = await openPage({ viewport: { width, height: 844 }, colorScheme });
    for (const name of names) {
      await go(shown, name);
      if (state !== "idle" && (name === "tree" || name === "timeline")) await shown.locator("canvas.icicle").waitFor();
      if (state !== "idle" && name === "tree") await shown.locator("[role=treegrid] tbody tr").first().waitFor();
      assert.equal(await shown.evaluate(() => document.documentElement.scrollWidth), width, `${state} ${name}`);
      assert.deepEqual(await shown.evaluate(cut), []);
      await picture(shown, `${state}-${colorScheme}-${width}-${name}`);
    }
    await shown.context().close();
  }
}

let page = await openPage();
await step("the overview: there is no run", async () => {
  await page.getByText("Idle: there is no run in the swarm").first().waitFor();
  await sizes("idle");
});
await ask("run");

await step("the overview: this peer works, the run goes on, on four peers", async () => {
  await page.getByText(/^Working: 1 of 1 cores run jobs of 20 queens/).waitFor();
  await page.waitForFunction(() => document.querySelector("main .card progress")?.value > 0);
  await page.getByText(/of the tree, after .* on 4 peers, efficiency \d+ %/).waitFor();
  assert.equal(await tile(page, "Other peers").innerText(), "3");
  assert.equal(await tile(page, "Clusters").innerText(), "2");
  await page.waitForFunction(() => [...document.querySelectorAll(".tile")].some((t) => /^[1-9].*Jobs per second/s.test(t.innerText)));
  await page.waitForFunction(() => [...document.querySelectorAll(".tile")].some((t) => /^× \d.*this machine alone/s.test(t.innerText)));
  await page.getByText(/^With .*\(….{8}\); .*\(….{8}\); .*\(….{8}\)/).waitFor();
  await page.locator(".chart canvas").first().waitFor();
  await picture(page, "live-overview");
});

await step("the tree: segments of several peers", async () => {
  await go(page, "tree");
  await page.waitForFunction(() => document.querySelectorAll("main .legend li").length === 4);
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll("[role=treegrid] tbody tr")];
    return new Set(rows.map((r) => r.children[1].textContent)).size >= 3;
  });
  const labels = await page.locator("main .legend li").allInnerTexts();
  for (const sign of ["A1", "A2", "B1", "B2"]) assert.ok(labels.some((l) => l.startsWith(sign)), `${sign} in ${labels}`);
  assert.ok((await colours(page, "canvas.icicle")) > 4);
  await picture(page, "live-tree");
});

await step("the timeline: a row of what its workers did for each of four peers", async () => {
  await go(page, "timeline");
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll("table[aria-label='What the workers did'] tbody tr")];
    return rows.length === 4 && rows.every((r) => /\d+ %/.test(r.innerText));
  });
  assert.ok((await colours(page, "canvas.icicle")) > 4);
  await picture(page, "live-timeline");
});

await step("the swarm: two clusters of two, three other peers that are heard", async () => {
  await go(page, "swarm");
  await page.waitForFunction(() => document.querySelectorAll("table[aria-label='Other peers'] tbody tr").length === 3);
  assert.equal(await peerRows(page).getByText("not heard").count(), 0);
  const clusters = await page.getByRole("table", { name: "Clusters" }).locator("tbody tr").allInnerTexts();
  assert.deepEqual(clusters.map((c) => c.split(/\s+/)[0]), ["site0", "site1"]);
  await page.locator("table.matrix tbody td", { hasText: /\d+ jobs/ }).first().waitFor();
  await picture(page, "live-swarm");
});

await step("the runs: the one in progress", async () => {
  await go(page, "runs");
  const entry = page.locator("details", { hasText: "nqueens" });
  await entry.locator("summary").click();
  await entry.getByText("nqueens 20", { exact: true }).last().waitFor();
  await entry.getByText("this peer", { exact: true }).waitFor();
  await entry.getByRole("button", { name: "Cancel this run" }).waitFor();
  await picture(page, "live-runs");
});

await step("my machine: where it is and what it gave", async () => {
  await go(page, "machine");
  await page.getByText("site0", { exact: true }).waitFor();
  await page.waitForFunction(() => /[1-9][^\n]* jobs that they did for this machine/.test(document.querySelector("main").innerText));
  await page.locator("main code", { hasText: "/ip4/127.0.0.1/" }).first().waitFor();
  await page.getByRole("button", { name: "Pause for an hour" }).waitFor();
  await picture(page, "live-machine");
});

await step("phones and desktops show the run", () => sizes("live"));

await step("a peer that was killed is reported", async () => {
  await go(page, "swarm");
  const { peer } = await ask("kill");
  const row = peerRows(page).filter({ hasText: peer.slice(-8) });
  await row.getByText("not heard").waitFor();
  await go(page, "overview");
  await page.getByText(new RegExp(`${peer.slice(-8)}.* is not heard any more`)).waitFor();
  await picture(page, "live-lost");
});

await step("the run goes on, and is cancelled by the page", async () => {
  await page.getByText(/of the tree, after .* on 3 peers/).waitFor();
  await go(page, "runs");
  page.once("dialog", (d) => d.accept());
  const entry = page.locator("details", { hasText: "nqueens" });
  await entry.getByRole("button", { name: "Cancel this run" }).click();
  await entry.locator("summary", { hasText: /cancelled|aborted/ }).waitFor();
  assert.match((await ask("ended")).why, /cancelled|aborted/);
  await go(page, "overview");
  await page.getByText("No run is in progress.").waitFor();
});

assert.deepEqual(complaints, [], "the browser complains"); // from here on that nobody answers, too

await step("a daemon that was killed does not answer, and the page says so", async () => {
  await ask("stop");
  await page.getByText("The daemon does not answer.").waitFor();
  assert.ok(await page.locator("main.stale").isVisible());
  await picture(page, "live-silent");
  await ask("restart");
  await page.context().close();
});

await step("a new link shows the daemon that was started again, and what it does", async () => {
  complaints.length = 0;
  page = await openPage();
  await page.locator("#banner").waitFor({ state: "hidden" });
  await go(page, "swarm");
  await page.waitForFunction(() => [...document.querySelectorAll("table[aria-label='Other peers'] tbody tr")].filter((r) => !/not heard/.test(r.innerText)).length >= 2);
  assert.equal((await ask("again")).out.trim().split(/\s+/).includes("724"), true);
  await go(page, "runs");
  await page.locator("details summary", { hasText: /10 queens.*done/s }).waitFor();
});

const entry = (text) => page.locator("main details", { hasText: text });
const is = (run, state) => run.locator("summary", { hasText: state }).waitFor();

/** Begins a run on the page, and opens what is said of it. */
async function begin(args, title) {
  await page.getByLabel("Application").selectOption("nqueens");
  await page.getByLabel("Arguments").fill(args);
  await page.getByRole("button", { name: "Start a run" }).click();
  await entry(title).locator("summary").click();
  return entry(title);
}

/** Reads the answer of a run that is open. @param {RegExp} text */
async function answer(run, text) {
  await is(run, "done");
  await run.getByRole("button", { name: "Show the answer" }).click();
  await run.locator("pre", { hasText: text }).waitFor();
}

await step("a run is begun on the page, and its answer read; what cannot be begun is told", async () => {
  await answer(await begin("11", "11 queens"), /2,?680/);
  await page.getByLabel("Arguments").fill("many");
  await page.keyboard.press("Enter");
  await page.locator("form [role=status]", { hasText: /many/ }).waitFor();
  const refused = complaints.findIndex((c) => c.includes("400 (Bad Request)")); // Chromium says so by itself
  if (refused >= 0) complaints.splice(refused, 1);
});

await step("a run is suspended, goes on, and is cancelled on the page", async () => {
  const long = await begin("21", "21 queens");
  await is(long, "running");
  await long.getByRole("button", { name: "Suspend it" }).click();
  await is(long, "suspended");
  await picture(page, "live-suspended");
  await long.getByRole("button", { name: "Go on with it" }).click();
  await is(long, "running");
  page.once("dialog", (d) => d.accept());
  await long.getByRole("button", { name: "Cancel this run" }).click();
  await is(long, "cancelled");
});

await step("a run of a module is seen, and its answer read", async () => {
  assert.match((await ask("module")).out, /73,?712/);
  const module = entry("queens.wasm");
  await module.locator("summary").click();
  await answer(module, /73,?712/);
  await picture(page, "live-module");
  await go(page, "tree");
  await page.locator("canvas.icicle").waitFor();
  await page.getByLabel("Run").locator("option:first-child", { hasText: "13 queens" }).waitFor({ state: "attached" });
  await picture(page, "live-module-tree");
});

await step("phones and desktops show how it was", () => sizes("ended"));
assert.deepEqual(complaints, [], "the browser complains");

await browser.close();
await ask("end");
process.exit();
