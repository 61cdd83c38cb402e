// What is known of the peer, kept true by changes.

/** @import {Status, Cluster, Peer, Run, LeftOut, Change, Topic, Notice, TreeDigest, Flow, Moment, RosterEntry} from "./types.js" */
import { learnName, plain } from "./format.js";
import { topics } from "./types.js";

const maxNotices = 50;
const maxSamples = 4000; // an hour, one a second

/** Jobs per second here and of all peers, and the share of all workers that run jobs, 0 to 100.
 * @typedef {{at: number, here: number, all: number, busy: number | null}} Sample */

/** @typedef {"connecting" | "open" | "lost" | "refused"} Connection */
/** @typedef {{at: Date, text: string, letter: string, tone: string}} Happening */

export class Model {
  /** @type {Connection} */
  connection = "connecting";
  /** @type {"" | "view" | "control"} */
  level = "";
  #values = /** @type {Record<Topic, Map<string, unknown>>} */ (Object.fromEntries(topics.map((t) => [t, new Map()])));
  /** @type {Happening[]} */
  #own = [];
  /** One a second while the page is open. @type {Sample[]} */
  samples = [];
  epoch = "";
  number = 0;

  get status() { return /** @type {Status | undefined} */ (this.#values.status.get("me")); }
  get leftOut() { return /** @type {LeftOut | undefined} */ (this.#values.status.get("left_out")); }
  get clusters() {
    const list = /** @type {Cluster[]} */ ([...this.#values.clusters.values()]);
    return list.sort((a, b) => Number(b.mine) - Number(a.mine) || a.name.localeCompare(b.name));
  }
  get peers() {
    const list = /** @type {Peer[]} */ ([...this.#values.peers.values()]);
    return list.sort((a, b) => a.cluster.localeCompare(b.cluster) || a.peer.localeCompare(b.peer));
  }
  get runs() {
    const list = /** @type {Run[]} */ ([...this.#values.runs.values()]);
    return list.sort((a, b) => Number(a.ended) - Number(b.ended) || b.submitted.localeCompare(a.submitted));
  }
  /** The steal trees of runs that were watched, by run. */
  get trees() { return /** @type {Map<string, TreeDigest>} */ (this.#values.trees); }
  get flows() { return /** @type {Flow[]} */ ([...this.#values.flows.values()]); }
  /** Who came and went, oldest first. */
  get members() { return /** @type {RosterEntry[]} */ (this.#values.members.get("all") ?? []); }
  get trouble() { return /** @type {{text: string} | undefined} */ (this.#values.trouble.get("source"))?.text ?? ""; }

  /** Applies a change; false if it does not continue what is known. It may repeat some of that: who asks again while a change is on its
   * way gets what that one has in the next one, too.
   * @param {Change} change */
  apply(change) {
    const first = this.epoch === "";
    if (change.kind === "delta" && (change.epoch !== this.epoch || change.after > this.number)) return false;
    if (change.kind === "snapshot") {
      if (!first && change.epoch !== this.epoch) this.#own = [{ at: new Date(), letter: "S", tone: "warn", text: "The daemon was started again." }, ...this.#own].slice(0, 9);
      for (const values of Object.values(this.#values)) values.clear();
      if (change.epoch !== this.epoch) this.samples = [];
    }
    for (const [topic, values] of Object.entries(change.set)) {
      const known = this.#values[/** @type {Topic} */ (topic)];
      for (const [id, value] of Object.entries(values)) known?.set(id, value);
    }
    for (const [topic, ids] of Object.entries(change.gone ?? {})) {
      for (const id of ids) this.#values[/** @type {Topic} */ (topic)]?.delete(id);
    }
    for (const p of this.peers) learnName(p.peer, p.name);
    for (const r of this.runs) learnName(r.owner, r.owner_name);
    if (this.status) learnName(this.status.peer, this.status.name);
    this.epoch = change.epoch;
    this.number = change.number;
    return true;
  }

  /** Takes what the daemon has kept of the time before this page was opened. @param {Moment[]} past */
  recall(past) {
    const kept = past.map((m) => ({ at: Date.parse(m.at) / 1000, here: m.here, all: m.all, busy: m.busy == null ? null : 100 * m.busy }));
    const newest = kept.at(-1)?.at ?? 0;
    this.samples = [...kept, ...this.samples.filter((x) => x.at > newest)].slice(-maxSamples);
  }

  /** Takes a sample of the speed. */
  sample() {
    if (!this.status) return;
    const at = Date.now() / 1000;
    let work = 0, total = 0;
    for (const run of this.runs) {
      const tree = this.trees.get(run.run);
      if (!tree || run.ended) continue;
      work += tree.workers.work;
      total += tree.workers.work + tree.workers.steal + tree.workers.comm + tree.workers.idle;
    }
    this.samples = [...this.samples, { at, here: this.status.work.jobs_per_second, all: this.status.work.all_jobs_per_second, busy: total > 0 ? (100 * work) / total : null }].slice(-maxSamples);
  }

  /** What happened, newest first: as the daemon says, and what only the page knows. @returns {Happening[]} */
  get notices() {
    const told = /** @type {Notice[]} */ ([...this.#values.notices.values()]).map((n) => ({ at: new Date(n.at), letter: n.letter, tone: n.tone, text: plain(n.text) }));
    return [...this.#own, ...told].sort((a, b) => b.at.getTime() - a.at.getTime()).slice(0, maxNotices);
  }
}
