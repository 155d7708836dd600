/** Verification of policies, and the draw in mixture mode. See docs/spec of the module. */

/** What is not as the specification says is refused with this error. */
export class Refused extends Error {}

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
 * Draws one report of 40 bytes from private bytes, with randomness from crypto.getRandomValues. Every call costs the
 * policy's epsilon; the ledger is the caller's.
 */
export function draw(policy: Policy, data: Uint8Array): Uint8Array;
