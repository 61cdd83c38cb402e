// Who is there, and how near.

/** @import {Model} from "./model.js" */
/** @import {Peer} from "./types.js" */
import { el, keep, say, show, Table } from "./dom.js";
import { count, many, peerName, plain, roundTrip, sign } from "./format.js";

const mostClusters = 20; // in the matrix

/** @param {Peer} p */
const stateOf = (p) => (p.alive ? p.state : "lost");

export class Swarm {
  title = "Swarm";
  #ownVersion = "";
  #clusters = new Table("Clusters", [
    { head: "Cluster", text: (/** @type {import("./types.js").Cluster} */ c) => plain(c.name) + (c.mine ? " (this peer's)" : "") },
    { head: "Peers", number: true, text: (c) => count(c.peers) },
    { head: "Cores", number: true, text: (c) => count(c.workers) },
    { head: "Round trip", number: true, text: (c) => roundTrip(c.rtt_seconds) },
    { head: "Why together", text: (c) => plain(c.reason) },
  ], (c) => c.name);
  #peers = new Table("Other peers", [
    { head: "Peer", sign: (/** @type {Peer} */ p) => sign(stateOf(p)), text: (p) => peerName(p) },
    { head: "State", text: (p) => (p.alive ? plain(p.state) : "not heard") + (p.connected ? "" : ", not connected") + (p.relayed ? ", through a relay" : "") },
    { head: "Cluster", text: (p) => plain(p.cluster) },
    { head: "Round trip", number: true, text: (p) => roundTrip(p.rtt_seconds) },
    { head: "Cores", number: true, text: (p) => count(p.workers) },
    { head: "Got from here", number: true, text: (p) => count(p.jobs_given) },
    { head: "Gave to here", number: true, text: (p) => count(p.jobs_taken) },
    { head: "Version", text: (p) => plain(p.version) + (p.version === this.#ownVersion ? "" : " (differs)") },
  ], (p) => p.peer);
  #ways = el("tbody");
  #wayHead = el("tr");
  #matrix = el("div", { class: "scroll live", role: "region", "aria-label": "Between clusters", tabindex: "0" }, el("table", { class: "matrix folds" },
    el("caption", { class: "dim" }, "Each row stole from each column: round trip, and jobs since the peers were started."), el("thead", {}, this.#wayHead), this.#ways));
  #noWays = el("p", { class: "dim" }, "Nothing is known of the ways yet: members are asked while a page is open and a run in progress.");
  #find = el("input", { type: "search", "aria-label": "Find a peer by name, ID, cluster or state", placeholder: "Find a peer", maxlength: "100" });
  #none = el("p", { class: "dim" });
  #left = el("p", { class: "dim" });
  /** @type {Model | undefined} */
  #model;
  node = el("div", {}, el("h2", {}, "Clusters"), this.#clusters.node,
    el("h2", {}, "Between clusters"), this.#noWays, this.#matrix, el("h2", {}, "Other peers"),
    el("div", { class: "actions" }, this.#find), this.#none, this.#peers.node, this.#left);

  constructor() {
    this.#find.addEventListener("input", () => this.#model && this.update(this.#model));
  }

  /** @param {Model} model */
  update(model) {
    this.#model = model;
    this.#ownVersion = model.status?.version ?? "";
    this.#clusters.update(model.clusters);
    this.#between(model);
    const wanted = this.#find.value.trim().toLowerCase();
    const all = model.peers;
    const found = all.filter((p) => [p.peer, p.name ?? "", p.cluster, stateOf(p)].some((t) => t.toLowerCase().includes(wanted)));
    this.#peers.update(found);
    show(this.#peers.node, found.length > 0);
    show(this.#none, found.length === 0);
    say(this.#none, all.length ? "No peer is like that." : "This peer is alone. satin-peer invite, on this machine, prints what lets others in.");
    const out = model.leftOut?.peers ?? 0;
    show(this.#left, out > 0);
    say(this.#left, `${count(out)} more peers are not shown.`);
  }

  /** Round trips and steals from each cluster to each. @param {Model} model */
  #between(model) {
    const flows = model.flows, names = [...new Set(flows.flatMap((f) => [f.from, f.to]))].sort().slice(0, mostClusters);
    show(this.#matrix, names.length > 0);
    show(this.#noWays, names.length === 0);
    const most = Math.max(1, ...flows.map((f) => f.jobs));
    keep(this.#wayHead, ["", ...names], (n) => `h ${n}`, (n) => (n ? el("th", { scope: "col", class: "number" }) : el("td")), (e, n) => say(e, n && `from ${plain(n)}`));
    keep(this.#ways, names, (n) => n, () => el("tr", {}, el("th", { scope: "row" })), (row, to) => {
      say(/** @type {Element} */ (row.firstElementChild), plain(to));
      names.forEach((from, i) => {
        const f = flows.find((x) => x.from === from && x.to === to), cell = row.children[i + 1] ?? row.appendChild(el("td", { class: "number" }));
        cell.setAttribute("data-label", `from ${plain(from)}`);
        say(cell, f ? [roundTrip(f.rtt_seconds), many(f.jobs, "job")].filter((t) => t).join(", ") : "");
        cell.className = `number heat${f?.jobs ? 1 + Math.floor((3 * Math.log1p(f.jobs)) / Math.log1p(most)) : 0}`;
      });
      while (row.children.length > names.length + 1) row.lastElementChild?.remove();
    });
  }

  search() { this.#find.focus(); }
}
