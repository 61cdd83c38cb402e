// Lines over time, by uPlot.

import { el } from "./dom.js";
import { clock } from "./format.js";

export class Chart {
  node = el("div", { class: "chart", "aria-hidden": "true" });
  /** @type {uPlot | null} */
  #plot = null;
  #theme = "";
  /** @type {(number | null)[][]} */
  #data = [[]];

  /** @param {{label: string, colour: string, unit: (v: number) => string, scale: string, most?: number}[]} lines colours are variables of the style */
  constructor(lines) {
    this.lines = lines;
    new ResizeObserver(() => this.#plot?.setSize(this.#size())).observe(this.node);
  }

  #size() { return { width: Math.max(200, this.node.clientWidth), height: 150 }; }

  /** Where the lines are, in pixels from the left edge of the chart; null while they are nowhere. */
  get area() {
    const over = this.#plot?.over;
    return over ? { left: over.offsetLeft, width: over.clientWidth } : null;
  }

  /** @param {(number | null)[][]} data times in seconds, then each line's values */
  update(data) {
    this.#data = data;
    if (!this.node.isConnected || this.node.clientWidth === 0) return;
    const theme = document.documentElement.dataset.theme ?? "";
    if (this.#plot && theme === this.#theme) return this.#plot.setData(data);
    this.#plot?.destroy();
    this.#theme = theme;
    const style = getComputedStyle(document.documentElement), colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
    const scales = [...new Set(this.lines.map((l) => l.scale))];
    this.#plot = new uPlot({
      ...this.#size(), legend: { show: false }, cursor: { show: false },
      scales: { x: { time: true }, ...Object.fromEntries(scales.map((s) => [s, { range: (/** @type {unknown} */ _, /** @type {number} */ __, /** @type {number} */ max) => [0, this.lines.find((l) => l.scale === s)?.most ?? Math.max(4, max * 1.05)] }])) },
      series: [{}, ...this.lines.map((l, i) => ({ label: l.label, stroke: colour(l.colour), width: 2, scale: l.scale, points: { show: false }, dash: i % 2 ? [6, 4] : undefined }))],
      axes: [{ ...axis, space: 90, values: (/** @type {unknown} */ _, /** @type {number[]} */ list) => list.map((t) => clock(new Date(t * 1000))) }, ...scales.map((s, i) => ({ ...axis, scale: s, side: i ? 1 : 3, size: 64, values: (/** @type {unknown} */ _, /** @type {number[]} */ list) => list.map((v) => this.lines.find((l) => l.scale === s)?.unit(v) ?? "") }))],
    }, this.#data, this.node);
  }
}
