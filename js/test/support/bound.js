// A program that does one thing within little memory, and prints what came of it: node bound.js policy | private. The
// bytes come on standard input. Of private, a release under a ledger in memory is made, after one from 16 bytes.
import {readFileSync} from "node:fs";
import {decode, openLedger, release} from "@wpm-go/wpm";
import {drawWith} from "../../src/draw.js";
import {memory} from "./memory.js";

const [what] = process.argv.slice(2);
const encode = (s) => new TextEncoder().encode(s);
const peak = () => Number(/VmHWM:\s+([0-9]+) kB/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? 0) / 1024;
const input = readFileSync(0);
const said = {};
if (what === "policy") {
  const p = await decode(input).catch((e) => e);
  if (p instanceof Error) {
    Object.assign(said, {error: p.name, what: p.message.slice(0, 100)});
  } else {
    const {usable, report} = drawWith(p, encode(`${p.inputLabels?.[0] ?? 0},1`), new Uint8Array(16));
    Object.assign(said, {usable, bytes: report.length});
  }
} else {
  const spec = readFileSync(new URL("../../../docs/spec/policy.md", import.meta.url), "utf8");
  const p = await decode(encode(/```json policy-1\n([^]*?)```/.exec(spec)[1]));
  const ledger = async (epoch) => openLedger(memory(), {epoch, budget: "1"});
  await release(p, encode("home,1\nwork,001\n"), await ledger("e"));
  const before = peak();
  said.bytes = (await release(p, input, await ledger("e"))).length;
  said.usable = drawWith(p, input, new Uint8Array(9)).usable;
  said.more = peak() - before;
}
console.log(JSON.stringify({...said, peak: peak()}));
