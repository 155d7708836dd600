// gzip, RFC 1952 and 1951: members in a row, whole, with right checksums, and nothing after the last. The stream of the
// platform is no help: engines differ in what they ignore after a member.
// @ts-check
import {need} from "./box.js";

const LENGTHS = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

const CRC = Uint32Array.from({length: 256}, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

/** @param {Uint8Array} data */
function crc32(data) {
  let c = ~0;
  for (const b of data) c = CRC[(c ^ b) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}

/** Bits and bytes of the input; what is not there is refused. */
class Source {
  /** @param {Uint8Array} data */
  constructor(data) {
    this.data = data;
    this.at = 0;
    this.held = 0;
    this.count = 0;
  }

  byte() {
    need(this.at < this.data.length, "gzip: cut off");
    return this.data[this.at++];
  }

  /** @param {number} n At most 16. */
  bits(n) {
    while (this.count < n) {
      this.held |= this.byte() << this.count;
      this.count += 8;
    }
    const v = this.held & ((1 << n) - 1);
    this.held >>>= n;
    this.count -= n;
    return v;
  }

  align() { this.held = this.count = 0; }

  u32() { return (this.byte() | this.byte() << 8 | this.byte() << 16 | this.byte() << 24) >>> 0; }
}

/**
 * A Huffman code: how many symbols there are of each length, and the symbols in order.
 * @param {number[]} lengths
 * @param {boolean} partial whether one code alone may be incomplete
 */
function huffman(lengths, partial) {
  const count = new Array(16).fill(0), next = new Array(16).fill(0);
  for (const n of lengths) count[n]++;
  let left = 1;
  for (let n = 1; n < 16; n++) {
    left = left * 2 - count[n];
    need(left >= 0, "gzip: code");
    next[n] = n > 1 ? next[n - 1] + count[n - 1] : 0;
  }
  const used = lengths.length - count[0];
  need(left === 0 || partial && (used === 0 || used === 1 && count[1] === 1), "gzip: code");
  const symbols = new Array(used);
  lengths.forEach((n, s) => { if (n) symbols[next[n]++] = s; });
  return {count, symbols};
}

/**
 * @param {Source} s
 * @param {{count: number[], symbols: number[]}} code
 */
function symbol(s, {count, symbols}) {
  for (let n = 1, code = 0, first = 0, index = 0; n < 16; n++) {
    code |= s.bits(1);
    if (code - count[n] < first) return symbols[index + code - first];
    index += count[n];
    first = (first + count[n]) << 1;
    code <<= 1;
  }
  need(false, "gzip: code");
  return 0;
}

/** @param {Source} s The codes of a block with codes of its own. */
function codes(s) {
  const literals = s.bits(5) + 257, distances = s.bits(5) + 1, n = s.bits(4) + 4;
  need(literals <= 286 && distances <= 30, "gzip: sizes");
  const lengths = new Array(19).fill(0);
  for (let i = 0; i < n; i++) lengths[ORDER[i]] = s.bits(3);
  const code = huffman(lengths, false);
  /** @type {number[]} */
  const all = [];
  while (all.length < literals + distances) {
    const v = symbol(s, code);
    if (v < 16) {
      all.push(v);
      continue;
    }
    need(v !== 16 || all.length > 0, "gzip: repeats nothing");
    const what = v === 16 ? all[all.length - 1] : 0;
    for (let k = v === 16 ? 3 + s.bits(2) : v === 17 ? 3 + s.bits(3) : 11 + s.bits(7); k > 0; k--) all.push(what);
  }
  need(all.length === literals + distances && all[256] > 0, "gzip: sizes");
  return [huffman(all.slice(0, literals), true), huffman(all.slice(literals), true)];
}

const FIXED = [
  huffman(Array.from({length: 288}, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)), false),
  huffman(new Array(32).fill(5), false),
];

/** @param {Source} s @param {number[]} out @param {number} most */
function block(s, out, most) {
  const last = s.bits(1), kind = s.bits(2);
  need(kind < 3, "gzip: block");
  if (kind === 0) {
    s.align();
    const n = s.byte() | s.byte() << 8, inverse = s.byte() | s.byte() << 8;
    need((n ^ inverse) === 0xffff, "gzip: block");
    for (let i = 0; i < n; i++) out.push(s.byte());
    need(out.length <= most, "gzip: too long");
    return last;
  }
  const [literal, distance] = kind === 1 ? FIXED : codes(s);
  for (;;) {
    const v = symbol(s, literal);
    need(out.length <= most, "gzip: too long");
    if (v === 256) return last;
    if (v < 256) {
      out.push(v);
      continue;
    }
    need(v < 286, "gzip: length");
    const length = LENGTHS[v - 257] + s.bits(LENGTH_BITS[v - 257]);
    const d = symbol(s, distance);
    need(d < 30, "gzip: distance");
    const extra = d < 2 ? 0 : (d >> 1) - 1;
    const back = (d < 2 ? d + 1 : 1 + ((2 + (d & 1)) << extra)) + s.bits(extra);
    need(back <= out.length, "gzip: distance");
    for (let i = 0; i < length; i++) out.push(out[out.length - back]);
  }
}

/** @param {Source} s The header of a member. */
function header(s) {
  const start = s.at;
  need(s.byte() === 0x1f && s.byte() === 0x8b && s.byte() === 8, "gzip: header");
  const flags = s.byte();
  need(flags < 32, "gzip: flags");
  for (let i = 0; i < 6; i++) s.byte();
  if (flags & 4) for (let n = s.byte() | s.byte() << 8; n > 0; n--) s.byte();
  for (const flag of [8, 16]) if (flags & flag) while (s.byte() !== 0);
  if (flags & 2) {
    const sum = crc32(s.data.subarray(start, s.at)) & 0xffff;
    need((s.byte() | s.byte() << 8) === sum, "gzip: checksum of the header");
  }
}

/**
 * The texts of all members, joined.
 * @param {Uint8Array} data
 * @param {number} most bytes
 * @returns {Uint8Array}
 */
export function gunzip(data, most) {
  const s = new Source(data);
  /** @type {Uint8Array[]} */
  const parts = [];
  let total = 0;
  while (s.at < data.length) {
    header(s);
    /** @type {number[]} */
    const out = [];
    while (!block(s, out, most - total));
    s.align();
    const part = Uint8Array.from(out);
    need(s.u32() === crc32(part) && s.u32() === part.length, "gzip: checksum");
    total += part.length;
    need(total <= most, "gzip: too long");
    parts.push(part);
  }
  const whole = new Uint8Array(total);
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}
