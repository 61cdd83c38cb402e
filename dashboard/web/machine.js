// This machine: what it gives and gets, and how to have it for oneself.

/** @import {Model} from "./model.js" */
/** @import {Live} from "./live.js" */
import { Allowed } from "./allowed.js";
import { badge, el, Facts, keep, say, setBadge, show, Table } from "./dom.js";
import { bytes, count, duration, many, moment, peerName, plain, secondsTo, sign } from "./format.js";
import { sentence } from "./overview.js";

export class Machine {
  title = "My machine";
  #badge = badge(["?", "quiet"]);
  #lead = el("span");
  #buttons = el("div", { class: "actions" });
  #resume = el("button", { type: "button", class: "main" }, "Resume");
  #finish = el("button", { type: "button" }, "Finish, then pause");
  #until = el("input", { type: "time", "aria-label": "Time of the day at which the pause ends" });
  #said = el("p", { role: "status", class: "dim" });
  #onlyLook = el("p", { class: "dim" }, "This session may only look. satin-peer dashboard prints a link to one that may act.");
  #work = new Facts();
  #thanks = new Table("Verified, by who has signed for it", [
    { head: "Signed by", text: (/** @type {import("./types.js").Thanks} */ t) => peerName({ peer: t.owner ?? "", name: t.owner_name }) },
    { head: "Time verified", number: true, text: (t) => duration(t.seconds) },
    { head: "Results", number: true, text: (t) => count(t.results) },
    { head: "Runs", number: true, text: (t) => count(t.runs) },
  ], (t) => t.owner ?? "");
  #place = new Facts();
  #addresses = el("ul", { class: "plain live" });
  #allowed;
  #asked = "";
  node = el("div", {}, el("p", { class: "lead live" }, this.#badge, this.#lead), this.#buttons, this.#onlyLook, this.#said,
    el("h2", {}, "Given and got"), this.#work.node, this.#thanks.node, el("h2", {}, "In the network"), this.#place.node, el("h2", {}, "Addresses to join by"), this.#addresses);

  /** @param {Live} live */
  constructor(live) {
    this.#allowed = new Allowed(live);
    this.#said.after(this.#allowed.node);
    const pause = (/** @type {string} */ text, /** @type {number} */ seconds) => {
      const b = el("button", { type: "button" }, text);
      b.addEventListener("click", () => this.#act(live.act("/pause", { for_seconds: seconds })));
      return b;
    };
    this.#resume.addEventListener("click", () => this.#act(live.act("/resume", {})));
    const until = el("button", { type: "button" }, "Pause until");
    until.addEventListener("click", () => {
      const seconds = secondsTo(this.#until.value, new Date());
      if (seconds) void this.#act(live.act("/pause", { for_seconds: seconds }));
      else this.#until.focus();
    });
    this.#buttons.append(this.#resume, pause("Pause for an hour", 3600), pause("Pause until I resume", 0), el("span", {}, until, " ", this.#until), this.#finish);
    this.#finish.addEventListener("click", () => this.#act(live.act("/finish", {})));
  }

  /** @param {Promise<string>} reply */
  async #act(reply) {
    const why = await reply;
    say(this.#said, why ? `Not done: ${plain(why)}` : "Done.");
  }

  /** @param {Model} model */
  update(model) {
    const s = model.status;
    if (!s) return;
    setBadge(this.#badge, sign(s.state));
    say(this.#lead, sentence(s));
    show(this.#buttons, model.level === "control" && s.state !== "leaving");
    show(this.#onlyLook, model.level === "view");
    show(this.#resume, s.state === "paused" || s.state === "finishing");
    show(this.#finish, s.state === "working" || s.state === "idle");
    const limits = `${model.level} ${s.limit ?? ""} ${s.workers} ${s.started}`;
    if (limits !== this.#asked) void this.#allowed.fetch(model.level === "control"); // it was changed, here or elsewhere
    this.#asked = limits;
    const w = s.work;
    this.#work.update([
      ["Jobs done here", `${count(w.executed)}, in ${duration(w.busy_seconds)} of its cores' time`],
      ["Taken from others", `${many(w.jobs_taken, "job")} that this machine did for them`],
      ["Given to others", `${many(w.jobs_given, "job")} that they did for this machine`],
      ["Processor time given", `${duration(w.cpu_given_seconds)} for others' runs, since this peer is`],
      ["Processor time used", `${duration(w.cpu_used_seconds)} of others for its runs, as they told`],
      ["Of that verified", w.verified.all.runs ? `${duration(w.verified.all.seconds)}, ${many(w.verified.all.results, "result")} in ${many(w.verified.all.runs, "run")}, by signed receipts of ${many(w.verified.owners, "owner")}` : ""],
      ["Sent", bytes(w.bytes_sent)], ["Received", bytes(w.bytes_received)],
    ]);
    const by = w.verified.by ?? [];
    this.#thanks.update(by);
    show(this.#thanks.node, by.length > 0);
    const reach = s.reach === "public" ? "others can connect to it" : s.reach === "private" ? "others outside the own network cannot connect to it" : "nobody has tried yet";
    this.#place.update([
      ["Peer", plain(s.peer)], ["Swarm", `${plain(s.swarm)}, ${s.trust === "open" ? "open to anybody" : "for those who are invited"}`], ["Cluster", plain(s.cluster)],
      ["Reachable", reach + (s.reach_why ? `: ${plain(s.reach_why)}` : "")], ["Relay", plain(s.relay ?? "")],
      ["Programs of others", s.modules === "members" ? "sandboxed modules that members run" : s.modules === "published" ? "sandboxed modules that a member has published" : "none: built-in applications only"],
      ["Programs of this machine", s.executables?.length ? `jobs may have run: ${s.executables.join(", ")}` : ""],
      ["Version", plain(s.version)], ["Started", moment(s.started)], ["Cores it may use", count(s.workers)],
    ]);
    keep(this.#addresses, s.addresses ?? [], (a) => a, (a) => el("li", {}, el("code", {}, plain(a))), () => {});
  }
}
