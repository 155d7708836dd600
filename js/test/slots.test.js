// Schedules: epochs, the slot that a ledger draws once, its windows, and signatures.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {LedgerError, Refused, decode, openLedger, release} from "@wpm-go/wpm";
import {FORMS, epochAt, epochName, epochNumber} from "../src/epoch.js";
import {memory} from "./support/memory.js";

const bytes = (s) => Uint8Array.from(Buffer.from(s, "latin1"));
const text = (store) => Buffer.from(store.text).toString("latin1");
const words = (store) => text(store).split("\n").slice(0, -1).map((line) => line.split(" ")[0]);
const spec = readFileSync(new URL("../../docs/spec/policy.md", import.meta.url), "utf8");
const example = /```json policy-1\n([^]*?)```/.exec(spec)[1], data = bytes("home,2\n");
const one = await decode(bytes(example));

// A text of the example's policy with a schedule and a title; epsilon is 1.
const file = (title, {epochs = "month", first = null, last = null, period = 3} = {}) => example
  .replace("wpm-policy-1", "wpm-policy-3").replace(/"title":.*\}/, `"title":"${title}"}`)
  .replace('"inputs"', `"schedule":${JSON.stringify({epochs, first, last, period})},\n"inputs"`)
  .replace(/"(lo|hi)":\["([0-9]+)".*/g, '"$1":"$2",');
const policy = (title, schedule) => decode(bytes(file(title, schedule)));
const open = (store, epoch, budget = "1") => openLedger(store, {epoch, budget});

/** Releases in an epoch, and closes the ledger. */
async function pay(store, epoch, p, budget, signed) {
  const books = await open(store, epoch, budget);
  try {
    return await release(p, data, books, signed);
  } finally {
    await books.close();
  }
}

/** Sets the clock of a test, which may set it again. */
function clock(t) {
  let now = "";
  t.mock.method(Date, "now", () => Date.parse(now));
  return (iso) => { now = iso; };
}
const months = Array.from({length: 24}, (_, n) => `${2024 + Math.floor(n / 12)}-${String(n % 12 + 1).padStart(2, "0")}`);

function sealed(...bodies) {
  let chain = Buffer.alloc(32), all = "";
  for (const body of bodies) {
    chain = createHash("sha256").update(chain).update(body, "latin1").digest();
    all += `${body} ${chain.toString("hex")}\n`;
  }
  return all;
}

test("names and numbers of epochs", () => {
  assert.deepEqual([epochNumber("month", "2026-01"), epochNumber("week", "2026-W01"), epochNumber("day", "2026-01-05"),
    epochNumber("year", "2026")], [24313, 2921, 20454, 2026]);
  for (const form of FORMS) {
    const from = Date.UTC(2000, 0, 4), to = Date.UTC(9999, 11, 28);
    let last = epochAt(form, from) - 1, after = "";
    for (let ms = from; ms < Date.UTC(2030, 0); ms += 43200000) {
      const n = epochAt(form, ms), name = epochName(form, n);
      assert.ok(n === last || n === last + 1, `${form} ${n}`);
      if (n === last) continue;
      assert.equal(epochNumber(form, name), n);
      assert.ok(name > after);
      for (const other of FORMS) if (other !== form) assert.equal(epochNumber(other, name), null, `${other} ${name}`);
      [last, after] = [n, name];
    }
    assert.equal(epochName(form, epochAt(form, Date.UTC(1999, 6))), null);
    assert.equal(epochName(form, epochAt(form, Date.UTC(10000, 6))), null);
    assert.match(epochName(form, epochAt(form, to)), /^9999/);
    for (const ms of [NaN, Infinity, 1e18]) assert.equal(epochName(form, epochAt(form, ms)), null);
  }
  // Weeks of ISO 8601 at the ends of years.
  for (const [day, week] of [
    ["2021-01-03", "2020-W53"], ["2021-01-04", "2021-W01"], ["2024-12-30", "2025-W01"], ["2027-01-03", "2026-W53"],
  ]) {
    assert.equal(epochName("week", epochAt("week", Date.parse(day))), week);
  }
  const bad = {year: ["1999", "202", "20260", "٢٠٢٦", "2026\n", " 2026"], month: ["2026-00", "2026-13", "2026-1", "1999-12"],
    week: ["2026-W00", "2025-W53", "2026-W54", "2026-w01", "2026-01"],
    day: ["2026-02-29", "2026-04-31", "2026-01-00", "2026-13-01", "2026-W1-01"]};
  for (const form of FORMS) for (const s of bad[form]) assert.equal(epochNumber(form, s), null, `${form} ${s}`);
});

test("schedules that are refused", async () => {
  for (const schedule of [{epochs: "toString"}, {epochs: "constructor", period: 0}, {epochs: "decade"},
    {period: 1}, {period: 10001}, {first: "2026"},
    {first: "2026-02", last: "2026-01"}, {last: "2026-13"}]) {
    await assert.rejects(policy("x", schedule), Refused, JSON.stringify(schedule));
  }
  assert.deepEqual((await policy("x", {first: "2026-01"})).schedule, {epochs: "month", first: "2026-01", last: null, period: 3});
  assert.equal(one.schedule, null);
});

test("over 24 epochs there is one release in any 3 in a row", async () => {
  const policies = await Promise.all(months.map((month) => policy(month))); // a new policy each month
  const counts = [0, 0, 0], ledgers = 60;
  for (let k = 0; k < ledgers; k++) {
    const store = memory(), told = [];
    for (const [n, month] of months.entries()) {
      const books = await open(store, month), before = text(store), report = await release(policies[n], data, books);
      if (!report && n > 0) assert.equal(text(store), before); // silent
      if (report) told.push(n);
      assert.equal(books.next === month, report !== null);
      if (report) assert.deepEqual(await release(policies[n], null, books), report); // again
      await books.close();
    }
    assert.equal(told.length, 8);
    told.forEach((n, i) => assert.equal(n, told[0] + 3 * i));
    assert.deepEqual(words(store).slice(0, 2), ["wpm-ledger-1", "slot"]);
    const books = await open(store, "2026-01");
    assert.deepEqual([books.spent, books.remaining, books.slot.slot], ["8", "1", (24289 + told[0]) % 3]);
    counts[told[0]]++;
  }
  for (const c of counts) assert.ok(Math.abs(c - 20) < 6 * Math.sqrt(60 * 2 / 9), `${counts}`); // each equally likely
});

test("the slot is one of T by getRandomValues, without a bias, and is stored before anything is paid", async (t) => {
  const p = await policy("x", {period: 10000}), store = memory(), seen = [], append = store.append.bind(store);
  const books = await open(store, "2024-01");
  store.append = async (at, b) => {
    await new Promise((done) => setTimeout(done, 5));
    await append(at, b);
    seen.push(Buffer.from(b).toString("latin1").split(" ").slice(0, 4).join(" "));
  };
  // 2^32 mod 10000 is 7296: words from 2^32 - 7296 on are drawn again. 24289 mod 10000 is 4289.
  const draws = [2 ** 32 - 1, 2 ** 32 - 7296, 2 ** 32 - 7297 - 9999 + 4289];
  t.mock.method(Math, "random", () => assert.fail("Math.random"));
  t.mock.method(globalThis.crypto, "getRandomValues", (b) => {
    seen.push(b.constructor.name);
    return b.fill(b instanceof Uint32Array ? draws.shift() : 7);
  });
  const report = await release(p, data, books);
  assert.equal(report.length, 40);
  const [turn, paid] = [seen[4], seen[6]];
  assert.deepEqual(seen.slice(0, 4), ["Uint32Array", "Uint32Array", "Uint32Array", "slot month 10000 4289"]);
  assert.equal(turn, `turn 1 ${p.id} 2024-01`);
  assert.equal(seen[5], "Uint8Array");
  assert.match(paid, /^report /);
  assert.equal(seen.length, 7);
});

test("a slot that is not stored: nothing is paid, and a torn one is drawn again", async () => {
  for (const keep of [0, 1, 5, 12, 40]) {
    const store = memory(), append = store.append.bind(store), books = await open(store, "2024-01");
    store.append = async (at, b) => {
      await append(at, b.slice(0, keep));
      throw new Error("full");
    };
    const p = await policy("x");
    await assert.rejects(release(p, data, books), {code: "store"});
    await assert.rejects(release(p, data, books), {code: "store"});
    assert.deepEqual([books.slot, books.spent], [null, "0"]);
    await books.close();
    store.append = append;
    let reports = 0;
    for (const epoch of ["2024-01", "2024-02", "2024-03"]) reports += await pay(store, epoch, p) ? 1 : 0;
    assert.equal(reports, 1);
    const again = await open(store, "2024-03");
    assert.deepEqual([again.spent, again.slot.period], ["1", 3]);
    assert.equal(words(store).length, keep ? 5 : 4); // the torn line is one
  }
});

test("another form and another period are refused, and write nothing", async () => {
  const store = memory();
  await pay(store, "2024-01", await policy("x"));
  const before = text(store);
  for (const [epoch, schedule] of [
    ["2024-05", {period: 4}], ["2024-05", {period: 2}], ["2024", {epochs: "year"}], ["2024-W40", {epochs: "week"}],
  ]) {
    await assert.rejects(pay(store, epoch, await policy("y", schedule), "1"), {code: "epoch"}, JSON.stringify(schedule));
  }
  assert.equal(text(store).replace(before, ""), "");
});

test("epochs that the schedule, the clock or the ledger forbids", async (t) => {
  const set = clock(t);
  set("2026-03-31T23:59:59.999Z");
  for (const [epoch, schedule] of [
    ["2026-04", {}], ["2027", {epochs: "year"}], ["2026-W15", {epochs: "week"}], ["2026-04-01", {epochs: "day"}], // after the clock
    ["2026", {}], ["2026-W01", {}], ["2026-13", {}], ["e", {}], ["2026-01-01", {}], // of no such form
    ["2026-01", {first: "2026-02"}], ["2026-03", {last: "2026-02"}],
  ]) {
    for (const period of [0, 3]) {
      const store = memory(), books = await open(store, epoch), before = text(store);
      await assert.rejects(release(await policy("x", {...schedule, period}), data, books), {code: "epoch"}, `${epoch} ${period}`);
      assert.equal(text(store), before);
    }
  }
  const every = {period: 0}, store = memory();
  assert.equal((await pay(store, "2026-01", await policy("a", every), "9")).length, 40);
  assert.equal((await pay(store, "2026-03", await policy("a", every), "9")).length, 40);
  const before = text(store);
  await assert.rejects(pay(store, "2026-02", await policy("b", every), "9"), {code: "epoch"}); // before the last
  await assert.rejects(pay(store, "2026-02", await policy("b"), "9"), {code: "epoch"});
  assert.equal(text(store), before);
  assert.ok(await pay(store, "2026-03", await policy("b", every), "9"));
  assert.ok(await pay(store, "2026-W01", await policy("c", {epochs: "week", period: 0}), "9")); // another form has its own order
  assert.ok(await pay(store, "2025-01", one, "9")); // without a schedule, an epoch is a word
  assert.deepEqual(words(store).filter((w) => w === "turn" || w === "slot"), []);
  for (const now of ["1999-12-31T23:59:59Z", "+010000-01-01T00:00:00Z"]) {
    set(now);
    await assert.rejects(pay(memory(), "2000-01", await policy("x", every)), {code: "epoch"});
  }
});

test("windows: a debit counts in each, a turn in those of its epoch", async () => {
  const store = memory(bytes(sealed("wpm-ledger-1 2", "slot month 3 1"))); // 24289 mod 3 is 1: 2024-01 is of the slot
  const p = (title, schedule) => policy(title, schedule);
  assert.ok(await pay(store, "2024-01", await p("a"), "2"));
  assert.ok(await pay(store, "2024-01", await p("b"), "2"));
  await assert.rejects(pay(store, "2024-01", await p("c"), "2"), {code: "budget"});
  await assert.rejects(pay(store, "2024-02", one, "2"), {code: "budget"}); // a debit has no room beside two turns
  assert.equal(await pay(store, "2024-02", await p("c"), "2"), null);
  assert.ok(await pay(store, "2024-04", await p("c"), "2"));
  assert.equal((await open(memory(store.text), "e", "2")).spent, "3");
  const other = memory(bytes(sealed("wpm-ledger-1 2", "slot month 3 1")));
  assert.ok(await pay(other, "x", one, "2"));
  assert.ok(await pay(other, "2024-01", await p("a"), "2"));
  await assert.rejects(pay(other, "2024-01", await p("b"), "2"), {code: "budget"});
  assert.ok(await pay(other, "2024-04", await p("b"), "2"));
  assert.equal((await open(memory(other.text), "e", "2")).remaining, "1");
  // Where no window has room there is no slot, and an epoch of another slot is an error, too.
  for (const head of [["wpm-ledger-1 1/2"], ["wpm-ledger-1 1/2", "slot month 3 0"]]) {
    const small = memory(bytes(sealed(...head)));
    await assert.rejects(pay(small, "2024-01", await p("a"), "1/2"), {code: "budget"});
    assert.equal(text(small), sealed(...head));
  }
  // A torn turn is charged in every window.
  const torn = memory(bytes(sealed("wpm-ledger-1 2", "slot month 3 1") + "turn 3/2 x"));
  assert.equal((await open(torn, "e", "2")).remaining, "1/2");
  torn.locked = false;
  await assert.rejects(pay(torn, "2024-01", await p("a"), "2"), {code: "budget"});
});

test("lines that are refused, and lines that are not", async () => {
  const start = "wpm-ledger-1 9", id = one.id, slot = "slot month 12 1", turn = (epoch) => `turn 1 ${id} ${epoch}`, key = `key ${id}`;
  const report = (epoch) => `report 77706d31${id}01000000 ${epoch}`;
  const good = [[key], [slot], [key, slot], [slot, key], [slot, turn("2026-01"), report("2026-01"), turn("2027-01")],
    [slot, turn("2026-01"), turn("2026-01"), `debit 1 ${id} x`, turn("2026-01")],
    ["slot week 2 0", "slot month 3 ~torn 0"], ["slot year 10000 9999"]];
  for (const lines of good) await open(memory(bytes(sealed(start, ...lines))), "e", "9");
  const bad = [[key, key], [slot, slot], ["key "], [`key ${id.toUpperCase()}`], [`${key} x`], [turn("2026-01")], [slot, turn("2026-02")],
    [slot, turn("2027-01"), turn("2026-01")], [slot, turn("2026")], [slot, turn("2026-01"), report("2027-01")],
    [turn("2026-01"), slot], ...["month 12 12", "month 12 -1", "month 12 01", "month 012 1", "month 1 0", "month 0 0",
      "month 10001 0", "month +2 0",
      "month 2 1e0", "month 2 NaN", "decade 2 0", "toString 2 0", " 2 0", "month 2", "month 2 0 0",
      "month 2 0.5", "month 2.5 0"].map((s) => [`slot ${s}`])];
  for (const lines of bad) {
    await assert.rejects(open(memory(bytes(sealed(start, ...lines))), "e", "9"), {code: "corrupt"}, lines.join());
  }
  await assert.rejects(open(memory(bytes(sealed(slot, start))), "e", "9"), {code: "corrupt"});
});

// RFC 8032, section 7.1: the keys of tests 1 and 2; the signature is that of docs/spec/policy.md.
const KEY = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const OTHER = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
const SIGNATURE = `wpm-signature-1 ${KEY} c523704e4cc171fe159fb455e57f48d726e69d8ceaa18a0098d9731ab7812a2b`
  + "fb007aeb22776e46e4e5d3a9cd5065eda196c2ff3fcd7280e941c1d0c20af502\n";

test("a signature by the key that is named, from then on by the ledger's", async () => {
  const store = memory(), books = await openLedger(store, {epoch: "e", budget: "9"});
  const before = text(store), other = await decode(bytes(example.replace("three", "3")));
  const refused = [
    [one, {key: KEY}], [one, {signature: SIGNATURE}], [one, {key: OTHER, signature: SIGNATURE}], [other, {key: KEY, signature: SIGNATURE}],
    [one, {key: KEY.toUpperCase(), signature: SIGNATURE}], [one, {key: "", signature: SIGNATURE}],
    [one, {key: 7, signature: SIGNATURE}], [one, {key: null}],
    [one, {key: KEY, signature: SIGNATURE.replace(KEY, OTHER)}],
    [one, {key: KEY, signature: SIGNATURE.trim()}], [one, {key: KEY, signature: SIGNATURE + "\n"}], [one, {key: KEY, signature: null}],
    [one, {key: KEY, signature: SIGNATURE.replace("c523", "c524")}], [one, {key: OTHER, signature: SIGNATURE.replace(KEY, OTHER)}],
  ];
  for (const [p, signed] of refused) {
    await assert.rejects(release(p, data, books, signed), (e) => e instanceof LedgerError && e.code === "key", JSON.stringify(signed));
  }
  await assert.rejects(release(one, data, books, {keys: KEY}), Refused); // a misspelt option is not left out
  assert.deepEqual([text(store), books.key], [before, null]);
  const report = await release(one, data, books, {key: KEY, signature: SIGNATURE});
  assert.deepEqual([books.key, words(store)], [KEY, ["wpm-ledger-1", "key", "debit", "report"]]);
  assert.deepEqual(await release(one, null, books), report);
  await books.close();
  const next = await openLedger(store, {epoch: "f"}), held = text(store);
  await assert.rejects(release(one, data, next), {code: "key"});
  await assert.rejects(release(other, data, next, {signature: SIGNATURE}), {code: "key"});
  assert.equal(text(store), held);
  assert.equal((await release(one, data, next, {signature: SIGNATURE})).length, 40); // by the ledger's key
  assert.equal(words(store).filter((w) => w === "key").length, 1);
});

test("an engine without Ed25519 says so", async (t) => {
  t.mock.method(globalThis.crypto.subtle, "importKey", async () => { throw new DOMException("x", "NotSupportedError"); });
  const store = memory(), books = await openLedger(store, {epoch: "e", budget: "9"});
  await assert.rejects(release(one, data, books, {key: KEY, signature: SIGNATURE}), {code: "key", message: /no Ed25519 in the WebCrypto/});
  assert.deepEqual(words(store), ["wpm-ledger-1"]);
});

test("a ledger that Go has made", async (t) => {
  clock(t)("2024-06-01T00:00:00Z");
  // wpm-device release -key, of the example in epoch e, and then of the policy with the title go in 2024-01 and 2024-02.
  const made = `wpm-ledger-1 3 c7bf18d74e1ce89d0894fe51add4f5fe2f7eaaa01cd85f6f56692fb20778288c
key d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a 004020a83028471ab368eda4581e6fdce1a38e3ed025dad1dc8ce8710cc629fe
debit 1 19c4eb87bad965a6a23a154c88621d5d25058a579a01936e131d844c0dc0d5f0 e 284ef621aef24bc429548ea675ff2ebb69b38cf74d92b55ce0e017c27414b339
report 77706d3119c4eb87bad965a6a23a154c88621d5d25058a579a01936e131d844c0dc0d5f001000000 e d6a4e92b3c1c22a9df322830105ad3e77b4c5fd75689d5cbde1f6ee213005ed4
slot month 3 2 990b15d1a141d37a10e14472ec67cb8da9a5c6fe23188adbaa8959b7592c6307
turn 1 992269ff9059e1b43c2cba8cd98fe5de2beb3389a6880e90fffc22491671b123 2024-02 413f2f0bf43277645f087818299ff5cfa224f91dd79c49ee327b33884c8288c5
report 77706d31992269ff9059e1b43c2cba8cd98fe5de2beb3389a6880e90fffc22491671b12300000000 2024-02 2719b24649dbfe3aa8430fb64fa4ca94c81d440168d0839c2603051f044121f6
`;
  const go = await policy("go"), store = memory(bytes(made)), signed = {signature: `wpm-signature-1 ${KEY} `
    + "c40bbd514c6deb37149e87bd13d51c91c67c3b333563893f6a9ecb808e84c2e6d7b280df3eae3e5a032bc3fc01a8d0b40c68d6bf4d079482549ee659976bea02\n"};
  const books = await openLedger(store, {epoch: "2024-03"});
  assert.deepEqual([books.spent, books.remaining, books.key, books.next], ["2", "2", KEY, "2024-05"]);
  assert.deepEqual(books.slot, {epochs: "month", period: 3, slot: 2});
  assert.equal(await release(go, data, books, signed), null);
  await assert.rejects(release(go, data, books), {code: "key"});
  await books.close();
  assert.equal(text(store), made);
  assert.equal(Buffer.from(await pay(store, "2024-02", go, "3", signed)).toString("hex"), `77706d31${go.id}00000000`); // again
  assert.equal(text(store), made);
  assert.ok(await pay(store, "2024-05", go, "3", signed));
  assert.ok(text(store).startsWith(made));
  assert.deepEqual(words(store).slice(-2), ["turn", "report"]);
});
