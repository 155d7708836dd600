// wpm for browsers and node: verify a policy, and draw one report from private counts in mixture mode.
// @ts-check
import {decode, inside} from "./policy.js";
import {drawWith, randomBytes} from "./draw.js";

export {Refused} from "./box.js";
export {decode};

/**
 * Draws one report of 40 bytes: an input by the counts, then an output by the row of that input. Data that cannot be
 * used lead to the fallback row, and never to an error. It has no solver, and draws like this in mode projection, too.
 *
 * Every call is a release and costs the policy's epsilon once more. This package keeps no ledger: the caller writes the
 * debit down, durably, before it calls, keeps the report, and sends that one again if it is asked again.
 * @param {import("./policy.js").Policy} policy from decode
 * @param {Uint8Array} data the private bytes
 * @returns {Uint8Array}
 */
export function draw(policy, data) {
  inside(policy); // or an error, before anything is drawn
  const random = new Uint8Array(randomBytes(policy)); // before the first look at the data
  globalThis.crypto.getRandomValues(random);
  return drawWith(policy, data, random).report;
}
