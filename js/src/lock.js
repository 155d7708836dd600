// The lock of a ledger in a file, for a program without kernel locks: docs/spec/ledger.md. It is a folder with one
// entry, whose name says who has it. Every step is one call without a wait, so nothing of this program comes between.
// @ts-check
import {closeSync, constants, lstatSync, mkdirSync, mkdtempSync, openSync, readFileSync, readSync, readdirSync,
  readlinkSync, renameSync, rmdirSync, unlinkSync} from "node:fs";
import {basename, join} from "node:path";
import {hex, latin, unhex} from "./bytes.js";
import {LedgerError} from "./ledger.js";

/**
 * What is at the name of a lock.
 * @typedef {object} Found
 * @property {string} kind "absent", "file" (a regular one), "folder", or "other"
 * @property {string} [bytes] of a file, in hexadecimal
 * @property {string[]} [entries] of a folder: their names
 */

/**
 * @typedef {object} Question
 * @property {string} name of the ledger's file
 * @property {Found} found
 * @property {boolean} kernel_locked whether the kernel says that someone has the file
 * @property {boolean} kernel_locks whether this program has kernel locks
 * @property {string} boot of this program
 * @property {string} namespace of this program
 * @property {Record<string, string>} processes when they were started, or "unknown"; one that is gone is not named
 */

const UNKNOWN = "-";
const MAGIC = "wpm-lock-1";
const MOST = 256;
const WORDS = [/^[0-9a-f-]{1,36}$/, ...Array(3).fill(/^(?:-|[0-9]{1,20})$/)];

/** @type {(name: string) => string[] | null} Boot, namespace, process and its start, from the name of an entry. */
function owner(name) {
  const words = name.split("_", 5);
  return words.length === 4 && words.every((word, i) => WORDS[i].test(word)) ? words : null;
}

/** @type {(text: string) => boolean} Whether a file with this text can be a lock: a line of one, or its beginning. */
function begins(text) {
  const whole = text.endsWith("\n");
  const [magic, ...words] = (whole ? text.slice(0, -1) : text).split(" ", 7);
  if (text.length > MOST || words.length > 4 || whole && words.length < 4) return false;
  if (words.length === 0) return MAGIC.startsWith(magic);
  return magic === MAGIC && words.every((word, i) =>
    WORDS[i].test(word) || word === "" && i === words.length - 1 && !whole);
}

/**
 * Whether a program may lock a ledger: "free", "take-over" (who had it has ended), "locked" (someone has it, or may
 * have it), or "refused" (what is there is no lock, or the ledger has the name of one).
 * @param {Question} question
 */
export function verdict({name, found, kernel_locked, kernel_locks, boot, namespace, processes}) {
  if (/\.lock$/i.test(name)) return "refused";
  switch (found.kind) {
    case "absent":
      return "free";
    case "file":
      if (!begins(latin(unhex(found.bytes ?? "")))) return "refused";
      return kernel_locks && !kernel_locked ? "take-over" : "locked";
    case "folder": {
      const entries = found.entries ?? [], had = entries.length === 1 ? owner(entries[0]) : null;
      if (!had || had.includes(UNKNOWN) || had[0] !== boot || had[1] !== namespace) return "locked";
      const now = Object.hasOwn(processes, had[2]) ? processes[had[2]] : null;
      return now === "unknown" || now === had[3] ? "locked" : "take-over";
    }
  }
  return "refused";
}

/** @type {(e: unknown, ...codes: string[]) => boolean} */
export const is = (e, ...codes) => codes.includes(/** @type {{code?: string}} */ (e)?.code ?? "");

/** @type {<T>(f: () => T) => T | null} What a call gives, or null if it fails. */
function attempt(f) {
  try {
    return f();
  } catch {
    return null;
  }
}

// Other namespaces of time count the starts of processes in another way.
const CLOCK = "time:[4026531834]";

/** Boot, namespace, number and start of this process; UNKNOWN where /proc does not speak of it. */
function self() {
  const pid = String(process.pid);
  const link = (/** @type {string} */ name) => attempt(() => readlinkSync(`/proc/${name}`)) ?? "";
  const boot = (attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1")) ?? "").trimEnd();
  const words = [boot, /^pid:\[([0-9]+)\]$/.exec(link("self/ns/pid"))?.[1] ?? "", pid, started(pid) ?? ""];
  const clock = link("self/ns/time") === CLOCK || !attempt(() => lstatSync("/proc/self/ns/time"));
  const known = link("self") === pid && clock && words.every((word, i) => word !== UNKNOWN && WORDS[i].test(word));
  return known ? words : [UNKNOWN, UNKNOWN, pid, UNKNOWN];
}

/** @type {(pid: string) => string | null} When a process was started, or "unknown", or null if it is gone. */
function started(pid) {
  if (!(Number(pid) > 0)) return "unknown";
  try {
    process.kill(Number(pid), 0);
  } catch (e) { // EPERM: it is there
    if (is(e, "ESRCH")) return null;
  }
  const stat = attempt(() => readFileSync(`/proc/${Number(pid)}/stat`, "latin1")) ?? "";
  const field = stat.slice(stat.lastIndexOf(")") + 1).split(" ").slice(1); // its name can have any bytes
  if (!/^[0-9]+$/.test(field[19] ?? "")) return "unknown";
  return field[0] === "Z" && field[17] === "1" ? null : field[19]; // of a zombie no thread is left
}

/** @type {(path: string) => Found} */
function look(path) {
  const there = lstatSync(path, {throwIfNoEntry: false});
  if (!there) return {kind: "absent"};
  if (there.isDirectory()) return {kind: "folder", entries: attempt(() => readdirSync(path)) ?? []};
  if (!there.isFile()) return {kind: "other"};
  return {kind: "file", bytes: hex(attempt(() => beginning(path)) ?? new Uint8Array())}; // unreadable, it may be one
}

/** @param {string} path */
function beginning(path) {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const bytes = new Uint8Array(MOST + 1);
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** @type {(path: string) => LedgerError} */
const locked = (path) => new LedgerError("locked",
  `the lock ${path} is there; if no program has the ledger open, and it is no file or folder of yours, remove it`);

/** @type {(entry: string) => unknown} Removes an entry, which other programs may make as a file. */
const remove = (entry) => attempt(() => rmdirSync(entry)) ?? attempt(() => unlinkSync(entry));

/** A lock that this program has. */
export class Lock {
  #path;
  #name;
  #spare;
  /** Whether bytes are on their way to the file: given up then, the lock would let another program in too early. */
  writing = false;

  /**
   * @param {string} path
   * @param {string} name its entry
   * @param {string} spare a name that nobody has
   */
  constructor(path, name, spare) {
    this.#path = path;
    this.#name = name;
    this.#spare = spare;
    if (held.size === 0) watch();
    held.add(this);
  }

  /** Gives the lock up in one step, the renaming. */
  release() {
    if (!held.delete(this)) return;
    if (held.size === 0) unwatch();
    const path = this.#path, spare = this.#spare;
    if (!lstatSync(join(path, this.#name), {throwIfNoEntry: false})) return; // someone has taken it away
    renameSync(path, spare);
    remove(join(spare, this.#name));
    attempt(() => rmdirSync(spare));
  }
}

/**
 * Takes the lock at a path, or fails at once.
 * @param {string} path
 */
export function lock(path) {
  const me = self(), name = me.join("_"), found = look(path), [entry = ""] = found.entries ?? [];
  /** @type {Record<string, string>} */
  const processes = {};
  const pid = owner(entry)?.[2], start = pid && started(pid);
  if (pid && start) processes[pid] = start;
  const file = basename(path).replace(/\.lock$/, "");
  const [boot, namespace] = me;
  const said = verdict({name: file, found, kernel_locked: false, kernel_locks: false, boot, namespace, processes});
  if (said === "refused") {
    const why = /\.lock$/i.test(file) ? "a ledger's name does not end in .lock"
      : "it is no lock; move it, or give the ledger another name";
    throw new LedgerError("store", `${path} cannot be the lock: ${why}`);
  }
  if (said === "locked") throw locked(path);
  const spare = attempt(() => mkdtempSync(`${path}.${name}.`)) ?? mkdtempSync(`${path}.`); // a name may be long
  try {
    mkdirSync(join(spare, name));
    if (said === "free") renameSync(spare, path); // fails where a lock is
    else takeOver(path, entry, name);
  } catch (e) {
    const there = is(e, "EEXIST", "ENOTEMPTY", "ENOTDIR") || lstatSync(path, {throwIfNoEntry: false});
    throw said === "take-over" || there ? locked(path) : e;
  } finally {
    remove(join(spare, name));
    attempt(() => rmdirSync(spare)); // its name is free again
  }
  return new Lock(path, name, spare);
}

/**
 * Takes a folder over from an owner who has ended. The renaming fails for all others who try.
 * @param {string} path
 * @param {string} from
 * @param {string} name
 */
function takeOver(path, from, name) {
  renameSync(join(path, from), join(path, name));
  const entries = readdirSync(path);
  if (entries.length === 1 && entries[0] === name) return;
  attempt(() => renameSync(join(path, name), join(path, from)));
  throw locked(path);
}

/** The locks that this program has. @type {Set<Lock>} */
const held = new Set();
const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
const OURS = Symbol.for("@wpm-go/wpm lock"); // also of another copy of this module

function watch() {
  process.on("exit", end);
  for (const signal of SIGNALS) process.prependListener(signal, stop);
}

function unwatch() {
  process.off("exit", end);
  for (const signal of SIGNALS) process.off(signal, stop);
}

/** The program ends: all locks go, but those whose ledger may still get bytes. */
function end() {
  for (const one of held) if (!one.writing) attempt(() => one.release());
}

/**
 * A signal would end the program if nobody listened. This listener is none, for others that count them; if there are no
 * others, the program ends as it would have. If there are, they decide, and "exit" follows if they end it.
 * @param {NodeJS.Signals} signal
 */
function stop(signal) {
  process.off(signal, stop);
  if (process.listeners(signal).every((f) => OURS in f)) {
    end();
    process.kill(process.pid, signal);
    return;
  }
  setImmediate(() => {
    if (held.size > 0 && !process.listeners(signal).includes(stop)) process.prependListener(signal, stop);
  }).unref();
}
Object.defineProperty(stop, OURS, {value: true});
