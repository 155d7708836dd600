// The box of docs/spec/mechanism.md: epsilon, its check, and the draw of an index. All in integers.
// @ts-check

/** What is not as the specification says is refused with this error. */
export class Refused extends Error {
  /** @param {string} what */
  constructor(what) {
    super(what);
    this.name = "Refused";
  }
}

/**
 * @param {unknown} ok
 * @param {string} what
 * @returns {asserts ok}
 */
export function need(ok, what) {
  if (!ok) throw new Refused(what);
}

/**
 * A privacy loss, n/d in lowest terms.
 * @typedef {{n: bigint, d: bigint}} Epsilon
 */

/**
 * n/d in lowest terms.
 * @param {bigint} n
 * @param {bigint} d above 0
 * @returns {Epsilon}
 */
export function lowest(n, d) {
  let g = n, rest = d;
  while (rest) [g, rest] = [rest, g % rest];
  return {n: n / g, d: d / g};
}

/**
 * The number that a text spells: a decimal or a fraction from 10^-18 to 64, with a denominator below 2^128.
 * @param {unknown} text
 * @returns {Epsilon}
 */
export function parseEpsilon(text) {
  need(typeof text === "string" && text.length <= 100, "epsilon");
  const m = /^(0|[1-9][0-9]*)(?:\/([1-9][0-9]*)|(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?)$/.exec(text);
  need(m, "epsilon: no number");
  const [, whole, under, part = "", power = "0"] = m;
  const places = BigInt(part.length) - BigInt(Number(power));
  let n = BigInt(whole + part);
  let d = BigInt(under ?? 1);
  if (places > 0n) d *= 10n ** places;
  else n *= 10n ** -places;
  const x = lowest(n, d);
  need(n * 10n ** 18n >= d && n <= 64n * d && x.d < 1n << 128n, "epsilon: out of range");
  return x;
}

/**
 * The one text that files have for a number.
 * @param {Epsilon} x
 */
export function epsilonText({n, d}) {
  const scale = 10n ** 38n;
  if (scale % d !== 0n) return `${n}/${d}`;
  const digits = ((n * scale) / d).toString().padStart(39, "0");
  return `${digits.slice(0, -38)}.${digits.slice(-38)}`.replace(/\.?0*$/, "");
}

/**
 * Integers below and above 2^bits e^x: the series, with every term rounded down and up. Once n >= 2x, all terms after
 * the nth are together less than it.
 * @param {Epsilon} x
 * @param {bigint} bits
 * @returns {[bigint, bigint]}
 */
function exponential({n, d}, bits) {
  let low = 1n << bits, high = low, under = low, over = low;
  for (let k = 1n; over > 1n || k * d <= 2n * n; k++) {
    under = (under * n) / (d * k);
    over = (over * n + d * k - 1n) / (d * k);
    low += under;
    high += over;
  }
  return [low, high + over];
}

/**
 * Whether h <= e^x l. e^x is irrational, so narrower bounds decide at last.
 * @param {Epsilon} x
 */
function ratio(x) {
  let bits = 256n;
  let [low, high] = exponential(x, bits);
  /** @type {(h: bigint, l: bigint) => boolean} */
  const holds = (h, l) => {
    while (h << bits > low * l && h << bits < high * l) {
      bits *= 2n;
      [low, high] = exponential(x, bits);
    }
    return h << bits <= low * l;
  };
  return holds;
}

/** @type {(v: bigint[]) => bigint} */
export const sum = (v) => v.reduce((a, b) => a + b, 0n);

/**
 * Checks a box: lo <= hi <= 2^bits and hi <= e^x lo for each output, sum lo <= 2^bits <= sum hi.
 * @param {Epsilon} x
 * @param {number} bits
 * @param {bigint[]} lo
 * @param {bigint[]} hi
 */
export function checkBox(x, bits, lo, hi) {
  need(Number.isInteger(bits) && bits >= 1 && bits <= 62, "bits");
  need(lo.length === hi.length && lo.length > 0, "the number of bounds");
  const total = 1n << BigInt(bits);
  const holds = ratio(x);
  for (let j = 0; j < lo.length; j++) {
    const ok = lo[j] <= hi[j] && hi[j] <= total && holds(hi[j], lo[j]);
    need(ok, `output ${j}: not lo <= hi <= 2^bits, hi <= e^eps lo`);
  }
  need(sum(lo) <= total && total <= sum(hi), "the box has no point");
}

/**
 * Checks that a row is a point of a box.
 * @param {number} bits
 * @param {bigint[]} lo
 * @param {bigint[]} hi
 * @param {bigint[]} row
 */
export function checkRow(bits, lo, hi, row) {
  need(row.length === lo.length && row.every((n, j) => lo[j] <= n && n <= hi[j]), "a row is outside of the box");
  need(sum(row) === 1n << BigInt(bits), "a row does not sum to 2^bits");
}

/**
 * A number from bytes, the first one lowest.
 * @param {Uint8Array} bytes
 */
export function word(bytes) {
  let w = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) w = (w << 8n) | BigInt(bytes[i]);
  return w;
}

/**
 * The first j whose weights up to and with it are more than r. It looks at all.
 * @param {Iterable<bigint>} weights
 * @param {bigint} r
 */
export function first(weights, r) {
  let j = 0, total = 0n;
  for (const n of weights) {
    total += n;
    j += total <= r ? 1 : 0;
  }
  return j;
}

/**
 * The index that ceil(bits/8) random bytes draw from a row.
 * @param {Iterable<bigint>} row
 * @param {number} bits
 * @param {Uint8Array} random
 */
export function sample(row, bits, random) {
  const size = Math.ceil(bits / 8);
  need(random.length >= size, "too few random bytes");
  return first(row, word(random.subarray(0, size)) & ((1n << BigInt(bits)) - 1n));
}
