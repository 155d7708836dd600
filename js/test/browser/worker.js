import {decode, openLedger, release} from "/src/index.js";
import {indexedDBStore} from "/src/indexeddb.js";
import {opfsStore} from "/src/opfs.js";

const open = {"#opfs": opfsStore, "#indexeddb": indexedDBStore}[location.hash];
let drew = false; // random bytes were read
const {getRandomValues} = crypto;

const policy = fetch("/policy").then((r) => r.bytes?.() ?? r.arrayBuffer().then((b) => new Uint8Array(b))).then(decode);
const hex = (b) => Array.from(b, (v) => v.toString(16).padStart(2, "0")).join("");

async function answer({epoch, budget, wait, tear, text, die, close}) {
  const store = open("ledger");
  if (text || tear) {
    await store.lock();
    const before = await store.load();
    if (tear) {
      const bytes = new TextEncoder().encode(tear);
      for (const at of [before.length - 1, before.length + 1]) { // someone else has written, or taken away
        const e = await store.append(at, bytes).then(() => null, (e) => e);
        if (e?.code !== "store") throw new Error(`appended at ${at} of ${before.length}`);
      }
      await store.append(before.length, bytes);
    }
    const all = await store.load();
    await store.unlock();
    if (text) return hex(all);
  }
  const ledger = await openLedger(store, {epoch, budget, wait});
  crypto.getRandomValues = (into) => {
    drew = true;
    return getRandomValues.call(crypto, into);
  };
  if (die) {
    crypto.getRandomValues = () => { // the page ends this worker in the middle of its release
      postMessage({spent: ledger.spent});
      for (;;);
    };
  }
  let report;
  try {
    report = await release(await policy, new TextEncoder().encode("home,1\n"), ledger);
  } finally {
    if (close) await ledger.close();
  }
  return {report: hex(report), spent: ledger.spent};
}

onmessage = ({data}) => answer(data).then(postMessage, (e) => postMessage({
  error: e.code ?? `${e?.stack ?? e}`, cause: `${e?.cause?.name}`, drew,
}));
