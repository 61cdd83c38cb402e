// The steal tree: who stole what from whom, and what came of it.

/** @import {Model} from "./model.js" */
/** @import {Live} from "./live.js" */
/** @import {Node} from "./forest.js" */
/** @import {Across} from "./layout.js" */
import { fit, Palette } from "./colours.js";
import { TreeCopy } from "./copy.js";
import { el, keep, say, show } from "./dom.js";
import { count, duration, many, nameOf, plain, runName, sign } from "./format.js";
import { choose, Flat, Icicle, stateAt } from "./icicle.js";
import { place } from "./layout.js";
import { segmentStates } from "./types.js";

const mostRows = 24; // of the treegrid
const replayFor = 12; // seconds

/** A select with a label. @param {string} label @param {[string, string][]} options */
export function choice(label, options) {
  const select = el("select", {}, ...options.map(([value, text]) => el("option", { value }, text)));
  return { select, node: el("label", { class: "theme" }, `${label} `, select) };
}

/** Which run is looked at: the chosen one while there is one, else the newest with a tree. */
export class RunChoice {
  #choice = choice("Run", []);
  #chosen = "";
  node = this.#choice.node;
  /** @param {() => void} changed */
  constructor(changed) {
    this.#choice.select.addEventListener("change", () => {
      this.#chosen = this.#choice.select.value;
      changed();
    });
  }
  /** @param {Model} model */
  update(model) {
    const runs = model.runs.filter((r) => model.trees.has(r.run));
    keep(this.#choice.select, runs, (r) => r.run, (r) => el("option", { value: r.run }), (e, r) => say(e, `${runName(r)} (${plain(r.state)})`));
    const run = runs.find((r) => r.run === this.#chosen) ?? runs[0];
    this.#chosen = run && run !== runs[0] ? run.run : ""; // the newest is followed
    if (run) this.#choice.select.value = run.run;
    return run;
  }
}

export class Tree {
  title = "Tree";
  #run = new RunChoice(() => this.#again());
  #across = choice("Width", [["jobs", "jobs"], ["share", "equal shares"], ["time", "time"]]);
  #who = choice("Peer", [["", "all"]]);
  #state = choice("State", [["", "all"], ...segmentStates.map((s) => /** @type {[string, string]} */ ([s, s]))]);
  #pause = el("button", { type: "button", "aria-pressed": "false" }, "Pause");
  #replay = el("button", { type: "button" }, "Replay");
  #scrub = el("input", { type: "range", min: "0", max: "1000", value: "1000", "aria-label": "Time that is shown" });
  #time = el("span", { class: "dim time" });
  #crumbs = el("nav", { class: "crumbs", "aria-label": "Where in the tree" });
  #map = el("canvas", { class: "map", "aria-hidden": "true" });
  #canvas = el("canvas", { class: "icicle", tabindex: "0", role: "img", "aria-describedby": "tree-keys" });
  #said = el("p", { class: "chosen", role: "status", "aria-live": "polite" });
  #sum = el("p", { class: "live" });
  #legend = el("ul", { class: "legend" });
  #rows = el("tbody");
  #grid = el("div", { class: "scroll", role: "region", "aria-label": "The largest segments", tabindex: "0" }, el("table", { role: "treegrid", "aria-label": "The largest segments" },
    el("thead", {}, el("tr", {}, ...["Job", "Peer", "State", "Began", "Took", "Jobs"].map((h, i) => el("th", { scope: "col", ...(i > 2 ? { class: "number" } : {}) }, h)))), this.#rows));
  #none = el("p", { class: "dim" }, "No run was seen yet. Jobs appear here while one is in progress.");
  #all = el("div", {},
    el("div", { class: "actions" }, this.#run.node, this.#across.node, this.#who.node, this.#state.node),
    this.#sum, this.#crumbs, this.#map, this.#canvas,
    el("div", { class: "actions" }, this.#pause, this.#replay, this.#scrub, this.#time), this.#said, this.#legend,
    el("p", { class: "dim", id: "tree-keys" }, "Hatched: what the segment above did itself. Click or Enter goes into a segment, Escape out. Arrows move among segments, space pauses."),
    el("h2", {}, "Largest segments"), this.#grid);
  node = el("div", {}, this.#none, this.#all);

  palette = new Palette();
  /** @type {TreeCopy | null} */
  #copy = null;
  #rowCount = 0;
  /** @type {Node | null} what is the whole width */
  #zoom = null;
  /** @type {Node | null} */
  #chosen = null;
  #paused = false;
  #at = Infinity;
  #playing = 0;
  #nodes = new Flat([]); // what may be drawn
  #icicle = new Icicle();
  #small = new Icicle();
  #base = el("canvas"); // what was drawn last, without the mark of what is chosen
  /** What the next frame has to do: 1 draws the mark, 2 the segments, 3 places them, 0 nothing. */
  #due = 0;
  /** @type {Model | undefined} */
  #model;
  #drawn = ""; // in which theme
  #listing = 0;

  /** @param {Live} live */
  constructor(live) {
    this.live = live;
    this.#across.select.addEventListener("change", () => this.#again());
    for (const s of [this.#who.select, this.#state.select]) s.addEventListener("change", () => this.#wish(2));
    this.#pause.addEventListener("click", () => this.#hold(!this.#paused));
    this.#replay.addEventListener("click", () => this.#play());
    this.#scrub.addEventListener("input", () => {
      this.#playing = 0;
      this.#hold(true);
      const share = Number(this.#scrub.value) / 1000;
      this.#at = share >= 1 ? Infinity : share * (this.#copy?.newest ?? 0);
      this.#wish(2);
    });
    this.#canvas.addEventListener("click", (e) => this.#enter(this.#hit(e)));
    this.#canvas.addEventListener("pointermove", (e) => this.#choose(this.#hit(e)));
    this.#canvas.addEventListener("keydown", (e) => this.#key(e));
    this.#map.addEventListener("click", () => this.#enter(null));
    new ResizeObserver(() => this.#wish(2)).observe(this.#canvas);
  }

  /** @param {Model} model */
  update(model) {
    this.#model = model;
    const run = this.#run.update(model);
    show(this.#none, !run);
    show(this.#all, !!run);
    if (!run) return;
    const digest = model.trees.get(run.run);
    if (this.#copy?.run !== run.run) {
      this.#copy = new TreeCopy(this.live, run.run);
      this.palette.forget();
      this.#zoom = this.#chosen = null;
      this.#at = Infinity;
      this.#hold(false);
    }
    const copy = this.#copy;
    if (digest) {
      say(this.#sum, [many(digest.segments, "segment"), `${count(digest.running)} running`, `${count(digest.folded)} folded into others`,
        digest.unknown ? `${count(digest.unknown)} from before, or too many, not shown` : "", many(digest.executed, "job"),
        digest.orphans ? many(digest.orphans, "orphan") : "", digest.restarted ? `${count(digest.restarted)} restarted` : "", digest.aborted ? `${count(digest.aborted)} aborted` : "",
        digest.unseen ? `${count(digest.unseen)} whose end was not observed` : ""].filter((t) => t).join(", "));
      if (!this.#paused && (digest.version !== copy.version)) void copy.grow(digest.version).then((news) => news && this.#wish(3));
    }
    if (this.#drawn !== (document.documentElement.dataset.theme ?? "")) this.#again();
  }

  #hold(/** @type {boolean} */ on) {
    this.#paused = on;
    this.#pause.setAttribute("aria-pressed", String(on));
    say(this.#pause, on ? "Go on" : "Pause");
    if (!on) {
      this.#at = Infinity;
      this.#playing = 0;
      this.#scrub.value = "1000";
      this.#wish(2);
    }
    if (this.#model && !on) this.update(this.#model);
  }

  /** Places and draws everything anew. */
  #again() {
    const copy = this.#copy;
    if (this.#model && copy?.run !== this.#run.update(this.#model)?.run) return this.update(this.#model);
    if (!copy) return;
    this.#drawn = document.documentElement.dataset.theme ?? "";
    this.palette.learn(copy.peers);
    this.#rowCount = place(copy, /** @type {Across} */ (this.#across.select.value));
    if (this.#zoom) this.#zoom = copy.nodes.get(this.#zoom.n) ?? null;
    if (this.#chosen) this.#chosen = copy.nodes.get(this.#chosen.n) ?? null;
    this.#see();
  }

  /** Shows what is under the zoomed segment. The table waits for a frame of its own. */
  #see() {
    this.#offer();
    this.#collect();
    this.#mini();
    this.#wish(2);
    clearTimeout(this.#listing);
    this.#listing = setTimeout(() => this.#list());
  }

  /** Has the next frame do something. @param {1 | 2 | 3} what */
  #wish(what) {
    if (!this.#due) requestAnimationFrame(() => {
      const due = this.#due;
      this.#due = 0;
      if (due === 3) this.#again(); // and what is placed anew is drawn in the frame after this one
      else this.#frame(due === 2);
    });
    this.#due = Math.max(this.#due, what);
  }

  /** What is under the zoomed segment, but nothing under one that is too thin to be seen. */
  #collect() {
    const copy = this.#copy;
    if (!copy) return;
    const roots = this.#zoom ? [this.#zoom] : copy.tops, nodes = [...roots];
    const least = this.#across.select.value === "time" ? -1 : ((this.#zoom ? this.#zoom.to - this.#zoom.from : 1) * 0.25) / Math.max(200, this.#canvas.clientWidth);
    for (let i = 0; i < nodes.length; i++) {
      const n = nodes[i];
      if (n && n.to - n.from > least) for (const kid of n.kids) nodes.push(kid);
    }
    this.#nodes = new Flat(nodes);
  }

  /** The peers to choose from, the legend, and the breadcrumbs. */
  #offer() {
    const { clusters, signs } = this.palette, peers = this.#copy?.peers ?? [];
    /** @type {[string, string][]} */
    const options = [["", "all"], ...clusters.map((c, i) => /** @type {[string, string]} */ ([`c${i}`, `${plain(c)} (all ${signs.filter((s) => s.cluster === i).length})`])),
      ...peers.slice(0, 200).map((p, i) => /** @type {[string, string]} */ ([`p${i}`, `${signs[i]?.label ?? ""} ${nameOf(p.peer)}`]))];
    keep(this.#who.select, options, ([v]) => v || "all", ([v]) => el("option", { value: v }), (e, [, text]) => say(e, text));
    keep(this.#legend, peers.slice(0, 24).map((p, i) => ({ p, i })), ({ p }) => p.peer, () => el("li", {}, el("span", { class: "swatch", "aria-hidden": "true" }), el("span")), (e, { p, i }) => {
      const [swatch, text] = e.children;
      if (swatch instanceof HTMLElement) swatch.style.backgroundColor = this.palette.fill(i, true);
      if (text) say(text, `${signs[i]?.label} ${nameOf(p.peer)} in ${plain(p.cluster)}`);
    });
    const path = [];
    for (let n = this.#zoom; n; n = n.above) path.unshift(n);
    /** @type {(Node | null)[]} */
    const steps = [null, ...path];
    keep(this.#crumbs, steps, (n) => String(n?.n), (n) => {
      const b = el("button", { type: "button" });
      b.addEventListener("click", () => this.#enter(this.#copy?.nodes.get(n?.n ?? 0) ?? null));
      return b;
    }, (b, n) => {
      say(b, n ? `${signs[n.p]?.label ?? ""} ${this.#jobName(n)}` : "All");
      b.setAttribute("aria-current", String(n === this.#zoom));
    });
  }

  #jobName(/** @type {Node} */ n) { return n.job.length > 20 ? `…${n.job.slice(-18)}` : n.job; }

  #sight(/** @type {number} */ rowHeight) {
    const z = this.#zoom, who = this.#who.select.value, state = this.#state.select.value;
    const cluster = who.startsWith("c") ? Number(who.slice(1)) : -1, peer = who.startsWith("p") ? Number(who.slice(1)) : -1;
    return { nodes: this.#nodes, from: z?.from ?? 0, to: z?.to ?? 1, top: z?.row ?? 0, rowHeight, at: this.#at, cluster, peer, only: state, letters: true, own: this.#across.select.value !== "time" };
  }

  #rowHeight() {
    const rows = Math.max(1, this.#nodes.last + 1 - (this.#zoom?.row ?? 0));
    return { rows, height: Math.max(3, Math.min(28, Math.floor(460 / rows))) };
  }

  /** @param {boolean} anew whether more than the mark of what is chosen has changed */
  #frame(anew) {
    if (!this.#copy || !this.#canvas.isConnected) return;
    const { rows, height } = this.#rowHeight(), sight = this.#sight(height);
    const { c, width, height: h } = fit(this.#canvas, Math.max(66, Math.min(480, rows * height)));
    if (anew || this.#base.width !== this.#canvas.width || this.#base.height !== this.#canvas.height) {
      [this.#base.width, this.#base.height] = [this.#canvas.width, this.#canvas.height];
      const b = /** @type {CanvasRenderingContext2D} */ (this.#base.getContext("2d"));
      b.setTransform(c.getTransform());
      this.#icicle.draw(b, width, h, this.palette, sight);
    }
    c.drawImage(this.#base, 0, 0, width, h);
    if (this.#chosen && this.#isSeen(this.#chosen)) choose(c, width, this.palette, sight, this.#chosen);
    const newest = this.#copy.newest;
    say(this.#time, this.#at === Infinity ? `now, ${duration(newest)}` : `${duration(this.#at)} of ${duration(newest)}`);
    this.#canvas.setAttribute("aria-label", `Steal tree of ${this.#copy.nodes.size} segments on ${this.#copy.peers.length} peers; the largest are in the table below`);
  }

  /** @param {Node} n */
  #isSeen(n) {
    let up = this.#zoom ? n : null;
    while (up && up !== this.#zoom) up = up.above;
    return up === this.#zoom;
  }

  #mini() {
    const copy = this.#copy;
    show(this.#map, !!this.#zoom);
    if (!copy || !this.#zoom || !this.#map.isConnected) return;
    const { c, width, height } = fit(this.#map, 36), h = Math.max(1, 36 / Math.max(1, this.#rowCount));
    this.#small.draw(c, width, height, this.palette, { ...this.#sight(h), nodes: new Flat(copy.sorted), from: 0, to: 1, top: 0, rowHeight: h, letters: false, own: false });
    c.strokeStyle = this.palette.text;
    c.lineWidth = 2;
    c.strokeRect(this.#zoom.from * width + 1, this.#zoom.row * h + 1, Math.max(4, (this.#zoom.to - this.#zoom.from) * width - 2), height - this.#zoom.row * h - 2);
  }

  /** @param {MouseEvent} e @returns {Node | null} */
  #hit(e) {
    const { height } = this.#rowHeight(), s = this.#sight(height), box = this.#canvas.getBoundingClientRect();
    const x = s.from + ((e.clientX - box.left) / box.width) * (s.to - s.from), row = Math.floor((e.clientY - box.top) / height) + s.top;
    return this.#nodes.find(x, row, this.#at);
  }

  /** Makes a segment the whole width; null for the tree. @param {Node | null} n */
  #enter(n) {
    this.#zoom = n === this.#zoom && n ? n.above : n;
    this.#chosen = n;
    this.#see();
    this.#tell();
  }

  /** @param {Node | null} n */
  #choose(n) {
    if (n === this.#chosen) return;
    this.#chosen = n;
    this.#wish(1);
    this.#tell();
  }

  #tell() {
    const n = this.#chosen;
    if (!n) return say(this.#said, "");
    const state = stateAt(n, this.#at), peer = this.#copy?.peers[n.p];
    say(this.#said, [`Job ${this.#jobName(n)}`, state + (n.re ? ", run again" : ""), `on ${this.palette.signs[n.p]?.label} ${nameOf(peer?.peer ?? "")} in ${plain(peer?.cluster ?? "")}`,
      n.above ? `stolen from ${this.palette.signs[n.above.p]?.label}` : "", `began at ${duration(n.s)}`, n.e === undefined ? "" : `took ${duration(n.e - n.s)}`,
      many(n.x, "job"), n.f ? `${many(n.f, "segment")} with ${many(n.fx ?? 0, "job")} folded into it` : ""].filter((t) => t).join(", "));
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    const n = this.#chosen ?? this.#zoom ?? this.#copy?.tops[0] ?? null, family = n?.above?.kids ?? this.#copy?.tops ?? [];
    const at = n ? family.indexOf(n) : -1;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => this.#choose(n?.kids[0] ?? n), ArrowUp: () => this.#choose(n?.above ?? n),
      ArrowLeft: () => this.#choose(family[at - 1] ?? n), ArrowRight: () => this.#choose(family[at + 1] ?? n),
      Enter: () => this.#enter(n), Escape: () => this.#enter(this.#zoom?.above ?? null), " ": () => this.#hold(!this.#paused),
    };
    const act = keys[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  }

  /** The largest segments in what is seen, in the order of the tree. */
  #list() {
    const took = (/** @type {Node} */ n) => (n.e ?? this.#copy?.newest ?? 0) - n.s;
    /** @type {Node[]} the largest of those seen so far, largest first */
    const largest = [];
    for (const n of this.#nodes.list) {
      const least = largest[mostRows - 1];
      if (least && (n.x < least.x || (n.x === least.x && took(n) <= took(least)))) continue;
      const at = largest.findIndex((m) => n.x > m.x || (n.x === m.x && took(n) > took(m)));
      largest.splice(at < 0 ? largest.length : at, 0, n);
      largest.length = Math.min(largest.length, mostRows);
    }
    const listed = new Set(largest), above = new Set(largest); // and those on the way to them
    for (const n of largest) for (let up = n.above; up && !above.has(up); up = up.above) above.add(up);
    /** @type {{n: Node, level: number}[]} */
    const rows = [];
    const stack = (this.#zoom ? [this.#zoom] : this.#copy?.tops ?? []).filter((n) => above.has(n)).map((n) => ({ n, level: 1 })).reverse();
    for (let s = stack.pop(); s && rows.length < listed.size; s = stack.pop()) {
      const level = s.level + Number(listed.has(s.n));
      if (listed.has(s.n)) rows.push(s);
      for (const kid of s.n.kids.filter((k) => above.has(k)).reverse()) stack.push({ n: kid, level });
    }
    keep(this.#rows, rows, ({ n }) => String(n.n), ({ n }) => {
      const tr = el("tr", { tabindex: "0" }, ...Array.from({ length: 6 }, (_, i) => el("td", { role: "gridcell", ...(i > 2 ? { class: "number" } : {}) })));
      const go = () => this.#enter(this.#copy?.nodes.get(n.n) ?? null);
      tr.addEventListener("click", go);
      tr.addEventListener("keydown", (e) => {
        const next = e.key === "ArrowDown" ? tr.nextElementSibling : e.key === "ArrowUp" ? tr.previousElementSibling : null;
        if (e.key === "Enter") go();
        if (next instanceof HTMLElement) {
          e.preventDefault();
          next.focus();
        }
      });
      return tr;
    }, (e, { n, level }) => {
      e.setAttribute("aria-level", String(level));
      const state = n.st + (n.re ? ", again" : "");
      [`${"› ".repeat(Math.min(6, level - 1))}${this.#jobName(n)}`, this.palette.signs[n.p]?.label ?? "", `${sign(n.st)[0]} ${state}`, duration(n.s), n.e === undefined ? "" : duration(n.e - n.s), count(n.x)]
        .forEach((text, i) => e.children[i] && say(/** @type {Element} */ (e.children[i]), text));
    });
  }

  /** Shows the run from its beginning, in some seconds: in steps, for who wants no motion. */
  #play() {
    this.#hold(true);
    const began = performance.now(), calm = matchMedia("(prefers-reduced-motion: reduce)").matches, me = ++Tree.#plays;
    this.#playing = me;
    const step = () => {
      if (this.#playing !== me || !this.#canvas.isConnected) return;
      const share = Math.min(1, (performance.now() - began) / (1000 * replayFor));
      this.#at = share >= 1 ? Infinity : share * (this.#copy?.newest ?? 0);
      this.#scrub.value = String(Math.round(1000 * share));
      this.#wish(2);
      if (share < 1) calm ? setTimeout(step, 1000) : requestAnimationFrame(step);
    };
    step();
  }
  static #plays = 0;
}
