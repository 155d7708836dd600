// The store of a ledger in IndexedDB, for pages and workers. A Web Lock keeps others out, and a transaction with strict
// durability holds each append: it compares the length and adds the bytes, or nothing happens.
// @ts-check
import {LedgerError} from "./ledger.js";

const TABLE = "text"; // its keys are the places of the bytes that they hold
const PREFIX = "wpm-ledger:";

/**
 * What a request or a transaction comes to.
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
const answer = (request) => new Promise((done, fail) => {
  request.onsuccess = () => done(request.result);
  request.onerror = () => fail(request.error);
});

/** A ledger in a database of the origin. */
class IndexedDBStore {
  #name;
  /** @type {IDBDatabase | null} */
  #open = null;
  /** @type {(() => void) | null} gives the lock up */
  #free = null;

  /** @param {string} name */
  constructor(name) { this.#name = PREFIX + name; }

  async lock() {
    if (!globalThis.indexedDB || !globalThis.navigator?.locks) {
      throw new LedgerError("store", "a store needs IndexedDB and Web Locks, which a secure page has");
    }
    await new Promise((done, fail) => {
      navigator.locks.request(this.#name, {ifAvailable: true}, (held) => {
        if (!held) throw new LedgerError("locked", `${this.#name} is open in another page or worker`);
        return new Promise((free) => {
          this.#free = () => free(undefined);
          done(undefined);
        });
      }).catch(fail);
    });
    try {
      const request = indexedDB.open(this.#name);
      request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
      this.#open = await answer(request);
    } catch (e) {
      await this.unlock();
      throw e;
    }
  }

  /** @param {IDBTransactionMode} mode */
  #begin(mode) {
    if (!this.#open) throw new LedgerError("store", "not locked");
    const begun = this.#open.transaction(TABLE, mode, {durability: "strict"});
    if (begun.durability !== "strict") {
      begun.abort();
      throw new LedgerError("store", "this browser does not say when a write is durable");
    }
    return begun;
  }

  async load() {
    const table = this.#begin("readonly").objectStore(TABLE);
    const [keys, parts] = await Promise.all([answer(table.getAllKeys()), answer(table.getAll())]);
    const bytes = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    parts.forEach((part, n) => {
      if (keys[n] !== at) throw new LedgerError("corrupt", `${this.#name} lacks bytes at ${at}`);
      bytes.set(part, at);
      at += part.length;
    });
    return bytes;
  }

  /**
   * @param {number} at
   * @param {Uint8Array} bytes
   */
  async append(at, bytes) {
    if (bytes.length === 0) return;
    const begun = this.#begin("readwrite"), table = begun.objectStore(TABLE);
    await new Promise((done, fail) => {
      /** @type {unknown} */
      let fault = null;
      begun.oncomplete = () => done(undefined);
      begun.onabort = () => fail(fault ?? begun.error ?? new LedgerError("store", "the transaction was aborted"));
      const last = table.openCursor(null, "prev");
      last.onsuccess = () => {
        const cursor = last.result, size = cursor ? /** @type {number} */ (cursor.key) + cursor.value.length : 0;
        try {
          if (size !== at) {
            throw new LedgerError("store", `${this.#name} has ${size} bytes, not ${at}, by another hand`);
          }
          table.add(bytes.slice(), at);
        } catch (e) {
          fault = e;
          begun.abort();
        }
      };
    });
  }

  async unlock() {
    this.#open?.close();
    this.#open = null;
    this.#free?.();
    this.#free = null;
  }
}

/** @type {(name: string) => import("./ledger.js").Store} A store in the origin's database of this name. */
export const indexedDBStore = (name) => new IndexedDBStore(name);
