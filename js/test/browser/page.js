// Runs the ledger of a browser in workers, and posts what happened. See conform/browser_test.go.
import {openLedger} from "/src/index.js";
import {indexedDBStore} from "/src/indexeddb.js";
import {opfsStore} from "/src/opfs.js";

const [kind, part] = location.hash.slice(1).split("-");
const store = {opfs: opfsStore, indexeddb: indexedDBStore}[kind];

const start = () => new Worker(`worker.js#${kind}`, {type: "module"});
const ask = (worker, question) => new Promise((done, fail) => {
  worker.onmessage = (e) => done(e.data);
  worker.onerror = (e) => fail(new Error(e.message));
  worker.postMessage(question);
});

/** What happens to a ledger on the page's own thread, which gives it up again. */
const here = (options) => openLedger(store("ledger"), options).then((l) => l.close().then(() => "open"), (e) => e.code);

async function first() {
  const said = {};
  said.page = await here({epoch: "e", budget: "9"});
  const one = start(), two = start();
  said.released = await ask(one, {epoch: "e", budget: "9"});
  said.held = await ask(two, {epoch: "e"});
  said.pageHeld = await here({epoch: "e"});
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

/** A release where the origin may store nothing more, and one after that. */
async function full() {
  const worker = start();
  await fetch("/quota?size=1");
  const refused = await ask(worker, {epoch: "full", wait: 20000, close: true});
  await fetch("/quota");
  return {refused, released: await ask(start(), {epoch: "full", wait: 20000, close: true})};
}

const run = part ? {again, full}[part] : first;
const said = await run().catch((e) => ({error: `${e?.stack ?? e}`}));
await fetch("/result", {method: "POST", body: JSON.stringify(said)});
