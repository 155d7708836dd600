// A program for an engine that has the language alone, such as JavaScriptCore's jsc: jsc -m bare.js -- POLICY PRIVATE.
// The application gives it what the specification of JavaScript does not have: UTF-8, SHA-256 and random bytes, all 7 here,
// and a store, in memory here. There is no Ed25519. It prints one line of JSON: which of these the engine has, the report and the
// text of the ledger, those of a repeat, why a signed release is refused, and what is paid then.
/* global print, readFile */
const there = ["TextEncoder", "TextDecoder", "crypto"].filter((name) => name in globalThis);

globalThis.TextEncoder = class {
  encode(s) { return Uint8Array.from(unescape(encodeURIComponent(s)), (c) => c.charCodeAt(0)); }
};
globalThis.TextDecoder = class { // fatal, and without a look at a byte order mark
  decode(b) { return decodeURIComponent(escape(latin(b))); }
};
globalThis.crypto = {getRandomValues: (a) => a.fill(7), subtle: {digest: async (_, b) => sha256(b).buffer}};

function latin(b) {
  let s = "";
  for (const v of b) s += String.fromCharCode(v);
  return s;
}

/** FIPS 180-4. The constants are the first bits of the fraction of roots of primes. */
function sha256(data) {
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const bits = (x) => (x % 1) * 2 ** 32 | 0, turn = (x, n) => x >>> n | x << 32 - n;
  const k = primes.map((p) => bits(Math.cbrt(p))), h = primes.slice(0, 8).map((p) => bits(Math.sqrt(p)));
  const all = new Uint8Array((data.length + 72) >> 6 << 6), view = new DataView(all.buffer);
  all.set(data);
  all[data.length] = 0x80;
  view.setUint32(all.length - 4, 8 * data.length);
  for (let at = 0; at < all.length; at += 64) {
    const w = k.map((_, i) => i < 16 ? view.getInt32(at + 4 * i) : 0);
    for (let i = 16; i < 64; i++) {
      const [a, b] = [w[i - 15], w[i - 2]];
      w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ a >>> 3) + (turn(b, 17) ^ turn(b, 19) ^ b >>> 10) | 0;
    }
    let [a, b, c, d, e, f, g, s] = h;
    for (let i = 0; i < 64; i++) {
      const t = s + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + k[i] + w[i] | 0;
      const u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
      [a, b, c, d, e, f, g, s] = [t + u | 0, a, b, c, d + t | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, s].forEach((v, i) => { h[i] = h[i] + v | 0; });
  }
  const out = new DataView(new ArrayBuffer(32));
  h.forEach((v, i) => out.setInt32(4 * i, v));
  return new Uint8Array(out.buffer);
}

const store = {
  text: new Uint8Array(),
  async lock() {},
  async load() { return this.text.slice(); },
  async append(at, bytes) { this.text = Uint8Array.of(...this.text, ...bytes); },
  async unlock() {},
};

const run = async ([policy, data]) => {
  const {decode, openLedger, release} = await import("../../src/index.js");
  const encode = (s) => new TextEncoder().encode(s), said = [];
  const p = await decode(encode(policy));
  for (let n = 0; n < 2; n++) {
    const ledger = await openLedger(store, {epoch: "2026-11", budget: "8"});
    const report = await release(p, encode(data), ledger);
    await ledger.close();
    said.push(Array.from(report, (b) => b.toString(16).padStart(2, "0")).join(""), latin(store.text));
  }
  const key = "0".repeat(64), signature = `wpm-signature-1 ${key} ${"0".repeat(128)}\n`;
  const ledger = await openLedger(store, {epoch: "2026-12"});
  const refused = await release(p, encode(data), ledger, {key, signature}).catch((e) => `${e.code}: ${e.message}`);
  print(JSON.stringify({there, said, refused, paid: ledger.spent}));
};
run(globalThis.arguments.slice(0, 2).map((name) => readFile(name))).catch((e) => print(`${e}\n${e.stack}`));
