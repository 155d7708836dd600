// A store that holds nothing but its text, and knows how often it is locked.
import {LedgerError} from "@wpm-go/wpm";

export const memory = (text = new Uint8Array()) => ({
  text,
  locked: false,
  async lock() {
    if (this.locked) throw new LedgerError("locked", "in memory");
    this.locked = true;
  },
  async load() { return this.text.slice(); },
  async append(at, bytes) {
    if (at !== this.text.length) throw new LedgerError("store", "in memory: someone else has written");
    const all = new Uint8Array(at + bytes.length);
    all.set(this.text);
    all.set(bytes, at);
    this.text = all;
  },
  async unlock() { this.locked = false; },
});
