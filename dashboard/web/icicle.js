// Draws a steal tree on a canvas: all segments of one colour at once, and none that would be thinner than a pixel on its own.

/** @import {Node} from "./copy.js" */
/** @import {Palette} from "./colours.js" */

/** What is to be seen: from and to across, rows from top, at time (Infinity: now); matches says which are not faint.
 * @typedef {{nodes: Node[], from: number, to: number, top: number, rowHeight: number, at: number, matches: (n: Node) => boolean, chosen: Node | null, letters: boolean}} Sight */

const mostLetters = 400;

/** The state at a time. @param {Node} n @param {number} at */
export const stateAt = (n, at) => (n.e === undefined || n.e > at ? "running" : n.st);

/** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {Palette} palette @param {Sight} sight */
export function draw(c, width, height, palette, sight) {
  c.fillStyle = palette.back;
  c.fillRect(0, 0, width, height);
  /** @type {Map<string, number[]>} */
  const fills = new Map();
  /** @type {number[]} the pixel up to which a row is covered */
  const covered = [];
  /** @type {{n: Node, x: number, y: number, w: number, state: string}[]} */
  const large = [];
  const scale = width / Math.max(1e-12, sight.to - sight.from), h = sight.rowHeight;
  for (const n of sight.nodes) {
    const row = n.row - sight.top, y = row * h;
    if (row < 0 || y > height || n.s > sight.at || n.to < sight.from || n.from > sight.to) continue;
    let x = Math.max(0, (n.from - sight.from) * scale), w = Math.min(width, (n.to - sight.from) * scale) - x;
    if (w < 1) {
      x = Math.floor(x);
      if ((covered[row] ?? -1) > x) continue;
      w = 1;
      covered[row] = x + 1;
    }
    const state = stateAt(n, sight.at);
    const fill = sight.matches(n) ? palette.fill(n.p, state === "running") : palette.faint;
    let list = fills.get(fill);
    if (!list) fills.set(fill, (list = []));
    list.push(x, y, w > 3 ? w - 0.75 : w, h - (h > 4 ? 1 : 0));
    if (w >= 9) large.push({ n, x, y, w, state });
  }
  for (const [fill, list] of fills) {
    c.fillStyle = fill;
    c.beginPath();
    for (let i = 0; i < list.length; i += 4) c.rect(list[i] ?? 0, list[i + 1] ?? 0, list[i + 2] ?? 0, list[i + 3] ?? 0);
    c.fill();
  }
  if (h >= 8) marks(c, palette, sight, large, h);
}

/** @param {CanvasRenderingContext2D} c @param {Palette} palette @param {Sight} sight
 * @param {{n: Node, x: number, y: number, w: number, state: string}[]} large @param {number} h */
function marks(c, palette, sight, large, h) {
  c.fillStyle = palette.text; // a notch: it was stolen
  c.beginPath();
  for (const { n, x, y } of large) {
    if (n.job === "root") continue;
    c.moveTo(x, y);
    c.lineTo(x + 5, y);
    c.lineTo(x, y + 5);
  }
  c.fill();
  c.strokeStyle = palette.mark;
  c.lineWidth = 1.25;
  c.beginPath();
  for (const { n, x, y, w, state } of large) {
    if (state === "aborted") { // a cross
      const r = Math.min(w, h) / 2 - 2, mx = x + w / 2, my = y + h / 2;
      c.moveTo(mx - r, my - r);
      c.lineTo(mx + r, my + r);
      c.moveTo(mx + r, my - r);
      c.lineTo(mx - r, my + r);
    } else if (state === "restarted") { // hatched
      for (let k = x - h + 6; k < x + w; k += 6) {
        const a = Math.max(k, x), b = Math.min(k + h, x + w);
        c.moveTo(a, y + h - (a - k));
        c.lineTo(b, y + h - (b - k));
      }
    } else if (state === "orphan") { // a ring
      c.moveTo(x + w - 4, y + h / 2);
      c.arc(x + w - 7.5, y + h / 2, 3.5, 0, 7);
    }
    if (n.re) c.rect(x + 1, y + h - 4, Math.min(w - 2, 12), 1.5); // it runs again
  }
  c.stroke();
  if (sight.letters && h >= 13) {
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    let left = mostLetters;
    for (const { n, x, y, w, state } of large) {
      if (w < 24 || left-- <= 0) continue;
      const label = palette.signs[n.p]?.label ?? "?", more = n.job.length > 24 ? `…${n.job.slice(-20)}` : n.job;
      const long = `${label} ${more}${n.f ? ` +${n.f}` : ""}`;
      c.fillStyle = sight.matches(n) ? palette.ink(state === "running") : palette.text;
      c.fillText(w > 12 + 6.5 * long.length ? long : label, x + 7, y + h / 2 + 0.5);
    }
  }
  const chosen = large.find((l) => l.n === sight.chosen);
  if (chosen) {
    c.strokeStyle = palette.text;
    c.lineWidth = 3;
    c.strokeRect(chosen.x + 1.5, chosen.y + 1.5, chosen.w - 3, h - 4);
  }
}
