package wpm;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Reads private bytes to counts of inputs (docs/spec/release.md, Private input). It holds one line and one window, so that
 * what it takes of memory does not depend on the bytes. Every fault makes the data unusable, and is no error.
 */
final class Private {
  private static final int MOST = 64 << 20, LINE = 4096, WINDOW = 1 << 15, MAX_NUMERAL = 64, MAX_USER = 256;
  private static final double MAX_COUNT = 1L << 53;

  private final Policy policy;
  private final double[] counts;
  private final byte[] line = new byte[LINE], field = new byte[LINE];
  private int at, size; // bytes of the line, of which line has the first; bytes in field
  private boolean first = true, named, fault;
  private byte[] user;

  Private(Policy policy, double[] counts) {
    this.policy = policy;
    this.counts = counts;
  }

  /** Adds the counts of the data up, and reports whether all of them is as it must be and one count is above 0. */
  boolean usable(byte[] data) {
    try {
      if (data.length > MOST) return false;
      if (data.length > 1 && (data[0] & 0xff) == 0x1f && (data[1] & 0xff) == 0x8b) {
        if (!gunzip(data)) return false;
      } else {
        take(data, data.length);
      }
      end();
    } catch (DataFormatException | RuntimeException e) { // whatever it is
      return false;
    }
    boolean some = false;
    for (double c : counts) some |= c > 0;
    return some && !fault;
  }

  private void take(byte[] b, int n) {
    for (int i = 0; i < n; i++) {
      if (b[i] == '\n') end();
      else if (at < LINE) line[at++] = b[i];
      else at = LINE + 1;
    }
  }

  /** The line is whole. */
  private void end() {
    int from = 0, to = at;
    at = 0;
    boolean header = first;
    first = false;
    if (to > LINE) {
      fault = true;
      return;
    }
    if (to > 0 && line[to - 1] == '\r') to--;
    if (header) {
      if (to >= 3 && (line[0] & 0xff) == 0xef && (line[1] & 0xff) == 0xbb && (line[2] & 0xff) == 0xbf) from = 3;
      String text = new String(line, from, to - from, StandardCharsets.ISO_8859_1);
      named = text.equals("user,label,count");
      if (named || text.equals("label,count")) return;
    }
    if (from == to) return;
    if (named) {
      from = field(from, to);
      if (from < 0 || !isUser()) {
        fault = true;
        return;
      }
    }
    from = field(from, to);
    int input = from < 0 ? -1 : input();
    double count = from < 0 ? -1 : count(from, to);
    if (input < 0 || count < 0) fault = true;
    else counts[input] += count;
  }

  /** Puts the field at a place of the line into field, without its quotation marks. It returns the place after its comma, or -1. */
  private int field(int from, int to) {
    boolean quoted = line[from] == '"';
    size = 0;
    for (int i = quoted ? from + 1 : from; i < to; i++) {
      if (!quoted && line[i] == ',') return size > 0 ? i + 1 : -1;
      if (quoted && line[i] == '"') {
        if (i + 1 < to && line[i + 1] == '"') i++;
        else return size > 0 && i + 1 < to && line[i + 1] == ',' ? i + 2 : -1;
      }
      field[size++] = line[i];
    }
    return -1;
  }

  /** Whether field is a user, the same on every line. */
  private boolean isUser() {
    if (user != null) return user.length == size && Arrays.equals(user, Arrays.copyOf(field, size));
    if (size > MAX_USER) return false;
    user = Arrays.copyOf(field, size);
    try {
      String s = new Scanner(user).text();
      for (int i = 0; i < s.length(); i++) if (s.charAt(i) < 0x20 || s.charAt(i) >= 0x7f && s.charAt(i) < 0xa0) return false;
      return true;
    } catch (Refused e) {
      return false;
    }
  }

  /** The input of the label in field, or -1. */
  private int input() {
    if (policy.labels != null) {
      Integer i = policy.labels.get(new String(field, 0, size, StandardCharsets.ISO_8859_1));
      return i == null ? -1 : i;
    }
    int n = 0;
    for (int i = 0; i < size; i++) {
      if (field[i] < '0' || field[i] > '9' || n >= policy.inputs || i > 0 && field[0] == '0') return -1;
      n = 10 * n + field[i] - '0';
    }
    return n < policy.inputs ? n : -1;
  }

  /** The count that the rest of the line spells, or -1. What is none is converted as well: the time says nothing of it. */
  private double count(int from, int to) {
    boolean good = to - from <= MAX_NUMERAL && isNumeral(from, to);
    String s = good ? new String(line, from, to - from, StandardCharsets.ISO_8859_1) : "12";
    double v = Double.parseDouble(s);
    return good && v <= MAX_COUNT ? v : -1;
  }

  private boolean isNumeral(int from, int to) {
    int i = digits(from, to);
    if (i == from) return false;
    if (i < to && line[i] == '.') i = digits(i + 1, to);
    if (i < to && (line[i] == 'e' || line[i] == 'E')) {
      i++;
      if (i < to && (line[i] == '+' || line[i] == '-')) i++;
      int start = i;
      i = digits(i, to);
      if (i == start) return false;
    }
    return i == to;
  }

  private int digits(int i, int to) {
    while (i < to && line[i] >= '0' && line[i] <= '9') i++;
    return i;
  }

  /** Reads whole members of gzip with right checksums, RFC 1952, and nothing after the last. */
  private boolean gunzip(byte[] b) throws DataFormatException {
    byte[] window = new byte[WINDOW];
    Inflater inflater = new Inflater(true);
    try {
      long all = 0;
      for (int i = 0; i < b.length; ) {
        i = header(b, i);
        if (i < 0) return false;
        inflater.reset();
        inflater.setInput(b, i, b.length - i);
        CRC32 crc = new CRC32();
        long size = 0;
        while (!inflater.finished()) {
          int n = inflater.inflate(window);
          if (n == 0 && !inflater.finished()) return false; // cut off, or a dictionary
          all += n;
          if (all > MOST) return false;
          size += n;
          crc.update(window, 0, n);
          take(window, n);
        }
        i = b.length - inflater.getRemaining();
        if (b.length - i < 8 || Box.word(b, i, 4) != crc.getValue() || Box.word(b, i + 4, 4) != (size & 0xffffffffL)) return false;
        i += 8;
      }
      return true;
    } finally {
      inflater.end();
    }
  }

  /** The end of the header of a member, or -1. */
  private static int header(byte[] b, int from) {
    if (b.length - from < 10 || (b[from] & 0xff) != 0x1f || (b[from + 1] & 0xff) != 0x8b || b[from + 2] != 8) return -1;
    int flags = b[from + 3], i = from + 10;
    if ((flags & 0xe0) != 0) return -1;
    if ((flags & 4) != 0) {
      if (b.length - i < 2) return -1;
      i += 2 + (int) Box.word(b, i, 2);
    }
    for (int texts = flags >> 3 & 3; texts > 0; texts &= texts - 1) { // a name, a comment
      while (i < b.length && b[i] != 0) i++;
      i++;
    }
    if ((flags & 2) != 0) {
      if (b.length - i < 2) return -1;
      CRC32 crc = new CRC32();
      crc.update(b, from, i - from);
      if (Box.word(b, i, 2) != (crc.getValue() & 0xffff)) return -1;
      i += 2;
    }
    return i <= b.length ? i : -1;
  }
}
