// The policy file of docs/spec/policy.md, versions 1 to 3: its one text, its ID, its checks, its rows.
// @ts-check
import {Refused, checkBox, epsilonText, need, parseEpsilon, sum} from "./box.js";
import {hex, latin, sha256} from "./bytes.js";
import {FORMS, epochNumber} from "./epoch.js";

const encoder = new TextEncoder();

/** @type {(s: string) => string} The UTF-8 of a short text, a character for each byte. */
const bytesOf = (s) => (/^[\x00-\x7f]*$/.test(s) ? s : latin(encoder.encode(s)));

/** @type {(a: string, b: string) => number} By bytes; of equal ones, 0. */
const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

const UNITS = /"(?:0|[1-9][0-9]{0,19})"/y;
const ESCAPED = /u[0-9a-fA-F]{4}|["\\/bfnrt]/y;
const ZERO = 48, QUOTE = 34, BACKSLASH = 92;

/**
 * A cursor over the text of a policy, which has exactly one spelling. A pattern never gets a text without a bound: an
 * engine's stack may end first.
 */
class Cursor {
  /**
   * @param {string} text
   * @param {number} at
   */
  constructor(text, at = 0) {
    this.text = text;
    this.at = at;
  }

  /** @type {(what: string) => never} */
  refuse(what) { throw new Refused(`at ${this.at}: ${what}`); }

  /** @param {string} s */
  has(s) {
    const found = this.text.startsWith(s, this.at);
    if (found) this.at += s.length;
    return found;
  }

  /** @param {string} s */
  literal(s) {
    if (!this.has(s)) this.refuse(`not ${JSON.stringify(s)}`);
  }

  /** @param {RegExp} pattern of a text with a bound */
  take(pattern) {
    const from = pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) this.refuse("another text is wanted");
    this.at = pattern.lastIndex;
    return this.text.slice(from, this.at);
  }

  /** The digit here, or a number that is none. */
  digit() { return this.text.charCodeAt(this.at) - ZERO; }

  /** An integer from 0 to 10^15 - 1. */
  number() {
    let n = this.digit();
    if (!(n >= 0 && n <= 9)) this.refuse("a number is wanted");
    this.at++;
    if (n === 0) return 0;
    for (let places = 1, d = this.digit(); places < 15 && d >= 0 && d <= 9; places++, d = this.digit()) {
      n = 10 * n + d;
      this.at++;
    }
    return n;
  }

  /** An integer between -10^15 and 10^15. */
  integer() {
    if (!this.has("-")) return this.number();
    return -(this.number() || this.refuse("not -0"));
  }

  units() { return BigInt(this.take(UNITS).slice(1, -1)); }

  /**
   * A text of so many bytes.
   * @param {number} least
   * @param {number} most
   */
  string(least, most) {
    this.literal('"');
    const start = this.at;
    let size = 0, escaped = false;
    for (;; size++) {
      let c = this.text.charCodeAt(this.at++);
      if (c === QUOTE) break;
      if (c === BACKSLASH) {
        escaped = true;
        c = this.text.charCodeAt(this.at++);
        if (c !== QUOTE && c !== BACKSLASH) this.refuse("an escape");
      }
      if (!(c >= 0x20 && (c < 0x7f || c > 0x9f))) this.refuse("a text is wanted"); // also at the end
      if (c > 0x7f) size += c < 0x800 || c >= 0xd800 && c < 0xe000 ? 1 : 2; // a pair has 4 bytes
      if (size >= most) this.refuse("a text is too long");
    }
    if (size < least) this.refuse("a text is too short");
    const s = this.text.slice(start, this.at - 1);
    return escaped ? s.replace(/\\(.)/g, "$1") : s;
  }

  /**
   * Calls item for each of a list, with its place, and returns how many there are.
   * @param {number} most
   * @param {(n: number) => void} item
   * @param {boolean} empty whether there may be none
   * @param {[string, string, string]} marks
   */
  each(most, item, empty = false, [open, comma, close] = ["[", ",", "]"]) {
    this.literal(open);
    if (empty && this.has(close)) return 0;
    let n = 0;
    do {
      if (n === most) this.refuse("a list is too long");
      item(n++);
    } while (this.has(comma));
    this.literal(close);
    return n;
  }

  /**
   * @template T
   * @param {number} most
   * @param {() => T} item
   * @returns {T[]}
   */
  list(most, item) {
    /** @type {T[]} */
    const items = [];
    this.each(most, () => { items.push(item()); });
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
   * @param {(j: number, v: T) => void} f
   */
  pair(second, f) {
    this.literal("[");
    const j = this.number();
    this.literal(",");
    const v = second();
    this.literal("]");
    f(j, v);
  }

  /**
   * A row, without a copy of it.
   * @param {(j: number) => void} full called with each of these outputs
   * @param {(j: number, u: bigint) => void} extra called with each of these outputs and its units
   */
  row(full, extra) {
    this.literal('{"full":');
    this.each(2 ** 20, () => full(this.number()), true);
    this.literal(',"extra":');
    this.each(2 ** 20, () => this.pair(() => this.units(), extra), true);
    this.literal("}");
  }

  epsilon() {
    const text = this.string(1, 100);
    const x = parseEpsilon(text);
    need(epsilonText(x) === text, "another spelling of epsilon");
    return x;
  }

  /** Goes over digits, at least one. */
  digits() {
    const start = this.at;
    for (let d = this.digit(); d >= 0 && d <= 9; d = this.digit()) this.at++;
    if (this.at === start) this.refuse("a digit is wanted");
  }

  /** Goes over a string of JSON. */
  quoted() {
    this.literal('"');
    for (;;) {
      const c = this.text.charCodeAt(this.at++);
      if (c === QUOTE) return;
      if (!(c >= 0x20)) this.refuse("a string is wanted"); // also at the end
      if (c === BACKSLASH) this.take(ESCAPED);
    }
  }

  /** Goes over a value of JSON, of an array or an object over its beginning, and returns what ends that. */
  value() {
    switch (this.text.charAt(this.at)) {
      case "{": this.at++; return "}";
      case "[": this.at++; return "]";
      case '"': this.quoted(); return "";
    }
    if (this.has("true") || this.has("false") || this.has("null")) return "";
    this.has("-");
    if (!this.has("0")) this.digits();
    if (this.has(".")) this.digits();
    if (this.has("e") || this.has("E")) {
      if (!this.has("+")) this.has("-");
      this.digits();
    }
    return "";
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
      if (end === "}") {
        this.quoted();
        this.literal(":");
      }
      const opened = this.value();
      fresh = opened !== "";
      if (fresh) ends.push(opened);
    }
  }
}

/**
 * When clients release: in which epochs, and in one of how many in a row; a period of 0 is every epoch.
 * @typedef {object} Schedule
 * @property {import("./epoch.js").Form} epochs
 * @property {string | null} first
 * @property {string | null} last
 * @property {number} period
 */

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
 * @property {Readonly<Schedule> | null} schedule
 */

/**
 * What a draw needs of a policy.
 * @typedef {object} Inside
 * @property {number} inputs
 * @property {BigUint64Array} fallback the row of unusable data
 * @property {((i: number, n: BigUint64Array) => void) | null} row writes the row of an input; null if there are none
 * @property {Map<string, number> | null} index inputs by the bytes of their labels; null if they have none
 */

/** @type {WeakMap<object, Inside>} The policies that decode made, and no others. */
const verified = new WeakMap();

/** @type {(p: object) => Inside} */
export function inside(p) {
  const found = verified.get(p);
  need(found, "not a policy from decode");
  return found;
}

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
  verified.set(policy, {inputs: p.inputs, fallback, row, index});
  return policy;
}

/** @param {string} text */
function read(text) {
  const c = new Cursor(text);
  c.literal('{\n"format":"wpm-policy-');
  const three = c.has("3"), newer = three || c.has("2");
  if (!newer) c.literal("1");
  c.literal('",\n"epsilon":');
  const x = c.epsilon();
  /** @type {(name: string) => number} */
  const number = (name) => (c.literal(`,\n"${name}":`), c.number());
  const bits = number("bits");
  c.literal(',\n"mode":"');
  const mode = c.has("mixture") ? "mixture" : "projection";
  if (mode === "projection") c.literal(mode);
  c.literal('"');
  const limit = number("work_limit_ms"), timed = three && c.has(',\n"schedule":') ? schedule(c) : null;
  const inputs = number("inputs"), outputs = number("outputs");
  need(inputs >= 1 && inputs <= 2 ** 20 && outputs >= 1 && outputs <= 2 ** 20, "sizes");
  need(mode === "mixture" ? limit === 0 : limit >= 1 && limit <= 3600000, "work limit");
  statements(c);
  const evidence = ["certificate", "cost"].map((name) => {
    c.literal(`,\n"${name}":`);
    return !c.has("null") && (c.object(), true);
  });
  const {inputLabels, outputLabels, index} = labels(c, inputs, outputs);
  const said = {epsilon: epsilonText(x), bits, mode: /** @type {Policy["mode"]} */ (mode), inputs, outputs, inputLabels,
    outputLabels, index, schedule: timed};
  const bounded = text.startsWith(',\n"lo":', c.at);
  need(!three || timed || !bounded, "version 3 without a reason");
  if (three && !bounded) {
    need(mode === "mixture" && !evidence[0] && !outputLabels, "beside codes");
    const list = components(c, bits, inputs, outputs);
    checkBox(x, bits, list.lo, list.hi);
    end(c);
    return {...said, ...list, lo: Object.freeze(list.lo), hi: Object.freeze(list.hi)};
  }
  /** @type {(name: string) => bigint[]} */
  const bounds = (name) => {
    c.literal(`,\n"${name}":`);
    if (newer && !text.startsWith("[", c.at)) return Array(outputs).fill(c.units());
    const b = c.list(outputs, () => c.units());
    need(b.length === outputs && (!newer || b.some((v) => v !== b[0])), "bounds");
    return b;
  };
  const lo = bounds("lo"), hi = bounds("hi");
  checkBox(x, bits, lo, hi);
  const low = BigUint64Array.from(lo), least = sum(lo);
  const listed = new Float64Array(outputs); // where in the text the last row is that has this output at hi
  /** Checks what a row lists, and no other output: those are at lo. */
  const check = () => {
    const start = c.at;
    let above = 0n, last = -1, after = -1;
    c.row((j) => {
      need(last < j && j < outputs, "outputs of a row");
      need(hi[j] > lo[j], "units of a row");
      above += hi[j] - lo[j];
      listed[last = j] = start;
    }, (j, u) => {
      need(after < j && j < outputs, "outputs of a row");
      need(u > 0n && u < hi[j] - lo[j], "units of a row");
      need(listed[j] !== start, "an output twice in a row");
      above += u;
      after = j;
    });
    need(least + above === 1n << BigInt(bits), "a row does not sum to 2^bits");
    return start;
  };
  /** @type {(start: number, n: BigUint64Array) => void} Writes the row that check has found there. */
  const write = (start, n) => {
    n.set(low);
    new Cursor(text, start).row((j) => { n[j] = hi[j]; }, (j, u) => { n[j] += u; });
  };
  c.literal(',\n"fallback":');
  const fallback = new BigUint64Array(outputs);
  write(check(), fallback);
  c.literal(",\n");
  /** @type {Inside["row"]} */
  let row;
  if (newer && c.has('"geometry":')) {
    const {key} = geometry(c, inputs, outputs);
    c.literal(",\n");
    const thresholds = ends(c, inputs, outputs);
    row = (i, n) => threshold(bits, low, hi, (j) => key(i, j), thresholds[i], n) || n.set(fallback);
  } else {
    need(!newer || three, "rows");
    c.literal('"rows":');
    const rows = c.orNull(() => new Float64Array(inputs));
    if (rows) need(c.each(inputs, (i) => { rows[i] = check(); }, false, ["[\n", ",\n", "\n]"]) === inputs, "rows");
    need(rows || mode === "projection", "rows");
    row = rows && ((i, n) => write(rows[i], n));
  }
  end(c);
  return {...said, lo: Object.freeze(lo.slice()), hi: Object.freeze(hi.slice()), fallback, row};
}

/** @param {Cursor} c at the end of the text */
function end(c) {
  const {text} = c;
  c.literal("\n}\n");
  need(c.at === text.length, "more after the policy");
}

/**
 * When clients release.
 * @param {Cursor} c
 * @returns {Readonly<Schedule>}
 */
function schedule(c) {
  c.literal('{"epochs":');
  const said = c.string(1, 100), epochs = FORMS.find((form) => form === said);
  need(epochs, "epochs");
  const [first, last] = ["first", "last"].map((name) => {
    c.literal(`,"${name}":`);
    return c.orNull(() => {
      const epoch = c.string(1, 100);
      need(epochNumber(epochs, epoch) !== null, "an epoch");
      return epoch;
    });
  });
  need(!first || !last || first <= last, "the last epoch is before the first"); // names are in the order of numbers
  c.literal(',"period":');
  const period = c.number();
  need(period === 0 || period >= 2 && period <= 10000, "period");
  c.literal("}");
  return Object.freeze({epochs, first, last, period});
}

/**
 * The components of version 3: their box, the fallback row, and the row of an input.
 * @param {Cursor} c
 * @param {number} bits
 * @param {number} k inputs
 * @param {number} outputs
 */
function components(c, bits, k, outputs) {
  const places = c.has(',\n"geometry":') ? geometry(c, k, k) : null;
  c.literal(',\n"codes":');
  /** @type {[bigint[], bigint[], bigint[]]} */
  const [lo, hi, even] = [[], [], []];
  /** @type {((i: number, n: BigUint64Array) => void)[]} */
  const parts = [];
  let total = 0n, discs = 0;
  c.each(Math.floor(2 ** 28 / k), () => {
    c.literal('{"weight":');
    const w = c.units(), at = lo.length;
    c.literal(',"low":');
    const l = c.units();
    let n = k, h = 0n;
    if (c.has(',"high":')) {
      need(places && !places.from, "a disc without a geometry of inputs");
      discs++;
      h = c.units();
      c.literal(",");
      const last = ends(c, k, k), part = new BigUint64Array(k);
      parts.push((i, row) => {
        row.set(disc(w, l, h, (j) => places.key(i, j), last[i], part) ? part : fallback.subarray(at, at + k), at);
      });
    } else {
      c.literal(',"colors":');
      n = c.number();
      need(n >= 2 && n <= 2 ** 20, "colors");
      h = w - BigInt(n - 1) * l;
      c.literal(',"color":"');
      const color = colors(c, k, n);
      c.literal('"');
      parts.push((i, row) => row.fill(l, at, at + n)[at + color(i)] = h);
    }
    c.literal("}");
    const all = BigInt(n);
    need(w > 0n && all * l <= w && w <= all * h && at + n <= outputs, "a component without a row");
    for (let y = 0n; y < all; y++) {
      lo.push(l);
      hi.push(h);
      even.push(w / all + (y < w % all ? 1n : 0n));
    }
    total += w;
  }, false, ["[\n", ",\n", "\n]"]);
  need(total === 1n << BigInt(bits) && lo.length === outputs && !places === (discs === 0), "codes");
  const fallback = BigUint64Array.from(even);
  return {lo, hi, fallback, row: /** @type {Inside["row"]} */ ((i, n) => { for (const part of parts) part(i, n); })};
}

/**
 * Packed colours: the colour of an input.
 * @param {Cursor} c
 * @param {number} k inputs
 * @param {number} n colours
 * @returns {(i: number) => number}
 */
function colors(c, k, n) {
  const size = 32 - Math.clz32(n - 1), bytes = Math.ceil(k * size / 8), length = 4 * Math.ceil(bytes / 3);
  const text = c.text.slice(c.at, c.at += length);
  let packed = "";
  try {
    packed = atob(text);
  } catch { // refused below
  }
  need(packed.length === bytes && btoa(packed) === text, "packed colours");
  const b = Uint8Array.from(packed, (s) => s.charCodeAt(0));
  /** @type {(from: number, to: number) => number} The number in these bits. */
  const number = (from, to) => {
    let v = 0;
    for (let at = from; at < to; at++) v = 2 * v + (b[at >> 3] >> (7 - at % 8) & 1);
    return v;
  };
  need(number(k * size, 8 * bytes) === 0, "bits after the last colour");
  const color = (/** @type {number} */ i) => number(i * size, (i + 1) * size);
  for (let i = 0; i < k; i++) need(color(i) < n, "colours");
  return color;
}

/**
 * Writes the row of a disc, unless the threshold is not where the fill ends: false.
 * @param {bigint} w
 * @param {bigint} l
 * @param {bigint} h
 * @param {(j: number) => bigint} key
 * @param {number} t
 * @param {BigUint64Array} n
 */
function disc(w, l, h, key, t, n) {
  const end = key(t), left = w - BigInt(n.length) * l, full = left === 0n ? 0n : (left - 1n) / (h - l);
  let before = 0n;
  for (let y = 0; y < n.length; y++) {
    const k = key(y), first = k < end || k === end && y < t;
    n[y] = first ? h : l;
    if (first) before++;
  }
  n[t] = l + left - full * (h - l);
  return before === full;
}

/** @param {Cursor} c What the publisher states: provenance and metadata. */
function statements(c) {
  c.literal(',\n"provenance":{');
  for (const [name, clean] of [["geometry", "public"], ["base_measure", "data-independent"]]) {
    c.literal(`"${name}":`);
    const origin = c.string(0, 100);
    c.literal(`,"${name}_epsilon":`);
    const loss = c.orNull(() => c.epsilon());
    need(loss ? origin === "derived-dp" : origin === clean || origin === "unstated", "provenance");
    c.literal(",");
  }
  c.literal('"note":');
  c.string(0, 4096);
  c.literal('},\n"metadata":');
  /** @type {string[]} */
  const names = [];
  c.each(64, () => {
    names.push(bytesOf(c.string(1, 64)));
    c.literal(":");
    c.string(0, 4096);
  }, true, ["{", ",", "}"]);
  need(names.every((s, i) => i === 0 || names[i - 1] < s), "names of the metadata");
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
    const l = c.orNull(() => c.list(n, () => c.string(1, 256)));
    need(!l || l.length === n && new Set(l).size === n, name);
    return l && Object.freeze(l);
  };
  const inputLabels = list("input_labels", inputs), outputLabels = list("output_labels", outputs);
  /** @type {Map<string, number> | null} */
  const index = inputLabels && new Map();
  inputLabels?.forEach((label, i) => index?.set(bytesOf(label), i));
  if (c.has(',\n"input_aliases":')) {
    need(index, "aliases");
    let last = -1, before = "";
    c.each(2 ** 20, () => c.pair(() => bytesOf(c.string(1, 256)), (i, key) => {
      need(i < inputs && !index.has(key) && (last < i || last === i && order(before, key) < 0), "aliases");
      index.set(key, i);
      last = i;
      before = key;
    }));
  }
  return {inputLabels, outputLabels, index};
}

/**
 * Thresholds, where rows end.
 * @param {Cursor} c
 * @param {number} inputs
 * @param {number} outputs
 */
function ends(c, inputs, outputs) {
  c.literal('"thresholds":');
  need(inputs <= c.text.length, "thresholds");
  const thresholds = new Int32Array(inputs);
  need(c.each(inputs, (i) => { need((thresholds[i] = c.number()) < outputs, "thresholds"); }) === inputs, "thresholds");
  return thresholds;
}

/**
 * A geometry, from its value on: the key of an output for an input, and whether inputs have points of their own.
 * @param {Cursor} c
 * @param {number} inputs
 * @param {number} outputs
 * @returns {{key: (i: number, j: number) => bigint, from: boolean}}
 */
function geometry(c, inputs, outputs) {
  c.literal('{"kind":');
  const kind = c.string(0, 100);
  /** @type {(name: string) => number} */
  const number = (name) => (c.literal(`,"${name}":`), c.number());
  const axes = number("axes"), rows = number("rows"), cols = number("cols");
  c.literal('},\n"input_points":');
  /** @type {(n: number) => Int32Array<ArrayBuffer> | null} So many coordinates. */
  const points = (n) => c.orNull(() => {
    need(kind === "points" && axes >= 1 && n <= c.text.length, "points");
    const all = new Int32Array(n);
    need(c.each(n, (a) => { need((all[a] = c.integer()) === all[a], "coordinates"); }) === n, "points");
    return all;
  });
  const from = points(inputs * axes);
  c.literal(',\n"output_points":');
  const to = points(outputs * axes);
  if (kind === "points") {
    need(rows === 0 && cols === 0 && to && (from || inputs === outputs), "points");
    const x = from ?? to;
    limit(axes, x, to);
    return {from: !!from, key: (i, j) => squares(axes, (a) => x[i * axes + a] - to[j * axes + a])};
  }
  need((kind === "grid" || kind === "ring") && axes === 0 && !from && !to && inputs === outputs, "geometry");
  need(kind === "grid" ? rows >= 1 && rows * cols === outputs : rows === 0 && cols === 0, "rows and columns");
  if (kind === "ring") return {from: false, key: (i, j) => BigInt(Math.min(Math.abs(i - j), outputs - Math.abs(i - j)))};
  return {from: false, key: (i, j) => {
    const down = rows * (i % cols - j % cols), across = cols * (Math.floor(i / cols) - Math.floor(j / cols));
    return BigInt(down) ** 2n + BigInt(across) ** 2n;
  }};
}

/**
 * The exact sum of f(a)^2 over all a < n, where f(a) is an integer of at most 32 bits and a sign.
 * @param {number} n
 * @param {(a: number) => number} f
 */
function squares(n, f) {
  let total = 0n;
  for (let a = 0; a < n;) {
    let high = 0, middle = 0, low = 0; // sums of at most 2^20 products below 2^32
    for (const end = Math.min(n, a + 2 ** 20); a < end; a++) {
      const d = Math.abs(f(a)), h = Math.floor(d / 2 ** 16), l = d % 2 ** 16;
      high += h * h;
      middle += h * l;
      low += l * l;
    }
    total += (BigInt(high) << 32n) + (BigInt(middle) << 17n) + BigInt(low);
  }
  return total;
}

/**
 * Checks that every key is below 2^63.
 * @param {number} axes
 * @param {Int32Array} x
 * @param {Int32Array} y
 */
function limit(axes, x, y) {
  const low = y.slice(0, axes), high = y.slice(0, axes);
  let largest = 0n;
  for (const points of [x, y]) {
    for (let at = 0; at < points.length; at += axes) {
      const size = squares(axes, (a) => points[at + a]);
      if (size > largest) largest = size;
      for (let a = 0; a < axes; a++) {
        const v = points[at + a];
        if (v < low[a]) low[a] = v;
        if (v > high[a]) high[a] = v;
      }
    }
  }
  need(squares(axes, (a) => high[a] - low[a]) < 1n << 63n || 4n * largest < 1n << 63n, "keys");
}

/**
 * Writes the row that ends at a threshold, unless what is left does not fit there: false.
 * @param {number} bits
 * @param {BigUint64Array} lo
 * @param {bigint[]} hi
 * @param {(j: number) => bigint} key
 * @param {number} t
 * @param {BigUint64Array} n
 */
function threshold(bits, lo, hi, key, t, n) {
  const end = key(t);
  let rest = 1n << BigInt(bits);
  for (let j = 0; j < n.length; j++) {
    const k = key(j);
    n[j] = k < end || k === end && j < t ? hi[j] : lo[j];
    if (j !== t) rest -= n[j];
  }
  if (rest < lo[t] || rest > hi[t]) return false;
  n[t] = rest;
  return true;
}
