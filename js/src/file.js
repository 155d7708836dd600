// The store of a ledger in a file, for node. Its lock is the one of docs/spec/ledger.md, as Go's store has it.
// @ts-check
import {constants, promises as fs} from "node:fs";
import {dirname, resolve} from "node:path";
import {LedgerError} from "./ledger.js";
import {is, lock} from "./lock.js";

/** @typedef {import("node:fs/promises").FileHandle} FileHandle */

const FLAGS = constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);

/** @type {(what: string, cause?: unknown) => LedgerError} */
const failed = (what, cause) => new LedgerError("store", what, {cause});

/** @type {<T>(found: Promise<T>) => Promise<T | null>} What there is, or null. */
const ifAny = (found) => found.catch((e) => { if (is(e, "ENOENT")) return null; throw e; });

/**
 * Follows a link; what is there must be a file.
 * @param {string} path
 */
async function target(path) {
  if ((await ifAny(fs.lstat(path)))?.isSymbolicLink()) path = await fs.realpath(path);
  const there = await ifAny(fs.stat(path));
  if (there && !there.isFile()) throw failed(`${path} is not a regular file`);
  return path;
}

/** @param {string} path The name of a file in its folder must survive as the file does. */
async function syncFolder(path) {
  if (process.platform === "win32") return; // where folders cannot be synced
  const folder = await fs.open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** A ledger in a file. */
class FileStore {
  /** @type {string} */
  #path;
  #real = "";
  /** @type {import("./lock.js").Lock | null} */
  #lock = null;
  /** @type {FileHandle | null} */
  #file = null;

  /** @param {string} path */
  constructor(path) { this.#path = resolve(path); }

  async lock() {
    const real = await target(this.#path);
    try {
      this.#lock = lock(real + ".lock");
    } catch (e) {
      throw e instanceof LedgerError ? e : failed(`no lock: ${e}`, e);
    }
    this.#real = real;
    try {
      this.#file = await ifAny(fs.open(real, FLAGS));
      if (this.#file) await syncFolder(real);
      await this.#size();
    } catch (e) {
      await this.unlock().catch(() => {});
      throw e instanceof LedgerError ? e : failed(`${e}`, e);
    }
  }

  /** The length of the file, which has one name: other programs lock a ledger by its name. */
  async #size() {
    const {size, nlink} = this.#file ? await this.#file.stat() : {size: 0, nlink: 1};
    if (nlink !== 1) throw failed(`${this.#real} has ${nlink} names, and a lock is for one`);
    return size;
  }

  async load() {
    if (!this.#lock) throw failed("not locked");
    const bytes = new Uint8Array(await this.#size());
    for (let at = 0; at < bytes.length;) {
      const found = await this.#file?.read(bytes, at, bytes.length - at, at);
      if (!found?.bytesRead) throw failed(`${this.#real} has changed; open it again`);
      at += found.bytesRead;
    }
    return bytes;
  }

  /**
   * @param {number} at
   * @param {Uint8Array} bytes
   */
  async append(at, bytes) {
    const lock = this.#lock;
    if (!lock) throw failed("not locked");
    lock.writing = true; // whatever ends the program, the lock stays as long as bytes may arrive
    try {
      const fresh = !this.#file;
      this.#file ??= await fs.open(this.#real, FLAGS | constants.O_CREAT | constants.O_EXCL, 0o600);
      const size = await this.#size();
      if (size !== at) throw failed(`${this.#real} has ${size} bytes, not ${at}, by another hand; open it again`);
      await this.#file.appendFile(bytes);
      await this.#file.sync();
      if (fresh) await syncFolder(this.#real);
    } finally {
      lock.writing = false;
    }
  }

  async unlock() {
    const lock = this.#lock, file = this.#file;
    this.#lock = this.#file = null;
    try {
      await file?.close();
    } finally {
      lock?.release();
    }
  }
}

/** @type {(path: string) => import("./ledger.js").Store} A store in a file, which is made with the first line. */
export const fileStore = (path) => new FileStore(path);
