// gzip, RFC 1952 and 1951: members in a row, whole, with right checksums, and nothing after the last. The stream of the
// platform is no help: engines differ in what they ignore after a member. It takes memory for a window of 32 KiB and
// two codes, whatever comes.
// @ts-check
import {need} from "./box.js";

const LENGTHS = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const WINDOW = 2 ** 15;
const SHORT = 9; // bits of the codes that one look finds

const CRC = Uint32Array.from({length: 256}, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

/** @type {(sum: number, data: Uint8Array, from: number, to: number) => number} Of 0, or of what came before. */
function crc32(sum, data, from, to) {
  let c = ~sum;
  for (let i = from; i < to; i++) c = CRC[(c ^ data[i]) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}

/** Bits and bytes of the input; what is not there is refused. */
class Source {
  /** @param {Uint8Array} data */
  constructor(data) {
    this.data = data;
    this.length = data.length;
    this.at = 0;
    this.held = 0;
    this.count = 0;
  }

  byte() {
    need(this.at < this.length, "gzip: cut off");
    return this.data[this.at++];
  }

  /** Holds as many bits as there is room for; beyond the input they are 0, and count says so. */
  fill() {
    while (this.count < 25 && this.at < this.length) {
      this.held |= this.data[this.at++] << this.count;
      this.count += 8;
    }
  }

  /** @param {number} n bits that were looked at */
  drop(n) {
    need(n <= this.count, "gzip: cut off");
    this.held >>>= n;
    this.count -= n;
  }

  /** @param {number} n at most 16 */
  bits(n) {
    if (this.count < n) this.fill();
    const v = this.held & ((1 << n) - 1);
    this.drop(n);
    return v;
  }

  /** Goes on at the next whole byte. */
  align() {
    this.at -= this.count >> 3;
    this.held = this.count = 0;
  }

  u16() { return this.byte() | this.byte() << 8; }
  u32() { return (this.u16() | this.u16() << 16) >>> 0; }
}

/** A Huffman code: how many symbols there are of each length, the symbols in order, and what short codes mean. */
class Code {
  constructor() {
    this.count = new Uint16Array(16);
    this.next = new Uint16Array(16);
    this.symbols = new Uint16Array(288);
    this.table = new Uint16Array(1 << SHORT); // 16 times the symbol, and the length of its code
  }

  /**
   * @param {Uint8Array} lengths
   * @param {number} from
   * @param {number} to
   * @param {boolean} partial whether one code alone may be incomplete
   */
  set(lengths, from, to, partial) {
    const {count, next, symbols, table} = this;
    count.fill(0);
    table.fill(0);
    for (let s = from; s < to; s++) count[lengths[s]]++;
    const used = to - from - count[0];
    count[0] = 0;
    let left = 1;
    for (let n = 1; n < 16; n++) {
      left = left * 2 - count[n];
      need(left >= 0, "gzip: code");
      next[n] = n > 1 ? next[n - 1] + count[n - 1] : 0;
    }
    need(left === 0 || partial && (used === 0 || used === 1 && count[1] === 1), "gzip: code");
    for (let s = from; s < to; s++) if (lengths[s] > 0) symbols[next[lengths[s]]++] = s - from;
    for (let n = 1, code = 0, index = 0; n <= SHORT; n++, code <<= 1) {
      for (let k = count[n]; k > 0; k--, code++, index++) {
        let low = 0; // the code with its first bit lowest
        for (let i = 0; i < n; i++) low |= (code >> i & 1) << (n - 1 - i);
        for (; low < 1 << SHORT; low += 1 << n) table[low] = symbols[index] << 4 | n;
      }
    }
    return this;
  }

  /** @param {Source} s The next symbol of the input. */
  take(s) {
    if (s.count < 15) s.fill();
    const found = this.table[s.held & ((1 << SHORT) - 1)];
    if (found > 0) {
      s.drop(found & 15);
      return found >> 4;
    }
    for (let n = 1, code = 0, first = 0, index = 0; n < 16; n++) {
      code |= s.held >> (n - 1) & 1;
      if (code - this.count[n] < first) {
        s.drop(n);
        return this.symbols[index + code - first];
      }
      index += this.count[n];
      first = (first + this.count[n]) << 1;
      code <<= 1;
    }
    need(false, "gzip: code");
    return 0;
  }
}

/** The end of the text: what a distance can reach back to. Full, or at the end of a member, it goes to the taker. */
class Window {
  /**
   * @param {number} most bytes in all
   * @param {(bytes: Uint8Array, n: number) => void} taker
   */
  constructor(most, taker) {
    this.ring = new Uint8Array(WINDOW);
    this.most = most;
    this.taker = taker;
    this.at = this.before = this.sum = 0; // the taker has as many bytes of this member as before says, of which sum is
  }

  /** A member begins. */
  start() { this.at = this.before = this.sum = 0; }

  /** @param {number} byte */
  put(byte) {
    this.ring[this.at++] = byte;
    if (this.at === WINDOW) this.flush();
  }

  flush() {
    need((this.most -= this.at) >= 0, "gzip: too long");
    this.sum = crc32(this.sum, this.ring, 0, this.at);
    this.taker(this.ring, this.at);
    this.before += this.at;
    this.at = 0;
  }

  /**
   * @param {number} back
   * @param {number} length
   */
  copy(back, length) {
    need(back <= this.before + this.at, "gzip: distance");
    for (; length > 0; length--) this.put(this.ring[(this.at - back) & (WINDOW - 1)]);
  }
}

/** The codes of a block. */
class Codes {
  constructor() {
    this.lengths = new Uint8Array(286 + 30 + 138);
    this.literal = new Code();
    this.distance = new Code();
  }

  /** @param {Source} s */
  read(s) {
    const {lengths} = this;
    const literals = s.bits(5) + 257, distances = s.bits(5) + 1, n = s.bits(4) + 4, all = literals + distances;
    need(literals <= 286 && distances <= 30, "gzip: sizes");
    lengths.fill(0, 0, 19);
    for (let i = 0; i < n; i++) lengths[ORDER[i]] = s.bits(3);
    const code = this.distance.set(lengths, 0, 19, false);
    let at = 0;
    while (at < all) {
      const v = code.take(s);
      if (v < 16) {
        lengths[at++] = v;
        continue;
      }
      need(v !== 16 || at > 0, "gzip: repeats nothing");
      const what = v === 16 ? lengths[at - 1] : 0;
      let k = v === 16 ? 3 + s.bits(2) : v === 17 ? 3 + s.bits(3) : 11 + s.bits(7);
      for (; k > 0; k--) lengths[at++] = what;
    }
    need(at === all && lengths[256] > 0, "gzip: sizes");
    this.literal.set(lengths, 0, literals, true);
    this.distance.set(lengths, literals, all, true);
    return this;
  }
}

const FIXED = {
  literal: new Code().set(new Uint8Array(288).fill(8).fill(9, 144, 256).fill(7, 256, 280), 0, 288, false),
  distance: new Code().set(new Uint8Array(32).fill(5), 0, 32, false),
};

/** @param {Source} s @param {Window} out @param {Codes} own whether it is the last one of a member */
function block(s, out, own) {
  const last = s.bits(1), kind = s.bits(2);
  need(kind < 3, "gzip: block");
  if (kind === 0) {
    s.align();
    let n = s.u16();
    need((n ^ s.u16()) === 0xffff, "gzip: block");
    for (; n > 0; n--) out.put(s.byte());
    return last;
  }
  const {literal, distance} = kind === 1 ? FIXED : own.read(s);
  for (;;) {
    const v = literal.take(s);
    if (v < 256) {
      out.put(v);
      continue;
    }
    if (v === 256) return last;
    need(v < 286, "gzip: length");
    const length = LENGTHS[v - 257] + s.bits(LENGTH_BITS[v - 257]);
    const d = distance.take(s);
    need(d < 30, "gzip: distance");
    const extra = d < 2 ? 0 : (d >> 1) - 1;
    out.copy((d < 2 ? d + 1 : 1 + ((2 + (d & 1)) << extra)) + s.bits(extra), length);
  }
}

/** @param {Source} s The header of a member. */
function header(s) {
  const start = s.at;
  need(s.byte() === 0x1f && s.byte() === 0x8b && s.byte() === 8, "gzip: header");
  const flags = s.byte();
  need(flags < 32, "gzip: flags");
  for (let i = 0; i < 6; i++) s.byte();
  if (flags & 4) for (let n = s.u16(); n > 0; n--) s.byte();
  for (const flag of [8, 16]) if (flags & flag) while (s.byte() !== 0);
  if (flags & 2) need((crc32(0, s.data, start, s.at) & 0xffff) === s.u16(), "gzip: checksum of the header");
}

/**
 * Unpacks all members on the way. A text that is refused may have been taken in part.
 * @param {Uint8Array} data
 * @param {number} most bytes of text
 * @param {(bytes: Uint8Array, n: number) => void} taker gets the text, in pieces: the first n of these bytes
 */
export function gunzip(data, most, taker) {
  const s = new Source(data), out = new Window(most, taker), own = new Codes();
  while (s.at < s.length) {
    header(s);
    out.start();
    while (!block(s, out, own));
    s.align();
    out.flush();
    need(s.u32() === out.sum && s.u32() === out.before, "gzip: checksum");
  }
}
