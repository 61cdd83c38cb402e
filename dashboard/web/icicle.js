// Draws a steal tree on a canvas. What is the same for all is written as pixels, a line of them for each row, as 50,000 rectangles of a
// canvas take far longer than a frame; signs and letters of those that are large enough come on top.

/** @import {Node} from "./forest.js" */
/** @import {Palette} from "./colours.js" */

/** What is to be seen: from and to across, rows from top, at time (Infinity: now), as far as it is not faint: of a cluster, a peer, in a
 * state; -1 and "" are all.
 * @typedef {{nodes: Flat, from: number, to: number, top: number, rowHeight: number, at: number, cluster: number, peer: number, only: string, letters: boolean,
 * own: boolean}} Sight `own`: what is left of a segment's width beside those below it are its own jobs */
/** @typedef {{n: Node, x: number, y: number, w: number, state: string}} Large */

const mostLetters = 400;

/** The state at a time. @param {Node} n @param {number} at */
export const stateAt = (n, at) => (n.e === undefined || n.e > at ? "running" : n.st);

/** Segments, with what each frame asks of all of them in arrays of numbers. */
export class Flat {
  /** The lowest row. */
  last = 0;
  /** @param {Node[]} list */
  constructor(list) {
    const size = list.length;
    this.list = list;
    this.from = new Float64Array(size);
    this.to = new Float64Array(size);
    this.start = new Float64Array(size);
    this.end = new Float64Array(size); // NaN: it has not ended
    this.row = new Int32Array(size);
    this.peer = new Int32Array(size);
    list.forEach((n, i) => {
      this.from[i] = n.from;
      this.to[i] = n.to;
      this.start[i] = n.s;
      this.end[i] = n.e ?? NaN;
      this.row[i] = n.row;
      this.peer[i] = n.p;
      this.last = Math.max(this.last, n.row);
    });
  }

  /** What is at a place at a time. @param {number} x @param {number} row @param {number} at @returns {Node | null} */
  find(x, row, at) {
    for (let i = 0; i < this.list.length; i++) {
      if (this.row[i] === row && num(this.from, i) <= x && x < num(this.to, i) && num(this.start, i) <= at) return this.list[i] ?? null;
    }
    return null;
  }
}

/** @param {Float64Array | Int32Array | Uint32Array} list @param {number} i */
const num = (list, i) => /** @type {number} */ (list[i]);

export class Icicle {
  /** @type {ImageData | null} */
  #image = null;

  /** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {Palette} palette @param {Sight} sight */
  draw(c, width, height, palette, sight) {
    const W = c.canvas.width, H = c.canvas.height;
    if (this.#image?.width !== W || this.#image.height !== H) this.#image = c.createImageData(W, H);
    const pixels = new Uint32Array(this.#image.data.buffer), ratio = W / width, { nodes, top, at, rowHeight: h } = sight;
    const rows = Math.min(Math.ceil(height / h), nodes.last - top + 1);
    const line = (/** @type {number} */ row) => Math.round(row * h * ratio) * W;
    pixels.fill(palette.pixel(palette.back));
    const fills = this.#fills(palette, sight), faint = palette.pixel(palette.faint);
    const { from, to, start, end, row, peer, list } = nodes, scale = W / Math.max(1e-12, sight.to - sight.from);
    /** @type {Large[]} */
    const large = [], least = 9 * ratio;
    for (let i = 0; i < list.length; i++) {
      const r = num(row, i) - top;
      if (r < 0 || r >= rows || num(start, i) > at) continue;
      const a = Math.max(0, (num(from, i) - sight.from) * scale), b = Math.min(W, (num(to, i) - sight.from) * scale);
      if (b < 0 || a >= W || b < a) continue;
      const running = !(num(end, i) <= at);
      let fill = num(fills, 2 * num(peer, i) + Number(running));
      if (sight.only && (running ? "running" : list[i]?.st) !== sight.only) fill = faint;
      const begin = line(r), left = begin + Math.min(W - 1, Math.round(a));
      const right = Math.max(left + 1, begin + Math.round(b > a + 3 * ratio ? b - ratio : b));
      if (right - left > 32) pixels.fill(fill, left, right);
      else for (let x = left; x < right; x++) pixels[x] = fill;
      const n = list[i];
      if (b - a >= least && n) large.push({ n, x: a / ratio, y: r * h, w: (b - a) / ratio, state: running ? "running" : n.st });
    }
    for (let r = 0; r < rows; r++) { // the other lines of a row are as its first, up to the gap below it
      const begin = line(r), after = Math.min(line(r + 1) - (h > 4 ? Math.round(ratio) * W : 0), H * W);
      for (let y = begin + W; y < after; y += W) pixels.copyWithin(y, begin, begin + W);
    }
    c.putImageData(this.#image, 0, 0);
    if (h >= 8 && sight.own) inPlace(c, W / ratio, palette, sight, large);
    if (h >= 8) marks(c, palette, sight, large, h);
  }

  /** The pixel of each peer, dim and bright. @param {Palette} palette @param {Sight} sight */
  #fills(palette, { cluster, peer }) {
    const faint = palette.pixel(palette.faint);
    return Uint32Array.from({ length: 2 * palette.signs.length }, (_, i) => {
      const p = i >> 1, seen = (cluster < 0 || palette.signs[p]?.cluster === cluster) && (peer < 0 || p === peer);
      return seen ? palette.pixel(palette.fill(p, i % 2 === 1)) : faint;
    });
  }
}

/** Marks a segment, if it is large enough. @param {CanvasRenderingContext2D} c @param {number} width @param {Palette} palette @param {Sight} sight @param {Node} n */
export function choose(c, width, palette, sight, n) {
  const scale = width / Math.max(1e-12, sight.to - sight.from), h = sight.rowHeight, row = n.row - sight.top;
  const x = Math.max(0, (n.from - sight.from) * scale), w = Math.min(width, (n.to - sight.from) * scale) - x;
  if (row < 0 || h < 8 || w < 9 || n.s > sight.at) return;
  c.strokeStyle = palette.text;
  c.lineWidth = 3;
  c.strokeRect(x + 1.5, row * h + 1.5, w - 3, h - 4);
}

/** Hatches, below each segment and beside what was stolen from it, the jobs that it did itself. @param {CanvasRenderingContext2D} c
 * @param {number} width @param {Palette} palette @param {Sight} sight @param {Large[]} large */
function inPlace(c, width, palette, sight, large) {
  const scale = width / Math.max(1e-12, sight.to - sight.from), h = sight.rowHeight;
  c.lineWidth = 1;
  for (const { n, x, w, state } of large) {
    const kid = n.kids.at(-1), y = (n.row + 1 - sight.top) * h;
    if (!kid || kid.s > sight.at) continue;
    const a = Math.max(x, (kid.to - sight.from) * scale + 1), b = x + w - 1;
    if (b - a < 6) continue;
    c.save();
    c.beginPath();
    c.rect(a, y, b - a, h - 1);
    c.clip();
    c.strokeStyle = palette.fill(n.p, state === "running");
    c.beginPath();
    for (let k = a - h; k < b; k += 6) {
      c.moveTo(k, y);
      c.lineTo(k + h, y + h);
    }
    c.stroke();
    c.restore();
  }
}

/** @param {CanvasRenderingContext2D} c @param {Palette} palette @param {Sight} sight
 * @param {Large[]} large @param {number} h */
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
    } else if (state === "unseen") { // a dash
      c.moveTo(x + w - 11, y + h / 2);
      c.lineTo(x + w - 4, y + h / 2);
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
      const { cluster, peer, only } = sight;
      const seen = (cluster < 0 || palette.signs[n.p]?.cluster === cluster) && (peer < 0 || n.p === peer) && (!only || state === only);
      c.fillStyle = seen ? palette.ink(state === "running") : palette.text;
      c.fillText(w > 12 + 6.5 * long.length ? long : label, x + 7, y + h / 2 + 0.5);
    }
  }
}
