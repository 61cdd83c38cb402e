// A page whose gateway is killed in the middle of its work: killed_test.go runs this with the link, and kills it when asked.

import assert from "node:assert/strict";
import { ask, complainsTo, launch, step } from "../../../dashboard/web/test/parts.mjs";

const [link, next] = process.argv.slice(2);
const browser = await launch();
const complaints = [];

/** How many jobs a page has stolen. */
const moved = (page, least) => page.waitForFunction((least) => Number(document.getElementById("moved").textContent.split(",")[0]) >= least,
  least, { timeout: 120_000 });

await step("a page whose gateway is killed goes on at the next one", async () => {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(60_000);
  complainsTo(page, complaints);
  const reply = await page.goto(link);
  assert.ok(reply.headers()["content-security-policy"].endsWith(`connect-src 'self' ${next} ${next.replace("http", "ws")}`));
  await page.locator("#cores").selectOption("1");
  await page.getByRole("button", { name: "Help" }).click();
  await moved(page, 1);
  const had = Number((await page.locator("#moved").innerText()).split(",")[0]);
  await ask("kill");
  await moved(page, had + 1).catch(async (e) => {
    throw new Error(`${await page.locator("#state").innerText()}; ${complaints.join("; ")}: ${e.message}`);
  });
  const refused = await page.evaluate(async (url) => {
    const socket = new WebSocket(url);
    return new Promise((said) => { socket.onerror = () => said(true); socket.onopen = () => said(false); });
  }, "ws://127.0.0.1:1/peer");
  assert.ok(refused);
  assert.deepEqual(complaints.filter((c) => /Security|Trusted/.test(c) && !c.includes("127.0.0.1:1/peer")), []);
});
await browser.close();
process.exit(); // whoever started this may still have something to say
