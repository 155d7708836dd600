// The ledger of docs/spec/ledger.md in a store: what is paid is stored before anything is drawn.
// @ts-check
import {lowest, need, parseEpsilon} from "./box.js";
import {hex, latin, sha256, unhex, unlatin} from "./bytes.js";
import {FORMS, epochAt, epochName, epochNumber} from "./epoch.js";

/** @typedef {import("./box.js").Epsilon} Rational */
/** @typedef {import("./policy.js").Policy} Policy */
/** @typedef {import("./policy.js").Schedule} Schedule */
/** @typedef {import("./epoch.js").Form} Form */

/**
 * Where the text of a ledger is.
 * @typedef {object} Store
 * @property {() => Promise<void>} lock
 * @property {() => Promise<Uint8Array>} load
 * @property {(at: number, bytes: Uint8Array) => Promise<void>} append
 * @property {() => Promise<void>} unlock
 */

/**
 * @typedef {object} Options
 * @property {string} epoch
 * @property {string} [budget]
 * @property {string} [maxEpsilon]
 * @property {number} [wait] milliseconds
 */

/** @typedef {"locked" | "corrupt" | "budget" | "epoch" | "store" | "closed" | "key"} Code */

/** What a ledger refuses, or fails at. */
export class LedgerError extends Error {
  /**
   * @param {Code} code
   * @param {string} what
   * @param {{cause?: unknown}} [more]
   */
  constructor(code, what, more) {
    super(what, more);
    this.name = "LedgerError";
    this.code = code;
  }
}

const MAGIC = "wpm-ledger-1";
const TORN = "~torn ";
const KEY = /^[0-9a-f]{64}$/;
const EPOCH = /^[A-Za-z0-9._:-]{1,64}$/;
const ZERO = {n: 0n, d: 1n};
const PAUSE = 20;
const PERIOD = 10000;
const LF = 10;

/** @type {(text: string) => Rational | null} A number of the ledger, which may exceed every epsilon. */
function rational(text) {
  const m = text.length <= 256 ? /^([0-9]+)(?:\.([0-9]+)|\/([0-9]+))?$/.exec(text) : null;
  if (!m) return null;
  const [, whole, part = "", under] = m;
  const d = under === undefined ? 10n ** BigInt(part.length) : BigInt(under);
  return d === 0n ? null : lowest(BigInt(whole + part), d);
}

/** @type {(x: Rational) => string} */
const fraction = ({n, d}) => (d === 1n ? `${n}` : `${n}/${d}`);

/** @type {(x: Rational, y: Rational) => Rational} */
const plus = (x, y) => lowest(x.n * y.d + y.n * x.d, x.d * y.d);

/** @type {(x: Rational, y: Rational) => boolean} */
const more = (x, y) => x.n * y.d > y.n * x.d;

/** @type {(rest: string) => Rational} What a line without its end is charged. */
function charge(rest) {
  const [word, number, after] = rest.split(" ", 3);
  return ((word === "debit" || word === "turn") && after !== undefined && rational(number)) || ZERO;
}

/** @type {(rest: string) => boolean} Whether a line without its end can be the first of a ledger. */
function opens(rest) {
  const head = rest.split("~", 1)[0], start = MAGIC + " ";
  return head !== "" && (head.startsWith(start) || start.startsWith(head));
}

/** @type {(chain: Uint8Array, body: string) => Promise<Uint8Array>} The hash of a line after one with that hash. */
const follow = (chain, body) => sha256(unlatin(latin(chain) + body));

/** @type {(what: string) => never} */
const corrupt = (what) => { throw new LedgerError("corrupt", what); };

/** What the lines of a ledger say. */
class Lines {
  constructor() {
    /** The hash of the last line. @type {Uint8Array} */
    this.chain = new Uint8Array(32);
    /** @type {Rational | null} */
    this.budget = null;
    this.spent = ZERO;
    this.always = ZERO; // of what is spent, that which counts in every window
    /** What turns have spent, by the number of the epoch. @type {Map<number, Rational>} */
    this.turns = new Map();
    this.last = -Infinity; // the number of the last turn's epoch
    /** @type {Readonly<{epochs: Form, period: number, slot: number}> | null} */
    this.slot = null;
    /** @type {string | null} */
    this.key = null;
    /** The last number of an epoch, by its form. @type {Map<Form, number>} */
    this.latest = new Map();
    this.rest = "";
    this.size = 0; // bytes of the text
    /** @type {Map<string, Uint8Array>} Reports, by ID and epoch. */
    this.reports = new Map();
    this.open = ""; // the ID and epoch of the debit or turn in the line before
  }

  /** @param {Uint8Array} bytes */
  async read(bytes) {
    let at = 0;
    for (let n = 1, end = bytes.indexOf(LF); end >= 0; n++, at = end + 1, end = bytes.indexOf(LF, at)) {
      try {
        await this.line(latin(bytes.subarray(at, end)));
      } catch (e) {
        throw e instanceof LedgerError ? new LedgerError(e.code, `line ${n}: ${e.message}`) : e;
      }
    }
    this.rest = latin(bytes.subarray(at));
    this.size = bytes.length;
    this.pay(charge(this.rest));
    if (this.rest && !this.budget && !opens(this.rest)) corrupt("not a ledger");
  }

  /** @param {string} line */
  async line(line) {
    const cut = line.lastIndexOf(" "), body = line.slice(0, Math.max(cut, 0));
    const sum = await follow(this.chain, body);
    if (hex(sum) !== line.slice(cut + 1)) corrupt("the hash chain breaks here");
    this.chain = sum;
    const open = this.open;
    this.open = "";
    const torn = body.lastIndexOf(TORN);
    if (torn >= 0) {
      const price = rational(body.slice(torn + TORN.length)) ?? corrupt("a torn line without a charge");
      this.pay(price);
      return;
    }
    const words = body.split(" ", 5), fields = words.length, [word, first = "", second = "", third] = words;
    if ((word === MAGIC) !== (this.budget === null)) corrupt(`${MAGIC} is expected once, as the first record`);
    if (word === MAGIC && fields === 2) {
      this.budget = rational(first) ?? corrupt("a budget");
    } else if ((word === "debit" || word === "turn") && fields === 4) {
      const price = rational(first), turn = word === "turn";
      if (!price || !KEY.test(second) || !EPOCH.test(third)) corrupt(`a ${word}`);
      const number = turn && this.slot ? epochNumber(this.slot.epochs, third) : null;
      if (turn && !(number !== null && this.mine(number) && number >= this.last)) corrupt("a turn outside its slot");
      this.pay(price, third, number);
      this.open = `${second} ${third}`;
    } else if (word === "slot" && fields === 4) {
      const epochs = FORMS.find((form) => form === first), [period, slot] = [second, third].map(Number);
      const wellFormed = /^[1-9][0-9]* (?:0|[1-9][0-9]*)$/.test(`${second} ${third}`);
      if (this.slot || !epochs || !wellFormed || period < 2 || period > PERIOD || slot >= period) corrupt("a slot");
      this.slot = Object.freeze({epochs, period, slot});
    } else if (word === "key" && fields === 2) {
      if (this.key !== null || !KEY.test(first)) corrupt("a key");
      this.key = first;
    } else if (word === "report" && fields === 3) {
      if (!isReport(first)) corrupt("a report");
      const occasion = `${first.slice(8, 72)} ${second}`;
      if (open !== occasion) corrupt("a report without its debit");
      this.reports.set(occasion, unhex(first));
    } else {
      corrupt("a record that no ledger has");
    }
  }

  /** @param {number} number of an epoch: whether it is one of the slot. */
  mine(number) { return this.slot !== null && number % this.slot.period === this.slot.slot; }

  /**
   * Adds a debit, or a turn in the epoch of a number.
   * @param {Rational} price
   * @param {string} epoch
   * @param {number | null} number
   */
  pay(price, epoch = "", number = null) {
    this.spent = plus(this.spent, price);
    if (number === null) {
      this.always = plus(this.always, price);
    } else {
      this.turns.set(number, plus(this.turns.get(number) ?? ZERO, price));
      this.last = number;
    }
    for (const form of FORMS) {
      const n = epochNumber(form, epoch);
      if (n !== null) this.latest.set(form, Math.max(n, this.latest.get(form) ?? n));
    }
  }

  /**
   * What a window holds at most: one with the turns of an epoch, or any.
   * @param {number | null} number
   */
  held(number) {
    let most = ZERO;
    for (const [n, x] of this.turns) if ((number === null || n === number) && more(x, most)) most = x;
    return plus(this.always, most);
  }
}

/** @type {(period: number) => number} From 0 to period - 1, each equally likely. */
function drawSlot(period) {
  const word = new Uint32Array(1), most = 2 ** 32 - 2 ** 32 % period;
  do globalThis.crypto.getRandomValues(word); while (word[0] >= most);
  return word[0] % period;
}

/**
 * The number of an epoch that may be paid in.
 * @type {(schedule: Schedule, epoch: string, latest: Map<Form, number>) => number}
 */
function due({epochs, first, last}, epoch, latest) {
  /** @type {(what: string) => never} */
  const refuse = (what) => { throw new LedgerError("epoch", `epoch ${epoch}: ${what}`); };
  const n = epochNumber(epochs, epoch) ?? refuse(`no ${epochs}`);
  if (first !== null && epoch < first) refuse(`before ${first}, the first`);
  if (last !== null && epoch > last) refuse(`after ${last}, the last`);
  const now = epochName(epochs, epochAt(epochs, Date.now()));
  if (now === null || epoch > now) refuse(`after ${now ?? "every epoch"}, which the clock says`);
  const before = latest.get(epochs);
  if (before !== undefined && n < before) refuse(`before ${epochName(epochs, before)} of the ledger`);
  return n;
}

const SIGNATURE = /^wpm-signature-1 ([0-9a-f]{64}) ([0-9a-f]{128})\n$/;

/**
 * Whether a signature of a text by a key of Ed25519 verifies.
 * @type {(key: Uint8Array<ArrayBuffer>, text: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>) =>
 *   Promise<boolean>}
 */
export async function ed25519(key, text, signature) {
  const {subtle} = globalThis.crypto;
  const k = await subtle.importKey("raw", key, {name: "Ed25519"}, false, ["verify"]);
  return subtle.verify({name: "Ed25519"}, k, signature, text);
}

/**
 * Refuses what is no signature of a policy by a key.
 * @type {(id: string, key: string, signature: unknown) => Promise<void>}
 */
export async function verify(id, key, signature) {
  /** @type {(what: string, cause?: unknown) => never} */
  const refuse = (what, cause) => { throw new LedgerError("key", what, {cause}); };
  if (!KEY.test(key)) refuse("a key has 64 hexadecimal digits, in small letters");
  const m = typeof signature === "string" && signature.length < 256 ? SIGNATURE.exec(signature) : null;
  if (!m) refuse(signature === undefined ? `a signature by ${key} is needed` : "not a line wpm-signature-1");
  if (m[1] !== key) refuse(`signed by ${m[1]}, and not by ${key}`);
  let good = false;
  try {
    good = await ed25519(unhex(key), unlatin(`wpm-signature-1 ${id}`), unhex(m[2]));
  } catch (e) {
    const lacks = e instanceof Error && e.name === "NotSupportedError";
    refuse(lacks ? "no Ed25519 in the WebCrypto of this engine" : `the signature cannot be checked: ${e}`, e);
  }
  if (!good) refuse(`not a signature of policy ${id} by ${key}`);
}

/** @type {(text: string) => boolean} Whether a text is a report of any kind: those of points have one form. */
function isReport(text) {
  if (text.length < 74 || text.length > 512 || !/^(?:[0-9a-f]{2})+$/.test(text)) return false;
  if (!text.startsWith("77706d31")) return true;
  const index = text.slice(72);
  return /^[0-9a-f]{4}0[0-9a-f]00$/.test(index) && /[^0]/.test(text.slice(8));
}

/**
 * What callers see of a ledger.
 * @typedef {object} Ledger
 * @property {string} epoch
 * @property {string} budget
 * @property {string} spent
 * @property {string} remaining
 * @property {string | null} key
 * @property {Readonly<{epochs: Form, period: number, slot: number}> | null} slot
 * @property {string | null} next
 * @property {() => Promise<void>} close
 */

/**
 * The signature of a policy, the line of its file, by a key: 64 hexadecimal digits, or that of the ledger.
 * @typedef {object} Signed
 * @property {string} [key]
 * @property {string} [signature]
 */

/**
 * Pays for a policy in the epoch of a ledger, and calls draw; or returns the report that is paid for already; or null,
 * if the epoch is not of the ledger's slot.
 * @type {(ledger: Ledger, policy: Policy, draw: () => Uint8Array, signed?: Signed) => Promise<Uint8Array | null>}
 */
export let account;

/**
 * Locks a store, and opens the ledger that is there, or makes one.
 * @type {(store: Store, options: Options) => Promise<Ledger>}
 */
export let openLedger;

/** A ledger that is open. Only openLedger opens one. */
class Books {
  #lines = new Lines();
  /** @type {Store | null} */
  #store = null;
  #epoch = "";
  /** @type {Rational | null} */
  #most = null;
  /** @type {LedgerError | null} why nothing can be paid */
  #fault = null;
  /** @type {Promise<unknown>} the end of what goes on */
  #last = Promise.resolve();

  static {
    account = async (ledger, policy, draw, signed) => {
      need(ledger instanceof Books && #lines in ledger, "not a ledger from openLedger");
      return ledger.#turn(() => ledger.#account(policy, draw, signed ?? {}));
    };

    openLedger = async (store, options) => {
      const {epoch, budget, maxEpsilon, wait = 0, ...others} = options ?? {};
      need(Object.keys(others).length === 0, `an option that there is not: ${Object.keys(others)}`);
      if (typeof epoch !== "string" || !EPOCH.test(epoch)) {
        throw new LedgerError("epoch", "an epoch is 1 to 64 letters, digits, '.', '_', ':' or '-'");
      }
      let amount = null;
      if (budget !== undefined) {
        amount = typeof budget === "string" && budget.length <= 100 ? rational(budget) : null;
        if (!amount?.n) throw new LedgerError("budget", "a budget is a text like 8, 2.5 or 5/2, above 0");
      }
      need(typeof wait === "number" && wait >= 0, "wait: milliseconds, at least 0");
      const ledger = new Books();
      ledger.#epoch = epoch;
      ledger.#most = maxEpsilon === undefined ? null : parseEpsilon(maxEpsilon);
      await lock(store, wait);
      ledger.#store = store;
      try {
        await ledger.#load(amount);
      } catch (e) {
        await ledger.close().catch(() => {}); // the first error says more
        throw e;
      }
      return ledger;
    };
  }

  /** @param {Rational | null} budget */
  async #load(budget) {
    const lines = this.#lines, store = /** @type {Store} */ (this.#store);
    await lines.read(await store.load());
    if (!lines.budget && !budget) throw new LedgerError("budget", "a new ledger needs one");
    if (lines.budget && budget && fraction(lines.budget) !== fraction(budget)) {
      const [was, is] = [lines.budget, budget].map(fraction);
      throw new LedgerError("budget", `the ledger was made with ${was}, and that cannot become ${is}`);
    }
    if (lines.budget) return;
    lines.budget = budget;
    await this.#write(`${MAGIC} ${this.budget}`);
  }

  /**
   * Appends a line, after the rest of one that has no end. After a failure the end of the text is unknown.
   * @param {string} body
   */
  async #write(body) {
    const lines = this.#lines;
    this.#fault = new LedgerError("store", "an earlier write failed; open the ledger again");
    let {chain} = lines, text = "";
    if (lines.rest) {
      const end = TORN + fraction(charge(lines.rest));
      chain = await follow(chain, lines.rest + end);
      text = `${end} ${hex(chain)}\n`;
    }
    chain = await follow(chain, body);
    const bytes = unlatin(`${text}${body} ${hex(chain)}\n`), {size} = lines;
    lines.size += bytes.length;
    try {
      await /** @type {Store} */ (this.#store).append(size, bytes);
    } catch (e) {
      throw new LedgerError("store", `a write failed: ${e}`, {cause: e});
    }
    lines.chain = chain;
    lines.rest = "";
    this.#fault = null;
  }

  /**
   * One after the other.
   * @template T
   * @param {() => Promise<T>} task
   * @returns {Promise<T>}
   */
  #turn(task) {
    const turn = this.#last.then(task);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /**
   * @param {Policy} policy
   * @param {() => Uint8Array} draw
   * @param {Signed} signed
   */
  async #account({id, epsilon, schedule}, draw, {key, signature, ...others}) {
    need(Object.keys(others).length === 0, `beside key and signature: ${Object.keys(others)}`);
    const lines = this.#lines, epoch = this.#epoch, occasion = `${id} ${epoch}`;
    if (!this.#store) throw new LedgerError("closed", "not open");
    const by = key !== undefined ? String(key) : signature === undefined ? null : lines.key;
    if (by === null && signature !== undefined) throw new LedgerError("key", "a signature without a key");
    if (by !== null) await verify(id, by, signature);
    const known = lines.reports.get(occasion);
    if (known) return known.slice();
    if (this.#fault) throw this.#fault;
    if (lines.key !== null && by !== lines.key) {
      throw new LedgerError("key", `a signature by ${lines.key} is needed`);
    }
    if (lines.key !== by) {
      await this.#write(`key ${by}`);
      lines.key = by;
    }
    const price = parseEpsilon(epsilon), budget = /** @type {Rational} */ (lines.budget);
    if (this.#most && more(price, this.#most)) {
      throw new LedgerError("budget", `the policy has epsilon ${epsilon}, more than this ledger may pay at once`);
    }
    const number = schedule ? due(schedule, epoch, lines.latest) : null;
    const turn = schedule?.period ? number : null;
    if (schedule && turn !== null) {
      const {epochs, period} = schedule;
      if (more(plus(lines.always, price), budget)) {
        throw new LedgerError("budget", `this costs ${epsilon}; of ${this.budget}, ${this.#left(lines.always)} is left`);
      }
      if (!lines.slot) {
        const slot = drawSlot(period);
        await this.#write(`slot ${epochs} ${period} ${slot}`);
        lines.slot = Object.freeze({epochs, period, slot});
      }
      const {slot} = lines;
      if (slot.epochs !== epochs || slot.period !== period) {
        const [had, wanted] = [slot, schedule].map((s) => `${s.epochs}, ${s.period}`);
        throw new LedgerError("epoch", `the ledger has a slot of (${had}), not of (${wanted})`);
      }
      if (!lines.mine(turn)) return null;
    }
    const held = lines.held(turn);
    if (more(plus(held, price), budget)) {
      throw new LedgerError("budget", `this costs ${epsilon}; of ${this.budget}, ${this.#left(held)} is left`);
    }
    lines.pay(price, epoch, turn); // before the write: a debit that may be in the store counts
    await this.#write(`${turn === null ? "debit" : "turn"} ${fraction(price)} ${occasion}`);
    const report = draw(), text = hex(report);
    need(isReport(text) && text.slice(8, 72) === id, "a draw gave no report of its policy; what is paid stays paid");
    await this.#write(`report ${text} ${epoch}`);
    lines.reports.set(occasion, report.slice());
    return report;
  }

  get epoch() { return this.#epoch; }

  get budget() { return fraction(this.#lines.budget ?? ZERO); }

  get spent() { return fraction(this.#lines.spent); }

  get remaining() { return this.#left(this.#lines.slot ? this.#lines.always : this.#lines.spent); }

  get key() { return this.#lines.key; }

  get slot() { return this.#lines.slot; }

  get next() {
    const {slot} = this.#lines, from = slot && epochNumber(slot.epochs, this.#epoch);
    if (!slot || from === null) return null;
    const {epochs, period} = slot;
    return epochName(epochs, from + ((slot.slot - from) % period + period) % period);
  }

  /** @param {Rational} spent */
  #left({n, d}) {
    const {budget} = this.#lines;
    return fraction(budget && more(budget, {n, d}) ? plus(budget, {n: -n, d}) : ZERO);
  }

  /** Gives up the store, once what goes on has ended. */
  close() {
    return this.#turn(async () => {
      const store = this.#store;
      this.#store = null;
      await store?.unlock();
    });
  }
}

/** @type {(store: Store, wait: number) => Promise<void>} */
async function lock(store, wait) {
  for (const end = performance.now() + wait;; await new Promise((done) => setTimeout(done, PAUSE))) {
    try {
      return await store.lock();
    } catch (e) {
      if (!(e instanceof LedgerError && e.code === "locked") || performance.now() >= end) throw e;
    }
  }
}
