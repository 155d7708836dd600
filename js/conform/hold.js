// A program for comparisons with the library in Java, whose Hold does the same: node hold.js LEDGER POLICY EPOCH releases
// the bytes of its input, and prints the report.
import {readFileSync} from "node:fs";
import {decode, openLedger, release} from "@wpm-go/wpm";
import {fileStore} from "@wpm-go/wpm/file";

const [path, policy, epoch] = process.argv.slice(2);
const ledger = await openLedger(fileStore(path), {epoch, budget: "100"});
const report = await release(await decode(readFileSync(policy)), readFileSync(0), ledger);
await ledger.close();
console.log(report === null ? "silent" : Buffer.from(report).toString("hex"));
