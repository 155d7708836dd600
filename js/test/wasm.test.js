// The solvers in WebAssembly against the vectors, and as an oracle of the box. js/wasm/build.js makes the program.
import assert from "node:assert/strict";
import {existsSync, readFileSync} from "node:fs";
import {test} from "node:test";
import {Refused} from "@wpm-go/wpm";
import {SolverError, solver} from "@wpm-go/wpm/wasm";
import {checkBox, checkRow, parseEpsilon} from "../src/box.js";

const file = new URL("../dist/wpm.wasm.gz", import.meta.url);
const skip = !existsSync(file) && "npm run build makes the program";
const solve = skip ? null : await solver(readFileSync(file));

test("at most 2.3 MB", {skip}, () => assert.ok(readFileSync(file).length <= 2300000));

test("a map, in the second program alone", {skip}, async () => {
  const line = {cost: {kind: "grid", rows: 1, cols: 3, p: 1}, m: [0.4, 0.4, 0.4], eps: "2", counts: [60, 30, 10], groups: true};
  await assert.rejects(solve("estimate", [line]), /estimate/);
  const both = await solver(readFileSync(new URL("wpm-estimate.wasm.gz", file)));
  const [a] = await both("estimate", [line]);
  assert.ok(a.map[0] > a.map[1] && a.map[1] > a.map[2] && a.groups.of.length === 3, JSON.stringify(a));
  for (const estimator of ["map", "em", "mle", "raw"]) {
    const [{map_error: e, information}] = await both("estimate", [{...line, estimator}]);
    assert.ok(e.expected > 0 && e.expected <= e.within90 && information, `${estimator} ${JSON.stringify(e)}`);
  }
  const ring = {cost: {kind: "ring", n: 4, p: 1}, reg: 1, want: ["diameter"]};
  assert.deepEqual(await both("hilbert", [ring]), await solve("hilbert", [ring]));
});

// A number of the vectors: hexadecimal, exact in binary64.
function float(text) {
  const [, whole, part, power] = /^0x([01])(?:\.([0-9a-f]+))?p([+-][0-9]+)$/.exec(text).map((v) => v ?? "");
  const e = Number(power) - 4 * part.length, half = Math.trunc(e / 2);
  return parseInt(whole + part, 16) * 2 ** half * 2 ** (e - half);
}

// x <= y for texts "p/q" or "p".
function atMost(x, y) {
  const [[n, d], [m, c]] = [x, y].map((s) => [...s.split("/"), "1"].map(BigInt));
  return n * c <= m * d;
}

test("projections: the exact bounds hold the exact optimum of every vector", {skip}, async () => {
  const {cases} = JSON.parse(readFileSync(new URL("../../vectors/project.json", import.meta.url), "utf8"));
  const valid = cases.filter((c) => c.valid);
  const answers = await solve("project", valid.map(({in: {c, mu, lo, hi}}) => ({
    cost: {kind: "explicit", C: c.map((row) => row.map(float))}, mu: mu.map(float), lo: lo.map(float), hi: hi.map(float),
    want: ["lower_exact", "upper_exact"],
  })));
  let exact = 0;
  answers.forEach(({error, lower_exact: lower, upper_exact: upper}, n) => {
    const {id, out: {value}} = valid[n];
    assert.equal(error, undefined, id);
    assert.ok(atMost(lower, value) && atMost(value, upper), `${id}: ${lower} <= ${value} <= ${upper}`);
    exact += lower === upper ? 1 : 0;
  });
  assert.ok(exact > 0);
});

test("an oracle of the box: what Go rounds, js accepts, and nothing beyond it", {skip}, async () => {
  const cases = [["1", 4], ["1/3", 20], ["0.001", 62], ["8", 30], ["64", 62]];
  const m = [0.2, 0.3, 0.1, 0.4, 0.05], q = [0, 0.5, 0.5, 0, 0];
  const answers = await solve("round", cases.map(([eps, bits]) => ({m, eps, bits, q}))).catch((e) => e.answers);
  cases.forEach(([eps, bits], n) => {
    const {error, lo, hi, weights} = answers[n];
    if (error) return assert.match(error, /./);
    const box = [parseEpsilon(eps), bits, lo.map(BigInt), hi.map(BigInt)];
    checkBox(...box);
    checkRow(bits, box[2], box[3], weights.map(BigInt));
    const wide = box[3].slice();
    wide[0] = box[2][0] * 3n ** BigInt(Math.ceil(Number(eps.split("/")[0]))) + 1n; // above e^eps lo, as e < 3
    assert.throws(() => checkBox(box[0], bits, box[2], wide), Refused);
  });
  assert.ok(answers.some((a) => !a.error));
});

test("lines, answers, and a run that keeps nothing", {skip}, async () => {
  assert.deepEqual(await solve("project", []), []);
  const [defined, used] = await solve("hilbert", [{define: "c", cost: {kind: "ring", n: 4, p: 1}}, {reg: 1, cost: "c", want: ["diameter"]}]);
  assert.deepEqual([defined, typeof used.diameter], [{defined: "c"}, "number"]);
  await assert.rejects(solve("hilbert", [{reg: 1, cost: "c"}]), {name: "SolverError", message: /line 0: .*"c"/});
  const line = {cost: {kind: "ring", n: 4, p: 1}, reg: 1, want: ["diameter"]};
  await assert.rejects(solve("hilbert", [line, {reg: 2}, line]), (e) => {
    assert.ok(e instanceof SolverError);
    assert.deepEqual([e.line, e.answers.length, e.answers[2].diameter], [1, 3, used.diameter]); // the others are answered
    return true;
  });
  await assert.rejects(solve("draw", []), /unknown kind/);
  await assert.rejects(solve("project", [null]), Refused);
  await assert.rejects(solver(new Uint8Array(8)));
  await assert.rejects(solver("dist/wpm.wasm"), Refused);
});

test("no random bytes: what asks for them fails", {skip}, async (t) => {
  t.mock.method(globalThis.crypto, "getRandomValues", () => assert.fail("getRandomValues"));
  t.mock.method(Math, "random", () => assert.fail("Math.random"));
  const line = {cost: {kind: "ring", n: 6, p: 1}, mu: {index: [1], weight: [1]}, m: Array(6).fill(0.2), eps: 1, want: ["q", "objective"]};
  const [a, b] = [await solve("project", [line]), await solve("project", [line])];
  assert.deepEqual(a, b);
  assert.ok(!a[0].error, a[0].error);
});
