// A copy of a run's steal tree and timeline, kept true by asking for what is new.

/** @import {Growth, Row, Timeline} from "./types.js" */
/** @import {Live} from "./live.js" */
import { Forest } from "./forest.js";

export class TreeCopy extends Forest {
  version = -1;
  #epoch = "";
  #from = 0;
  #to = 0;
  #asking = false;

  /** @param {Live} live @param {string} run */
  constructor(live, run) {
    super();
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
      [this.#epoch, this.#from, this.#to] = [g.epoch, g.from, g.to];
      more = g.more;
      if (!more) this.version = version;
    }
    this.#asking = false;
    return news;
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
    const t = /** @type {Timeline | null} */ (await this.live.read(`/runs/${encodeURIComponent(this.run)}/timeline?epoch=${this.#epoch}&thin=${this.#thin}&to=${this.#to}`));
    this.#asking = false;
    if (!t) return false;
    this.spans = spans;
    const all = t.epoch !== this.#epoch || t.thin !== this.#thin;
    this.rows = t.rows.map((row, i) => ({ ...row, spans: all ? row.spans : [...(this.rows[i]?.spans ?? []), ...row.spans] }));
    [this.#epoch, this.#thin, this.#to] = [t.epoch, t.thin, t.to];
    return true;
  }
}
