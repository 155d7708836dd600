// What the package offers: no way in for a seed, and randomness from getRandomValues alone.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {gzipSync} from "node:zlib";
import * as wpm from "@wpm-go/wpm";
import {gunzip as unpack} from "../src/gzip.js";
import {memory} from "./support/memory.js";

const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const example = /```json policy-1\n([^]*?)```/.exec(read("../../docs/spec/policy.md"))[1];
function gunzip(data, most) {
  const parts = [];
  unpack(data, most, (b, n) => parts.push(b.slice(0, n)));
  return Buffer.concat(parts);
}
const encode = (s) => new TextEncoder().encode(s);

// A ledger in memory with room for n releases; the policy of the example costs 1.
const ledger = (n, epoch = "e") => wpm.openLedger(memory(), {epoch, budget: String(n)});

test("exports, without a way to draw that no ledger pays for", () => {
  assert.deepEqual(Object.keys(wpm).sort(), ["LedgerError", "Refused", "decode", "openLedger", "release"]);
  assert.equal(wpm.release.length, 3);
});

test("internal modules cannot be imported", async () => {
  for (const name of ["src/draw.js", "draw", "src/index.js"]) {
    await assert.rejects(import(`@wpm-go/wpm/${name}`), {code: "ERR_PACKAGE_PATH_NOT_EXPORTED"});
  }
});

test("the debit is stored, then getRandomValues is called once, and only then the data are read", async (t) => {
  const p = await wpm.decode(encode(example));
  const seen = [], store = memory(), append = store.append.bind(store);
  const books = await wpm.openLedger(store, {epoch: "e", budget: "1"});
  store.append = async (at, b) => {
    await new Promise((done) => setTimeout(done, 5)); // whoever does not wait for the store is found out
    await append(at, b);
    seen.push(String.fromCharCode(...b.subarray(0, 6)).trim());
  };
  const data = new Proxy(encode("home,2\n"), {get(d, name) {
    if (name === "length") seen.push("data");
    const v = d[name];
    return typeof v === "function" ? v.bind(d) : v;
  }});
  t.mock.method(globalThis.crypto, "getRandomValues", (b) => {
    seen.push(b.length);
    return b.fill(7);
  });
  t.mock.method(Math, "random", () => assert.fail("Math.random"));
  const report = await wpm.release(p, data, books);
  assert.deepEqual(seen.filter((s, n) => s !== seen[n - 1]), ["debit", 9, "data", "report"]);
  assert.equal(Buffer.from(report).toString("hex").slice(0, 72), "77706d31" + p.id);
});

test("a failing source gives no report", async (t) => {
  const p = await wpm.decode(encode(example));
  t.mock.method(globalThis.crypto, "getRandomValues", () => { throw new Error("no entropy"); });
  const books = await ledger(2);
  for (const spent of ["1", "2"]) {
    await assert.rejects(wpm.release(p, encode("home,2\n"), books), /no entropy/);
    assert.equal(books.spent, spent); // the debit stands
  }
});

test("draws have the law of the policy", async () => {
  const p = await wpm.decode(encode(example));
  const seen = [0, 0, 0], n = 4000;
  const store = memory();
  for (let i = 0; i < n; i++) {
    store.text = new Uint8Array();
    const books = await wpm.openLedger(store, {epoch: "e", budget: "1"});
    seen[(await wpm.release(p, encode("home,1\n"), books))[36]]++;
    await books.close();
  }
  // Weights 8, 5, 3 of 16. Six standard deviations: a false alarm in 2e8 runs for each output.
  [8 / 16, 5 / 16, 3 / 16].forEach((p, j) => {
    assert.ok(Math.abs(seen[j] - n * p) < 6 * Math.sqrt(n * p * (1 - p)), `${seen}`);
  });
});

test("whatever the data are, there is a report", async () => {
  const p = await wpm.decode(encode(example));
  const texts = ["", "home,-1\n", "home,1e308\n".repeat(9)].map(encode);
  for (const data of [...texts, Uint8Array.of(0x1f, 0x8b), Uint8Array.of(255, 254), null, undefined, "home,1", {}]) {
    assert.equal((await wpm.release(p, data, await ledger(1))).length, 40);
  }
});

test("only policies that decode made", async () => {
  const p = await wpm.decode(encode(example)), books = await ledger(1);
  for (const forged of [{...p}, Object.create(p), null, {bits: 4, id: p.id}]) {
    await assert.rejects(wpm.release(forged, encode("home,1\n"), books), wpm.Refused);
  }
  assert.equal(books.spent, "0");
  assert.throws(() => { p.lo[0] = 8n; }, TypeError);
  assert.throws(() => { p.bits = 1; }, TypeError);
  for (const bad of [null, example, new Uint8Array(), encode(example).subarray(1), Uint8Array.of(0xff)]) {
    await assert.rejects(wpm.decode(bad), wpm.Refused);
  }
});

test("only ledgers that openLedger opened", async () => {
  const p = await wpm.decode(encode(example)), books = await ledger(1);
  class Free { account() { return new Uint8Array(40); } }
  for (const forged of [null, undefined, {}, new Free(), Object.create(books), new Proxy(books, {}), {...books}]) {
    await assert.rejects(wpm.release(p, encode("home,1\n"), forged), wpm.Refused);
  }
  const unopened = new books.constructor();
  await assert.rejects(wpm.release(p, encode("home,1\n"), unopened), {code: "closed"});
});

test("a member of the metadata may look like an index", async () => {
  const with3 = example.replace(/"metadata":\{[^\n]*\}/, '"metadata":{"10":"a","9":"b","__proto__":"c"}');
  assert.notEqual(with3, example);
  assert.equal((await wpm.decode(encode(with3))).outputs, 3);
});

test("deep certificates", async () => {
  const nested = (n) => "[".repeat(n) + "]".repeat(n);
  const deep = (n) => encode(example.replace('"certificate":null', `"certificate":{"a":${nested(n - 1)}}`));
  assert.equal((await wpm.decode(deep(10000))).inputs, 2);
  await assert.rejects(wpm.decode(deep(10001)), wpm.Refused);
});

test("a row takes the time of what it lists", async () => {
  const n = 100000; // rows written out would take minutes
  const lo = `["${2 ** 40 - n + 1}"${',"1"'.repeat(n - 1)}]`, row = '{"full":[],"extra":[]}';
  const text = (rows) => example
    .replace(/"bits":[^\n]*/, '"bits":40,').replace(/"inputs":[^\n]*/, `"inputs":${n},`)
    .replace(/"outputs":[^\n]*/, `"outputs":${n},`).replace(/"input_labels":[^\n]*/, '"input_labels":null,')
    .replace(/"output_labels":[^\n]*\n"input_aliases":[^\n]*/, '"output_labels":null,')
    .replace(/"lo":[^\n]*/, `"lo":${lo},`).replace(/"hi":[^\n]*/, `"hi":${lo},`)
    .replace(/"fallback":[^]*/, `"fallback":${row},\n"rows":[\n${rows}\n]\n}\n`);
  assert.equal((await wpm.decode(encode(text(Array(n).fill(row).join(",\n"))))).outputs, n);
  const extra = row.replace("[]}", '[[1,"1"]]}');
  await assert.rejects(wpm.decode(encode(text(Array(n).fill(extra).join(",\n")))), wpm.Refused);
});

test("rows that are not in the box, or do not sum to 2^bits", async () => {
  assert.match(example, /"fallback":\{"full":\[\],"extra":\[\[/);
  for (const [from, to] of [[/("fallback":\{"full":\[\],"extra":\[\[\d+,")(\d+)/, (_, a, u) => a + (BigInt(u) + 1n)],
    [/("fallback":\{"full":\[\],"extra":)\[\[[^\n]*/, '$1[]},'], [/("fallback":\{"full":\[)\]/, "$11]"]]) {
    const bad = example.replace(from, to);
    assert.notEqual(bad, example);
    await assert.rejects(wpm.decode(encode(bad)), {name: "Refused"});
  }
});

test("every byte of a policy counts", async () => {
  const good = encode(example);
  for (let i = 0; i < good.length; i += 7) {
    const bad = good.slice();
    bad[i] ^= 1;
    let p = null;
    try { p = await wpm.decode(bad); } catch (e) { assert.ok(e instanceof wpm.Refused); }
    if (p) assert.notEqual(p.id, (await wpm.decode(good)).id);
  }
});

test("gunzip undoes node's gzip, and refuses every cut and most changes", () => {
  const mixed = Array.from({length: 5000}, (_, i) => (i * 2654435761 >>> 7).toString(36)).join();
  for (const text of ["", "a", "label,count\nhome,2\n".repeat(500), mixed]) {
    for (const options of [{level: 0}, {level: 1}, {level: 9}, {strategy: 4}]) {
      const z = gzipSync(text, options);
      assert.equal(gunzip(Buffer.concat([z, z]), 1 << 20).toString(), text + text);
      for (let n = 1; n < z.length; n += 1 + (z.length >> 6)) {
        assert.throws(() => gunzip(z.subarray(0, n), 1 << 20), wpm.Refused);
      }
      assert.throws(() => gunzip(Buffer.concat([z, Buffer.of(0)]), 1 << 20), wpm.Refused);
      for (const at of [0, 1, 2, z.length - 8, z.length - 1]) {
        const bad = Buffer.from(z);
        bad[at] ^= 1;
        assert.throws(() => gunzip(bad, 1 << 20), wpm.Refused);
      }
    }
  }
  assert.throws(() => gunzip(gzipSync("x".repeat(1000)), 999), wpm.Refused);
});
