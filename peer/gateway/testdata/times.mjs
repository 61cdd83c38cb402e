// How soon a page helps, and how fast: `go run . tab` in internal/bench runs this with a link, and with whether the first page crashes.

import { launch } from "../../../dashboard/web/test/parts.mjs";

const [link, part] = process.argv.slice(2);
const browser = await launch();

/** What a page shows under a name, as a number. */
const number = async (page, id) => Number((await page.locator(`#${id}`).innerText()).replaceAll(",", "").match(/\d+/)?.[0] ?? 0);

/** Opens the link, and gives the page and the seconds until it has stolen a job. */
async function open(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const begun = performance.now();
  await page.goto(link);
  await page.locator("#cores").selectOption("1");
  await page.getByRole("button", { name: "Help" }).click();
  await page.waitForFunction(() => /^[1-9]/.test(document.getElementById("moved")?.textContent ?? ""));
  return { page, took: (performance.now() - begun) / 1000 };
}

const first = await open(await browser.newContext());
let last = first;
if (part === "crashes") {
  // Nobody has given a job back yet: those that can be had again now are this page's.
  const cdp = await first.page.context().newCDPSession(first.page);
  const crashed = first.page.waitForEvent("crash");
  void cdp.send("Page.crash").catch(() => {}); // nobody is left to answer
  await crashed;
  console.log("crashed");
  last = await open(first.page.context());
}
await new Promise((wake) => setTimeout(wake, 30_000));
const core = await number(last.page, "worked"), jobs = await number(last.page, "jobs");
console.log(JSON.stringify({ cold: first.took, warm: last.took, rate: jobs / core }));
await browser.close();
