// Am I working, how fast, with whom, when is it done, and what is wrong.

/** @import {Model} from "./model.js" */
/** @import {Run, Notice, Status} from "./types.js" */
import { badge, el, keep, say, setBadge, show } from "./dom.js";
import { clock, count, duration, left, moment, peerName, percent, plain, runName, sign } from "./format.js";

/** The state in one sentence. @param {Status} s */
export function sentence(s) {
  switch (s.state) {
    case "working": return `Working: ${s.busy} of ${s.workers} cores run jobs.`;
    case "paused": return s.paused_until ? `Paused until ${moment(s.paused_until)}.` : "Paused until it is resumed.";
    case "idle": return s.why_idle ? `Idle: ${plain(s.why_idle)}` : "Idle.";
    case "leaving": return "Leaving: the work of others is given back.";
  }
  return plain(s.state);
}

/** @param {Run} run */
function progressOf(run) {
  const peers = run.peers === 1 ? "1 peer" : `${run.peers} peers`;
  return [percent(run.share), `after ${duration(run.elapsed_seconds)}`, left(run), `on ${peers}`].filter((t) => t).join(", ");
}

/** What is wrong, as far as it is known. @param {Model} model @returns {string[]} */
export function wrong(model) {
  const list = [];
  if (model.trouble) list.push(`The daemon could not say how it is: ${plain(model.trouble)}`);
  for (const p of model.peers) if (p.connected && !p.alive) list.push(`${peerName(p)} is connected, but not heard.`);
  for (const r of model.runs) if (r.why && !(r.ended && r.state !== "failed")) list.push(`${runName(r)}: ${plain(r.why)}`);
  const s = model.status;
  if (s?.reach === "private") list.push(`Peers outside the own network cannot connect to this one${s.relay ? " but through a relay" : ""}${s.reach_why ? `: ${plain(s.reach_why)}` : "."}`);
  return list;
}

const spark = "http://www.w3.org/2000/svg";

export class Overview {
  title = "Overview";
  #badge = badge(["?", "quiet"]);
  #lead = el("span");
  #tiles = el("div", { class: "tiles live" });
  #line = document.createElementNS(spark, "polyline");
  #speed = el("p", { class: "dim" });
  #speeds = el("div", { class: "card live" });
  #runs = el("div", { class: "live" });
  #noRuns = el("p", { class: "dim" }, "No run is in progress.");
  #wrong = el("ul", { class: "plain live" });
  #fine = el("p", { class: "dim" }, "Nothing that this peer knows of.");
  #notices = el("ul", { class: "plain" });
  #quiet = el("p", { class: "dim" }, "Nothing yet.");
  node;

  constructor() {
    const svg = document.createElementNS(spark, "svg");
    svg.setAttribute("viewBox", "0 0 119 20");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("class", "spark");
    svg.setAttribute("aria-hidden", "true");
    svg.append(this.#line);
    this.#speeds.append(svg, this.#speed);
    this.node = el("div", {}, el("p", { class: "lead live" }, this.#badge, this.#lead), this.#tiles,
      this.#speeds,
      el("h2", {}, "In progress"), this.#noRuns, this.#runs, el("h2", {}, "What is wrong"), this.#fine, this.#wrong,
      el("h2", {}, "Since this page was opened"), this.#quiet, this.#notices);
  }

  /** @param {Model} model */
  update(model) {
    const s = model.status;
    if (!s) return;
    setBadge(this.#badge, sign(s.state));
    say(this.#lead, sentence(s));
    const tiles = [
      ["Jobs per second", count(s.work.jobs_per_second)], ["Cores at work", `${s.busy} of ${s.workers}`], ["Other peers", count(s.peers)],
      ["Clusters", count(model.clusters.length)], ["Jobs done here", count(s.work.executed)],
    ];
    keep(this.#tiles, tiles, ([name]) => name ?? "", ([name]) => el("div", { class: "tile" }, el("b"), el("span", {}, name ?? "")),
      (e, [, value]) => say(/** @type {Element} */ (e.firstElementChild), value ?? ""));
    show(this.#speeds, model.rates.length > 1);
    const most = Math.max(1, ...model.rates);
    this.#line.setAttribute("points", model.rates.map((r, i) => `${119 - (model.rates.length - 1 - i)},${(19 - (18 * r) / most).toFixed(1)}`).join(" "));
    say(this.#speed, `Jobs per second in the last two minutes while this page was open; at most ${count(Math.max(0, ...model.rates))}.`);
    const runs = model.runs.filter((r) => !r.ended);
    show(this.#noRuns, runs.length === 0);
    keep(this.#runs, runs, (r) => r.run, (r) => el("div", { class: "card" }, el("p", {}, el("b", {}, runName(r))), el("progress", { max: "1", "aria-label": runName(r) }), el("p", { class: "dim" })),
      (e, r) => {
        /** @type {HTMLProgressElement} */ (e.children[1]).value = r.share;
        say(/** @type {Element} */ (e.children[2]), progressOf(r));
      });
    const problems = wrong(model);
    show(this.#fine, problems.length === 0);
    keep(this.#wrong, problems, (t) => t, (t) => el("li", {}, badge(["!", "bad"]), t), () => {});
    show(this.#quiet, model.notices.length === 0);
    this.#notices.replaceChildren(...model.notices.map((/** @type {Notice} */ n) =>
      el("li", {}, badge([n.letter, n.tone]), el("span", { class: "dim" }, `${clock(n.at)} `), n.text)));
  }
}
