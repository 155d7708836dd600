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
  async append(bytes) { this.text = Uint8Array.of(...this.text, ...bytes); },
  async unlock() { this.locked = false; },
});
