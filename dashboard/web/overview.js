// Am I working, how fast, with whom, when is it done, and what is wrong.

/** @import {Model} from "./model.js" */
/** @import {Run, Status, TreeDigest} from "./types.js" */
import { Chart } from "./chart.js";
import { badge, el, keep, say, setBadge, show } from "./dom.js";
import { clock, count, duration, left, many, moment, peerName, percent, plain, runName, sign } from "./format.js";
import { changesOf, Strip } from "./strip.js";

/** The state in one sentence. @param {Status} s */
export function sentence(s) {
  switch (s.state) {
    case "working": return `Working: ${s.busy} of ${s.workers} cores run jobs${s.works_for ? ` of ${plain(s.works_for)}` : ""}${s.limit ? `: ${plain(s.limit)}` : ""}.`;
    case "paused": return s.limit ? `Not computing: ${plain(s.limit)}.` : s.paused_until ? `Paused until ${moment(s.paused_until)}.` : "Paused until it is resumed.";
    case "finishing": return `Finishing: ${many(s.jobs_left ?? 0, "job")} to be done here, then paused.`;
    case "idle": return s.why_idle ? `Idle: ${plain(s.why_idle)}` : "Idle.";
    case "leaving": return "Leaving: the work of others is given back.";
  }
  return plain(s.state);
}

/** @param {Run} run @param {TreeDigest | undefined} tree */
function progressOf(run, tree) {
  return [run.mine || run.share > 0 ? `${percent(run.share)} of the tree` : "how much is done was not told yet", `after ${duration(run.elapsed_seconds)}`, left(run), `on ${many(run.peers, "peer")}`, tree ? effect(tree) : ""].filter((t) => t).join(", ");
}

/** How much processor time all peers give to the runs in progress, in times what this machine has; 0: not known. @param {Model} model */
function besideAlone(model) {
  const cores = model.runs.reduce((sum, r) => sum + (r.ended ? 0 : model.trees.get(r.run)?.cores ?? 0), 0);
  return cores / Math.max(1, model.status?.workers ?? 1);
}

/** How well the workers of a run are used, in its last ten seconds. @param {TreeDigest} tree */
function effect({ workers: w, cores }) {
  const all = w.work + w.steal + w.comm + w.idle;
  return [all > 0 ? `efficiency ${percent(w.work / all)}` : "", cores > 0 ? `as fast as ${cores.toFixed(1)} cores` : ""].filter((t) => t).join(", ");
}

/** What the workers of all runs in progress without a job wait for, if there are enough of them to matter. @param {Model} model */
export function whyIdle(model) {
  let work = 0, steal = 0, comm = 0, idle = 0;
  for (const r of model.runs) {
    const w = r.ended ? undefined : model.trees.get(r.run)?.workers;
    if (w) [work, steal, comm, idle] = [work + w.work, steal + w.steal, comm + w.comm, idle + w.idle];
  }
  const all = work + steal + comm + idle;
  if (all <= 0) return model.status?.state === "idle" ? sentence(model.status) : "";
  if (work / all > 0.95) return "Hardly any worker of the runs in progress is.";
  const parts = [[steal, "waiting for the reply to a steal request"], [comm, "waiting for outcomes of jobs that others hold"], [idle, "having found nothing to steal"]];
  return `In the last ten seconds ${parts.filter(([n]) => Number(n) / all >= 0.005).map(([n, text]) => `${percent(Number(n) / all)} of the workers' time went into ${text}`).join(", ")}.`;
}

/** The names of the others, those that compute first. @param {Model} model */
function withWhom(model) {
  const peers = model.peers.filter((p) => p.connected && p.alive), busy = peers.filter((p) => p.state === "working");
  const list = [...busy, ...peers.filter((p) => p.state !== "working")].map((p) => peerName(p) + (p.state === "working" ? "" : `, ${plain(p.state)}`));
  return list.length > 0 ? `With ${list.slice(0, maxNamed).join("; ")}${list.length > maxNamed ? `; and ${list.length - maxNamed} more` : ""}.` : "";
}
const maxNamed = 6;

/** What is wrong, as far as it is known. @param {Model} model @returns {string[]} */
export function wrong(model) {
  const list = [];
  if (model.trouble) list.push(`The daemon could not say how it is: ${plain(model.trouble)}`);
  for (const p of model.peers) if (p.connected && !p.alive) list.push(`${peerName(p)} is connected, but not heard.`);
  for (const r of model.runs) if (r.why && !(r.ended && r.state !== "failed")) list.push(`${runName(r)}: ${plain(r.why)}`);
  return list;
}

/** What is worth knowing and nothing to be alarmed by. @param {Model} model @returns {string[]} */
export function worth(model) {
  const s = model.status;
  return s?.reach === "private" ? [`Peers outside the own network cannot connect to this one${s.relay ? " but through a relay" : ""}${s.reach_why ? `: ${plain(s.reach_why)}` : "."}`] : [];
}

export class Overview {
  title = "Overview";
  #badge = badge(["?", "quiet"]);
  #lead = el("span");
  #tiles = el("div", { class: "tiles live" });
  #rate = new Chart([{ label: "all peers", colour: "--accent", unit: count, scale: "jobs" }, { label: "here", colour: "--warn", unit: count, scale: "jobs" }]);
  #use = new Chart([{ label: "workers that run jobs", colour: "--good", unit: (v) => `${v} %`, scale: "part", most: 100 }]);
  #speed = el("p", { class: "dim" });
  #used = el("p", { class: "dim" });
  #strip = new Strip();
  #with = el("p", {});
  #why = el("p", {});
  #speeds = el("div", { class: "card live charts" });
  #runs = el("div", { class: "live" });
  #noRuns = el("p", { class: "dim" }, "No run is in progress.");
  #wrong = el("ul", { class: "plain live" });
  #fine = el("p", { class: "dim" }, "Nothing that this peer knows of.");
  #notices = el("ul", { class: "plain" });
  #quiet = el("p", { class: "dim" }, "Nothing yet.");
  node;

  constructor() {
    this.#speeds.append(el("div", {}, this.#speed, this.#rate.node), el("div", {}, this.#used, this.#use.node, this.#strip.node));
    this.node = el("div", {}, el("p", { class: "lead live" }, this.#badge, this.#lead), this.#tiles,
      el("h2", {}, "In progress"), this.#noRuns, this.#runs, this.#with, el("h2", {}, "What is wrong"), this.#fine, this.#wrong, this.#speeds,
      el("h2", {}, "Why idle?"), this.#why, el("h2", {}, "What happened while somebody watched"), this.#quiet, this.#notices);
  }

  /** @param {Model} model */
  update(model) {
    const s = model.status;
    if (!s) return;
    setBadge(this.#badge, sign(s.state));
    say(this.#lead, sentence(s));
    const alone = besideAlone(model);
    const tiles = [
      ["as fast as this machine alone", alone > 0 ? `× ${alone.toFixed(1)}` : "–"], ["Jobs per second", count(s.work.jobs_per_second)], ["Cores at work", `${s.busy} of ${s.workers}`], ["Other peers", count(s.peers)],
      ["Clusters", count(model.clusters.length)], ["Jobs done here", count(s.work.executed)],
    ];
    keep(this.#tiles, tiles, ([name]) => name ?? "", ([name]) => el("div", { class: "tile" }, el("b"), el("span", {}, name ?? "")),
      (e, [, value]) => say(/** @type {Element} */ (e.firstElementChild), value ?? ""));
    const { samples } = model, last = samples.at(-1);
    show(this.#speeds, samples.length > 1);
    const times = samples.map((x) => x.at);
    this.#rate.update([times, samples.map((x) => x.all), samples.map((x) => x.here)]);
    this.#use.update([times, samples.map((x) => x.busy)]);
    this.#strip.update(changesOf(model.runs, model.members), times[0] ?? 0, times.at(-1) ?? 0, this.#use.area);
    say(this.#speed, `Jobs per second: ${count(last?.all ?? 0)} on all peers, ${count(last?.here ?? 0)} of them here (dashed), ${count(Math.max(0, ...samples.map((x) => x.all)))} at most.`);
    say(this.#used, last?.busy == null ? "How many of the workers run jobs is known while a run is in progress." : `${last.busy.toFixed(0)} % of the workers' time went into jobs.`);
    say(this.#with, withWhom(model));
    say(this.#why, whyIdle(model) || "Nobody is: there is nothing in progress that is known of.");
    const runs = model.runs.filter((r) => !r.ended);
    show(this.#noRuns, runs.length === 0);
    keep(this.#runs, runs, (r) => r.run, (r) => el("div", { class: "card" }, el("p", {}, el("b", {}, runName(r))), el("progress", { max: "1", "aria-label": runName(r) }), el("p", { class: "dim" })),
      (e, r) => {
        /** @type {HTMLProgressElement} */ (e.children[1]).value = r.share;
        say(/** @type {Element} */ (e.children[2]), progressOf(r, model.trees.get(r.run)));
      });
    const problems = wrong(model);
    show(this.#fine, problems.length === 0);
    const list = /** @type {[string, string, string][]} */ ([...problems.map((t) => ["!", "bad", t]), ...worth(model).map((t) => ["i", "quiet", t])]);
    keep(this.#wrong, list, ([letter, , t]) => letter + t, ([letter, tone, t]) => el("li", {}, badge([letter, tone]), t), () => {});
    const notices = model.notices;
    show(this.#quiet, notices.length === 0);
    keep(this.#notices, notices, (n) => `${n.at.getTime()} ${n.text}`, (n) =>
      el("li", {}, badge([n.letter, n.tone]), el("span", { class: "dim" }, `${clock(n.at)} `), n.text), () => {});
  }
}
