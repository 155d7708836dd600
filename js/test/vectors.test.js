// The vectors of the kinds that this package has, in full.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {Refused, checkBox, checkRow, epsilonText, parseEpsilon, sample} from "../src/box.js";
import {decode} from "../src/policy.js";
import {drawWith} from "../src/draw.js";

const hex = (b) => Buffer.from(b).toString("hex");
const bytes = (s) => Uint8Array.from(Buffer.from(s, "hex"));

async function run(kind, f) {
  const file = readFileSync(new URL(`../../vectors/${kind}.json`, import.meta.url), "utf8");
  const {cases, valid, invalid} = JSON.parse(file);
  assert.equal(cases.length, valid + invalid);
  for (const c of cases) {
    let out = null;
    try {
      out = await f(c.in);
    } catch (e) {
      assert.ok(e instanceof Refused, `${c.id}: ${e.stack}`);
    }
    assert.equal(out !== null, c.valid, `${c.id}: ${out ? "accepted" : "refused"}`);
    for (const name of Object.keys(out ?? {})) assert.deepEqual(out[name], c.out[name], `${c.id}: ${name}`);
  }
}

test("verify", () => run("verify", (c) => {
  const lo = c.lo.map(BigInt), hi = c.hi.map(BigInt);
  checkBox(parseEpsilon(c.epsilon), c.bits, lo, hi);
  for (const row of c.rows) checkRow(c.bits, lo, hi, row.map(BigInt));
  return {};
}));

test("sample", () => run("sample", ({bits, weights, random}) => {
  const n = weights.map(BigInt);
  checkBox(parseEpsilon("1"), bits, n, n);
  return {index: sample(n, bits, bytes(random))};
}));

// Where a solver has an answer, a client without one draws another index.
test("release", () => run("release", async (c) => {
  const p = await decode(new TextEncoder().encode(c.policy));
  const {index, report} = drawWith(p, bytes(c.private), bytes(c.random));
  return c.projected ? {id: p.id} : {id: p.id, index, report: hex(report)};
}));

test("spellings of epsilon", () => {
  const spellings = {"0.50": "0.5", "1e-3": "0.001", "2/4": "0.5", "1/3": "1/3", "64/1": "64", "1.000": "1"};
  for (const text of Object.keys(spellings)) {
    assert.equal(epsilonText(parseEpsilon(text)), spellings[text]);
  }
});
