package wpm;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reads the one spelling that a policy has. Whatever is not at its place is refused, with the byte where it is not. */
final class Scanner {
  private static final int DEPTH = 10_000;
  private static final long MOST = 1L << 62;

  final byte[] b;
  int at;

  Scanner(byte[] b) throws Refused {
    this.b = b;
    checkUTF8();
  }

  /** All bytes, which are UTF-8. */
  String text() {
    return new String(b, StandardCharsets.UTF_8);
  }

  Refused bad(String what) {
    return new Refused(Refused.Kind.POLICY, "byte " + at + ": " + what);
  }

  boolean next(String s) {
    if (b.length - at < s.length()) return false;
    for (int i = 0; i < s.length(); i++) if (b[at + i] != s.charAt(i)) return false;
    at += s.length();
    return true;
  }

  /** Whether a text is next. */
  boolean sees(String s) {
    int from = at;
    boolean there = next(s);
    at = from;
    return there;
  }

  void need(String s) throws Refused {
    if (!next(s)) throw bad("want " + s.replace("\n", "\\n"));
  }

  int peek() {
    return at < b.length ? b[at] & 0xff : -1;
  }

  /** A number without leading zeros, at most 2^62: no number of a policy may be larger. */
  long number() throws Refused {
    int from = at;
    long v = 0;
    while (peek() >= '0' && peek() <= '9') {
      if (v <= MOST / 10) v = 10 * v + (b[at++] - '0'); // does not wrap
      else throw bad("a number above 2^62");
    }
    if (v > MOST) throw bad("a number above 2^62");
    if (at == from || b[from] == '0' && at > from + 1) throw bad("want a number without leading zeros");
    return v;
  }

  int number(String what, long least, long most) throws Refused {
    long v = number();
    if (v < least || v > most) throw bad(what + " is " + v + ", want " + least + " to " + most);
    return (int) v;
  }

  long units() throws Refused {
    need("\"");
    long v = number();
    need("\"");
    return v;
  }

  int coordinate() throws Refused {
    boolean minus = next("-");
    long v = number();
    if (minus && v == 0 || v > (minus ? 1L << 31 : (1L << 31) - 1)) throw bad("a coordinate is not from -2^31 to 2^31 - 1");
    return (int) (minus ? -v : v);
  }

  /** A text of at least least and at most most bytes of UTF-8. */
  String text(String what, int least, int most) throws Refused {
    need("\"");
    byte[] out = new byte[16];
    int size = 0;
    while (peek() != '"') {
      int c = peek();
      if (c == '\\') {
        at++;
        c = peek();
        if (c != '"' && c != '\\') throw bad("an escape other than of a quotation mark and a backslash");
      } else if (c < 0x20 || c == 0x7f || c == 0xc2 && at + 1 < b.length && (b[at + 1] & 0xff) < 0xa0) {
        throw bad("a control character, or no end of a text");
      }
      if (size == out.length) out = Arrays.copyOf(out, 2 * size);
      out[size++] = (byte) c;
      at++;
      if (size > most) throw bad(what + " has more than " + most + " bytes");
    }
    at++;
    if (size < least) throw bad(what + " has fewer than " + least + " bytes");
    return new String(out, 0, size, StandardCharsets.UTF_8);
  }

  /** Skips a JSON object without white space between its tokens. Its contents are not interpreted. */
  void object() throws Refused {
    if (peek() != '{') throw bad("want an object");
    boolean[] isObject = new boolean[64];
    int depth = 0;
    do { // at a value
      switch (peek()) {
        case '{': case '[':
          if (depth == DEPTH) throw bad("more than " + DEPTH + " levels");
          if (depth == isObject.length) isObject = Arrays.copyOf(isObject, 2 * depth);
          isObject[depth] = b[at++] == '{';
          if (peek() == (isObject[depth] ? '}' : ']')) {
            at++;
            break;
          }
          if (isObject[depth++]) name();
          continue;
        case '"': string(); break;
        case 't': need("true"); break;
        case 'f': need("false"); break;
        case 'n': need("null"); break;
        default: value();
      }
      while (depth > 0 && next(isObject[depth - 1] ? "}" : "]")) depth--;
      if (depth > 0) { // after a value, another one follows
        need(",");
        if (isObject[depth - 1]) name();
      }
    } while (depth > 0);
  }

  private void name() throws Refused {
    string();
    need(":");
  }

  private void string() throws Refused {
    need("\"");
    while (peek() != '"') {
      if (peek() < 0x20) throw bad("a control character, or no end of a string");
      if (b[at++] != '\\') continue;
      int c = peek();
      if (c < 0 || "\"\\/bfnrtu".indexOf(c) < 0) throw bad("an escape that there is not");
      at++;
      if (c != 'u') continue;
      for (int i = 0; i < 4; i++, at++) if (Character.digit(peek(), 16) < 0) throw bad("want four hexadecimal digits");
    }
    at++;
  }

  private void value() throws Refused {
    next("-");
    if (!next("0")) digits();
    if (next(".")) digits();
    if (next("e") || next("E")) {
      if (!next("+")) next("-");
      digits();
    }
  }

  private void digits() throws Refused {
    int from = at;
    while (peek() >= '0' && peek() <= '9') at++;
    if (at == from) throw bad("want a value");
  }

  /** Bytes are UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
  private void checkUTF8() throws Refused {
    for (at = 0; at < b.length; ) {
      int c = b[at] & 0xff, more = c < 0x80 ? 0 : c < 0xc2 ? -1 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : -1;
      if (more < 0 || b.length - at <= more) throw bad("no UTF-8");
      for (int i = 1; i <= more; i++) if ((b[at + i] & 0xc0) != 0x80) throw bad("no UTF-8");
      int second = more > 0 ? b[at + 1] & 0xff : 0;
      if (c == 0xe0 && second < 0xa0 || c == 0xed && second > 0x9f || c == 0xf0 && second < 0x90 || c == 0xf4 && second > 0x8f) {
        throw bad("no UTF-8");
      }
      at += more + 1;
    }
    at = 0;
  }
}
