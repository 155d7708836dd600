// The release of docs/spec/release.md from its random bytes on: private bytes, the row, the index, the report. A ledger
// comes before it: whoever calls drawWith has written the debit, and then read the random bytes.
// @ts-check
import {first, need, sample, word} from "./box.js";
import {latin, unhex, unlatin} from "./bytes.js";
import {gunzip} from "./gzip.js";
import {inside} from "./policy.js";

/** @typedef {import("./policy.js").Policy} Policy */
/** @typedef {import("./policy.js").Inside} Inside */

const MOST = 64 * 2 ** 20;

/** @type {(p: Policy) => number} How many random bytes a draw takes. */
export const randomBytes = (p) => 8 + Math.ceil(p.bits / 8);

/**
 * The counts of the inputs. Anything that is not as it must be makes all of the data unusable.
 * @param {Inside} p
 * @param {number} inputs
 * @param {Uint8Array} data
 */
function readCounts(p, inputs, data) {
  need(data.length <= MOST, "too long");
  const text = latin(data[0] === 0x1f && data[1] === 0x8b ? gunzip(data, MOST) : data);
  const counts = new Float64Array(inputs);
  let named = false, user = "";
  text.split("\n").forEach((line, n) => {
    need(line.length <= 4096, "a long line");
    line = line.replace(/\r$/, "");
    if (n === 0) {
      line = line.replace(/^\xef\xbb\xbf/, "");
      named = line === "user,label,count";
      if (named || line === "label,count") return;
    }
    if (line === "") return;
    if (named) {
      const [who, rest] = field(line);
      user ||= checkedUser(who);
      need(who === user, "a second user");
      line = rest;
    }
    const [label, count] = field(line);
    const i = p.index.get(label);
    need(i !== undefined, "label");
    need(count.length <= 64 && /^[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$/.test(count), "count");
    const v = Number(count);
    need(v <= 2 ** 53, "count");
    counts[i] += v;
  });
  need(counts.some((v) => v > 0), "no mass");
  return counts;
}

/**
 * The first field of a line, and what follows its comma.
 * @param {string} line
 * @returns {[string, string]}
 */
function field(line) {
  const m = /^(?:"((?:[^"]|"")+)"|([^",][^,]*)),/.exec(line);
  need(m, "field");
  return [m[2] ?? m[1].replaceAll('""', '"'), line.slice(m[0].length)];
}

/** @param {string} who */
function checkedUser(who) {
  const bytes = unlatin(who);
  const text = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(bytes);
  need(bytes.length <= 256 && !/[\x00-\x1f\x7f-\x9f]/.test(text), "user");
  return who;
}

/**
 * A float64 >= 0 as m 2^e.
 * @param {number} v
 * @returns {[bigint, number]}
 */
function parts(v) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, v);
  const b = bits.getBigUint64(0), e = Number(b >> 52n), m = b & ((1n << 52n) - 1n);
  return e === 0 ? [m, -1074] : [m | (1n << 52n), e - 1075];
}

/**
 * The input that w draws.
 * @param {Float64Array} counts
 * @param {bigint} w
 */
function pick(counts, w) {
  let total = 0;
  for (const c of counts) total += c;
  const [m, e] = parts(total);
  const shift = 62 - m.toString(2).length - e; // 2^61 <= 2^shift total < 2^62
  const u = Array.from(counts, (c) => {
    const [n, f] = parts(c);
    return f + shift >= 0 ? n << BigInt(f + shift) : n >> BigInt(-f - shift);
  });
  return first(u, (w * u.reduce((a, b) => a + b, 0n)) >> 64n);
}

/**
 * The draw from random bytes, which come from crypto.getRandomValues alone but in tests.
 * @param {Policy} p
 * @param {Uint8Array} data
 * @param {Uint8Array} random
 * @returns {{index: number, report: Uint8Array}}
 */
export function drawWith(p, data, random) {
  need(random.length >= randomBytes(p), "too few random bytes");
  const rows = inside(p);
  let row = rows.fallback;
  try {
    row = rows.row(pick(readCounts(rows, p.inputs, data), word(random.subarray(0, 8)))) ?? rows.fallback;
  } catch { // whatever private bytes are, there is a report
  }
  const index = sample(row, p.bits, random.subarray(8));
  const report = new Uint8Array(40);
  report.set([0x77, 0x70, 0x6d, 0x31]);
  report.set(unhex(p.id), 4);
  new DataView(report.buffer).setUint32(36, index, true);
  return {index, report};
}
