// How long frames of the tree view take: opens the page of the link in its argument, waits until it shows the steal tree, moves about in
// it, and prints {"draw": [ms], "between": [ms], "segments": n}: what the page's own animation callbacks took, and the time between frames.

import { chromium } from "playwright-core";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] }); // the sandbox cannot be had as root
const page = await (await browser.newContext({ viewport: { width: 1200, height: 900 } })).newPage();
page.setDefaultTimeout(60_000);
await page.addInitScript(() => {
  const real = globalThis.requestAnimationFrame.bind(globalThis);
  const times = { draw: [], between: [] };
  globalThis.frameTimes = times;
  let last = 0, spent = 0;
  globalThis.requestAnimationFrame = (callback) => real((at) => {
    const began = performance.now();
    callback(at);
    spent += performance.now() - began;
  });
  const next = (at) => {
    if (last > 0) times.between.push(at - last);
    if (spent > 0) times.draw.push(spent);
    [last, spent] = [at, 0];
    real(next);
  };
  real(next);
});
await page.goto(process.argv[2]);
await page.locator("nav a").first().waitFor();
await page.keyboard.press("2");
const least = Number(process.argv[3]);
await page.waitForFunction((n) => Number(/([\d,.\u202f ]+) segments/.exec(document.querySelector("main").innerText)?.[1].replace(/\D/g, "")) >= n, least);
const canvas = page.locator("canvas.icicle"), box = await canvas.boundingBox();
await page.evaluate(() => Object.assign(globalThis.frameTimes, { draw: [], between: [] }));
for (let i = 0; i < 40; i++) { // pointer and keys move the mark only; another time draws the whole tree anew, another width places it anew
  await page.getByLabel("Time that is shown").fill(String(1000 - i * 20));
  await page.mouse.move(box.x + (i % 20) * (box.width / 20) + 3, box.y + 20 + (i % 5) * 15);
  await canvas.press(i % 2 ? "ArrowDown" : "ArrowUp");
  if (i % 10 === 9) await page.getByLabel("Width").selectOption(["share", "time", "jobs", "share"][(i - 9) / 10]);
}
const times = await page.evaluate(() => globalThis.frameTimes);
process.stdout.write(JSON.stringify({ ...times, segments: least }));
await browser.close();
