// The timeline: what the workers of each peer did when, and who stole from whom.

/** @import {Model} from "./model.js" */
/** @import {Live} from "./live.js" */
/** @import {Span} from "./types.js" */
import { fit, letterOf, Palette } from "./colours.js";
import { TimelineCopy, TreeCopy } from "./copy.js";
import { el, keep, say, show, Table } from "./dom.js";
import { duration, percent, plain, nameOf } from "./format.js";
import { save, trace } from "./perfetto.js";
import { choice, RunChoice } from "./tree.js";

const rowHeight = 26, axis = 18, left = 54;
const foldAbove = 24; // peers: more are folded to clusters at first
const mostArrows = 300;
/** @type {["w" | "q" | "c" | "i", "work" | "steal" | "comm" | "idle", string][]} */
const kinds = [["w", "work", "work"], ["q", "steal", "steal-wait"], ["c", "comm", "communication"], ["i", "idle", "idle"]];

/** A row: a peer, or a cluster with its peers folded into it.
 * @typedef {{key: string, label: string, name: string, peers: number[], cluster: number, spans: Span[]}} Line */

export class Timeline {
  title = "Timeline";
  #run = new RunChoice(() => this.#model && this.update(this.#model));
  #range = choice("Show", [["0", "all of it"], ["60", "the last minute"], ["15", "the last 15 s"]]);
  #export = el("button", { type: "button" }, "Save for Perfetto");
  #folds = el("div", { class: "actions", role: "group", "aria-label": "Clusters, unfolded or not" });
  #legend = el("ul", { class: "legend" });
  #canvas = el("canvas", { class: "icicle", role: "img" });
  #said = el("p", { class: "chosen", role: "status", "aria-live": "polite" });
  #table = new Table("What the workers did", [
    { head: "Peers", text: (/** @type {Line} */ l) => `${l.label} ${l.name}` },
    ...kinds.map(([field, , text]) => ({ head: text, number: true, text: (/** @type {Line} */ l) => this.#part(l, field) })),
  ], (l) => l.key);
  #none = el("p", { class: "dim" }, "No run was seen yet. What peers do appears here while one is in progress.");
  #all = el("div", {}, el("div", { class: "actions" }, this.#run.node, this.#range.node, this.#export), this.#folds, this.#legend, this.#canvas, this.#said,
    el("p", { class: "dim" }, "Workers are looked at ten times a second while a page is open; there is nothing from before. Point at a row for its steals."),
    el("h2", {}, "In all"), this.#table.node);
  node = el("div", {}, this.#none, this.#all);

  palette = new Palette();
  /** @type {TreeCopy | null} */
  #tree = null;
  /** @type {TimelineCopy | null} */
  #copy = null;
  /** @type {Map<number, boolean>} */
  #unfolded = new Map();
  /** @type {Line[]} */
  #lines = [];
  /** @type {Line | null} */
  #over = null;
  /** @type {Model | undefined} */
  #model;

  /** @param {Live} live */
  constructor(live) {
    this.live = live;
    this.#range.select.addEventListener("change", () => this.#draw());
    this.#export.addEventListener("click", () => this.#tree && this.#copy && save(`satin-${this.#tree.run.slice(0, 8)}.json`, trace(this.#tree, this.#copy.rows, this.palette)));
    this.#canvas.addEventListener("pointermove", (e) => this.#hover(Math.floor((e.clientY - this.#canvas.getBoundingClientRect().top) / rowHeight)));
    this.#canvas.addEventListener("pointerleave", () => this.#hover(-1));
    new ResizeObserver(() => this.#draw()).observe(this.#canvas);
    for (const [, name, text] of kinds) this.#legend.append(el("li", {}, el("span", { class: `swatch ${name}`, "aria-hidden": "true" }), text));
  }

  /** @param {Model} model */
  update(model) {
    this.#model = model;
    const run = this.#run.update(model);
    show(this.#none, !run);
    show(this.#all, !!run);
    if (!run) return;
    if (this.#copy?.run !== run.run) {
      this.#copy = new TimelineCopy(this.live, run.run);
      this.#tree = new TreeCopy(this.live, run.run);
      this.palette.forget();
      this.#unfolded.clear();
    }
    const digest = model.trees.get(run.run);
    if (digest) {
      void Promise.all([this.#copy.grow(digest.spans), this.#tree?.grow(digest.version)]).then((news) => news.includes(true) && this.#draw());
    }
    this.#draw();
  }

  /** @param {Line} l @param {"w" | "q" | "c" | "i"} field */
  #part(l, field) {
    let part = 0, all = 0;
    for (const s of l.spans) [part, all] = [part + s[field], all + s.w + s.q + s.c + s.i];
    return all > 0 ? percent(part / all) : "";
  }

  #layOut() {
    const rows = this.#copy?.rows ?? [];
    this.palette.learn(rows);
    const { clusters, signs } = this.palette;
    this.#lines = clusters.flatMap((name, cluster) => {
      const peers = rows.flatMap((_, i) => (signs[i]?.cluster === cluster ? [i] : []));
      if (this.#unfolded.get(cluster) ?? rows.length <= foldAbove) {
        return peers.map((i) => ({ key: `p${i}`, label: signs[i]?.label ?? "", name: nameOf(rows[i]?.peer ?? ""), peers: [i], cluster, spans: rows[i]?.spans ?? [] }));
      }
      return [{ key: `c${cluster}`, label: letterOf(cluster), name: `${plain(name)}, ${peers.length} peers`, peers, cluster, spans: sumOf(peers.map((i) => rows[i]?.spans ?? [])) }];
    });
    keep(this.#folds, clusters.map((name, i) => ({ name, i })), ({ i }) => String(i), ({ i }) => {
      const b = el("button", { type: "button" });
      b.addEventListener("click", () => {
        this.#unfolded.set(i, b.getAttribute("aria-expanded") !== "true");
        this.#draw();
      });
      return b;
    }, (b, { name, i }) => {
      say(b, `${letterOf(i)} ${plain(name)}`);
      b.setAttribute("aria-expanded", String(this.#unfolded.get(i) ?? rows.length <= foldAbove));
    });
  }

  #span() {
    const to = Math.max(this.#tree?.newest ?? 0, ...this.#lines.map((l) => l.spans.at(-1)?.e ?? 0), 0.1), last = Number(this.#range.select.value);
    return { from: last ? Math.max(0, to - last) : 0, to };
  }

  #draw() {
    if (!this.#copy || !this.#canvas.isConnected) return;
    this.#layOut();
    this.#table.update(this.#lines);
    const { c, width, height } = fit(this.#canvas, this.#lines.length * rowHeight + axis), { from, to } = this.#span();
    const x = (/** @type {number} */ t) => left + ((t - from) / (to - from)) * (width - left), { states } = this.palette;
    c.fillStyle = this.palette.back;
    c.fillRect(0, 0, width, height);
    for (const [k, name] of kinds) { // one colour at a time
      c.fillStyle = states[name];
      c.beginPath();
      this.#lines.forEach((line, row) => {
        const y = row * rowHeight + rowHeight - 3, h = rowHeight - 6;
        for (const s of line.spans) {
          if (s.e < from) continue;
          const all = s.w + s.q + s.c + s.i;
          if (all <= 0) continue;
          const below = k === "w" ? 0 : k === "q" ? s.w : k === "c" ? s.w + s.q : s.w + s.q + s.c;
          const a = Math.max(left, x(s.s));
          c.rect(a, y - (h * (below + s[k])) / all, Math.max(0.75, x(s.e) - a), (h * s[k]) / all);
        }
      });
      c.fill();
    }
    this.#labels(c, width, height, from, to, x);
    if (this.#over) this.#arrows(c, from, x);
    this.#canvas.setAttribute("aria-label", `What the workers of ${this.#lines.length} rows did from ${duration(from)} to ${duration(to)}; the table below has the sums`);
  }

  /** @param {CanvasRenderingContext2D} c @param {number} width @param {number} height @param {number} from @param {number} to @param {(t: number) => number} x */
  #labels(c, width, height, from, to, x) {
    c.fillStyle = this.palette.text;
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "middle";
    this.#lines.forEach((line, row) => {
      c.fillStyle = this.palette.fill(line.peers[0] ?? 0, true);
      c.fillRect(0, row * rowHeight + 3, 6, rowHeight - 6);
      c.fillStyle = this.palette.text;
      c.fillText(line.label, 12, row * rowHeight + rowHeight / 2);
    });
    const rough = ((to - from) * 90) / Math.max(90, width - left), unit = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= rough) ?? rough;
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      c.fillRect(x(t), height - axis, 1, 4);
      const text = `${Number(t.toPrecision(6))} s`;
      if (x(t) + 3 + c.measureText(text).width <= width) c.fillText(text, x(t) + 3, height - axis / 2 + 1);
    }
  }

  /** The steals of the row that is pointed at: from where a job was spawned to where it began. @param {CanvasRenderingContext2D} c @param {number} from @param {(t: number) => number} x */
  #arrows(c, from, x) {
    const rowOf = new Map(this.#lines.flatMap((l, row) => l.peers.map((p) => [p, row])));
    c.strokeStyle = c.fillStyle = this.palette.text;
    c.lineWidth = 1;
    c.beginPath();
    let drawn = 0;
    for (const n of this.#tree?.nodes.values() ?? []) {
      if (!n.above || n.s < from || n.p === n.above.p || !(this.#over?.peers.includes(n.p) || this.#over?.peers.includes(n.above.p)) || drawn++ > mostArrows) continue;
      const a = (rowOf.get(n.above.p) ?? 0) * rowHeight + rowHeight / 2, b = (rowOf.get(n.p) ?? 0) * rowHeight + rowHeight / 2, at = x(n.s), way = Math.sign(b - a);
      c.moveTo(at, a);
      c.lineTo(at, b);
      c.lineTo(at - 3, b - 5 * way);
      c.moveTo(at, b);
      c.lineTo(at + 3, b - 5 * way);
    }
    c.stroke();
  }

  /** @param {number} row */
  #hover(row) {
    const over = this.#lines[row] ?? null;
    if (over?.key === this.#over?.key) return;
    this.#over = over;
    let got = 0, gave = 0;
    for (const n of this.#tree?.nodes.values() ?? []) {
      if (!n.above || n.p === n.above.p) continue;
      if (over?.peers.includes(n.p)) got++;
      if (over?.peers.includes(n.above.p)) gave++;
    }
    say(this.#said, over ? `${over.label} ${over.name}: stole ${got} of the segments that are known one by one, and ${gave} were stolen from it; ${kinds.map(([k, , text]) => `${text} ${this.#part(over, k) || "unknown"}`).join(", ")}` : "");
    this.#draw();
  }
}

/** What several peers did, second by second. @param {Span[][]} lists @returns {Span[]} */
function sumOf(lists) {
  /** @type {Map<number, Span>} */
  const sums = new Map();
  for (const s of lists.flat()) {
    const at = Math.floor((s.s + s.e) / 2), sum = sums.get(at) ?? { s: at, e: at + 1, w: 0, q: 0, c: 0, i: 0 };
    sums.set(at, { ...sum, w: sum.w + s.w, q: sum.q + s.q, c: sum.c + s.c, i: sum.i + s.i });
  }
  return [...sums.values()].sort((a, b) => a.s - b.s);
}
