// The connection to the daemon: a websocket that takes subscriptions and gives changes, and requests that act.

/** @import {Change} from "./types.js" */
/** @import {Connection, Model} from "./model.js" */
import { topics } from "./types.js";

const soonest = 500, latest = 10_000; // ms between attempts to connect

export class Live {
  /** @type {WebSocket | null} */
  #socket = null;
  #wait = soonest;
  /** @param {Model} model @param {() => void} changed called after every change of the model */
  constructor(model, changed) {
    this.model = model;
    this.changed = changed;
    document.addEventListener("visibilitychange", () => this.#subscribe());
  }

  /** What this page sends with each request, if it came by a link: unlike a cookie it goes nowhere else.
   * @returns {Record<string, string>} */
  #held() {
    const held = sessionStorage.getItem("session");
    return held === null ? {} : { "Satin-Session": held };
  }

  /** Turns a link, whose secret is behind the # and was sent nowhere, into a session; not in a page that nobody looks at yet. */
  async login() {
    const token = location.hash.startsWith("#login=") ? location.hash.slice("#login=".length) : "";
    if (token === "") return;
    if ("prerendering" in document && document.prerendering) {
      await new Promise((go) => document.addEventListener("prerenderingchange", go, { once: true }));
    }
    history.replaceState(null, "", "/");
    const reply = await fetch("/api/v1/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }) });
    if (reply.ok) sessionStorage.setItem("session", (await reply.json()).session);
  }

  /** Asks who we are, and connects. Keeps trying while the daemon does not answer. */
  async connect() {
    try {
      const reply = await fetch("/api/v1/session", { headers: this.#held() });
      if (reply.status === 401) {
        sessionStorage.removeItem("session"); // of an earlier start; there may be a cookie that is newer
        this.#become("refused");
        setTimeout(() => this.connect(), latest); // another page may get a session for this one
        return;
      }
      this.model.level = (await reply.json()).level;
    } catch {
      this.#again();
      return;
    }
    const socket = new WebSocket(`ws://${location.host}/api/v1/live`);
    this.#socket = socket;
    socket.onopen = () => {
      this.#wait = soonest;
      this.#subscribe();
    };
    socket.onmessage = (event) => this.#take(JSON.parse(event.data));
    socket.onclose = () => {
      this.#socket = null;
      this.#again();
    };
  }

  /** Says what is wanted: everything, or nothing while nobody looks. */
  #subscribe() {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const { epoch, number } = this.model;
    this.#socket.send(JSON.stringify(document.hidden ? { topics: [] } : epoch ? { topics, epoch, after: number } : { topics }));
  }

  /** @param {Change} change */
  #take(change) {
    if (change.kind === "snapshot" && change.epoch !== this.model.epoch) void this.read("/history").then((past) => past && this.model.recall(past));
    if (!this.model.apply(change)) {
      this.#socket?.send(JSON.stringify({ topics })); // everything anew
      return;
    }
    this.#become("open");
  }

  #again() {
    this.#become(this.model.epoch ? "lost" : "connecting");
    setTimeout(() => this.connect(), this.#wait);
    this.#wait = Math.min(latest, this.#wait * 2);
  }

  /** @param {Connection} state */
  #become(state) {
    this.model.connection = state;
    this.changed();
  }

  /** Asks for something; null if it cannot be had. @param {string} path @returns {Promise<any>} */
  async read(path) { return (await this.ask("GET", path)).got; }

  /** Does something; gives why it was not done, or nothing.
   * @param {string} path @param {object} body @returns {Promise<string>} */
  async act(path, body) { return (await this.ask("POST", path, body)).why; }

  /** Asks for something that may be refused: what it is, or why not.
   * @param {string} method @param {string} path @param {object} [body] @returns {Promise<{got: any, why: string}>} */
  async ask(method, path, body) {
    try {
      const reply = await fetch(`/api/v1${path}`, { method, headers: { "Content-Type": "application/json", ...this.#held() }, body: body && JSON.stringify(body) });
      const got = await reply.json();
      return reply.ok ? { got, why: "" } : { got: null, why: got.text };
    } catch {
      return { got: null, why: "The daemon does not answer." };
    }
  }
}
