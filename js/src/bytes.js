// Bytes as texts with a character for each, as hexadecimal, and their SHA-256.
// @ts-check

/** @type {(b: Uint8Array) => string} A character for each byte. */
export function latin(b) {
  let s = "";
  for (let i = 0; i < b.length; i += 8192) s += String.fromCharCode(...b.subarray(i, i + 8192));
  return s;
}

/** @type {(s: string) => Uint8Array<ArrayBuffer>} */
export const unlatin = (s) => Uint8Array.from(s, (c) => c.charCodeAt(0));

/** @type {(b: Uint8Array) => string} */
export const hex = (b) => Array.from(b, (v) => v.toString(16).padStart(2, "0")).join("");

/** @type {(s: string) => Uint8Array<ArrayBuffer>} Of hexadecimal with two digits for each byte. */
export const unhex = (s) => Uint8Array.from(s.match(/../g) ?? [], (v) => parseInt(v, 16));

/** @type {(b: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>} */
export const sha256 = async (b) => new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", b));
