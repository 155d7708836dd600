// Bytes as texts with a character for each, as hexadecimal, and their SHA-256.
// @ts-check

/** @type {(b: Uint8Array) => string} A character for each byte. */
export function latin(b) {
  let s = "";
  for (let i = 0; i < b.length; i += 4096) s += String.fromCharCode(...b.subarray(i, i + 4096));
  return s;
}

/** @type {(s: string) => Uint8Array<ArrayBuffer>} */
export function unlatin(s) {
  const b = new Uint8Array(s.length);
  for (let i = 0; i < b.length; i++) b[i] = s.charCodeAt(i);
  return b;
}

/** @type {(b: Uint8Array) => string} */
export function hex(b) {
  let s = "";
  for (const v of b) s += v.toString(16).padStart(2, "0");
  return s;
}

/** @type {(s: string) => Uint8Array<ArrayBuffer>} Of hexadecimal with two digits for each byte. */
export function unhex(s) {
  const b = new Uint8Array(s.length >> 1);
  for (let i = 0; i < b.length; i++) b[i] = parseInt(s.slice(2 * i, 2 * i + 2), 16);
  return b;
}

/** @type {(b: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>} */
export const sha256 = async (b) => new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", b));
