// Runs the ledger of a browser in workers, and posts what happened. See conform/browser_test.go.
import {openLedger} from "/src/index.js";
import {opfsStore} from "/src/opfs.js";

const start = () => new Worker("worker.js", {type: "module"});
const ask = (worker, question) => new Promise((done, fail) => {
  worker.onmessage = (e) => done(e.data);
  worker.onerror = (e) => fail(new Error(e.message));
  worker.postMessage(question);
});

async function first() {
  const said = {};
  said.page = await openLedger(opfsStore("ledger"), {epoch: "e", budget: "9"}).then(() => "open", (e) => e.code);
  const one = start(), two = start();
  said.released = await ask(one, {epoch: "e", budget: "9"});
  said.held = await ask(two, {epoch: "e"});
  one.terminate();
  said.repeated = await ask(two, {epoch: "e", wait: 20000, close: true});
  const three = start();
  said.dying = await ask(three, {epoch: "f", wait: 20000, die: true});
  three.terminate();
  said.afterDeath = await ask(two, {epoch: "f", wait: 20000, close: true});
  said.torn = await ask(two, {epoch: "g", wait: 20000, tear: "debit 1/2 ab", close: true});
  said.text = await ask(two, {text: true});
  return said;
}

const again = async () => ({repeated: await ask(start(), {epoch: "e", wait: 20000, close: true})});

const said = await (location.hash === "#again" ? again() : first()).catch((e) => ({error: `${e?.stack ?? e}`}));
await fetch("/result", {method: "POST", body: JSON.stringify(said)});
