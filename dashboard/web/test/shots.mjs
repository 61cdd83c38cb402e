// Pictures of each view of a running daemon: node test/shots.mjs LINK DIRECTORY, the link as satin-peer dashboard prints it. A run should
// have just begun: the tree is shown when it is done, or after two minutes.

import { chromium } from "playwright-core";

const [link, dir] = process.argv.slice(2);
if (!link || !dir) throw new Error("usage: shots.mjs LINK DIRECTORY");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1100, height: 760 }, colorScheme: "light" });
const page = await context.newPage();
page.on("console", (m) => console.error(m.type(), m.text()));
page.on("pageerror", (e) => console.error(e.stack));
const watchFor = Number(process.env.WATCH ?? 30) * 1000; // so that there is something to see

await page.goto(link);
await page.locator(".tiles").waitFor();
await page.waitForTimeout(watchFor);
/** @param {string} view */
async function shoot(view) {
  await page.locator(`nav a[href="#${view}"]`).click();
  await page.waitForTimeout(2500);
  if (view === "tree" || view === "timeline") await page.locator("canvas.icicle").hover({ position: { x: 200, y: 40 } });
  if (view === "runs") await page.locator("summary").first().click();
  await page.screenshot({ path: `${dir}/dashboard-${view}.png` });
}
for (const view of ["overview", "swarm"]) await shoot(view);
await page.locator('nav a[href="#tree"]').click();
await page.locator("option", { hasText: process.env.RUN ?? "(done)" }).first().waitFor({ state: "attached", timeout: 120_000 }).catch(() => {});
await page.waitForTimeout(3000);
for (const view of ["tree", "timeline", "runs", "machine"]) await shoot(view);
await page.emulateMedia({ colorScheme: "dark" });
await page.locator('nav a[href="#tree"]').click();
await page.getByLabel("Width").selectOption("time");
await page.waitForTimeout(2500);
await page.screenshot({ path: `${dir}/dashboard-dark.png` });
await page.emulateMedia({ colorScheme: "light" });
await page.getByLabel("Width").selectOption("jobs");
await page.setViewportSize({ width: 390, height: 780 });
await page.waitForTimeout(1500);
await page.screenshot({ path: `${dir}/dashboard-phone.png` });
await browser.close();
