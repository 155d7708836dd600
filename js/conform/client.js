// Answers the lines of docs/spec/conform.md, for tests: wpm-conform -- node js/conform/client.js
// It reaches modules that the package does not export, for it takes its random bytes from the lines.
import {createInterface} from "node:readline";
import {checkBox, checkRow, need, parseEpsilon, sample} from "../src/box.js";
import {decode} from "../src/policy.js";
import {drawWith} from "../src/draw.js";

const units = (v) => v.map((s) => {
  need(typeof s === "string" && /^(0|[1-9][0-9]{0,19})$/.test(s), "weights");
  return BigInt(s);
});

const unhex = (s) => {
  need(/^([0-9a-f]{2})*$/.test(s), "hexadecimal");
  return Uint8Array.from(s.match(/../g) ?? [], (b) => parseInt(b, 16));
};

const policy = (text) => {
  need(typeof text === "string" && text.isWellFormed(), "text");
  return decode(new TextEncoder().encode(text));
};

const KINDS = {
  verify: [["eps", "bits", "lo", "hi", "rows"], ({eps, bits, lo, hi, rows}) => {
    const box = [bits, units(lo), units(hi)];
    checkBox(parseEpsilon(eps), ...box);
    for (const row of rows) checkRow(...box, units(row));
    return {verified: true};
  }],
  policy: [["policy"], async (o) => ({sha256: (await policy(o.policy)).id})],
  sample: [["bits", "weights", "random"], ({bits, weights, random}) => {
    const n = units(weights);
    checkBox({n: 1n, d: 1n}, bits, n, n);
    return {index: sample(n, bits, unhex(random))};
  }],
  draw: [["policy", "private", "random"], async (o) => {
    const {index, report} = drawWith(await policy(o.policy), unhex(o.private), unhex(o.random));
    return {index, report: Array.from(report, (b) => b.toString(16).padStart(2, "0")).join("")};
  }],
};

async function answer(line) {
  let id = null;
  try {
    const {kind, ...members} = JSON.parse(line);
    id = members.id ?? null;
    delete members.id;
    need(typeof kind === "string" && Object.hasOwn(KINDS, kind), "a kind that is not offered");
    const [names, f] = KINDS[kind];
    need(Object.keys(members).sort().join() === [...names].sort().join(), "members");
    return {id, ...await f(members)};
  } catch (e) {
    return {id, error: String(e)};
  }
}

const write = (o) => process.stdout.write(JSON.stringify(o) + "\n");
write({"wpm-conform": 1, name: "client.js", kinds: Object.keys(KINDS)});
for await (const line of createInterface({input: process.stdin, crlfDelay: Infinity})) write(await answer(line));
