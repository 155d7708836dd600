// wpm for browsers and node: verify a policy, and release one report of private counts in mixture mode.
// @ts-check
import {account} from "./ledger.js";
import {drawer, randomBytes} from "./draw.js";

export {Refused} from "./box.js";
export {decode} from "./policy.js";
export {LedgerError, openLedger} from "./ledger.js";

/**
 * Releases one report of 40 bytes: an input by the counts, then an output by the row of that input. Data that cannot be
 * used lead to the fallback row, and never to an error. It has no solver, and draws like this in mode projection, too.
 *
 * The ledger pays the policy's epsilon, durably, before anything is drawn. If this policy has released in the ledger's
 * epoch already, that report is returned again, and nothing is paid or drawn. A schedule of the policy holds: see
 * docs/spec/ledger.md.
 * @param {import("./policy.js").Policy} policy from decode
 * @param {Uint8Array} data the private bytes
 * @param {import("./ledger.js").Ledger} ledger from openLedger
 * @param {import("./ledger.js").Signed} [signed] a signature of the policy, and its key
 * @returns {Promise<Uint8Array | null>} null if the schedule has no release of this ledger in its epoch
 */
export async function release(policy, data, ledger, signed = {}) {
  const draw = drawer(policy); // or an error, before anything is paid
  return account(ledger, policy, () => {
    const random = new Uint8Array(randomBytes(policy)); // before the first look at the data
    globalThis.crypto.getRandomValues(random);
    return draw(data, random).report;
  }, signed);
}
