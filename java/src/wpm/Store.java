package wpm;

import java.io.IOException;

/**
 * Where the text of a ledger is. A store serializes those who use it, from lock to unlock. FileStore is one; an application
 * may bring its own, over a database.
 */
public interface Store {
  /** Waits for nobody: if somebody else has the text, it throws Refused of kind LOCKED. */
  void lock() throws IOException, Refused;

  /** The whole text; empty if there is none yet. */
  byte[] load() throws IOException, Refused;

  /**
   * Appends bytes to a text of length at, and returns when neither a crash nor a loss of power can remove them. If the text
   * has another length, it appends nothing and throws.
   */
  void append(long at, byte[] bytes) throws IOException, Refused;

  void unlock() throws IOException;
}
