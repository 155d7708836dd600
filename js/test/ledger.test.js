// The ledger: what it reads, what it writes, and that no stop at any byte lets a report go unpaid.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {LedgerError, Refused, decode, openLedger, release} from "@wpm-go/wpm";
import {account} from "../src/ledger.js";
import {memory} from "./support/memory.js";

const read = (name) => readFileSync(new URL(`../../docs/spec/${name}`, import.meta.url), "utf8");
const block = (file, name) => new RegExp("```" + name + "\n([^]*?)```").exec(read(file))[1];
const bytes = (s) => Uint8Array.from(Buffer.from(s, "latin1"));
const text = (store) => Buffer.from(store.text).toString("latin1");
const file = block("policy.md", "json policy-1");
// A policy of the example's size with one row for all, whatever its epsilon.
const policy = (epsilon, note = "x") => decode(bytes(file.replace('"epsilon":"1"', `"epsilon":"${epsilon}"`)
  .replace('"title":', `"note":"${note}","title":`).replace(/"(lo|hi)":.*/g, '"$1":["5","5","6"],')
  .replace(/\{"full":.*\}/g, '{"full":[],"extra":[]}')));
const one = await decode(bytes(file)), data = bytes("home,2\n");
const ID = one.id, REPORT = `77706d31${ID}01000000`;

// Lines with good hashes, whatever they say.
function sealed(...bodies) {
  let chain = Buffer.alloc(32), all = "";
  for (const body of bodies) {
    chain = createHash("sha256").update(chain).update(body, "latin1").digest();
    all += `${body} ${chain.toString("hex")}\n`;
  }
  return all;
}

const opened = (s, options) => openLedger(memory(bytes(s)), {epoch: "e", ...options});

test("the examples of the specification", async () => {
  const before = block("ledger.md", "text ledger").trimEnd(), after = block("ledger.md", "text ledger-after");
  const books = await opened(before);
  assert.deepEqual([books.budget, books.spent, books.remaining], ["3/2", "5/4", "1/4"]);
  assert.equal((await opened(after)).spent, "3/2");
  assert.equal((await opened(after)).remaining, "0");
  // The next line completes the torn one as in the example.
  const store = memory(bytes(before)), quarter = await policy("0.25");
  await release(quarter, data, await openLedger(store, {epoch: "2026-08"}));
  assert.equal(text(store).split("\n")[3], after.split("\n")[3]);
  assert.match(text(store).split("\n")[4], new RegExp(`^debit 1/4 ${quarter.id} 2026-08 `));
  // The report that is there comes back, at no cost.
  const kept = memory(bytes(after));
  const again = await release(one, null, await openLedger(kept, {epoch: "2026-07"}));
  assert.equal(Buffer.from(again).toString("hex"), REPORT);
  assert.equal(text(kept), after);
});

test("texts that are refused, and texts that are not", async () => {
  const start = "wpm-ledger-1 9", debit = `debit 1 ${ID} e`, report = `report ${REPORT} e`;
  const other = `report 77706331${ID}00 e`;
  const good = {
    "": [], "an opening": [start], "a fraction": ["wpm-ledger-1 4/2"], decimals: ["wpm-ledger-1 0.50"],
    "a debit": [start, debit], "a report": [start, debit, report], "debits in a row": [start, debit, debit, report],
    "another kind": [start, debit, other], "torn before the opening": ["wpm-led~torn 0", start],
    "torn between": [start, "debit 1/2 ~torn 1/2", debit], "torn twice": [start, "x~torn 1~torn 2"],
    "torn bytes": [start, "\xff\x00~torn 0"], "no budget at all": ["wpm-ledger-1 0"], "above the budget": [start, ...Array(10).fill(debit)],
  };
  for (const [name, lines] of Object.entries(good)) {
    await opened(sealed(...lines), lines.length ? {} : {budget: "1"}).catch((e) => assert.fail(`${name}: ${e.stack}`));
  }
  const bad = {
    "no opening": [debit], "two openings": [start, start], "an opening with more": [start + " x"], "no budget": ["wpm-ledger-1"],
    "a number with a sign": ["wpm-ledger-1 -1"], "an exponent": ["wpm-ledger-1 1e3"], "a divisor of 0": ["wpm-ledger-1 1/0"],
    "half a fraction": ["wpm-ledger-1 1/"], "half a decimal": ["wpm-ledger-1 1."], "both": ["wpm-ledger-1 1.5/2"],
    "a long number": ["wpm-ledger-1 " + "1".repeat(257)],
    "a report without debit": [start, report], "a report twice": [start, debit, report, report],
    "a report after a torn line": [start, debit, "~torn 0", report], "another epoch": [start, debit, report.slice(0, -1) + "f"],
    "a report of another policy": [start, debit, report.replace(ID, ID.replace(/./g, "0"))],
    "capitals in a report": [start, debit, report.replace(ID, ID.toUpperCase())],
    "capitals in an ID": [start, debit.replace(ID, ID.toUpperCase())], "a short ID": [start, debit.replace(ID, ID.slice(1))],
    "an odd report": [start, debit, report.replace("01000000", "0100000")],
    "an index of 2^20": [start, debit, report.replace("01000000", "00001000")],
    "a report of 39 bytes": [start, debit, report.replace("01000000", "010000")],
    "a report of 36 bytes": [start, debit, `report 77706331${ID} e`],
    "a report of 257 bytes": [start, debit, `report 77706331${ID}${"00".repeat(221)} e`],
    "no epoch": [start, `debit 1 ${ID} `], "an epoch of 65": [start, `debit 1 ${ID} ${"e".repeat(65)}`], "an odd epoch": [start, `debit 1 ${ID} \xe4`],
    "a debit with more": [start, debit + " e"], "another word": [start, "credit 1"], "an empty line": [start, ""],
    "torn without a charge": [start, "x~torn "], "torn with another": [start, "x~torn 1 "], "torn below 0": [start, "x~torn -1"],
  };
  for (const [name, lines] of Object.entries(bad)) {
    const store = memory(bytes(sealed(...lines)));
    await assert.rejects(openLedger(store, {epoch: "e", budget: "9"}), (e) => e.code === "corrupt" || assert.fail(`${name}: ${e.stack}`), name);
    assert.equal(text(store), sealed(...lines), name);
    assert.equal(store.locked, false, name);
  }
  for (const rest of ["x", "wpm-ledger-2", "~", "\n", " ", "wpm-ledger-1\n", "{}"]) {
    await assert.rejects(opened(rest, {budget: "1"}), {code: "corrupt"}, rest);
  }
  for (const rest of ["w", "wpm-ledger-1", "wpm-ledger-1 9 0", "wpm-~torn 0 ab"]) {
    const store = memory(bytes(rest));
    await openLedger(store, {epoch: "e", budget: "1"});
    assert.ok(text(store).startsWith(rest + "~torn 0 "), rest);
    assert.equal((await openLedger(memory(store.text), {epoch: "e"})).budget, "1");
  }
});

test("a flip of any bit is refused, but in a line feed at the end", async () => {
  const whole = sealed("wpm-ledger-1 9", `debit 1 ${ID} e`, `report ${REPORT} e`);
  for (let i = 0; i < whole.length - 1; i++) {
    const store = memory(bytes(whole));
    store.text[i] ^= 1 << i % 8;
    await assert.rejects(openLedger(store, {epoch: "e"}), {code: "corrupt"}, `byte ${i}`);
  }
});

test("cut off at every byte, in a history and in its repair, it counts every debit that was stored", async () => {
  const store = memory(), synced = [[0, 0]];
  const append = store.append.bind(store);
  store.append = async (at, b) => {
    await append(at, b);
    if (text(store).split("\n").at(-2).startsWith("debit")) synced.push([store.text.length, synced.length]);
  };
  const books = await openLedger(store, {epoch: "e", budget: "99"});
  for (const note of ["a", "b", "c"]) await release(await policy("1", note), data, books);
  const whole = store.text, next = await policy("1", "d");
  for (let n = 0; n <= whole.length; n++) {
    const cut = memory(whole.slice(0, n));
    const again = await openLedger(cut, {epoch: "e", budget: "99"});
    const least = synced.findLast(([at]) => at <= n)[1];
    assert.ok(Number(again.spent) === least || Number(again.spent) === least + 1, `${n}: ${again.spent} of ${least}`);
    if (n % 23) continue;
    await release(next, data, again);
    const paid = Number(again.spent);
    assert.equal(Number((await openLedger(memory(cut.text), {epoch: "e"})).spent), paid);
    for (let m = n + 1; m < cut.text.length; m += 31) {
      const torn = await openLedger(memory(cut.text.slice(0, m)), {epoch: "e", budget: "99"});
      assert.ok(Number(torn.spent) >= least, `${n}, ${m}`);
    }
  }
});

test("a budget is exact, and no debit passes it", async () => {
  const store = memory(), books = await openLedger(store, {epoch: "e", budget: "1"});
  for (const note of ["a", "b", "c"]) await release(await policy("1/3", note), data, books);
  assert.deepEqual([books.spent, books.remaining], ["1", "0"]);
  const before = text(store);
  await assert.rejects(release(await policy("0.000000000000000001", "d"), data, books), {code: "budget"});
  assert.equal(text(store), before);
});

test("what a ledger is opened with", async () => {
  const store = memory(), open = (options) => openLedger(store, options);
  for (const epoch of [undefined, "", "a b", "ä", "e".repeat(65), "a\n", 7, null]) {
    await assert.rejects(open({epoch, budget: "1"}), {code: "epoch"}, String(epoch));
  }
  for (const budget of ["", "0", "0.0", "-1", "+1", "1e3", " 1", "1/0", ".5", "1".repeat(101), 1, null, undefined]) {
    await assert.rejects(open({epoch: "e", budget}), {code: "budget"}, String(budget));
  }
  for (const options of [undefined, null, {epoch: "e", budget: "1", maxepsilon: "1"}, {epoch: "e", budget: "1", wait: "1"},
    {epoch: "e", budget: "1", maxEpsilon: "0"}, {epoch: "e", budget: "1", wait: NaN}]) {
    await assert.rejects(open(options));
  }
  assert.deepEqual([store.text.length, store.locked], [0, false]);
  const books = await open({epoch: "e", budget: "1.50", maxEpsilon: "0.5"});
  assert.deepEqual([books.epoch, books.budget], ["e", "3/2"]);
  assert.ok(text(store).startsWith("wpm-ledger-1 3/2 "));
  await assert.rejects(release(one, data, books), {code: "budget"});
  await books.close();
  await books.close();
  await assert.rejects(release(one, data, books), {code: "closed"});
  await assert.rejects(open({epoch: "e", budget: "2"}), {code: "budget"});
  await (await open({epoch: "e", budget: "3/2"})).close();
  assert.equal((await open({epoch: "e"})).budget, "3/2");
});

test("a store that fails: nothing is drawn, nothing more is paid, and what was paid for is repeated", async (t) => {
  const draws = t.mock.method(globalThis.crypto, "getRandomValues", globalThis.crypto.getRandomValues.bind(globalThis.crypto));
  for (const [failing, drawn] of [["debit", 0], ["report", 1]]) {
    for (const keep of [0, 1, 9, 60, Infinity]) { // all of it, and an error
      const store = memory(), append = store.append.bind(store);
      const books = await openLedger(store, {epoch: "e", budget: "9"});
      const first = await release(one, data, books), more = await policy("0.5");
      store.append = async (at, b) => {
        if (!text({text: b}).startsWith(failing)) return append(at, b);
        await append(at, b.slice(0, keep));
        throw new Error("full");
      };
      draws.mock.resetCalls();
      await assert.rejects(release(more, data, books), (e) => e.code === "store" && e.cause.message === "full");
      assert.equal(draws.mock.callCount(), drawn);
      assert.equal(books.spent, "3/2");
      const now = text(store);
      await assert.rejects(release(await policy("0.5", "next"), data, books), {code: "store"});
      assert.deepEqual(await release(one, data, books), first);
      assert.equal(text(store), now);
      await books.close();
      store.append = append;
      const again = await openLedger(store, {epoch: "e"});
      const known = failing === "report" || keep >= 10 ? "3/2" : "1"; // "debit 1/2 " has 10 bytes
      assert.equal(again.spent, known, `${failing} ${keep}`);
      await release(more, data, again);
      const repeats = failing === "report" && keep === Infinity;
      assert.equal(again.spent, known === "1" || repeats ? "3/2" : "2");
    }
  }
});

test("many releases at once: one debit for each policy and epoch, each with its report", async () => {
  const store = memory(), books = await openLedger(store, {epoch: "e", budget: "9"});
  const policies = await Promise.all(["a", "b", "c"].map((note) => policy("1", note)));
  const reports = await Promise.all(Array.from({length: 60}, (_, n) => release(policies[n % 3], data, books)));
  reports.forEach((r, n) => assert.deepEqual(r, reports[n % 3]));
  reports[0].fill(0); // what a caller does to its report is nothing to the ledger
  assert.equal(Buffer.from(await release(policies[0], data, books)).toString("hex").slice(8, 72), policies[0].id);
  assert.equal(books.spent, "3");
  assert.deepEqual(text(store).split("\n").map((s) => s.split(" ")[0]), ["wpm-ledger-1", ...Array(3).fill(["debit", "report"]).flat(), ""]);
  const last = release(await policy("1", "d"), data, books);
  await books.close(); // after it
  assert.equal((await last).length, 40);
  assert.equal((await openLedger(store, {epoch: "f"})).spent, "4");
});

test("a locked store: at once, or after a wait", async () => {
  const store = memory(), books = await openLedger(store, {epoch: "e", budget: "1"});
  await assert.rejects(openLedger(store, {epoch: "e"}), (e) => e instanceof LedgerError && e.code === "locked");
  await assert.rejects(openLedger(store, {epoch: "e", wait: 30}), {code: "locked"});
  setTimeout(() => books.close(), 50);
  await (await openLedger(store, {epoch: "e", wait: 60000})).close();
  const broken = {...memory(), lock: async () => { throw new Error("broken"); }};
  await assert.rejects(openLedger(broken, {epoch: "e", wait: 60000}), /broken/);
});

test("a text that someone else has written to is not paid from", async () => {
  for (const spoil of [(b) => Uint8Array.of(...b, 120), (b) => b.slice(0, -1), () => new Uint8Array()]) {
    const store = memory(), books = await openLedger(store, {epoch: "e", budget: "9"});
    const spoilt = store.text = spoil(store.text);
    await assert.rejects(release(one, data, books), {code: "store"});
    assert.equal(store.text, spoilt);
  }
});

test("a draw that gives no report of its policy: the debit stands, and nothing is returned", async () => {
  for (const report of ["", REPORT.slice(2), REPORT.replace(ID, ID.replace(/./, "f")), REPORT.replace(/..$/, "01"), REPORT + "00"]) {
    const store = memory(), books = await openLedger(store, {epoch: "e", budget: "9"});
    await assert.rejects(account(books, one, () => Uint8Array.from(Buffer.from(report, "hex"))), Refused);
    assert.equal(text(store).split("\n").length, 3);
    await release(one, data, books);
    assert.equal(books.spent, "2");
  }
});

test("a line or a rest of 32 MiB is refused, or charged", async () => {
  const long = Buffer.alloc(2 ** 25, " "), start = sealed("wpm-ledger-1 9");
  await assert.rejects(openLedger(memory(Buffer.concat([long, bytes("\n")])), {epoch: "e"}), {code: "corrupt"});
  await assert.rejects(openLedger(memory(Buffer.alloc(2 ** 25, "\n")), {epoch: "e"}), {code: "corrupt"});
  const books = await openLedger(memory(Buffer.concat([bytes(start + "debit 1/2"), long])), {epoch: "e"});
  assert.equal(books.spent, "1/2");
});

test("numbers whose parts grow with every line", async () => {
  const primes = Array.from({length: 25}, (_, n) => `debit 1/${10n ** 150n + 2n * BigInt(n) + 1n} ${ID} e`);
  const books = await opened(sealed("wpm-ledger-1 9", ...primes));
  const exact = primes.reduce(([n, d], s) => { const b = BigInt(s.split(" ")[1].slice(2)); return [n * b + d, d * b]; }, [0n, 1n]);
  const [n, d] = books.spent.split("/").map(BigInt);
  assert.equal(n * exact[1], d * exact[0]);
});

test("Refused is not a LedgerError", () => assert.ok(!(new Refused("x") instanceof LedgerError)));
