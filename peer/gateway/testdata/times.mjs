// How soon a page helps, and how fast: `go run . tab` in internal/bench runs this with a link and a part.

import { ask, launch } from "../../../dashboard/web/test/parts.mjs";

const [link, part] = process.argv.slice(2);
const browser = await launch();

/** What a page shows under a name, as a number. */
const number = async (page, id) => Number((await page.locator(`#${id}`).innerText()).replaceAll(",", "").match(/\d+/)?.[0] ?? 0);

/** Opens the link with one core at work. */
async function help(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(link);
  await page.locator("#cores").selectOption("1");
  await page.getByRole("button", { name: "Help" }).click();
  return page;
}

if (part === "waits") { // for work, until it is told to end
  const page = await help(await browser.newContext());
  await page.getByText("Waiting for work").waitFor();
  await ask("wait");
  await browser.close();
  process.exit();
}

/** Opens the link, and gives the page and the seconds until it has stolen a job. */
async function open(context) {
  const begun = performance.now();
  const page = await help(context);
  await page.waitForFunction(() => /^[1-9]/.test(document.getElementById("moved")?.textContent ?? ""));
  return { page, took: (performance.now() - begun) / 1000 };
}

const first = await open(await browser.newContext());
// Nobody has given a job back yet: those that can be had again now are this page's.
const cdp = await first.page.context().newCDPSession(first.page);
const crashed = first.page.waitForEvent("crash");
void cdp.send("Page.crash").catch(() => {}); // nobody is left to answer
await crashed;
console.log("crashed");
const second = await open(first.page.context());
await new Promise((wake) => setTimeout(wake, 30_000));
const core = await number(second.page, "worked"), jobs = await number(second.page, "jobs");
console.log(JSON.stringify({ cold: first.took, warm: second.took, rate: jobs / core }));
await browser.close();
process.exit(); // what asks holds standard input open, which would keep this
