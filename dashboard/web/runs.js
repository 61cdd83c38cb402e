// Runs: what, whose, how far, and what came of them.

/** @import {Model} from "./model.js" */
/** @import {Live} from "./live.js" */
/** @import {App, Run} from "./types.js" */
import { badge, el, Facts, keep, say, setBadge, show } from "./dom.js";
import { bytes, count, duration, left, many, moment, nameOf, percent, plain, runName, sign } from "./format.js";

/** @param {Run} r @returns {[string, string][]} */
function factsOf(r) {
  const s = r.stats;
  return [
    ["Run", plain(r.run)], ["Command", plain([r.app, ...r.args].join(" "))], ["Owner", r.mine ? "this peer" : `${r.owner_name ? `${plain(r.owner_name)}, ` : ""}${plain(r.owner)}`],
    ["Submitted", moment(r.submitted)], ["Time", duration(r.elapsed_seconds)], ["Why", plain(r.why ?? "")],
    ["Limits here", (r.limits ?? []).map(plain).join("; ")],
    ["Done here", many(r.executed, "job")],
    ["Spawned here", s ? `${many(s.spawns, "job")}, ${count(s.aborted_jobs)} aborted` : ""],
    ["Steals in the cluster", s ? `${count(s.local_steal_successes)} of ${count(s.local_steal_attempts)} attempts` : ""],
    ["Steals between clusters", s ? `${count(s.wide_steal_successes)} of ${count(s.wide_steal_attempts)} attempts` : ""],
    ["Sent", s ? `${bytes(s.intra_cluster_bytes)} in the cluster, ${bytes(s.inter_cluster_bytes)} to others` : ""],
    ["Recovery", s ? `${count(s.restarted_jobs)} jobs restarted, ${count(s.orphans_reused)} orphans' results used again` : ""],
    ["Time of the cores", s ? `${duration(s.useful_app_time_seconds)} running jobs, ${duration(s.steal_time_seconds)} asking for some, `
      + `${duration(s.wait_time_seconds)} waiting, ${duration(s.communication_time_seconds)} for the network, ${duration(s.idle_time_seconds)} idle` : ""],
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
  #suspend = el("button", { type: "button" }, "Suspend it");
  #resume = el("button", { type: "button" }, "Go on with it");
  #show = el("button", { type: "button" }, "Show the answer");
  #answer = el("pre", { tabindex: "0", "aria-label": "The answer", hidden: "" });
  #said = el("span", { role: "status" });
  node = el("details", { class: "card live" }, el("summary", {}, this.#badge, this.#name, this.#short), this.#bar, this.#facts.node,
    el("div", { class: "actions" }, this.#cancel, this.#suspend, this.#resume, this.#show, this.#said), this.#answer);

  /** @param {Live} live @param {string} run */
  constructor(live, run) {
    const path = `/runs/${encodeURIComponent(run)}`;
    const button = (/** @type {HTMLButtonElement} */ b, /** @type {string} */ verb, /** @type {string} */ done, question = "") => b.addEventListener("click", async () => {
      if (question && !confirm(question)) return;
      b.disabled = true;
      say(this.#said, plain(await live.act(`${path}/${verb}`, {})) || done);
      b.disabled = false;
    });
    button(this.#cancel, "cancel", "Cancelled.", "Cancel this run everywhere? Its answer will never come.");
    button(this.#suspend, "suspend", "Suspended.");
    button(this.#resume, "resume", "It goes on.");
    this.#show.addEventListener("click", async () => {
      const { got, why } = await live.ask("GET", `${path}/answer`);
      say(this.#said, plain(why));
      show(this.#answer, got !== null);
      say(this.#answer, got ? got.text.split("\n").map(plain).join("\n") : "");
    });
  }

  /** @param {Run} r @param {boolean} mayAct */
  update(r, mayAct) {
    const state = r.quarantined ? "in quarantine" : r.state;
    setBadge(this.#badge, sign(state));
    say(this.#name, runName(r));
    say(this.#short, ` ${[plain(state), r.ended ? duration(r.elapsed_seconds) : percent(r.share), left(r), r.mine ? "" : `of ${nameOf(r.owner)}`].filter((t) => t).join(", ")}`);
    show(this.#bar, !r.ended);
    this.#bar.value = r.share;
    this.#bar.setAttribute("aria-label", runName(r));
    this.#facts.update(factsOf(r));
    const mayGoOn = r.state === "suspended" || r.state === "refused";
    show(this.#cancel, r.mine && (!r.ended || mayGoOn) && mayAct);
    show(this.#suspend, r.mine && !r.ended && mayAct);
    say(this.#resume, r.quarantined ? "Let it in again" : "Go on with it");
    show(this.#resume, (r.quarantined || r.mine && r.state === "suspended") && mayAct);
    show(this.#show, r.mine && r.state === "done" && mayAct);
  }
}

/** How often it is asked what can be started, in ms: members publish modules. */
const appsEvery = 10_000;

/** Begins runs: of what is built in, and of modules that members have published. */
class Starter {
  #app = el("select", { "aria-label": "Application" });
  #args = el("input", { type: "text", "aria-label": "Arguments", autocomplete: "off", spellcheck: "false" });
  #about = el("p", { class: "dim" });
  #said = el("span", { role: "status" });
  node = el("form", { class: "actions", hidden: "" }, this.#app, this.#args, el("button", { class: "main" }, "Start a run"), this.#said, this.#about);
  /** @type {App[]} */
  #apps = [];
  #asked = -Infinity; // when the list was asked for, in ms

  /** @param {Live} live */
  constructor(live) {
    this.live = live;
    this.#app.addEventListener("change", () => this.#explain());
    this.node.addEventListener("submit", async (event) => {
      event.preventDefault();
      const { got, why } = await live.ask("POST", "/runs", { app: this.#app.value, arguments: this.#args.value });
      say(this.#said, why ? plain(why) : `Run ${got.run.slice(0, 8)} has begun.`);
    });
  }

  #explain() {
    const app = this.#apps.find((a) => a.name === this.#app.value);
    this.#args.placeholder = app?.args ?? "";
    say(this.#about, app?.summary ?? "");
  }

  /** @param {boolean} mayAct */
  async update(mayAct) {
    show(this.node, mayAct && this.#apps.length > 0);
    if (!mayAct || performance.now() - this.#asked < appsEvery) return;
    this.#asked = performance.now();
    this.#apps = (await this.live.read("/apps")) ?? this.#apps;
    keep(this.#app, this.#apps, (a) => a.name, (a) => el("option", { value: a.name }, plain(a.name)), () => {});
    this.#explain();
    show(this.node, this.#apps.length > 0);
  }
}

export class Runs {
  title = "Runs";
  #list = el("div");
  #none = el("p", { class: "dim" }, "No runs yet. satin-peer run nqueens 15 makes one.");
  #left = el("p", { class: "dim" });
  #refused = el("p", { class: "dim" });
  /** @type {WeakMap<Element, Entry>} */
  #entries = new WeakMap();
  #starter;
  node = el("div", {}, this.#none, this.#list, this.#left, this.#refused);

  /** @param {Live} live */
  constructor(live) {
    this.live = live;
    this.#starter = new Starter(live);
    this.node.prepend(this.#starter.node);
  }

  /** @param {Model} model */
  update(model) {
    show(this.#none, model.runs.length === 0);
    void this.#starter.update(model.level === "control");
    keep(this.#list, model.runs, (r) => r.run, (r) => {
      const entry = new Entry(this.live, r.run);
      this.#entries.set(entry.node, entry);
      return entry.node;
    }, (e, r) => this.#entries.get(e)?.update(r, model.level === "control"));
    const out = model.leftOut?.runs ?? 0;
    show(this.#left, out > 0);
    say(this.#left, `${count(out)} earlier runs are not shown.`);
    const refused = model.status?.refused ?? [];
    show(this.#refused, refused.length > 0);
    say(this.#refused, `Refused on this machine: ${refused.map(plain).join(", ")}. satin-peer refuse --lift takes that back.`);
  }
}
