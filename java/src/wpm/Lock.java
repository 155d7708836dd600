package wpm;

import java.util.List;
import java.util.Locale;

/** What may be done with what is found at the name of a lock, by a program without kernel locks or with them (docs/spec/ledger.md). */
final class Lock {
  enum Verdict { FREE, TAKE_OVER, LOCKED, REFUSED }

  enum Kind { ABSENT, FILE, FOLDER, OTHER }

  private static final int[] MOST = {36, 20, 20, 20}; // bytes of boot, namespace, process and start

  private Lock() {}

  /** Which processes there are. */
  interface Processes {
    /** Whether the process is certain to have ended: there is none with the number, or it started at another time. */
    boolean ended(String pid, String start);
  }

  static Verdict of(String ledger, Kind kind, byte[] file, List<String> entries, boolean kernelLocked, boolean kernelLocks,
      String boot, String namespace, Processes processes) {
    if (ledger.toLowerCase(Locale.ROOT).endsWith(".lock") || kind == Kind.OTHER) return Verdict.REFUSED;
    if (kind == Kind.ABSENT) return Verdict.FREE;
    if (kind == Kind.FILE) {
      if (!begins(new String(file, java.nio.charset.StandardCharsets.ISO_8859_1))) return Verdict.REFUSED;
      return kernelLocks && !kernelLocked ? Verdict.TAKE_OVER : Verdict.LOCKED;
    }
    return entries.size() == 1 && ended(entries.get(0), boot, namespace, processes) ? Verdict.TAKE_OVER : Verdict.LOCKED;
  }

  /** Whether an entry names an owner of this boot and namespace that has ended. */
  static boolean ended(String entry, String boot, String namespace, Processes processes) {
    String[] words = entry.split("_", -1);
    if (words.length != 4) return false;
    for (int n = 0; n < 4; n++) if (!isWord(n, words[n]) || words[n].equals("-")) return false;
    return words[0].equals(boot) && words[1].equals(namespace) && processes.ended(words[2], words[3]);
  }

  /** Whether a text is a lock of a file, or a beginning of one. */
  private static boolean begins(String s) {
    String magic = "wpm-lock-1 ";
    if (magic.startsWith(s)) return true;
    if (!s.startsWith(magic)) return false;
    boolean whole = s.endsWith("\n");
    String[] words = s.substring(magic.length(), s.length() - (whole ? 1 : 0)).split(" ", -1);
    if (words.length > 4 || whole && words.length < 4) return false;
    for (int n = 0; n < words.length; n++) {
      if (!isWord(n, words[n]) && !(words[n].isEmpty() && n == words.length - 1 && !whole)) return false;
    }
    return true;
  }

  private static boolean isWord(int n, String s) {
    if (s.equals("-")) return true;
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (!(c >= '0' && c <= '9' || n == 0 && (c >= 'a' && c <= 'f' || c == '-'))) return false;
    }
    return !s.isEmpty() && s.length() <= MOST[n];
  }
}
