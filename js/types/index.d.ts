/** Verification of policies, and the release in mixture mode under a ledger. See docs/spec of the module. */

/** What is not as the specification says is refused with this error. */
export class Refused extends Error {
  constructor(message: string);
}

/** A verified policy. decode makes it; it cannot be changed. */
export interface Policy {
  /** SHA-256 of the file, in hexadecimal. */
  readonly id: string;
  /** Canonical text of the privacy loss of one release. */
  readonly epsilon: string;
  readonly bits: number;
  readonly mode: "mixture" | "projection";
  readonly inputs: number;
  readonly outputs: number;
  readonly inputLabels: readonly string[] | null;
  readonly outputLabels: readonly string[] | null;
  /** Bounds of the weights, a number for each output. */
  readonly lo: readonly bigint[];
  readonly hi: readonly bigint[];
}

/** Decodes and verifies the bytes of a policy file. Rejects with Refused. */
export function decode(file: Uint8Array): Promise<Policy>;

/**
 * What a ledger refuses, or fails at. `locked`: someone else has the store. `corrupt`: the text is no ledger. `budget`:
 * there is none, another one, or too little is left. `epoch`: not a word. `store`: the store failed; open the ledger
 * again. `closed`: it was closed.
 */
export class LedgerError extends Error {
  constructor(code: LedgerError["code"], message: string, options?: {cause?: unknown});
  readonly code: "locked" | "corrupt" | "budget" | "epoch" | "store" | "closed";
}

/**
 * Where a ledger keeps its text. It need not understand the text. The calls are lock, load once, append any number of
 * times, and unlock. A store owes what these comments say: a ledger cannot see whether it keeps it.
 */
export interface Store {
  /**
   * Takes the store for one ledger, in whatever process or on whatever machine others are, or rejects at once with a
   * LedgerError of code `locked`.
   */
  lock(): Promise<void>;
  /** What has been appended, byte by byte; empty for a new store. */
  load(): Promise<Uint8Array>;
  /**
   * Adds bytes at the end, whole and durable: once it resolves, no crash and no loss of power takes them away. After a
   * rejection, or a stop in between, any first part of them may be there, and nothing else is lost.
   *
   * `at` is the length of the text that the ledger knows. If the text does not end there, someone else has written:
   * the store adds nothing, and rejects with a LedgerError of code `store`. What can compare and append in one step (a
   * database, an object with a version) does so: then even a lock that fails loses nothing.
   */
  append(at: number, bytes: Uint8Array): Promise<void>;
  /** Ends what lock began on this handle, if anything. */
  unlock(): Promise<void>;
}

export interface LedgerOptions {
  /** The period, as the caller counts periods: 1 to 64 letters, digits, '.', '_', ':' or '-'. */
  epoch: string;
  /**
   * The bound on all epsilons ever paid, as 8, 2.5 or 5/2. It is written once, when the ledger is made, and cannot be
   * raised. Left out, it is the one in the store.
   */
  budget?: string;
  /** Refuses policies with a larger epsilon. */
  maxEpsilon?: string;
  /** Milliseconds to wait for a store that someone else has; 0, the default, is not at all. */
  wait?: number;
}

/** A ledger that is open. Releases under it are made one at a time. Numbers are texts: integers or fractions. */
export interface Ledger {
  readonly epoch: string;
  readonly budget: string;
  /** The exact sum of all that was paid. */
  readonly spent: string;
  readonly remaining: string;
  /** Gives up the store, after the releases that go on. */
  close(): Promise<void>;
}

/** Opens the ledger in a store, or makes one. Rejects with LedgerError, with Refused, or as the store does. */
export function openLedger(store: Store, options: LedgerOptions): Promise<Ledger>;

/**
 * Releases one report of 40 bytes from private bytes, with randomness from crypto.getRandomValues. The ledger pays the
 * policy's epsilon before the draw. A second call in the same epoch returns the same report, and costs nothing. Data
 * that cannot be used give a report all the same. Rejects with LedgerError, or with Refused for a policy or a ledger
 * that this package did not make.
 */
export function release(policy: Policy, data: Uint8Array, ledger: Ledger): Promise<Uint8Array>;
