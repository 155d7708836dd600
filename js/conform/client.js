// Answers the lines of docs/spec/conform.md, for tests: wpm-conform -- node js/conform/client.js
// It reaches modules that the package does not export, for it takes its random bytes from the lines.
import {createInterface} from "node:readline";
import {checkBox, checkRow, need, parseEpsilon, sample} from "../src/box.js";
import {hex, unhex} from "../src/bytes.js";
import {countReports, decodeCounts, encodeCounts, mergeCounts} from "../src/count.js";
import {decode} from "../src/policy.js";
import {drawWith} from "../src/draw.js";
import {FORMS, epochNumber} from "../src/epoch.js";
import {LedgerError, account, ed25519, openLedger, verify} from "../src/ledger.js";
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

/** A schedule, as a policy has it. */
const schedule = (s) => {
  if (s === undefined) return null;
  members(s, ["epochs", "first", "last", "period"]);
  const {epochs, first, last, period} = s;
  need(FORMS.includes(epochs) && Number.isInteger(period) && (period === 0 || period >= 2), "a schedule");
  for (const bound of [first, last]) need(bound === null || epochNumber(epochs, bound) !== null, "a bound of a schedule");
  return s;
};

/** Pays for one report, and says what came of it. The clock of the ledger is that of the process. */
async function step(store, budget, s) {
  const {policy: id, eps, epoch, report, max_epsilon: maxEpsilon, clock, key, signature} = s;
  need(typeof id === "string" && /^[0-9a-f]{64}$/.test(id) && typeof eps === "string", "a step");
  parseEpsilon(eps);
  const plan = schedule(s.schedule);
  need(!plan || Number.isSafeInteger(clock), "a clock");
  const drawn = bytes(report), ledger = await openLedger(store, {epoch, budget, maxEpsilon: text(maxEpsilon)});
  let draws = 0;
  const now = Date.now;
  if (plan) Date.now = () => clock;
  try {
    const policy = {id, epsilon: eps, schedule: plan}, signed = {key: text(key), signature: text(signature)};
    const draw = () => {
      const last = new TextDecoder("latin1").decode(store.text).split("\n").at(-2);
      need(last?.includes(` ${id} ${epoch} `), "a draw before its debit is stored");
      draws++;
      return drawn;
    };
    if (await account(ledger, policy, draw, signed) === null) return `silent ${ledger.next}`;
    return draws ? "drawn" : "repeated";
  } catch (e) {
    if (draws) return "report";
    if (!(e instanceof LedgerError)) throw e;
    if (e.code === "key") return "key";
    if (e.code === "epoch") return "schedule";
    if (e.code !== "budget") throw e;
    return /at once/.test(e.message) ? "maximum" : "budget";
  } finally {
    Date.now = now;
    await ledger.close();
  }
}

const STEP = ["policy", "eps", "epoch", "report", "max_epsilon?"];
const TIMED = [...STEP, "schedule?", "clock?", "key?", "signature?"];

/** Pays for reports, of whose steps names are the members. */
async function books(o, names) {
  members(o, ["text", "budget?", "steps"]);
  need(Array.isArray(o.steps), "steps");
  const store = memory(bytes(o.text)), budget = text(o.budget), verdicts = [];
  for (const s of o.steps) {
    if (s && Object.hasOwn(s, "torn")) {
      members(s, ["torn"]);
      await store.append(store.text.length, bytes(s.torn));
    } else {
      members(s, names);
      verdicts.push(await step(store, budget, s));
    }
  }
  const {budget: is, spent, remaining} = await openLedger(store, {epoch: "e", budget});
  return {text: hex(store.text), budget: is, spent, remaining, verdicts};
}

const OPS = {
  books: (o) => books(o, STEP),
  lock(o) {
    members(o, ["name", "found", "kernel_locked", "kernel_locks", "boot", "namespace", "processes"]);
    members(o.found, ["kind", "bytes?", "entries?"]);
    bytes(o.found.bytes ?? "");
    return {verdict: verdict(o)};
  },
};

/** What the kind schedule asks. */
const TIMES = {
  async books(o) {
    const {text: whole, ...rest} = await books(o, TIMED);
    need(whole.startsWith(o.text), "the text was changed");
    return {...rest, appended: whole.slice(o.text.length)};
  },
  epoch(o) {
    members(o, ["form", "name"]);
    need(FORMS.includes(o.form) && typeof o.name === "string", "a form of epochs, and a name");
    const number = epochNumber(o.form, o.name);
    need(number !== null, "not an epoch of this form");
    return {number};
  },
  async signature(o) {
    members(o, ["policy", "key", "signature"]);
    await verify(text(o.policy), text(o.key), text(o.signature));
    return {verified: true};
  },
  async ed25519(o) {
    members(o, ["key", "message", "signature"]);
    need(await ed25519(bytes(o.key), bytes(o.message), bytes(o.signature)), "the signature does not verify");
    return {verified: true};
  },
};

/** Answers a line by the function of its operation. */
const operation = (functions) => ({op, ...o}) => {
  need(typeof op === "string" && Object.hasOwn(functions, op), "an operation that there is not");
  return functions[op](o);
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
  ledger: [null, operation(OPS)],
  schedule: [null, operation(TIMES)],
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
