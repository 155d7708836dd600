// A program that takes the lock of a ledger as often as it is told: for each line of its input, a path, it says "won" or
// why not, and the next empty line makes it give up what it has. With arguments PATH STEP it locks and unlocks once, and
// is killed before its call number STEP of the file system that changes something; it prints the calls if there are
// fewer.
import fs from "node:fs";
import {syncBuiltinESMExports} from "node:module";
import {createInterface} from "node:readline";

const [path, step] = process.argv.slice(2);
const calls = [];
if (path) {
  for (const name of ["mkdtempSync", "mkdirSync", "renameSync", "rmdirSync", "unlinkSync"]) {
    const call = fs[name];
    fs[name] = (...args) => {
      if (calls.length === Number(step)) process.kill(process.pid, "SIGKILL");
      calls.push(name);
      return call(...args);
    };
  }
  syncBuiltinESMExports();
}
const {fileStore} = await import("@wpm-go/wpm/file");

if (path) {
  const store = fileStore(path);
  await store.lock();
  await store.unlock();
  console.log(calls.join());
} else {
  let store = null;
  for await (const line of createInterface({input: process.stdin})) {
    if (line === "") {
      await store?.unlock();
      store = null;
      console.log("free");
    } else {
      const wanted = fileStore(line);
      const answer = await wanted.lock().then(() => "won", (e) => e.code ?? String(e));
      if (answer === "won") store = wanted;
      console.log(answer);
    }
  }
}
