// What the tests of the page in a browser share. The Go test that runs them plays the other side: a line of JSON asks it for something,
// a line of JSON answers.

import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

export async function ask(what, more = {}) {
  process.stdout.write(`${JSON.stringify({ do: what, ...more })}\n`);
  return JSON.parse((await lines.next()).value);
}

/** A browser. Its sandbox cannot be had as root. */
export const launch = (...args) => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", ...args] });

/** One that keeps pages for who goes back, as users' do. */
export const launchKeeping = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"], ignoreDefaultArgs: ["--disable-back-forward-cache"] });

/** The views, in the order of their keys. */
export const names = ["overview", "tree", "timeline", "swarm", "runs", "machine"];

const shots = process.env.SHOTS; // a folder for pictures, or nothing
export const picture = (page, name) => (shots ? page.screenshot({ path: `${shots}/${name}.png`, fullPage: true }) : null);

/** Collects what the browser complains of. */
export function complainsTo(page, list) {
  page.on("console", (m) => (m.type() === "error" || m.type() === "warning") && list.push(`${m.text()} at ${m.location().url}`));
  page.on("pageerror", (e) => list.push(e.message));
}

/** Does a step, and goes on with the next also if it fails. */
export async function step(name, run) {
  try {
    await run();
    process.stderr.write(`ok   ${name}\n`);
  } catch (e) {
    process.stderr.write(`FAIL ${name}: ${e.stack}\n`);
    process.exitCode = 1;
  }
}

/** How many colours a canvas shows, when the next frame is drawn. */
export const colours = (p, selector) => p.evaluate(async (sel) => {
  await new Promise(requestAnimationFrame);
  const shown = document.querySelector(sel), c = document.createElement("canvas");
  [c.width, c.height] = [shown.width, shown.height];
  c.getContext("2d", { willReadFrequently: true }).drawImage(shown, 0, 0);
  const pixels = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
  return new Set(pixels).size;
}, selector);

/** The boxes of a page that hide some of what is in them, and what of it reaches out. */
export const cut = () => [...document.querySelectorAll("main .scroll")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => {
  const edge = e.getBoundingClientRect().left + e.clientLeft + e.clientWidth;
  const out = [...e.querySelectorAll("*")].filter((x) => x.getBoundingClientRect().right > edge).map((x) => `${x.tagName} to ${x.getBoundingClientRect().right}: ${x.textContent.slice(0, 40)}`);
  return `${e.getAttribute("aria-label")}: ${e.scrollWidth} of ${e.clientWidth} pixels, to ${edge}; ${out.slice(0, 8).join("; ")}`;
});
