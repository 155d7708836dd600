// What the package offers: no way in for a seed, and randomness from getRandomValues alone.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {gzipSync} from "node:zlib";
import * as wpm from "@wpm-go/wpm";
import {gunzip} from "../src/gzip.js";

const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const example = /```json policy-1\n([^]*?)```/.exec(read("../../docs/spec/policy.md"))[1];
const encode = (s) => new TextEncoder().encode(s);

test("exports are those of the types", () => {
  assert.deepEqual(Object.keys(wpm).sort(), ["Refused", "decode", "draw"]);
  const types = read("../src/index.d.ts");
  for (const name of Object.keys(wpm)) assert.match(types, new RegExp(`export (class|function) ${name}\\b`));
  assert.equal(wpm.draw.length, 2);
});

test("internal modules cannot be imported", async () => {
  for (const name of ["src/draw.js", "draw", "src/index.js"]) {
    await assert.rejects(import(`@wpm-go/wpm/${name}`), {code: "ERR_PACKAGE_PATH_NOT_EXPORTED"});
  }
});

test("one call of getRandomValues, before the data, for a draw", async (t) => {
  const p = await wpm.decode(encode(example));
  const seen = [];
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
  const report = wpm.draw(p, data);
  assert.deepEqual(seen.slice(0, 2), [9, "data"]);
  assert.equal(seen.filter((s) => s !== "data").length, 1);
  assert.equal(Buffer.from(report).toString("hex").slice(0, 72), "77706d31" + p.id);
});

test("a failing source gives no report", async (t) => {
  const p = await wpm.decode(encode(example));
  t.mock.method(globalThis.crypto, "getRandomValues", () => { throw new Error("no entropy"); });
  assert.throws(() => wpm.draw(p, encode("home,2\n")), /no entropy/);
});

test("draws have the law of the policy", async () => {
  const p = await wpm.decode(encode(example));
  const seen = [0, 0, 0], n = 4000;
  for (let i = 0; i < n; i++) seen[wpm.draw(p, encode("home,1\n"))[36]]++;
  // Weights 8, 5, 3 of 16. Six standard deviations: a false alarm in 2e8 runs for each output.
  [8 / 16, 5 / 16, 3 / 16].forEach((p, j) => {
    assert.ok(Math.abs(seen[j] - n * p) < 6 * Math.sqrt(n * p * (1 - p)), `${seen}`);
  });
});

test("whatever the data are, there is a report", async () => {
  const p = await wpm.decode(encode(example));
  const texts = ["", "home,-1\n", "home,1e308\n".repeat(9)].map(encode);
  for (const data of [...texts, Uint8Array.of(0x1f, 0x8b), Uint8Array.of(255, 254), null, undefined, "home,1", {}]) {
    assert.equal(wpm.draw(p, data).length, 40);
  }
});

test("only policies that decode made", async () => {
  const p = await wpm.decode(encode(example));
  for (const forged of [{...p}, Object.create(p), null, {bits: 4, id: p.id}]) {
    assert.throws(() => wpm.draw(forged, encode("home,1\n")));
  }
  assert.throws(() => { p.lo[0] = 8n; }, TypeError);
  assert.throws(() => { p.bits = 1; }, TypeError);
  for (const bad of [null, example, new Uint8Array(), encode(example).subarray(1), Uint8Array.of(0xff)]) {
    await assert.rejects(wpm.decode(bad), wpm.Refused);
  }
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
      assert.equal(Buffer.from(gunzip(Buffer.concat([z, z]), 1 << 20)).toString(), text + text);
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
