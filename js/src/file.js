// The store of a ledger in a file, for node. Its lock is the one of docs/spec/ledger.md, which Go's store honours.
// @ts-check
import {constants, promises as fs} from "node:fs";
import {dirname, resolve} from "node:path";
import {LedgerError} from "./ledger.js";

/** @typedef {import("node:fs/promises").FileHandle} FileHandle */

const FLAGS = constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);

/** @type {(e: unknown, ...codes: string[]) => boolean} */
const is = (e, ...codes) => codes.includes(/** @type {{code?: string}} */ (e)?.code ?? "");

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
  #held = false;
  #size = 0;
  /** @type {FileHandle | null} */
  #file = null;

  /** @param {string} path */
  constructor(path) { this.#path = resolve(path); }

  async lock() {
    const real = await target(this.#path);
    try {
      await fs.mkdir(real + ".lock", {mode: 0o700}); // not there before, or an error
    } catch (e) {
      if (!is(e, "EEXIST")) throw failed(`no lock: ${e}`, e);
      throw new LedgerError("locked", `${real}.lock is there; remove it if no program has the ledger open`);
    }
    this.#real = real;
    this.#held = true;
    try {
      this.#file = await ifAny(fs.open(real, FLAGS));
      if (this.#file) await syncFolder(real);
      this.#size = this.#file ? (await this.#file.stat()).size : 0;
      await this.#alone();
    } catch (e) {
      await this.unlock().catch(() => {});
      throw e instanceof LedgerError ? e : failed(`${e}`, e);
    }
  }

  /** Other programs lock a ledger by its name, or see that it has grown. */
  async #alone() {
    const {size, nlink} = this.#file ? await this.#file.stat() : {size: 0, nlink: 1};
    if (nlink !== 1) throw failed(`${this.#real} has ${nlink} names, and a lock is for one`);
    if (size !== this.#size) throw failed(`${this.#real} has changed; open it again`);
  }

  async load() {
    if (!this.#held) throw failed("not locked");
    const bytes = new Uint8Array(this.#size);
    for (let at = 0; at < bytes.length;) {
      const found = await this.#file?.read(bytes, at, bytes.length - at, at);
      if (!found?.bytesRead) throw failed(`${this.#real} has changed; open it again`);
      at += found.bytesRead;
    }
    return bytes;
  }

  /** @param {Uint8Array} bytes */
  async append(bytes) {
    if (!this.#held) throw failed("not locked");
    const fresh = !this.#file;
    this.#file ??= await fs.open(this.#real, FLAGS | constants.O_CREAT | constants.O_EXCL, 0o600);
    await this.#alone();
    await this.#file.appendFile(bytes);
    await this.#file.sync();
    if (fresh) await syncFolder(this.#real);
    this.#size += bytes.length;
  }

  async unlock() {
    if (!this.#held) return;
    this.#held = false;
    const file = this.#file;
    this.#file = null;
    try {
      await file?.close();
    } finally {
      await fs.rmdir(this.#real + ".lock");
    }
  }
}

/** @type {(path: string) => import("./ledger.js").Store} A store in a file, which is made with the first line. */
export const fileStore = (path) => new FileStore(path);
