// The segments of this page: what its cores were given of the steal tree, and when. They are kept, placed and drawn as the dashboard's
// page does it, by the same scripts: these paths lead to them in the repository and, as there is nothing above the root, on the gateway.

/** @import {Node} from "../../../dashboard/web/forest.js" */
/** @import {Shoot} from "../../../dashboard/web/types.js" */
import { fit, Palette } from "../../../dashboard/web/colours.js";
import { Forest } from "../../../dashboard/web/forest.js";
import { count, duration } from "../../../dashboard/web/format.js";
import { choose, Flat, Icicle } from "../../../dashboard/web/icicle.js";
import { place } from "../../../dashboard/web/layout.js";

const most = 1000; // segments that are kept
const keptFor = 600; // seconds after a segment has ended

/** What a core tells: segments of a part in a run, with numbers of its own and times by the clock; `more` if not those that run.
 * @typedef {{part: number, list: Omit<Shoot, "p">[], more: boolean}} Told */

/** What is kept of them. */
export class Own {
  forest = new Forest();
  #origin = 0; // when the first one began
  #last = 0; // the number of the newest
  /** Those that run, of each core: what each is here, by the core's own number. @type {{part: number, running: Map<number, number>}[]} */
  #cores = [];
  /** The newest of each run and path. @type {Map<string, number>} */
  #byPath = new Map();
  /** @type {Map<number, string>} */
  #paths = new Map();

  /** @param {number} core @param {string} run @param {Told} told @param {number} now by the clock */
  take(core, run, { part, list, more }, now) {
    const c = this.#core(core), /** @type {Shoot[]} */ set = [], still = new Set();
    if (c.part !== part) this.lost(core, now);
    c.part = part;
    for (const s of list) {
      if (s.st === "restarted") continue; // that was somebody else's
      this.#origin ||= s.s;
      const n = c.running.get(s.n) ?? this.#name(`${run} ${s.job}`), known = this.forest.nodes.get(n);
      if (s.e === undefined) c.running.set(s.n, n);
      else c.running.delete(s.n);
      still.add(n);
      set.push({ ...s, n, p: core, up: known ? known.up : this.#above(run, s.job), s: s.s - this.#origin, e: s.e && s.e - this.#origin });
    }
    this.#change(set, now);
    if (!more) this.#unseen(core, (n) => !still.has(n), now);
  }

  /** A core tells nothing more of what it runs. @param {number} core @param {number} now */
  lost(core, now) {
    this.#unseen(core, () => true, now);
  }

  /** How many segments run. */
  get running() {
    return this.#cores.reduce((sum, c) => sum + c.running.size, 0);
  }

  /** How long ago the first of them began, in seconds, when it is now. @param {number} now */
  age(now) {
    return this.#origin ? Math.max(0, now - this.#origin) : 0;
  }

  /** @param {number} core */
  #core(core) {
    return (this.#cores[core] ??= { part: 0, running: new Map() });
  }

  /** @param {string} path */
  #name(path) {
    const n = ++this.#last;
    this.#byPath.set(path, n);
    this.#paths.set(n, path);
    return n;
  }

  /** The nearest own segment above a job. @param {string} run @param {string} job @returns {number | undefined} */
  #above(run, job) {
    for (let at = job.lastIndexOf("."); at > 0; at = job.lastIndexOf(".", at - 1)) {
      const n = this.#byPath.get(`${run} ${job.slice(0, at)}`);
      if (n) return n;
    }
    return job === "root" ? undefined : this.#byPath.get(`${run} root`);
  }

  /** Ends what a core does not tell of any more. @param {number} core @param {(n: number) => boolean} gone @param {number} now */
  #unseen(core, gone, now) {
    const { running } = this.#core(core), /** @type {Shoot[]} */ set = [];
    for (const [number, n] of running) {
      const node = this.forest.nodes.get(n);
      if (!gone(n)) continue;
      running.delete(number);
      if (node) set.push({ n, up: node.up, job: node.job, p: node.p, s: node.s, e: this.age(now), sp: node.sp, x: node.x, st: "unseen", re: node.re });
    }
    this.#change(set, now);
  }

  /** @param {Shoot[]} set @param {number} now */
  #change(set, now) {
    const newest = this.age(now), peers = Array.from(this.#cores, (_, i) => ({ peer: String(i), cluster: "" })); // also of cores that have told nothing yet
    this.forest.take({ all: false, set, gone: [], peers, newest });
    const ended = [...this.forest.nodes.values()].filter((n) => n.e !== undefined && n.kids.length === 0).sort((a, b) => (a.e ?? 0) - (b.e ?? 0));
    const over = this.forest.nodes.size - most;
    const gone = ended.filter((n, i) => i < over || (n.e ?? 0) < newest - keptFor).map((n) => n.n);
    if (!gone.length) return;
    this.forest.take({ all: false, set: [], gone, peers, newest });
    for (const n of gone) {
      const path = this.#paths.get(n) ?? "";
      if (this.#byPath.get(path) === n) this.#byPath.delete(path);
      this.#paths.delete(n);
    }
  }
}

/** Draws them by time, in a canvas, and says of one what it is when it is pointed at or gone to by the arrows. */
export class OwnView {
  #own = new Own();
  #palette = new Palette();
  #icicle = new Icicle();
  #due = false;
  /** @type {Node | null} */
  #chosen = null;
  #nodes = new Flat([]);
  #sight = this.#look(0, 1);

  /** @param {HTMLElement} box hidden until there is a segment @param {HTMLCanvasElement} canvas @param {HTMLElement} said */
  constructor(box, canvas, said) {
    this.box = box;
    this.canvas = canvas;
    this.said = said;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const theme = () => {
      document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
      this.#draw();
    };
    dark.addEventListener("change", theme);
    theme();
    canvas.addEventListener("pointermove", (e) => this.#choose(this.#hit(e)));
    canvas.addEventListener("pointerdown", (e) => this.#choose(this.#hit(e)));
    canvas.addEventListener("keydown", (e) => this.#key(e));
    new ResizeObserver(() => this.#draw()).observe(canvas);
  }

  /** @param {number} core @param {string} run @param {Told} told */
  take(core, run, told) {
    this.#own.take(core, run, told, Date.now() / 1000);
    this.#draw();
  }

  /** @param {number} core */
  lost(core) {
    this.#own.lost(core, Date.now() / 1000);
    this.#draw();
  }

  /** Draws in the next frame, if anybody looks. */
  #draw() {
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      this.#frame();
    });
  }

  /** @param {number} from @param {number} rowHeight */
  #look(from, rowHeight) {
    return { nodes: this.#nodes, from, to: 1, top: 0, rowHeight, at: Infinity, cluster: -1, peer: -1, only: "", letters: true, own: false };
  }

  #frame() {
    const { forest, running } = this.#own, now = Date.now() / 1000;
    this.box.hidden = forest.nodes.size === 0;
    if (this.box.hidden) return;
    forest.newest = this.#own.age(now);
    this.#palette.learn(forest.peers);
    const rows = place(forest, "time"), all = [...forest.nodes.values()];
    this.#nodes = new Flat(all);
    const first = all.reduce((least, n) => Math.min(least, n.from), 1), rowHeight = Math.max(6, Math.min(28, Math.floor(280 / rows)));
    this.#sight = this.#look(first, rowHeight);
    const { c, width, height } = fit(this.canvas, rows * rowHeight);
    this.#icicle.draw(c, width, height, this.#palette, this.#sight);
    const chosen = this.#chosen && forest.nodes.get(this.#chosen.n);
    if (chosen) choose(c, width, this.#palette, this.#sight, chosen);
    this.#chosen = chosen ?? null;
    this.canvas.setAttribute("aria-label", `${count(running)} jobs run and ${count(all.length - running)} have ended, in the last ${duration((1 - first) * forest.newest)}`);
  }

  /** @param {MouseEvent} e */
  #hit(e) {
    const box = this.canvas.getBoundingClientRect(), { from, to, rowHeight } = this.#sight;
    return this.#nodes.find(from + ((e.clientX - box.left) / box.width) * (to - from), Math.floor((e.clientY - box.top) / rowHeight), Infinity);
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    const way = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0, { sorted } = this.#own.forest;
    if (!way || sorted.length === 0) return;
    e.preventDefault();
    const at = this.#chosen ? sorted.indexOf(this.#chosen) + way : way > 0 ? 0 : sorted.length - 1;
    this.#choose(sorted[Math.max(0, Math.min(sorted.length - 1, at))] ?? null);
  }

  /** @param {Node | null} n */
  #choose(n) {
    if (n === this.#chosen) return;
    this.#chosen = n;
    this.said.textContent = n === null ? "" : [`Job ${n.job.length > 40 ? `…${n.job.slice(-38)}` : n.job}`, n.e === undefined ? "running" : n.st,
      `on core ${n.p + 1}`, `for ${duration((n.e ?? this.#own.forest.newest) - n.s)}`, `${count(n.x)} jobs in it`].join(", ");
    this.#draw();
  }
}
