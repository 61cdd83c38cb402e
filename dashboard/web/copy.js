// A copy of a run's steal tree and timeline, kept true by asking for what is new.

/** @import {Shoot, Growth, Row, TimelineReply, Place} from "./types.js" */
/** @import {Live} from "./live.js" */

/** @typedef {Shoot & {kids: Node[], above: Node | null, from: number, to: number, row: number, weight: number}} Node */

export class TreeCopy {
  /** @type {Map<number, Node>} */
  nodes = new Map();
  /** Those that are under nothing. @type {Node[]} */
  tops = [];
  /** @type {Place[]} */
  peers = [];
  folded = 0;
  newest = 0;
  version = -1;
  #epoch = "";
  #from = 0;
  #to = 0;
  #asking = false;

  /** @param {Live} live @param {string} run */
  constructor(live, run) {
    this.live = live;
    this.run = run;
  }

  /** Asks for what is new, if the tree has another version; says whether anything is. @param {number} version */
  async grow(version) {
    if (this.#asking || version === this.version) return false;
    this.#asking = true;
    let news = false, more = true;
    while (more) {
      const g = /** @type {Growth | null} */ (await this.live.read(`/runs/${encodeURIComponent(this.run)}/segments?epoch=${this.#epoch}&from=${this.#from}&to=${this.#to}`));
      if (!g) break;
      news = this.take(g) || news;
      more = g.more;
      if (!more) this.version = version;
    }
    this.#asking = false;
    return news;
  }

  /** @param {Growth} g */
  take(g) {
    if (g.all) this.nodes.clear();
    if (g.all) this.peers = [];
    for (const s of g.set) {
      const old = this.nodes.get(s.n);
      if (old) {
        delete old.e;
        delete old.up;
        Object.assign(old, s);
      } else {
        this.nodes.set(s.n, { ...s, kids: [], above: null, from: 0, to: 0, row: 0, weight: 0 });
      }
    }
    for (const n of g.gone) this.nodes.delete(n);
    [this.#epoch, this.#from, this.#to, this.folded, this.peers, this.newest] = [g.epoch, g.from, g.to, g.folded, g.peers, g.newest];
    if (g.set.length + g.gone.length > 0) this.#link();
    return g.set.length + g.gone.length > 0 || g.all;
  }

  /** Hangs all segments under those that they were stolen from, in the order in which they began. */
  #link() {
    this.tops = [];
    const all = [...this.nodes.values()].sort((a, b) => a.s - b.s || a.n - b.n);
    for (const n of all) n.kids = [];
    for (const n of all) {
      n.above = this.nodes.get(n.up ?? 0) ?? null;
      (n.above?.kids ?? this.tops).push(n);
    }
  }
}

export class TimelineCopy {
  /** @type {Row[]} */
  rows = [];
  spans = -1;
  #epoch = "";
  #thin = 0;
  #to = 0;
  #asking = false;

  /** @param {Live} live @param {string} run */
  constructor(live, run) {
    this.live = live;
    this.run = run;
  }

  /** @param {number} spans the number of the newest there is */
  async grow(spans) {
    if (this.#asking || spans === this.spans) return false;
    this.#asking = true;
    const t = /** @type {TimelineReply | null} */ (await this.live.read(`/runs/${encodeURIComponent(this.run)}/timeline?epoch=${this.#epoch}&thin=${this.#thin}&to=${this.#to}`));
    this.#asking = false;
    if (!t) return false;
    this.spans = spans;
    const all = t.epoch !== this.#epoch || t.thin !== this.#thin;
    this.rows = t.rows.map((row, i) => ({ ...row, spans: all ? row.spans : [...(this.rows[i]?.spans ?? []), ...row.spans] }));
    [this.#epoch, this.#thin, this.#to] = [t.epoch, t.thin, t.to];
    return true;
  }
}
