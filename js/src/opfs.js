// The store of a ledger in a browser, for a worker: a file of the origin's private file system. While it is open no
// other page or worker can open it; the browser frees it when the worker ends.
// @ts-check
import {LedgerError} from "./ledger.js";

/**
 * What a worker has of a file, and a page has not.
 * @typedef {object} Access
 * @property {() => number} getSize
 * @property {(into: Uint8Array, options: {at: number}) => number} read
 * @property {(from: Uint8Array, options: {at: number}) => number} write
 * @property {() => void} flush
 * @property {() => void} close
 */

/** A ledger in the private file system of the origin. */
class OPFSStore {
  #name;
  /** @type {Access | null} */
  #open = null;

  /** @param {string} name */
  constructor(name) { this.#name = name; }

  async lock() {
    const folder = await navigator.storage.getDirectory();
    const file = /** @type {any} */ (await folder.getFileHandle(this.#name, {create: true}));
    if (!file.createSyncAccessHandle) throw new LedgerError("store", "only a worker can open this store");
    try {
      this.#open = await file.createSyncAccessHandle();
    } catch (e) {
      if (/** @type {any} */ (e)?.name !== "NoModificationAllowedError") throw e;
      throw new LedgerError("locked", `${this.#name} is open in another page or worker`, {cause: e});
    }
  }

  #access() {
    if (!this.#open) throw new LedgerError("store", "not locked");
    return this.#open;
  }

  async load() {
    const file = this.#access(), bytes = new Uint8Array(file.getSize());
    for (let at = 0; at < bytes.length;) at += some(file.read(bytes.subarray(at), {at}));
    return bytes;
  }

  /**
   * @param {number} at
   * @param {Uint8Array} bytes
   */
  async append(at, bytes) {
    const file = this.#access();
    const size = file.getSize();
    if (size !== at) throw new LedgerError("store", `${this.#name} has ${size} bytes, not ${at}, by another hand`);
    for (let n = 0; n < bytes.length;) n += some(file.write(bytes.subarray(n), {at: at + n}));
    file.flush();
  }

  async unlock() {
    this.#open?.close();
    this.#open = null;
  }
}

/** @param {number} n how many bytes were moved */
function some(n) {
  if (!(n > 0)) throw new LedgerError("store", "no byte could be read or written");
  return n;
}

/** @type {(name: string) => import("./ledger.js").Store} A store in the origin's file of this name. */
export const opfsStore = (name) => new OPFSStore(name);
