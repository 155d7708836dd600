// A program that releases once from a ledger in a file: node release.js LEDGER EPOCH WAIT [HOW]. It prints the report. HOW
// is die: ends by a kill between the debit and the draw; hold: keeps the ledger open until standard input ends; listen:
// the same, and prints the signals that it gets; interrupt: gets a signal while it writes; exit, throw, forget: ends so
// without closing the ledger.
import {promises as fs, readFileSync} from "node:fs";
import {decode, openLedger, release} from "@wpm-go/wpm";
import {fileStore} from "@wpm-go/wpm/file";

const [path, epoch, wait, how] = process.argv.slice(2);
const spec = readFileSync(new URL("../../../docs/spec/policy.md", import.meta.url), "utf8");
const [, text] = /```json policy-1\n([^]*?)```/.exec(spec);
const policy = await decode(new TextEncoder().encode(text));
const ledger = await openLedger(fileStore(path), {epoch, budget: "100", wait: Number(wait)});
if (how === "die") globalThis.crypto.getRandomValues = () => process.kill(process.pid, "SIGKILL");
const report = await release(policy, new TextEncoder().encode("home,1\n"), ledger);
process.stdout.write(Buffer.from(report).toString("hex") + "\n");
let signals = 0;
if (how === "listen") process.on("SIGTERM", (signal) => console.log(`${signal} ${++signals}`));
if (how === "hold" || how === "listen") for await (const _ of process.stdin);
if (how === "interrupt") {
  const file = await fs.open(path);
  const {prototype} = file.constructor, sync = prototype.sync;
  await file.close();
  prototype.sync = function () {
    process.kill(process.pid, "SIGINT");
    return new Promise(() => { setInterval(() => sync, 1000); });
  };
  await release(await decode(new TextEncoder().encode(text.replace('"title":', '"note":"x","title":'))), new Uint8Array(), ledger);
}
if (how === "exit") process.exit(3);
if (how === "throw") throw new Error("an error that nobody catches");
if (how !== "forget") await ledger.close();
