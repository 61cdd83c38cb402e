// What is known of the peer, kept true by changes.

/** @import {Status, Cluster, Peer, Run, LeftOut, Change, Topic, Notice, Connection} from "./types.js" */
import { peerName, runName } from "./format.js";

const maxNotices = 50;
const maxRates = 120; // two minutes

export class Model {
  /** @type {Connection} */
  connection = "connecting";
  /** @type {"" | "view" | "control"} */
  level = "";
  /** @type {Record<Topic, Map<string, unknown>>} */
  #values = { status: new Map(), clusters: new Map(), peers: new Map(), runs: new Map(), trouble: new Map() };
  /** What happened since the page was opened, newest first. @type {Notice[]} */
  notices = [];
  /** Jobs per second, one sample a second at most. @type {number[]} */
  rates = [];
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
  get trouble() { return /** @type {{text: string} | undefined} */ (this.#values.trouble.get("source"))?.text ?? ""; }

  /** Applies a change; false if it does not continue what is known.
   * @param {Change} change */
  apply(change) {
    const first = this.epoch === "";
    if (change.kind === "delta" && (change.epoch !== this.epoch || change.after !== this.number)) return false;
    const before = { peers: new Map(this.#values.peers), runs: new Map(this.#values.runs) };
    if (change.kind === "snapshot") {
      if (!first && change.epoch !== this.epoch) this.note("S", "warn", "The daemon was started again.");
      for (const values of Object.values(this.#values)) values.clear();
      if (change.epoch !== this.epoch) this.rates = [];
    }
    for (const [topic, values] of Object.entries(change.set)) {
      const known = this.#values[/** @type {Topic} */ (topic)];
      for (const [id, value] of Object.entries(values)) known?.set(id, value);
    }
    for (const [topic, ids] of Object.entries(change.gone ?? {})) {
      for (const id of ids) this.#values[/** @type {Topic} */ (topic)]?.delete(id);
    }
    this.epoch = change.epoch;
    this.number = change.number;
    if (!first) this.#notice(/** @type {Map<string, Peer>} */ (before.peers), /** @type {Map<string, Run>} */ (before.runs));
    return true;
  }

  /** Takes a sample of the speed. */
  sample() {
    if (this.status) this.rates = [...this.rates, this.status.work.jobs_per_second].slice(-maxRates);
  }

  /** @param {string} letter @param {string} tone @param {string} text */
  note(letter, tone, text) {
    this.notices = [{ at: new Date(), letter, tone, text }, ...this.notices].slice(0, maxNotices);
  }

  /** Says what is different now. @param {Map<string, Peer>} peers @param {Map<string, Run>} runs */
  #notice(peers, runs) {
    for (const peer of this.peers) {
      const was = peers.get(peer.peer);
      if (!was) this.note("+", "good", `${peerName(peer)} is a member.`);
      else if (was.alive && !peer.alive) this.note("X", "bad", `${peerName(peer)} is not heard any more.`);
      else if (was.alive && was.connected && !peer.connected) this.note("-", "quiet", `${peerName(peer)} is not connected.`);
      else if (!was.alive && peer.alive) this.note("+", "good", `${peerName(peer)} is heard again.`);
    }
    const now = new Set(this.peers.map((p) => p.peer));
    for (const peer of peers.values()) if (!now.has(peer.peer)) this.note("-", "quiet", `${peerName(peer)} is gone.`);
    for (const run of this.runs) {
      const was = runs.get(run.run);
      if (!was) this.note("R", "good", `${runName(run)} was submitted.`);
      else if (!was.ended && run.ended) this.note(run.state === "done" ? "D" : "X", run.state === "done" ? "good" : "bad", `${runName(run)}: ${run.state}.`);
    }
  }
}
