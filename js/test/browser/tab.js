// One of two tabs that share a ledger in IndexedDB. See conform/tabs_test.go, which calls these functions.
import {decode, openLedger, release} from "/src/index.js";
import {indexedDBStore} from "/src/indexeddb.js";

const policy = await decode(new Uint8Array(await (await fetch("/policy")).arrayBuffer()));
const counts = new TextEncoder().encode("home,1\n");
const hex = (b) => Array.from(b, (v) => v.toString(16).padStart(2, "0")).join("");
const post = (path, body) => fetch(path, {method: "POST", body});

/** Opens the ledger, releases in an epoch, and closes it: the report, or the code of the error. */
async function once(epoch, wait = 60000) {
  let ledger;
  try {
    ledger = await openLedger(indexedDBStore("shared"), {epoch, budget: "20", wait});
    return hex(await release(policy, counts, ledger));
  } catch (e) {
    return e.code ?? `${e?.stack ?? e}`;
  } finally {
    await ledger?.close();
  }
}

/** Releases in many epochs, and delivers each report. How often came what. */
async function spend(name, times) {
  const came = {};
  for (let n = 0; n < times; n++) {
    const said = await once(`${name}${n}`), word = said.length === 80 ? "report" : said;
    if (word === "report") await post("/delivered", said);
    came[word] = (came[word] ?? 0) + 1;
  }
  return came;
}

/** Begins a release that never comes back from its draw. It says so when it is there. */
async function hang(epoch) {
  crypto.getRandomValues = () => {
    const said = new XMLHttpRequest(); // on this thread, which draws
    said.open("POST", "/drawing", false);
    said.send(epoch);
    for (;;);
  };
  return once(epoch);
}

/** What is in the database, in a minute or so: a tab that has it may just be ending, on a busy machine. */
async function text() {
  const store = indexedDBStore("shared");
  for (let n = 0;; n++) {
    try {
      await store.lock();
      break;
    } catch (e) {
      if (e.code !== "locked" || n === 3000) throw e;
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  try {
    return hex(await store.load());
  } finally {
    await store.unlock();
  }
}

let held;

/** Opens the ledger, and keeps it open. */
async function hold() {
  held = await openLedger(indexedDBStore("shared"), {epoch: "held", wait: 60000});
  return "open";
}

const letGo = () => held.close().then(() => "closed");

globalThis.tab = {once, spend, hang, text, hold, letGo};
