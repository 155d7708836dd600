// A ledger for tests, in JSON lines on standard input: {"text": HEX, "budget": TEXT} says what a text says, and
// {"path", "epoch", "policy", "private": HEX} releases from a ledger in a file. See conform/ledger_test.go.
import {createInterface} from "node:readline";
import {decode, openLedger, release} from "../src/index.js";
import {fileStore} from "../src/file.js";
import {memory} from "../test/support/memory.js";

const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));

async function read({text, budget}) {
  const store = memory(bytes(text));
  const {spent, remaining, budget: is} = await openLedger(store, {epoch: "e", budget});
  return {spent, remaining, budget: is, text: Buffer.from(store.text).toString("hex")};
}

async function pay({path, epoch, policy, private: data}) {
  const p = await decode(new TextEncoder().encode(policy)), ledger = await openLedger(fileStore(path), {epoch, budget: "100"});
  try {
    const report = await release(p, bytes(data), ledger);
    return {report: report && Buffer.from(report).toString("hex"), spent: ledger.spent};
  } finally {
    await ledger.close();
  }
}

for await (const line of createInterface({input: process.stdin, crlfDelay: Infinity})) {
  const o = JSON.parse(line);
  const answer = await (o.path === undefined ? read(o) : pay(o)).catch((e) => ({error: e.code ?? String(e)}));
  process.stdout.write(JSON.stringify(answer) + "\n");
}
