// Answers the lines of docs/spec/conform.md, for tests: wpm-conform -- node js/conform/client.js
// It reaches modules that the package does not export, for it takes its random bytes from the lines.
import {createInterface} from "node:readline";
import {checkBox, checkRow, need, parseEpsilon, sample} from "../src/box.js";
import {hex, unhex} from "../src/bytes.js";
import {countReports, decodeCounts, encodeCounts, mergeCounts} from "../src/count.js";
import {decode} from "../src/policy.js";
import {drawWith} from "../src/draw.js";
import {LedgerError, account, openLedger} from "../src/ledger.js";
import {verdict} from "../src/lock.js";
import {memory} from "../test/support/memory.js";

const units = (v) => v.map((s) => {
  need(typeof s === "string" && /^(0|[1-9][0-9]{0,19})$/.test(s), "weights");
  return BigInt(s);
});

const bytes = (s) => {
  need(typeof s === "string" && s.length % 2 === 0 && !/[^0-9a-f]/.test(s), "hexadecimal");
  return unhex(s);
};

const policy = ({policy: text, policy_hex: file}) => {
  need((text === undefined) !== (file === undefined), "one of policy and policy_hex");
  if (text === undefined) return decode(bytes(file));
  need(typeof text === "string" && text.isWellFormed(), "text");
  return decode(new TextEncoder().encode(text));
};

/** A text that may be left out. */
const text = (s) => {
  need(s === undefined || typeof s === "string", "text");
  return s;
};

/** Checks the members of an object, of which those after a question mark may be left out. */
const members = (o, names) => {
  need(typeof o === "object" && o !== null && !Array.isArray(o), "an object");
  for (const name of names) need(name.endsWith("?") || Object.hasOwn(o, name), `no ${name}`);
  for (const name of Object.keys(o)) need(names.includes(name) || names.includes(name + "?"), `another member, ${name}`);
};

/** Pays for one report, and says what came of it. */
async function step(store, budget, {policy: id, eps, epoch, report, max_epsilon: maxEpsilon}) {
  need(typeof id === "string" && /^[0-9a-f]{64}$/.test(id) && typeof eps === "string", "a step");
  parseEpsilon(eps);
  const drawn = bytes(report), ledger = await openLedger(store, {epoch, budget, maxEpsilon: text(maxEpsilon)});
  let draws = 0;
  try {
    await account(ledger, {id, epsilon: eps}, () => (draws++, drawn));
    return draws ? "drawn" : "repeated";
  } catch (e) {
    if (draws) return "report";
    if (!(e instanceof LedgerError && e.code === "budget")) throw e;
    return /at once/.test(e.message) ? "maximum" : "budget";
  } finally {
    await ledger.close();
  }
}

const OPS = {
  async books(o) {
    members(o, ["text", "budget?", "steps"]);
    need(Array.isArray(o.steps), "steps");
    const store = memory(bytes(o.text)), budget = text(o.budget), verdicts = [];
    for (const s of o.steps) {
      if (s && Object.hasOwn(s, "torn")) {
        members(s, ["torn"]);
        await store.append(store.text.length, bytes(s.torn));
      } else {
        members(s, ["policy", "eps", "epoch", "report", "max_epsilon?"]);
        verdicts.push(await step(store, budget, s));
      }
    }
    const {budget: is, spent, remaining} = await openLedger(store, {epoch: "e", budget});
    return {text: hex(store.text), budget: is, spent, remaining, verdicts};
  },
  lock(o) {
    members(o, ["name", "found", "kernel_locked", "kernel_locks", "boot", "namespace", "processes"]);
    members(o.found, ["kind", "bytes?", "entries?"]);
    bytes(o.found.bytes ?? "");
    return {verdict: verdict(o)};
  },
};

const KINDS = {
  verify: [["eps", "bits", "lo", "hi", "rows"], ({eps, bits, lo, hi, rows}) => {
    const box = [bits, units(lo), units(hi)];
    checkBox(parseEpsilon(eps), ...box);
    for (const row of rows) checkRow(...box, units(row));
    return {verified: true};
  }],
  policy: [["policy?", "policy_hex?"], async (o) => ({sha256: (await policy(o)).id})],
  sample: [["bits", "weights", "random"], ({bits, weights, random}) => {
    const n = units(weights);
    checkBox({n: 1n, d: 1n}, bits, n, n);
    return {index: sample(n, bits, bytes(random))};
  }],
  draw: [["policy?", "policy_hex?", "private", "random"], async (o) => {
    const {index, report, usable, input} = drawWith(await policy(o), bytes(o.private), bytes(o.random));
    return {index, report: hex(report), usable, input};
  }],
  aggregate: [null, async ({op, counts, name, epoch, file, ...rest}) => {
    let found;
    if (op === "count") {
      members(rest, ["policy?", "policy_hex?"]);
      const bytes = new TextEncoder().encode(text(file) ?? "");
      found = await countReports(await policy(rest), [{name, bytes}], {epoch: text(epoch)});
    } else {
      members(rest, []);
      need(op === "decode" ? counts.length === 1 : op === "merge" && counts.length > 1, "an operation that there is not");
      found = mergeCounts(await Promise.all(counts.map((c) => decodeCounts(new TextEncoder().encode(c)))));
    }
    return {counts: Buffer.from(await encodeCounts(found)).toString()};
  }],
  ledger: [null, async ({op, ...o}) => {
    need(typeof op === "string" && Object.hasOwn(OPS, op), "an operation that there is not");
    return OPS[op](o);
  }],
};

async function answer(line) {
  let id = null;
  try {
    const {kind, ...rest} = JSON.parse(line);
    id = rest.id ?? null;
    delete rest.id;
    need(typeof kind === "string" && Object.hasOwn(KINDS, kind), "a kind that is not offered");
    const [names, f] = KINDS[kind];
    if (names) members(rest, names);
    return {id, ...await f(rest)};
  } catch (e) {
    return {id, error: String(e)};
  }
}

const write = (o) => process.stdout.write(JSON.stringify(o) + "\n");
write({"wpm-conform": 1, name: "client.js", kinds: Object.keys(KINDS)});
for await (const line of createInterface({input: process.stdin, crlfDelay: Infinity})) write(await answer(line));
