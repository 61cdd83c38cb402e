// The page of somebody who lends cores: one button, and what came of it.

import { OwnView } from "./own.js";

/** What a worker tells. @typedef {{ what: "status", run: string, app: string, title: string, owner: string, resting: boolean,
 *   busy: boolean, executed: number, taken: number, given: number, worked: number, why: string }
 *   | { what: "segments" } & import("./own.js").Told
 *   | { what: "module", module: string, gateway: string } | { what: "gone", why: string, refused: boolean }} Told */
/** @typedef {Extract<Told, { what: "status" }>} Status */
/** What the ticket is for. @typedef {{ member: string, title: string, owner: string, expires: string, others?: string[], error: string }} About */

/** @param {string} id */
function byID(id) {
  const e = document.getElementById(id);
  if (!e) throw new Error(`the page has no ${id}`);
  return e;
}

/** @param {string} id @param {string} text */
function say(id, text) {
  const e = byID(id);
  if (e.textContent !== text) e.textContent = text;
}

const ticket = location.hash.slice(1);
const button = /** @type {HTMLButtonElement} */ (byID("start"));
const cores = /** @type {HTMLSelectElement} */ (byID("cores"));
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const lowBattery = 0.3;

/** Why it rests; it works if nothing of it is so. */
const rests = { told: false, hidden: document.hidden, battery: false };
const resting = () => rests.told || rests.hidden || rests.battery;

/** Gateways of other members, where a peer may go on when it has lost this page's. @type {string[]} */
let others = [];

/** One peer. It finds a gateway by itself; its worker is started again when that has failed. */
class Peer {
  /** @type {Worker | null} */ worker = null;
  /** @type {Status | null} */ now = null;
  /** What its earlier lives have done. */
  before = { executed: 0, taken: 0, given: 0, worked: 0 };
  wait = 1000;
  why = "";

  start() {
    const worker = this.worker = new Worker(/** @type {string} */ (scriptURL("/worker.js")), { type: "module" });
    const told = (/** @type {Told} */ t) => { if (this.worker === worker) this.told(t); }; // else it has ended, and said why
    worker.addEventListener("message", (e) => told(/** @type {Told} */ (e.data)));
    worker.addEventListener("error", () => told({ what: "gone", why: "the worker could not be started", refused: false }));
    worker.postMessage({ module: program, gateway: location.origin, others, ticket });
    if (resting()) this.rest(true);
  }

  /** @param {Told} t */
  told(t) {
    if (t.what === "status") {
      if (t.taken > 0) this.wait = 1000;
      this.now = t;
      this.why = t.why;
    } else if (t.what === "segments") {
      own.take(peers.indexOf(this), this.now?.run ?? "", t);
    } else if (t.what === "module") {
      void this.bring(t.module, t.gateway);
    } else {
      this.worker?.terminate();
      this.worker = null;
      own.lost(peers.indexOf(this));
      if (this.now) for (const k of /** @type {const} */ (["executed", "taken", "given", "worked"])) this.before[k] += this.now[k];
      this.now = null;
      this.why = t.why;
      if (!t.refused) {
        setTimeout(() => this.start(), this.wait);
        this.wait = Math.min(2 * this.wait, 60_000);
      }
    }
    show();
  }

  /** Brings the worker a module. @param {string} hash @param {string} gateway */
  async bring(hash, gateway) {
    const to = this.worker;
    let bytes = new Uint8Array(), why = "";
    try {
      bytes = new Uint8Array(await moduleOf(hash, gateway));
    } catch (err) {
      why = String(err);
    }
    to?.postMessage({ do: "module", bytes, why });
  }

  /** @param {boolean} on */
  rest(on) {
    this.worker?.postMessage({ do: "rest", on });
  }

  /** @param {"executed" | "taken" | "given" | "worked"} k */
  sum(k) {
    return this.before[k] + (this.now ? this.now[k] : 0);
  }
}

/** @type {Peer[]} */
const peers = [];
const own = new OwnView(byID("own"), /** @type {HTMLCanvasElement} */ (byID("icicle")), byID("own-said"));
/** @type {WebAssembly.Module | null} */
let program = null;
/** @type {{ at: number, executed: number }[]} */
const history = [];

/** The module that was asked for last, and of whom: all workers want the same one. */
let shared = { what: "", bytes: Promise.resolve(new ArrayBuffer(0)) };
const fetchFor = 120_000; // ms: a gateway gives no file more time

/** @param {string} hash @param {string} gateway */
function moduleOf(hash, gateway) {
  const what = `${gateway} ${hash}`;
  if (shared.what !== what) {
    const get = async () => {
      const reply = await fetch(new URL("/module", gateway), { method: "POST", body: JSON.stringify({ ticket, module: hash }), signal: AbortSignal.timeout(fetchFor) });
      if (!reply.ok) throw new Error((await reply.text()).trim());
      return reply.arrayBuffer();
    };
    const asked = { what, bytes: get() };
    asked.bytes.catch(() => { if (shared === asked) shared.what = ""; }); // who comes next tries again
    shared = asked;
  }
  return shared.bytes;
}

/** Where a worker's script is, in a form that pages take which trust no text. @param {string} path @returns {unknown} */
function scriptURL(path) {
  const types = /** @type {any} */ (globalThis).trustedTypes;
  return types ? (policy ??= types.createPolicy("satin-worker", { createScriptURL: (/** @type {string} */ s) => s })).createScriptURL(path) : path;
}
/** @type {any} */
let policy = null;

/** @param {"executed" | "taken" | "given" | "worked"} k */
const total = (k) => peers.reduce((n, p) => n + p.sum(k), 0);

function show() {
  if (peers.length === 0) return;
  const working = peers.flatMap((p) => p.now ? [p.now] : []);
  const busy = working.filter((s) => s.busy).length;
  const with_ = working.find((s) => s.app !== "");
  const why = peers.find((p) => p.why !== "")?.why ?? "";
  let state = `${busy} of ${peers.length} ${peers.length === 1 ? "core" : "cores"} at work`;
  if (rests.told) state = "Resting: press Go on to help again";
  else if (rests.hidden) state = "Resting while this page is hidden";
  else if (rests.battery) state = "Resting: the battery is low";
  else if (working.every((s) => s.why !== "")) state = why === "" ? "Starting…" : `Not connected: ${why}`;
  else if (!with_) state = "Waiting for work";
  say("state", state);
  say("title", with_ ? `${with_.title || with_.app}, for ${with_.owner}` : "nothing at the moment");
  const now = performance.now();
  history.push({ at: now, executed: total("executed") });
  while (history.length > 2 && now - (history[1]?.at ?? now) > 5000) history.shift();
  const first = history[0], last = history.at(-1);
  const rate = first && last && last.at > first.at ? 1000 * (last.executed - first.executed) / (last.at - first.at) : 0;
  say("rate", `${number.format(rate)} jobs a second`);
  say("jobs", number.format(total("executed")));
  const seconds = total("worked");
  say("worked", seconds < 120 ? `${number.format(seconds)} core-seconds` : `${number.format(seconds / 60)} core-minutes`);
  say("moved", `${number.format(total("taken"))}, ${number.format(total("given"))}`);
}

function restAsItIs() {
  for (const p of peers) p.rest(resting());
  if (peers.length > 0) button.textContent = rests.told ? "Go on" : "Pause";
  show();
}

async function begin() {
  button.disabled = cores.disabled = true;
  say("state", "Loading…");
  try {
    program = await WebAssembly.compileStreaming(fetch("/tab.wasm"));
  } catch (err) {
    say("state", `The program could not be loaded: ${err}`);
    button.disabled = cores.disabled = false;
    return;
  }
  for (let i = 0; i < Number(cores.value); i++) {
    const p = new Peer();
    peers.push(p);
    p.start();
  }
  byID("given").hidden = false;
  button.disabled = false;
  restAsItIs();
}

button.addEventListener("click", () => {
  if (peers.length === 0) {
    void begin();
    return;
  }
  rests.told = !rests.told;
  restAsItIs();
});
document.addEventListener("visibilitychange", () => {
  rests.hidden = document.hidden;
  restAsItIs();
});
addEventListener("pagehide", (e) => {
  if (e.persisted) return; // it rests, as it is hidden, and who goes back finds it as it was
  for (const p of peers) p.worker?.postMessage({ do: "leave" });
});

/** Where the browser says how the battery is. */
async function watchBattery() {
  const battery = await /** @type {any} */ (navigator).getBattery?.();
  if (!battery) return;
  const look = () => {
    rests.battery = !battery.charging && battery.level < lowBattery;
    restAsItIs();
  };
  battery.addEventListener("chargingchange", look);
  battery.addEventListener("levelchange", look);
  look();
}

async function ask() {
  const all = navigator.hardwareConcurrency || 2;
  for (let n = 1; n <= all; n++) {
    const o = document.createElement("option");
    o.value = String(n);
    o.textContent = n === 1 ? "1 core" : `${n} cores`;
    cores.append(o);
  }
  cores.value = String(Math.max(1, Math.floor(all / 2)));
  if (typeof WebAssembly !== "object") {
    say("what", "This browser has no WebAssembly, so it cannot help.");
    return;
  }
  try {
    const reply = await fetch("/about", { method: "POST", body: ticket });
    const about = /** @type {About} */ (await reply.json());
    if (about.error) {
      say("what", `This link does not work: ${about.error}`);
      return;
    }
    say("what", about.title ? `${about.member} asks for help with: ${about.title}${about.owner ? `, of ${about.owner}` : ""}`
      : `${about.member} asks for help with whatever it computes.`);
    others = about.others ?? [];
    button.disabled = false;
  } catch (err) {
    say("what", `The gateway does not answer: ${err}`);
  }
}

void watchBattery();
void ask();

export {}; // it is a module
