// The ledger of docs/spec/ledger.md in a store: what is paid is stored before anything is drawn.
// @ts-check
import {lowest, need, parseEpsilon} from "./box.js";
import {hex, latin, sha256, unhex, unlatin} from "./bytes.js";

/** @typedef {import("./box.js").Epsilon} Rational */
/** @typedef {import("./policy.js").Policy} Policy */

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

/** @typedef {"locked" | "corrupt" | "budget" | "epoch" | "store" | "closed"} Code */

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
const EPOCH = /^[A-Za-z0-9._:-]{1,64}$/;
const ZERO = {n: 0n, d: 1n};
const PAUSE = 20;
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
  return (word === "debit" && after !== undefined && rational(number)) || ZERO;
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
    this.rest = "";
    this.size = 0; // bytes of the text
    /** @type {Map<string, Uint8Array>} Reports, by ID and epoch. */
    this.reports = new Map();
    this.open = ""; // the ID and epoch of the debit in the line before
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
    this.spent = plus(this.spent, charge(this.rest));
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
      this.spent = plus(this.spent, price);
      return;
    }
    const words = body.split(" ", 5), fields = words.length, [word, first = "", second = "", third] = words;
    if ((word === MAGIC) !== (this.budget === null)) corrupt(`${MAGIC} is expected once, as the first record`);
    if (word === MAGIC && fields === 2) {
      this.budget = rational(first) ?? corrupt("a budget");
    } else if (word === "debit" && fields === 4) {
      if (!/^[0-9a-f]{64}$/.test(second) || !EPOCH.test(third)) corrupt("a debit");
      this.spent = plus(this.spent, rational(first) ?? corrupt("a debit"));
      this.open = `${second} ${third}`;
    } else if (word === "report" && fields === 3) {
      if (!isReport(first)) corrupt("a report");
      const occasion = `${first.slice(8, 72)} ${second}`;
      if (open !== occasion) corrupt("a report without its debit");
      this.reports.set(occasion, unhex(first));
    } else {
      corrupt("a record that no ledger has");
    }
  }
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
 * @property {() => Promise<void>} close
 */

/**
 * Pays for a policy in the epoch of a ledger, and calls draw; or returns the report that is paid for already.
 * @type {(ledger: Ledger, policy: Policy, draw: () => Uint8Array) => Promise<Uint8Array>}
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
    account = async (ledger, policy, draw) => {
      need(ledger instanceof Books && #lines in ledger, "not a ledger from openLedger");
      return ledger.#turn(() => ledger.#account(policy, draw));
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
   */
  async #account({id, epsilon}, draw) {
    const lines = this.#lines, occasion = `${id} ${this.#epoch}`;
    if (!this.#store) throw new LedgerError("closed", "not open");
    const known = lines.reports.get(occasion);
    if (known) return known.slice();
    if (this.#fault) throw this.#fault;
    const price = parseEpsilon(epsilon), spent = plus(lines.spent, price);
    if (this.#most && more(price, this.#most)) {
      throw new LedgerError("budget", `the policy has epsilon ${epsilon}, more than this ledger may pay at once`);
    }
    if (more(spent, /** @type {Rational} */ (lines.budget))) {
      throw new LedgerError("budget", `this costs ${epsilon}; of ${this.budget}, ${this.remaining} is left`);
    }
    lines.spent = spent; // before the write: a debit that may be in the store counts
    await this.#write(`debit ${fraction(price)} ${occasion}`);
    const report = draw(), text = hex(report);
    need(isReport(text) && text.slice(8, 72) === id, "a draw gave no report of its policy; what is paid stays paid");
    await this.#write(`report ${text} ${this.#epoch}`);
    lines.reports.set(occasion, report.slice());
    return report;
  }

  get epoch() { return this.#epoch; }

  get budget() { return fraction(this.#lines.budget ?? ZERO); }

  get spent() { return fraction(this.#lines.spent); }

  get remaining() {
    const {budget, spent: {n, d}} = this.#lines;
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
