package wpm;

/** Lower-case hexadecimal. */
final class Hex {
  private Hex() {}

  static String of(byte[] b) {
    char[] s = new char[2 * b.length];
    for (int i = 0; i < s.length; i++) s[i] = Character.forDigit(b[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15, 16);
    return new String(s);
  }

  /** The bytes of a text, or null if it is none. */
  static byte[] read(String s) {
    if (s.length() % 2 != 0) return null;
    byte[] b = new byte[s.length() / 2];
    for (int i = 0; i < s.length(); i++) {
      int d = "0123456789abcdef".indexOf(s.charAt(i));
      if (d < 0) return null;
      b[i / 2] |= d << (i % 2 == 0 ? 4 : 0);
    }
    return b;
  }
}
