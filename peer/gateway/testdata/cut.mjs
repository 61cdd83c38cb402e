// A page whose network is gone in the middle of its work, and nothing says so: cut_test.go runs this with the link of a gateway with TLS, begins
// the run, cuts the page off and gets the answer when it is asked to.

import assert from "node:assert/strict";
import { ask, complainsTo, launch, step } from "../../../dashboard/web/test/parts.mjs";

const [link] = process.argv.slice(2);
const browser = await launch("--ignore-certificate-errors"); // it is made for the test
const complaints = [];

await step("a page that was cut off is missed by nobody, and comes back by itself", async () => {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(300_000);
  complainsTo(page, complaints);
  await page.goto(link);
  assert.ok(link.startsWith("https:"));
  await page.locator("#cores").selectOption("1");
  await page.getByRole("button", { name: "Help" }).click();
  await page.getByText("Waiting for work").waitFor();
  await ask("begin");
  await page.waitForFunction(() => Number(document.getElementById("moved").textContent.split(",")[0]) > 0);
  await ask("cut");
  await ask("answer");
  await page.getByText("Waiting for work").waitFor(); // that the run has ended it hears from a new connection only
  assert.deepEqual(complaints.filter((c) => /Security|Trusted/.test(c)), []);
});
await browser.close();
process.exit(); // whoever started this may still have something to say
