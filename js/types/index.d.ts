/** Verification of policies, and the release in mixture mode under a ledger. See docs/spec of the module. */

/** What is not as the specification says is refused with this error. */
export class Refused extends Error {
  constructor(message: string);
}

/** When clients release. Epochs are named as 2026, 2026-01, 2026-W01 or 2026-01-31, in UTC. */
export interface Schedule {
  readonly epochs: "year" | "month" | "week" | "day";
  /** The first and the last epoch; null if there is no end. */
  readonly first: string | null;
  readonly last: string | null;
  /** Each ledger releases in one of so many epochs in a row; 0 is in every epoch. */
  readonly period: number;
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
  readonly schedule: Schedule | null;
}

/** Decodes and verifies the bytes of a policy file. Rejects with Refused. */
export function decode(file: Uint8Array): Promise<Policy>;

/**
 * What a ledger refuses, or fails at. `locked`: someone else has the store. `corrupt`: the text is no ledger. `budget`:
 * there is none, another one, or too little is left. `epoch`: not a word, or not one that the policy's schedule allows
 * now. `store`: the store failed; open the ledger again. `closed`: it was closed. `key`: the policy has no signature by
 * the key that is named, or by that of the ledger, or this engine cannot check it.
 */
export class LedgerError extends Error {
  constructor(code: LedgerError["code"], message: string, options?: {cause?: unknown});
  readonly code: "locked" | "corrupt" | "budget" | "epoch" | "store" | "closed" | "key";
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
  /** What is left of the budget; with a slot, of the budget of a window without turns yet. */
  readonly remaining: string;
  /** The only key whose policies this ledger takes: 64 hexadecimal digits. */
  readonly key: string | null;
  /** Of policies with a period the ledger releases in epochs of this form whose number is slot modulo period. */
  readonly slot: Readonly<{epochs: Schedule["epochs"]; period: number; slot: number}> | null;
  /** The first epoch of the slot from the ledger's epoch on; null without a slot, or in an epoch of another form. */
  readonly next: string | null;
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
 *
 * Under a schedule the epoch must be one of it, not after the clock's, and not before one that the ledger has. With a
 * period, the ledger draws a slot once. Resolves to null in every epoch that is not of the slot: nothing is paid or
 * drawn, and `ledger.next` says when.
 *
 * With a key, `signed.signature` must be a signature of the policy by it, and the ledger takes no other key from then
 * on. Without, it is by the key of the ledger.
 */
export function release(policy: Policy, data: Uint8Array, ledger: Ledger, signed?: Signed): Promise<Uint8Array | null>;

/** The line of a signature file, and the key that the user names: 64 hexadecimal digits. */
export interface Signed {
  key?: string;
  signature?: string;
}
