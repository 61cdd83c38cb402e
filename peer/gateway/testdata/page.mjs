// What visitors do, in a real browser. browser_test.go runs this with the link.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { ask, colours, complainsTo, launch, launchKeeping, picture, step } from "../../../dashboard/web/test/parts.mjs";

const [link, part] = process.argv.slice(2);
const require = createRequire(new URL("../../../dashboard/web/test/parts.mjs", import.meta.url));
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await launch();
const complaints = [];

/** @param {string} [at] */
async function open(at = link, options = {}) {
  const page = await (await browser.newContext(options)).newPage();
  page.setDefaultTimeout(60_000);
  complainsTo(page, complaints);
  await page.goto(at);
  return page;
}

async function accessible(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes[0].html}`), []);
}

// The page's process dies, and its workers with it.
async function crash(page) {
  const crashed = page.waitForEvent("crash");
  void page.goto("chrome://crash").catch(() => {}); // nobody is left to answer
  await crashed;
}

const number = async (page, id) => Number((await page.locator(`#${id}`).innerText()).replaceAll(",", "").match(/\d+/)[0]);
const until = (page, what, id, least) => page.waitForFunction(
  ([id, least]) => Number(document.getElementById(id).textContent.replaceAll(",", "").match(/\d+/)?.[0] ?? 0) >= least, [id, least], { timeout: 120_000 })
  .catch((e) => { throw new Error(`${what}: ${e.message}`); });

if (part !== "looks") {
  await step("four pages help until the end, or until one crashes", async () => {
    const pages = [await open(), await open(), await open(), await open()];
    for (const page of pages) {
      await page.locator("#cores").selectOption("1");
      await page.getByRole("button", { name: "Help" }).click();
    }
    if (part.startsWith("waits")) {
      for (const page of pages) await page.getByText("Waiting for work").waitFor();
      await ask("begin");
    }
    for (const page of pages) await until(page, "jobs are stolen", "moved", 1);
    if (part === "helps" || part.endsWith("crashes")) await crash(pages.pop());
    for (const page of pages) {
      await page.getByText("Waiting for work").waitFor({ timeout: 300_000 });
      assert.ok(await number(page, "jobs") > 0);
    }
  });
  await browser.close();
  process.exit();
}

const first = await open();

await step("the page says what for, and does nothing by itself", async () => {
  await first.getByText("asks for help with: 20 queens").waitFor();
  assert.equal(first.workers().length, 0);
  assert.equal(await first.evaluate(() => document.cookie + localStorage.length), "0");
  await accessible(first);
});

await step("who chooses no number gives half the cores, and at least one", async () => {
  for (const [all, half] of [[1, 1], [5, 2]]) {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(60_000);
    complainsTo(page, complaints);
    await page.addInitScript((n) => Object.defineProperty(navigator, "hardwareConcurrency", { get: () => n }), all);
    await page.goto(link);
    await page.getByRole("button", { name: "Help" }).click();
    await page.getByText(half === 1 ? "of 1 core at work" : `of ${half} cores at work`).waitFor();
    assert.equal(page.workers().length, half);
    assert.equal(await page.locator("#cores option").count(), all);
    await page.context().close();
  }
});

await step("one button, and it works", async () => {
  await first.locator("#cores").selectOption("2");
  await first.getByRole("button", { name: "Help" }).press("Enter");
  await until(first, "jobs are done", "jobs", 1);
  await first.getByText("20 queens, for").waitFor();
  assert.ok(await number(first, "moved") > 0);
});

await step("what its cores were given is drawn, and gone through by keys", async () => {
  const icicle = first.getByRole("img", { name: /jobs run and/ });
  await icicle.waitFor();
  assert.ok((await colours(first, "#icicle")) > 1);
  await icicle.press("ArrowLeft");
  await first.getByText(/^Job .*, on core [12], for .*, .* jobs in it$/).waitFor();
  await picture(first, "visitor");
  await accessible(first);
});

await step("it rests when it is told to, and goes on", async () => {
  await first.getByRole("button", { name: "Pause" }).click();
  await first.getByText("Resting: press").waitFor();
  await first.getByText("nothing at the moment").waitFor();
  await first.getByRole("button", { name: "Go on" }).click();
  const before = await number(first, "jobs");
  await until(first, "more jobs are done", "jobs", before + 1);
});

await step("it rests while it is hidden", async () => {
  const hide = (on) => first.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, on);
  await hide(true);
  await first.getByText("Resting while this page is hidden").waitFor();
  await first.getByText("nothing at the moment").waitFor();
  await hide(false);
  const before = await number(first, "jobs");
  await until(first, "more jobs are done", "jobs", before + 1);
});

await step("it rests while the battery is low, where the browser says so", async () => {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(60_000);
  complainsTo(page, complaints);
  await page.addInitScript(() => {
    globalThis.battery = Object.assign(new EventTarget(), { charging: false, level: 0.2 });
    navigator.getBattery = () => Promise.resolve(globalThis.battery);
  });
  await page.goto(link);
  await page.getByRole("button", { name: "Help" }).click();
  await page.getByText("Resting: the battery is low").waitFor();
  await accessible(page);
  await page.evaluate(() => {
    globalThis.battery.charging = true;
    globalThis.battery.dispatchEvent(new Event("chargingchange"));
  });
  await until(page, "it steals when it is charged", "moved", 1);
  await page.close();
});

await step("frozen for a minute it is waited for, and goes on", async () => {
  const cdp = await first.context().newCDPSession(first);
  await cdp.send("Page.setWebLifecycleState", { state: "frozen" });
  await new Promise((wake) => setTimeout(wake, 60_000)); // longer than the gateway waits for a browser to answer
  await cdp.send("Page.setWebLifecycleState", { state: "active" });
  const before = await number(first, "jobs");
  await until(first, "more jobs are done", "jobs", before + 1);
});

await step("who goes to another page and back finds it as it was; a core that has ended is not begun again by an error", async () => {
  const keeping = await launchKeeping(), page = await keeping.newPage();
  page.setDefaultTimeout(60_000);
  complainsTo(page, complaints);
  await page.addInitScript(() => {
    globalThis.begun = [];
    globalThis.Worker = class extends Worker {
      constructor(...what) { begun.push(super(...what)); }
    };
  });
  await page.goto(link);
  await page.locator("#cores").selectOption("1");
  await page.getByRole("button", { name: "Help" }).click();
  await until(page, "it steals", "moved", 1);
  await page.goto(new URL("/style.css", link).href);
  await page.evaluate(() => { setTimeout(() => history.back()); });
  await page.waitForURL(link, { waitUntil: "commit" });
  const before = await number(page, "moved"); // it is the same page
  await until(page, "it steals again", "moved", before + 1);
  assert.equal(await page.evaluate(() => begun.length), 1);
  await page.evaluate(() => begun[0].postMessage({ do: "leave" }));
  await page.getByText("Not connected: it has left").waitFor();
  await page.evaluate(() => begun[0].dispatchEvent(new ErrorEvent("error")));
  assert.match(await page.locator("#state").innerText(), /it has left/);
  await keeping.close();
});

await step("a phone in the dark helps, too, and is closed in the middle", async () => {
  const phone = await open(link, { viewport: { width: 360, height: 640 }, colorScheme: "dark", hasTouch: true });
  await phone.getByText("asks for help with: 20 queens").waitFor();
  await accessible(phone);
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await phone.locator("#cores").selectOption("2");
  await phone.getByRole("button", { name: "Help" }).tap();
  await until(phone, "it steals", "moved", 1);
  await phone.locator("#icicle").waitFor();
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await picture(phone, "visitor-phone");
  await accessible(phone);
  await phone.close();
});

await step("a page of another site gets nothing from the gateway, and shows nothing of it", async () => {
  const site = createServer((_, reply) => reply.setHeader("Content-Type", "text/html").end("<title>elsewhere</title>"));
  await new Promise((up) => site.listen(0, "127.0.0.1", up));
  const page = await (await browser.newContext()).newPage(), refused = [];
  complainsTo(page, refused);
  await page.goto(`http://localhost:${site.address().port}/`);
  const got = await page.evaluate(async (gateway) => {
    const socket = new WebSocket(`${gateway.replace("http", "ws")}/peer`, "satin-tab");
    const opened = await new Promise((said) => { socket.onopen = () => said(true); socket.onerror = () => said(false); });
    const read = await fetch(`${gateway}/about`, { method: "POST", body: "x" }).then(() => true, () => false);
    const frame = document.createElement("iframe");
    frame.src = gateway;
    const loaded = new Promise((said) => { frame.onload = said; });
    document.body.append(frame);
    await loaded;
    return { opened, read };
  }, new URL(link).origin);
  assert.deepEqual(got, { opened: false, read: false });
  assert.ok(refused.some((c) => c.includes("frame-ancestors")), refused.join("; "));
  await page.close();
  site.close();
});

await step("who sends garbage is put out, and nobody else", async () => {
  await first.evaluate(() => new Promise((ended) => {
    const socket = new WebSocket(`${location.origin.replace("http", "ws")}/peer`, "satin-tab");
    socket.onmessage = () => socket.send(crypto.getRandomValues(new Uint8Array(1000)));
    socket.onclose = ended;
  }));
  const before = await number(first, "jobs");
  await until(first, "more jobs are done", "jobs", before + 1);
});

await step("a damaged link says so", async () => {
  const page = await open(link.slice(0, -9));
  await page.getByText("This link does not work").waitFor();
  assert.ok(await page.getByRole("button", { name: "Help" }).isDisabled());
});

await step("the browser complained of nothing", async () => {
  assert.deepEqual(complaints.filter((c) => !c.includes("favicon.ico")), []);
});

await browser.close();
process.exit(); // whoever started this may still have something to say
