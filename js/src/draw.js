// The release of docs/spec/release.md from its random bytes on: private bytes, the row, the index, the report. A ledger
// comes before it: whoever calls what drawer returns has written the debit, and then read the random bytes.
//
// What a draw takes of memory does not depend on private bytes, and drawer has taken nearly all of it before.
// @ts-check
import {first, need, sample, word} from "./box.js";
import {unhex} from "./bytes.js";
import {gunzip} from "./gzip.js";
import {inside} from "./policy.js";

/** @typedef {import("./policy.js").Policy} Policy */
/** @typedef {import("./policy.js").Inside} Inside */

/**
 * What a draw gives. Tests also want to know how it came about.
 * @typedef {object} Drawn
 * @property {number} index
 * @property {Uint8Array} report
 * @property {boolean} usable whether the private bytes could be used
 * @property {number} input the one whose row was drawn from, or -1
 */

const MOST = 64 * 2 ** 20;
const LINE = 4096;
const LF = 10, CR = 13, QUOTE = 34, PLUS = 43, COMMA = 44, MINUS = 45, POINT = 46, ZERO = 48, NINE = 57;
const decoder = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true});
const HEADER = "label,count", NAMED = "user,label,count";

/** @type {(p: Policy) => number} How many random bytes a draw takes. */
export const randomBytes = (p) => 8 + Math.ceil(p.bits / 8);

/** @type {(bytes: Uint8Array, from: number, to: number) => string} A character for each of at most 4096 bytes. */
function short(bytes, from, to) {
  let s = "";
  for (let i = from; i < to; i++) s += String.fromCharCode(bytes[i]);
  return s;
}

/** The reader of private bytes. It holds a line and the counts, however many lines there are. */
class Reader {
  /**
   * @param {Inside} p
   * @param {Float64Array} counts
   */
  constructor(p, counts) {
    this.p = p;
    this.counts = counts;
    this.line = new Uint8Array(LINE);
    this.at = 0; // bytes of the line so far, of which line has the first
    this.number = 0; // lines before it
    this.unquoted = new Uint8Array(LINE);
    this.from = this.to = 0; // where in unquoted a field is
    this.named = false; // lines begin with a user
    this.user = "";
    this.fault = false;
  }

  /** @param {Uint8Array} data Whether all of it is as it must be. */
  usable(data) {
    try {
      need(data instanceof Uint8Array && data.length <= MOST, "not at most 64 MiB");
      if (data[0] === 0x1f && data[1] === 0x8b) gunzip(data, MOST, (bytes, n) => this.take(bytes, n));
      else this.take(data, data.length);
      this.end();
    } catch { // whatever it is
      return false;
    }
    return !this.fault && this.counts.some((v) => v > 0);
  }

  /**
   * @param {Uint8Array} bytes
   * @param {number} n
   */
  take(bytes, n) {
    const {line} = this;
    let {at} = this;
    for (let i = 0; i < n; i++) {
      const b = bytes[i];
      if (b === LF) {
        this.at = at;
        this.end();
        at = 0;
      } else {
        if (at < LINE) line[at] = b;
        at++;
      }
    }
    this.at = at;
  }

  /** The line is whole. */
  end() {
    const {line, number} = this;
    let at = 0, end = this.at;
    this.at = 0;
    this.number++;
    if (end > LINE) {
      this.fault = true;
      return;
    }
    if (end > 0 && line[end - 1] === CR) end--;
    if (number === 0) {
      if (end >= 3 && line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) at = 3;
      const text = short(line, at, end);
      this.named = text === NAMED;
      if (this.named || text === HEADER) return;
    }
    if (at === end) return;
    if (this.named) {
      at = this.field(at, end);
      if (at < 0) {
        this.fault = true;
        return;
      }
      const user = short(this.unquoted, this.from, this.to);
      this.user ||= checkedUser(this.unquoted.subarray(this.from, this.to), user);
      this.fault ||= user !== this.user;
    }
    at = this.field(at, end);
    const i = at < 0 ? -1 : this.input(), v = at < 0 ? -1 : count(line, at, end);
    if (i < 0 || v < 0) this.fault = true;
    else this.counts[i] += v;
  }

  /**
   * Takes the field at a place of the line, without its quotation marks, and returns the place after its comma, or -1.
   * @param {number} at
   * @param {number} end
   */
  field(at, end) {
    const {line, unquoted} = this, quoted = line[at] === QUOTE;
    let to = 0;
    if (quoted) at++;
    for (; at < end; at++) {
      const b = line[at];
      if (quoted && b === QUOTE && !(at + 1 < end && line[at + 1] === QUOTE && ++at)) {
        if (++at === end || line[at] !== COMMA) return -1;
        break;
      }
      if (!quoted && b === COMMA) break;
      unquoted[to++] = b;
    }
    this.to = to;
    return at < end && to > 0 ? at + 1 : -1;
  }

  /** The input of the label in unquoted, or -1. */
  input() {
    const {unquoted, to, p: {index, inputs}} = this;
    if (index) return to > 256 ? -1 : index.get(short(unquoted, 0, to)) ?? -1;
    let n = 0;
    for (let i = 0; i < to; i++) {
      const digit = unquoted[i] - ZERO;
      if (digit < 0 || digit > 9 || n >= inputs || i > 0 && unquoted[0] === ZERO) return -1;
      n = 10 * n + digit;
    }
    return n < inputs ? n : -1;
  }
}

/**
 * @param {Uint8Array} bytes
 * @param {string} user the same, a character for each byte
 */
function checkedUser(bytes, user) {
  need(bytes.length <= 256, "user");
  const text = decoder.decode(bytes);
  need(!/[\x00-\x1f\x7f-\x9f]/.test(text), "user");
  return user;
}

/**
 * The count that bytes of a line spell, or -1.
 * @param {Uint8Array} line
 * @param {number} from
 * @param {number} to
 */
function count(line, from, to) {
  if (to - from > 64) return -1;
  let at = from, whole = 0;
  const digits = () => {
    const start = at;
    for (; at < to && line[at] >= ZERO && line[at] <= NINE; at++) whole = 10 * whole + line[at] - ZERO;
    return at > start;
  };
  if (!digits()) return -1;
  let v = whole;
  if (at < to || to - from > 15) {
    if (line[at] === POINT && at < to) {
      at++;
      digits();
    }
    if (at < to && (line[at] | 32) === 0x65) { // e or E
      at++;
      if (at < to && (line[at] === PLUS || line[at] === MINUS)) at++;
      if (!digits()) return -1;
    }
    if (at < to) return -1;
    v = Number(short(line, from, to));
  }
  return v <= 2 ** 53 ? v : -1;
}

/**
 * The input that w draws.
 * @param {Float64Array} counts of which one is above 0
 * @param {bigint} w
 * @param {BigUint64Array} u room for as many
 */
function pick(counts, w, u) {
  const bits = new BigUint64Array(counts.buffer), total = new Float64Array(1);
  let all = 0n;
  for (const c of counts) total[0] += c;
  const [m, e] = parts(new BigUint64Array(total.buffer)[0]);
  const shift = 62 - m.toString(2).length - e; // 2^61 <= 2^shift total < 2^62
  for (let i = 0; i < u.length; i++) {
    const [n, f] = parts(bits[i]);
    u[i] = f + shift >= 0 ? n << BigInt(f + shift) : n >> BigInt(-f - shift);
    all += u[i];
  }
  return first(u, (w * all) >> 64n);
}

/**
 * A float64 >= 0 as m 2^e, from its bits.
 * @param {bigint} b
 * @returns {[bigint, number]}
 */
function parts(b) {
  const e = Number(b >> 52n), m = b & ((1n << 52n) - 1n);
  return e === 0 ? [m, -1074] : [m | (1n << 52n), e - 1075];
}

/**
 * Makes room for a draw, and returns the draw: from private bytes and random bytes, once. The random bytes come from
 * crypto.getRandomValues alone but in tests. Data that cannot be used take the same steps with counts of 1.
 * @param {Policy} p
 * @returns {(data: Uint8Array, random: Uint8Array) => Drawn}
 */
export function drawer(p) {
  const rows = inside(p), reader = new Reader(rows, new Float64Array(p.inputs));
  const u = new BigUint64Array(p.inputs), row = rows.fallback.slice(), report = new Uint8Array(40);
  report.set([0x77, 0x70, 0x6d, 0x31]);
  report.set(unhex(p.id), 4);
  return (data, random) => {
    need(random.length >= randomBytes(p), "too few random bytes");
    const usable = reader.usable(data);
    if (!usable) reader.counts.fill(1);
    const i = pick(reader.counts, word(random.subarray(0, 8)), u);
    rows.row?.(i, row);
    const index = sample(usable ? row : rows.fallback, p.bits, random.subarray(8));
    new DataView(report.buffer).setUint32(36, index, true);
    return {index, report, usable, input: usable && rows.row ? i : -1};
  };
}

/** @type {(p: Policy, data: Uint8Array, random: Uint8Array) => Drawn} For tests. */
export const drawWith = (p, data, random) => drawer(p)(data, random);
