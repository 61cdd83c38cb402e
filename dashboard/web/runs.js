// Runs: what, whose, how far, and what came of them.

/** @import {Model} from "./model.js" */
/** @import {Live} from "./live.js" */
/** @import {Run} from "./types.js" */
import { badge, el, Facts, keep, say, setBadge, show } from "./dom.js";
import { bytes, count, duration, left, moment, percent, plain, runName, nameOf, sign } from "./format.js";

/** @param {Run} r @returns {[string, string][]} */
function factsOf(r) {
  const s = r.stats;
  return [
    ["Run", plain(r.run)], ["Command", plain([r.app, ...r.args].join(" "))], ["Owner", r.mine ? "this peer" : `${r.owner_name ? `${plain(r.owner_name)}, ` : ""}${plain(r.owner)}`],
    ["Submitted", moment(r.submitted)], ["Time", duration(r.elapsed_seconds)], ["Why", plain(r.why ?? "")],
    ["Done here", `${count(r.executed)} jobs`],
    ["Spawned here", s ? `${count(s.spawns)} jobs, ${count(s.aborted_jobs)} aborted` : ""],
    ["Steals in the cluster", s ? `${count(s.local_steal_successes)} of ${count(s.local_steal_attempts)} attempts` : ""],
    ["Steals between clusters", s ? `${count(s.wide_steal_successes)} of ${count(s.wide_steal_attempts)} attempts` : ""],
    ["Sent", s ? `${bytes(s.intra_cluster_bytes)} in the cluster, ${bytes(s.inter_cluster_bytes)} to others` : ""],
    ["Recovery", s ? `${count(s.restarted_jobs)} jobs restarted, ${count(s.orphans_reused)} orphans' results used again` : ""],
    ["Time of the cores", s ? `${duration(s.useful_app_time_seconds)} running jobs, ${duration(s.steal_time_seconds)} asking for some, `
      + `${duration(s.wait_time_seconds)} waiting, ${duration(s.communication_time_seconds)} for the network, ${duration(s.idle_time_seconds)} idle` : ""],
    ["Answer", r.mine && r.state === "done" ? `satin-peer wait ${r.run.slice(0, 8)} prints it` : ""],
  ];
}

/** One run, folded until it is wanted. */
class Entry {
  #badge = badge(["?", "quiet"]);
  #name = el("b");
  #short = el("span", { class: "dim" });
  #bar = el("progress", { max: "1" });
  #facts = new Facts();
  #cancel = el("button", { type: "button" }, "Cancel this run");
  #said = el("span", { role: "status" });
  node = el("details", { class: "card live" }, el("summary", {}, this.#badge, this.#name, this.#short), this.#bar, this.#facts.node,
    el("div", { class: "actions" }, this.#cancel, this.#said));

  /** @param {Live} live @param {string} run */
  constructor(live, run) {
    this.#cancel.addEventListener("click", async () => {
      if (!confirm("Cancel this run everywhere? Its answer will never come.")) return;
      this.#cancel.disabled = true;
      say(this.#said, (await live.act(`/runs/${encodeURIComponent(run)}/cancel`, {})) || "Cancelled.");
      this.#cancel.disabled = false;
    });
  }

  /** @param {Run} r @param {boolean} mayAct */
  update(r, mayAct) {
    setBadge(this.#badge, sign(r.state));
    say(this.#name, runName(r));
    say(this.#short, ` ${[plain(r.state), r.ended ? duration(r.elapsed_seconds) : percent(r.share), left(r), r.mine ? "" : `of ${nameOf(r.owner)}`].filter((t) => t).join(", ")}`);
    show(this.#bar, !r.ended);
    this.#bar.value = r.share;
    this.#bar.setAttribute("aria-label", runName(r));
    this.#facts.update(factsOf(r));
    show(this.#cancel, r.mine && !r.ended && mayAct);
  }
}

export class Runs {
  title = "Runs";
  #list = el("div");
  #none = el("p", { class: "dim" }, "No runs yet. satin-peer run nqueens 15 makes one.");
  #left = el("p", { class: "dim" });
  /** @type {WeakMap<Element, Entry>} */
  #entries = new WeakMap();
  node = el("div", {}, this.#none, this.#list, this.#left);

  /** @param {Live} live */
  constructor(live) {
    this.live = live;
  }

  /** @param {Model} model */
  update(model) {
    show(this.#none, model.runs.length === 0);
    keep(this.#list, model.runs, (r) => r.run, (r) => {
      const entry = new Entry(this.live, r.run);
      this.#entries.set(entry.node, entry);
      return entry.node;
    }, (e, r) => this.#entries.get(e)?.update(r, model.level === "control"));
    const out = model.leftOut?.runs ?? 0;
    show(this.#left, out > 0);
    say(this.#left, `${count(out)} earlier runs are not shown.`);
  }
}
