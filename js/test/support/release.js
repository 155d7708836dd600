// A program that releases once from a ledger in a file: node release.js LEDGER EPOCH WAIT [die | hold]. It prints the
// report; die ends it by a kill between the debit and the draw, and hold keeps the ledger open until standard input ends.
import {readFileSync} from "node:fs";
import {decode, openLedger, release} from "@wpm-go/wpm";
import {fileStore} from "@wpm-go/wpm/file";

const [path, epoch, wait, how] = process.argv.slice(2);
const spec = readFileSync(new URL("../../../docs/spec/policy.md", import.meta.url), "utf8");
const policy = await decode(new TextEncoder().encode(/```json policy-1\n([^]*?)```/.exec(spec)[1]));
const ledger = await openLedger(fileStore(path), {epoch, budget: "100", wait: Number(wait)});
if (how === "die") globalThis.crypto.getRandomValues = () => process.kill(process.pid, "SIGKILL");
const report = await release(policy, new TextEncoder().encode("home,1\n"), ledger);
process.stdout.write(Buffer.from(report).toString("hex") + "\n");
if (how === "hold") for await (const _ of process.stdin);
await ledger.close();
