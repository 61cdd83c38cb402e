// Which colour and letters a peer has: the letter is its cluster's, the number its own. So are the hue and the shade, but as long as there
// are enough hues for all peers each has one, as shades of one hue are hard to tell apart.

/** @import {Place} from "./types.js" */

// Hues that are told apart with any kind of colour vision (Okabe and Ito), the first four best; beyond, they come again.
const hues = [205, 35, 160, 260, 12, 305, 190, 55];
const shades = 4;

/** @typedef {{cluster: number, peer: number, label: string}} Sign */

export class Palette {
  /** @type {string[]} */
  clusters = [];
  /** @type {Sign[]} by the peer's place in the list */
  signs = [];
  #sizes = /** @type {number[]} */ ([]);
  /** @type {Place[]} */
  #learned = [];
  #dark = false;
  #fills = /** @type {string[]} */ ([]); // kept, as they are asked for at every segment
  /** @type {Map<string, number>} as few as there are fills */
  #pixels = new Map();

  /** Gives signs to those that have none, and to all anew where the list is another one. @param {Place[]} places */
  learn(places) {
    if (this.#learned.some((p, i) => p.peer !== places[i]?.peer || p.cluster !== places[i]?.cluster)) this.forget();
    this.#learned = places;
    for (const place of places.slice(this.signs.length)) {
      let cluster = this.clusters.indexOf(place.cluster);
      if (cluster < 0) {
        cluster = this.clusters.push(place.cluster) - 1;
        this.#sizes.push(0);
      }
      const peer = this.#sizes[cluster] ?? 0;
      this.#sizes[cluster] = peer + 1;
      this.signs.push({ cluster, peer, label: `${letterOf(cluster)}${peer + 1}` });
    }
    this.#dark = document.documentElement.dataset.theme === "dark";
    this.#fills = [];
  }

  forget() {
    this.clusters = [];
    this.signs = [];
    this.#learned = [];
    this.#sizes = [];
    this.#fills = [];
  }

  /** The fill of a peer's segments, bright or dim. @param {number} peer @param {boolean} bright */
  fill(peer, bright) { return (this.#fills[2 * peer + Number(bright)] ??= this.#mix(peer, bright)); }

  /** A colour as it is in the pixels of a canvas. @param {string} colour */
  pixel(colour) {
    let pixel = this.#pixels.get(colour);
    if (pixel === undefined) {
      const c = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }));
      c.fillStyle = colour;
      c.fillRect(0, 0, 1, 1);
      pixel = new Uint32Array(c.getImageData(0, 0, 1, 1).data.buffer)[0] ?? 0;
      this.#pixels.set(colour, pixel);
    }
    return pixel;
  }

  /** @param {number} peer @param {boolean} bright */
  #mix(peer, bright) {
    const sign = this.signs[peer];
    const few = this.signs.length <= hues.length;
    const hue = hues[(few ? peer : (sign?.cluster ?? 0)) % hues.length], shade = few ? 0 : (sign?.peer ?? 0) % shades;
    if (few && !bright) return this.#dark ? `hsl(${hue} 50% 30%)` : `hsl(${hue} 65% 74%)`; // there are no shades to leave room for
    if (this.#dark) return bright ? `hsl(${hue} 80% ${52 + 5 * shade}%)` : `hsl(${hue} 32% ${24 + 4 * shade}%)`;
    return bright ? `hsl(${hue} 85% ${58 - 5 * shade}%)` : `hsl(${hue} 45% ${86 - 4 * shade}%)`;
  }

  /** What is drawn on a fill. @param {boolean} bright */
  ink(bright) { return this.#dark ? (bright ? "#000" : "#fff") : bright ? "#000" : "#222"; }
  get back() { return this.#dark ? "#1d2127" : "#ffffff"; }
  get line() { return this.#dark ? "#14171b" : "#ffffff"; }
  get faint() { return this.#dark ? "#2a3037" : "#eceef1"; }
  get text() { return this.#dark ? "#e8eaed" : "#1b1f24"; }
  get mark() { return this.#dark ? "#f58fbf" : "#a3185b"; }
  get states() {
    return this.#dark ? { work: "#7db8f0", steal: "#f0b35c", comm: "#c89be8", idle: "#39414b" } : { work: "#1f6fb5", steal: "#d98a1f", comm: "#8a4fb0", idle: "#dfe3e8" };
  }
}

/** A, B, … Z, AA, … @param {number} i @returns {string} */
export function letterOf(i) {
  return (i >= 26 ? letterOf(Math.floor(i / 26) - 1) : "") + String.fromCharCode(65 + (i % 26));
}

/** Sizes a canvas to its box, at the screen's resolution. @param {HTMLCanvasElement} canvas @param {number} height
 * @returns {{c: CanvasRenderingContext2D, width: number, height: number}} */
export function fit(canvas, height) {
  const ratio = Math.min(3, devicePixelRatio || 1), width = Math.max(50, canvas.clientWidth);
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.height = `${height}px`;
  const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { c, width, height };
}
