// The policy file of docs/spec/policy.md, versions 1 and 2: its one text, its ID, its checks, its rows.
// @ts-check
import {Refused, checkBox, epsilonText, need, parseEpsilon, sum} from "./box.js";
import {hex, latin, sha256} from "./bytes.js";

const encoder = new TextEncoder();

/** @type {(s: string) => string} The UTF-8 of a text, a character for each byte. */
const bytesOf = (s) => latin(encoder.encode(s));

/** @type {(a: string, b: string) => number} By bytes; of equal ones, 0. */
const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

const STRING = String.raw`"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"`;
const TEXT = /"(?:[^"\\\x00-\x1f\x7f-\x9f]|\\["\\])*"/y;
const NUMBER = /0|[1-9][0-9]{0,14}/y;
const INTEGER = /0|-?[1-9][0-9]{0,14}/y;
const UNITS = /"(?:0|[1-9][0-9]{0,19})"/y;
const NAME = new RegExp(STRING + ":", "y");
const NUMERAL = String.raw`-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`;
const VALUE = new RegExp(`${STRING}|${NUMERAL}|true|false|null|[{[]`, "y");

/** A cursor over the text of a policy, which has exactly one spelling. */
class Cursor {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  /** @param {string} s */
  has(s) {
    const found = this.text.startsWith(s, this.at);
    if (found) this.at += s.length;
    return found;
  }

  /** @param {string} s */
  literal(s) {
    need(this.has(s), `at ${this.at}: not ${JSON.stringify(s)}`);
  }

  /** @param {RegExp} pattern */
  take(pattern) {
    pattern.lastIndex = this.at;
    const m = pattern.exec(this.text);
    need(m, `at ${this.at}: another text is wanted`);
    this.at += m[0].length;
    return m[0];
  }

  number() { return Number(this.take(NUMBER)); }
  integer() { return Number(this.take(INTEGER)); }
  units() { return BigInt(this.take(UNITS).slice(1, -1)); }

  /**
   * @param {number} least
   * @param {number} most
   */
  string(least = 0, most = Infinity) {
    const s = this.take(TEXT).slice(1, -1).replace(/\\(.)/g, "$1");
    const size = encoder.encode(s).length;
    need(least <= size && size <= most, `at ${this.at}: a text of ${size} bytes`);
    return s;
  }

  /**
   * @template T
   * @param {() => T} item
   * @param {boolean} empty
   * @param {[string, string, string]} marks
   * @returns {T[]}
   */
  list(item, empty = false, [open, comma, close] = ["[", ",", "]"]) {
    this.literal(open);
    /** @type {T[]} */
    const items = [];
    if (empty && this.has(close)) return items;
    do items.push(item()); while (this.has(comma));
    this.literal(close);
    return items;
  }

  /**
   * @template T
   * @param {() => T} f
   * @returns {T | null}
   */
  orNull(f) { return this.has("null") ? null : f(); }

  /**
   * @template T
   * @param {() => T} second
   * @returns {[number, T]}
   */
  pair(second) {
    this.literal("[");
    const j = this.number();
    this.literal(",");
    const v = second();
    this.literal("]");
    return [j, v];
  }

  row() {
    this.literal('{"full":');
    const full = this.list(() => this.number(), true);
    this.literal(',"extra":');
    const extra = this.list(() => this.pair(() => this.units()), true);
    this.literal("}");
    return {full, extra};
  }

  epsilon() {
    const text = this.string();
    const x = parseEpsilon(text);
    need(epsilonText(x) === text, "another spelling of epsilon");
    return x;
  }

  /** One JSON object without white space, carried and not interpreted, at most 10,000 levels deep. */
  object() {
    this.literal("{");
    const ends = ["}"];
    for (let fresh = true; ends.length > 0;) {
      need(ends.length <= 10000, "an object too deep");
      const end = ends[ends.length - 1];
      if (this.has(end)) {
        ends.pop();
        fresh = false;
        continue;
      }
      if (!fresh) this.literal(",");
      if (end === "}") this.take(NAME);
      const token = this.take(VALUE);
      fresh = token === "{" || token === "[";
      if (fresh) ends.push(token === "{" ? "}" : "]");
    }
  }
}

/**
 * A verified policy.
 * @typedef {object} Policy
 * @property {string} id the SHA-256 of the file, in hexadecimal
 * @property {string} epsilon its canonical text
 * @property {number} bits
 * @property {"mixture" | "projection"} mode
 * @property {number} inputs
 * @property {number} outputs
 * @property {readonly string[] | null} inputLabels
 * @property {readonly string[] | null} outputLabels
 * @property {readonly bigint[]} lo
 * @property {readonly bigint[]} hi
 */

/**
 * What a draw needs of a policy.
 * @typedef {object} Inside
 * @property {bigint[]} fallback the row of unusable data
 * @property {(i: number) => bigint[] | null} row the row of an input, or null if the policy has none
 * @property {Map<string, number>} index inputs by the bytes of their labels
 */

/** @type {WeakMap<object, Inside>} The policies that decode made, and no others. */
const verified = new WeakMap();

/** @type {(p: object) => Inside} */
export function inside(p) {
  const found = verified.get(p);
  need(found, "not a policy from decode");
  return found;
}

/** @typedef {{full: number[], extra: [number, bigint][]}} Row */

/**
 * Decodes and verifies a policy.
 * @param {Uint8Array} file
 * @returns {Promise<Readonly<Policy>>}
 */
export async function decode(file) {
  need(file instanceof Uint8Array, "a policy comes as bytes");
  need(file.length <= 64 * 2 ** 20, "more than 64 MiB");
  const own = file.slice(); // the caller may change its bytes while the hash is made
  let p;
  try {
    p = read(new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(own));
  } catch (e) { // not UTF-8, or more than the engine can hold
    throw e instanceof Refused ? e : new Refused(String(e));
  }
  const {fallback, row, index, ...said} = p;
  const policy = Object.freeze({id: hex(await sha256(own)), ...said});
  verified.set(policy, {fallback, row, index});
  return policy;
}

/** @param {string} text */
function read(text) {
  const c = new Cursor(text);
  c.literal('{\n"format":"wpm-policy-');
  const two = c.has("2");
  if (!two) c.literal("1");
  c.literal('",\n"epsilon":');
  const x = c.epsilon();
  /** @type {(name: string) => number} */
  const number = (name) => (c.literal(`,\n"${name}":`), c.number());
  const bits = number("bits");
  c.literal(',\n"mode":"');
  const mode = c.has("mixture") ? "mixture" : "projection";
  if (mode === "projection") c.literal(mode);
  c.literal('"');
  const limit = number("work_limit_ms"), inputs = number("inputs"), outputs = number("outputs");
  need(inputs >= 1 && inputs <= 2 ** 20 && outputs >= 1 && outputs <= 2 ** 20, "sizes");
  need(mode === "mixture" ? limit === 0 : limit >= 1 && limit <= 3600000, "work limit");
  statements(c);
  for (const name of ["certificate", "cost"]) {
    c.literal(`,\n"${name}":`);
    c.orNull(() => c.object());
  }
  const {inputLabels, outputLabels, index} = labels(c, inputs, outputs);
  /** @type {(name: string) => bigint[]} */
  const bounds = (name) => {
    c.literal(`,\n"${name}":`);
    if (two && !text.startsWith("[", c.at)) return Array(outputs).fill(c.units());
    const b = c.list(() => c.units());
    need(b.length === outputs && (!two || b.some((v) => v !== b[0])), "bounds");
    return b;
  };
  const lo = bounds("lo"), hi = bounds("hi");
  checkBox(x, bits, lo, hi);
  /** @type {(r: Row) => bigint[]} */
  const expand = (r) => {
    const n = lo.slice();
    for (const j of r.full) n[j] = hi[j];
    for (const [j, u] of r.extra) n[j] += u;
    return n;
  };
  const least = sum(lo);
  /** @type {(r: Row) => Row} Checks what a row lists, and no other output: those are at lo. */
  const checked = (r) => {
    const ascending = (/** @type {number[]} */ v) => v.every((j, i) => j < outputs && (i === 0 || v[i - 1] < j));
    need(ascending(r.full) && ascending(r.extra.map(([j]) => j)), "outputs of a row");
    need(r.full.every((j) => hi[j] > lo[j]), "units of a row");
    need(r.extra.every(([j, u]) => u > 0n && u < hi[j] - lo[j]), "units of a row");
    const full = new Set(r.full);
    need(!r.extra.some(([j]) => full.has(j)), "an output twice in a row");
    const above = sum(r.full.map((j) => hi[j] - lo[j])) + sum(r.extra.map(([, u]) => u));
    need(least + above === 1n << BigInt(bits), "a row does not sum to 2^bits");
    return r;
  };
  c.literal(',\n"fallback":');
  const fallback = expand(checked(c.row()));
  c.literal(",\n");
  /** @type {(i: number) => bigint[] | null} */
  let row;
  if (two) {
    const {key, thresholds} = geometry(c, inputs, outputs);
    row = (i) => threshold(bits, lo, hi, (j) => key(i, j), thresholds[i]) ?? fallback;
  } else {
    c.literal('"rows":');
    const rows = c.orNull(() => c.list(() => checked(c.row()), false, ["[\n", ",\n", "\n]"]));
    need(rows ? rows.length === inputs : mode === "projection", "rows");
    row = (i) => rows && expand(rows[i]);
  }
  c.literal("\n}\n");
  need(c.at === text.length, "more after the policy");
  return {
    epsilon: epsilonText(x), bits, mode: /** @type {Policy["mode"]} */ (mode), inputs, outputs,
    inputLabels, outputLabels,
    lo: Object.freeze(lo.slice()), hi: Object.freeze(hi.slice()), fallback, row, index,
  };
}

/** @param {Cursor} c What the publisher states: provenance and metadata. */
function statements(c) {
  c.literal(',\n"provenance":{');
  for (const [name, clean] of [["geometry", "public"], ["base_measure", "data-independent"]]) {
    c.literal(`"${name}":`);
    const origin = c.string();
    c.literal(`,"${name}_epsilon":`);
    const loss = c.orNull(() => c.epsilon());
    need(loss ? origin === "derived-dp" : origin === clean || origin === "unstated", "provenance");
    c.literal(",");
  }
  c.literal('"note":');
  c.string(0, 4096);
  c.literal('},\n"metadata":');
  const names = c.list(() => {
    const name = bytesOf(c.string(1, 64));
    c.literal(":");
    c.string(0, 4096);
    return name;
  }, true, ["{", ",", "}"]);
  need(names.length <= 64 && names.every((s, i) => i === 0 || names[i - 1] < s), "names of the metadata");
}

/**
 * @param {Cursor} c
 * @param {number} inputs
 * @param {number} outputs
 */
function labels(c, inputs, outputs) {
  /** @type {(name: string, n: number) => readonly string[] | null} */
  const list = (name, n) => {
    c.literal(`,\n"${name}":`);
    const l = c.orNull(() => c.list(() => c.string(1, 256)));
    need(!l || l.length === n && new Set(l).size === n, name);
    return l && Object.freeze(l);
  };
  const inputLabels = list("input_labels", inputs), outputLabels = list("output_labels", outputs);
  const aliases = c.has(',\n"input_aliases":') ? c.list(() => c.pair(() => c.string(1, 256))) : [];
  need(aliases.length <= 2 ** 20 && (inputLabels || aliases.length === 0), "aliases");
  /** @type {Map<string, number>} */
  const index = new Map();
  for (let i = 0; i < inputs; i++) index.set(inputLabels ? bytesOf(inputLabels[i]) : String(i), i);
  let last = /** @type {[number, string]} */ ([-1, ""]);
  for (const [i, label] of aliases) {
    const key = bytesOf(label);
    need(i < inputs && !index.has(key) && (last[0] < i || last[0] === i && order(last[1], key) < 0), "aliases");
    index.set(key, i);
    last = [i, key];
  }
  return {inputLabels, outputLabels, index};
}

/**
 * The geometry of version 2: the key of an output for an input, and where rows end.
 * @param {Cursor} c
 * @param {number} inputs
 * @param {number} outputs
 * @returns {{key: (i: number, j: number) => bigint, thresholds: number[]}}
 */
function geometry(c, inputs, outputs) {
  c.literal('"geometry":{"kind":');
  const kind = c.string();
  /** @type {(name: string) => number} */
  const number = (name) => (c.literal(`,"${name}":`), c.number());
  const axes = number("axes"), rows = number("rows"), cols = number("cols");
  c.literal('},\n"input_points":');
  const from = c.orNull(() => c.list(() => c.integer()));
  c.literal(',\n"output_points":');
  const to = c.orNull(() => c.list(() => c.integer()));
  c.literal(',\n"thresholds":');
  const thresholds = c.list(() => c.number());
  need(thresholds.length === inputs && thresholds.every((t) => t < outputs), "thresholds");
  if (kind === "points") {
    need(axes >= 1 && rows === 0 && cols === 0 && to && to.length === outputs * axes, "points");
    const source = from ?? to;
    need(source.length === inputs * axes, "points");
    const x = source.map(BigInt), y = to.map(BigInt);
    limit(from ? [...x, ...y] : y, axes);
    return {thresholds, key: (i, j) => {
      let d = 0n;
      for (let a = 0; a < axes; a++) d += (x[i * axes + a] - y[j * axes + a]) ** 2n;
      return d;
    }};
  }
  need((kind === "grid" || kind === "ring") && axes === 0 && !from && !to && inputs === outputs, "geometry");
  need(kind === "grid" ? rows >= 1 && rows * cols === outputs : rows === 0 && cols === 0, "rows and columns");
  if (kind === "ring") return {thresholds, key: (i, j) => BigInt(Math.min(Math.abs(i - j), outputs - Math.abs(i - j)))};
  return {thresholds, key: (i, j) => {
    const down = rows * (i % cols - j % cols), across = cols * (Math.floor(i / cols) - Math.floor(j / cols));
    return BigInt(down) ** 2n + BigInt(across) ** 2n;
  }};
}

/**
 * Checks that every key is below 2^63.
 * @param {bigint[]} points
 * @param {number} axes
 */
function limit(points, axes) {
  let spread = 0n, largest = 0n;
  for (let a = 0; a < axes; a++) {
    let low = points[a], high = low;
    for (let n = a; n < points.length; n += axes) {
      if (points[n] < low) low = points[n];
      if (points[n] > high) high = points[n];
    }
    need(low >= -(2n ** 31n) && high < 2n ** 31n, "coordinates");
    spread += (high - low) ** 2n;
  }
  for (let n = 0; n < points.length; n += axes) {
    let size = 0n;
    for (let a = 0; a < axes; a++) size += points[n + a] ** 2n;
    if (size > largest) largest = size;
  }
  need(spread < 1n << 63n || 4n * largest < 1n << 63n, "keys");
}

/**
 * The row that ends at a threshold, or null if what is left does not fit there.
 * @param {number} bits
 * @param {bigint[]} lo
 * @param {bigint[]} hi
 * @param {(j: number) => bigint} key
 * @param {number} t
 */
function threshold(bits, lo, hi, key, t) {
  const end = key(t), n = lo.slice();
  let rest = 1n << BigInt(bits);
  for (let j = 0; j < n.length; j++) {
    const k = key(j);
    if (k < end || k === end && j < t) n[j] = hi[j];
    if (j !== t) rest -= n[j];
  }
  n[t] = rest;
  return lo[t] <= rest && rest <= hi[t] ? n : null;
}
