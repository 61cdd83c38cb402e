// Values as people read them.

/** @import {Run} from "./types.js" */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** @param {number} n */
export const count = (n) => (Math.abs(n) < 1e6 ? whole.format(n) : short.format(n));

/** So many of something, in words. @param {number} n @param {string} one */
export const many = (n, one) => `${count(n)} ${one}${n === 1 ? "" : "s"}`;

let binary = false;

/** @param {string} units "decimal" or "binary" */
export const useUnits = (units) => { binary = units === "binary"; };

/** @param {number} n bytes */
export function bytes(n) {
  const units = binary ? ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] : ["B", "kB", "MB", "GB", "TB", "PB"], step = binary ? 1024 : 1000;
  let i = 0;
  while (n >= step && i < units.length - 1) [n, i] = [n / step, i + 1];
  return `${n < 10 && i > 0 ? n.toFixed(1) : n.toFixed(0)} ${units[i]}`;
}

/** @param {number} s seconds */
export function duration(s) {
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 120) return `${Math.round(s)} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  if (s < 172800) return `${(s / 3600).toFixed(1)} h`;
  return `${Math.round(s / 86400)} days`;
}

/** @param {number | undefined} s seconds */
export const roundTrip = (s) => (s ? `${s < 0.01 ? (s * 1000).toFixed(2) : (s * 1000).toFixed(0)} ms` : "");

/** @param {number} share 0 to 1 */
export const percent = (share) => `${(100 * Math.min(1, Math.max(0, share))).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

/** @param {string | Date} t */
export const clock = (t) => new Date(t).toLocaleTimeString();

/** @param {string} t */
export const moment = (t) => new Date(t).toLocaleString();

/** How many seconds it is to the next time that a clock shows what is written, such as "18:00"; 0: it is no such time. @param {string} text @param {Date} now */
export function secondsTo(text, now) {
  const parts = /^(\d\d):(\d\d)$/.exec(text), then = new Date(now);
  if (!parts) return 0;
  then.setHours(Number(parts[1]), Number(parts[2]), 0, 0);
  if (then <= now) then.setDate(then.getDate() + 1);
  return Math.ceil((then.getTime() - now.getTime()) / 1000);
}

/** The last characters of an ID: the first ones are alike. @param {string} id */
export const shortID = (id) => (id.length > 10 ? `…${id.slice(-8)}` : id);

/** A text of another peer without what could reorder or hide the text around it. @param {string} text */
export const plain = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, "\ufffd");

/** @param {{peer: string, name?: string}} p */
export const peerName = (p) => (p.name ? `${plain(p.name)} (${shortID(plain(p.peer))})` : shortID(plain(p.peer)));

/** What peers call themselves, by ID: they need not be unique. @type {Map<string, string>} */
const names = new Map();

/** @param {string} id @param {string | undefined} name */
export const learnName = (id, name) => { if (name) names.set(id, plain(name)); };

/** A peer's name with the end of its ID, or that alone. @param {string} id */
export const nameOf = (id) => (names.has(id) ? `${names.get(id)} (${shortID(plain(id))})` : shortID(plain(id)));

/** @param {Run} r */
export const runName = (r) => plain(r.title || [r.app, ...r.args].join(" "));

/** How long a run will still take, if that can be said. @param {Run} r */
export function left(r) {
  if (r.ended || !(r.mine || r.share > 0)) return "";
  if (!r.left) return "not known yet how much longer";
  const from = duration(r.left.least_seconds), to = duration(r.left.most_seconds);
  return from === to ? `about ${from} left` : `${from} to ${to} left`;
}

/** A letter and a tone for a state, so that colour is never all there is. @param {string} state @returns {[string, string]} */
export function sign(state) {
  switch (state) {
    case "working": case "running": return ["W", "good"];
    case "done": return ["D", "good"];
    case "idle": case "starting": return ["I", "quiet"];
    case "orphan": return ["O", "warn"];
    case "restarted": return ["R", "bad"];
    case "aborted": return ["A", "quiet"];
    case "unseen": return ["?", "quiet"];
    case "paused": case "yielding": return ["P", "warn"];
    case "finishing": return ["F", "warn"];
    case "leaving": return ["L", "warn"];
    case "cancelled": return ["C", "quiet"];
    case "suspended": return ["S", "quiet"];
    case "in quarantine": return ["Q", "bad"];
    case "failed": case "refused": case "lost": return ["X", "bad"];
  }
  return ["?", "quiet"];
}
