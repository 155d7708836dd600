package wpm;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * A policy, decoded from its file and verified: rules 1 to 9 of docs/spec/policy.md, and the box in integers. It does not
 * change. A policy that does not have the one text that it must have is refused.
 */
public final class Policy {
  static final int MAX_BYTES = 64 << 20, MAX_ITEMS = 1 << 20;
  private static final int MAX_NAME = 256, MAX_TEXT = 4096, MAX_METADATA = 64;

  final byte[] id;
  final int inputs, outputs;
  final boolean projection;
  final Box box;
  final Rows rows; // null: no input has a row
  final long[] fallback;
  final Map<String, Integer> labels; // input labels and aliases by their bytes, as Latin-1; null: labels are indices
  final Schedule schedule; // null: none
  private final Epsilon epsilon;
  private final String[] outputLabels;

  /** Decodes and verifies a file. */
  public static Policy decode(byte[] file) throws Refused {
    Refused.policy(file.length <= MAX_BYTES, "the file has more than 64 MiB");
    return new Policy(new Scanner(file), sha256(file));
  }

  private Policy(Scanner in, byte[] id) throws Refused {
    this.id = id;
    in.need("{\n\"format\":\"wpm-policy-");
    int version = in.number("version", 1, 3);
    in.need("\",\n\"epsilon\":\"");
    int from = in.at;
    while (in.peek() != '"' && in.peek() >= 0) in.at++;
    epsilon = canonical(new String(in.b, from, in.at - from, StandardCharsets.ISO_8859_1));
    in.need("\",\n\"bits\":");
    int bits = in.number("bits", 1, 62);
    in.need(",\n\"mode\":\"");
    projection = in.next("projection");
    if (!projection) in.need("mixture");
    in.need("\",\n\"work_limit_ms\":");
    in.number("work_limit_ms", projection ? 1 : 0, projection ? 3_600_000 : 0);
    in.need(",\n");
    schedule = version == 3 && in.sees("\"schedule\"") ? Schedule.read(in) : null;
    in.need("\"inputs\":");
    inputs = in.number("inputs", 1, MAX_ITEMS);
    in.need(",\n\"outputs\":");
    outputs = in.number("outputs", 1, MAX_ITEMS);
    in.need(",\n\"provenance\":");
    provenance(in);
    in.need(",\n\"metadata\":");
    metadata(in);
    in.need(",\n\"certificate\":");
    boolean certified = !in.next("null");
    if (certified) in.object();
    in.need(",\n\"cost\":");
    if (!in.next("null")) in.object();
    in.need(",\n\"input_labels\":");
    String[] names = labels(in, inputs);
    in.need(",\n\"output_labels\":");
    outputLabels = labels(in, outputs);
    if (outputLabels != null) distinct(new HashSet<>(), outputLabels);
    labels = aliases(in, names);
    in.need(",\n");
    fallback = new long[outputs];
    if (version < 3 || in.sees("\"lo\":")) {
      in.need("\"lo\":");
      long[] lo = bounds(in, version);
      in.need(",\n\"hi\":");
      long[] hi = bounds(in, version);
      box = new Box(epsilon, bits, lo, hi);
      in.need(",\n\"fallback\":");
      new Stated(box, 1).read(in).law(0, this, fallback);
      in.need(",\n");
      if (version == 3 && schedule == null) throw in.bad("neither a schedule nor codes: that is version 1 or 2");
      rows = version == 1 || version == 3 && in.sees("\"rows\":") ? stated(in) : Ranked.read(in, this);
    } else {
      if (projection || certified || outputLabels != null) throw in.bad("codes are for mixture, without a certificate and output labels");
      Codes codes = Codes.read(in, bits, inputs, outputs);
      box = new Box(epsilon, bits, codes.lo, codes.hi);
      codes.even(fallback);
      rows = codes;
    }
    in.need("\n}\n");
    if (in.at != in.b.length) throw in.bad("bytes after the end of the policy");
  }

  private static Epsilon canonical(String s) throws Refused {
    Epsilon e = Epsilon.parse(s);
    Refused.policy(e.toString().equals(s), "epsilon " + s + " has the canonical text " + e);
    return e;
  }

  private static void provenance(Scanner in) throws Refused {
    in.need("{");
    for (String[] part : new String[][] {{"geometry", "public"}, {"base_measure", "data-independent"}}) {
      in.need("\"" + part[0] + "\":");
      String kind = in.text(part[0], 0, MAX_TEXT);
      boolean derived = kind.equals("derived-dp");
      Refused.policy(derived || kind.equals(part[1]) || kind.equals("unstated"), part[0] + " of the provenance is " + kind);
      in.need(",\"" + part[0] + "_epsilon\":");
      if (derived) canonical(in.text("epsilon", 1, 100)); else in.need("null");
      in.need(",");
    }
    in.need("\"note\":");
    in.text("note", 0, MAX_TEXT);
    in.need("}");
  }

  private static void metadata(Scanner in) throws Refused {
    in.need("{");
    String last = null;
    for (int n = 0; !in.next("}"); n++) {
      if (n > 0) in.need(",");
      if (n == MAX_METADATA) throw in.bad("more than " + MAX_METADATA + " members of metadata");
      String name = in.text("name of metadata", 1, 64);
      if (last != null && compare(last, name) >= 0) throw in.bad("metadata are not sorted, or have a name twice");
      last = name;
      in.need(":");
      in.text("value of metadata", 0, MAX_TEXT);
    }
  }

  private static String[] labels(Scanner in, int count) throws Refused {
    if (in.next("null")) return null;
    String[] s = new String[count];
    for (int i = 0; i < count; i++) {
      in.need(i == 0 ? "[" : ",");
      s[i] = in.text("label", 1, MAX_NAME);
    }
    in.need("]");
    return s;
  }

  private static void distinct(Set<String> seen, String[] names) throws Refused {
    for (String s : names) Refused.policy(seen.add(s), "a label is there twice: " + s);
  }

  private Map<String, Integer> aliases(Scanner in, String[] names) throws Refused {
    Map<String, Integer> all = null;
    if (names != null) {
      distinct(new HashSet<>(), names);
      all = new HashMap<>(2 * names.length);
      for (int i = 0; i < names.length; i++) all.put(latin1(names[i]), i);
    }
    if (!in.next(",\n\"input_aliases\":[")) return all;
    if (names == null) throw in.bad("aliases without input labels");
    int last = 0;
    String before = null;
    for (int n = 0; n == 0 || !in.next("]"); n++) {
      if (n > 0) in.need(",");
      if (n == MAX_ITEMS) throw in.bad("more than 2^20 aliases");
      in.need("[");
      int input = in.number("input of an alias", last, inputs - 1);
      in.need(",");
      String name = in.text("alias", 1, MAX_NAME);
      in.need("]");
      if (before != null && input == last && compare(before, name) >= 0) throw in.bad("aliases are not sorted");
      if (all.put(latin1(name), input) != null) throw in.bad("an alias is there twice: " + name);
      last = input;
      before = name;
    }
    return all;
  }

  private long[] bounds(Scanner in, int version) throws Refused {
    long[] n = new long[outputs];
    if (version > 1 && in.peek() == '"') {
      Arrays.fill(n, in.units());
      return n;
    }
    boolean same = true;
    for (int j = 0; j < outputs; j++) {
      in.need(j == 0 ? "[" : ",");
      n[j] = in.units();
      same &= n[j] == n[0];
    }
    in.need("]");
    if (version > 1 && same) throw in.bad("bounds that are all equal are one number");
    return n;
  }

  private Rows stated(Scanner in) throws Refused {
    in.need("\"rows\":");
    if (projection && in.next("null")) return null;
    Stated all = new Stated(box, inputs);
    for (int i = 0; i < inputs; i++) {
      in.need(i == 0 ? "[\n" : ",\n");
      all.read(in);
    }
    in.need("\n]");
    return all;
  }

  /** The order of the bytes of UTF-8, which is that of code points. */
  private static int compare(String a, String b) {
    byte[] x = a.getBytes(StandardCharsets.UTF_8), y = b.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < Math.min(x.length, y.length); i++) if (x[i] != y[i]) return (x[i] & 0xff) - (y[i] & 0xff);
    return x.length - y.length;
  }

  private static String latin1(String s) {
    return new String(s.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }

  static byte[] sha256(byte[]... parts) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      for (byte[] p : parts) sha.update(p);
      return sha.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** The SHA-256 of the file: 64 hexadecimal digits. */
  public String id() {
    return Hex.of(id);
  }

  /** The epoch that the clock says, of the form of the policy's schedule; null without a schedule, where epochs are free text. */
  public String epoch() {
    return schedule == null ? null : Schedule.at(schedule.form, System.currentTimeMillis());
  }

  /** Whether the text of a signature is one of this policy by the key, 64 hexadecimal digits. */
  public boolean signedBy(String key, String signature) {
    return signed(id(), key, signature);
  }

  static boolean signed(String id, String key, String signature) {
    String[] words = signature.split(" ", -1);
    if (words.length != 3 || !words[0].equals("wpm-signature-1") || !words[1].equals(key) || !words[2].endsWith("\n")) return false;
    byte[] k = Hex.read(key), sig = Hex.read(words[2].substring(0, words[2].length() - 1));
    return k != null && sig != null && Ed25519.verify(k, ("wpm-signature-1 " + id).getBytes(StandardCharsets.US_ASCII), sig);
  }

  public Epsilon epsilon() {
    return epsilon;
  }

  public int outputs() {
    return outputs;
  }

  public int inputs() {
    return inputs;
  }

  /** The label of an output, or its index where outputs have no labels. */
  public String outputLabel(int j) {
    return outputLabels == null ? Integer.toString(j) : outputLabels[j];
  }

  /** The laws of inputs: each a point of the box. */
  interface Rows {
    /** Adds the row of input i to dst, which is zero. It reads the rows of all inputs, so that time tells nothing of i. */
    void law(int i, Policy p, long[] dst);
  }

  /** Rows that are stated one by one. */
  static final class Stated implements Rows {
    private final Box box;
    private final int[] end; // of each row in at
    private int[] at = new int[64];
    private long[] add = new long[64]; // units above lo
    private int rows, size;

    Stated(Box box, int rows) {
      this.box = box;
      end = new int[rows];
    }

    /** Reads a row, and checks that it is a point of the box in the one way in which it can be written. */
    Stated read(Scanner in) throws Refused {
      int start = size;
      long sum = box.sumLo, all = 1L << box.bits;
      in.need("{\"full\":[");
      for (int n = 0, last = -1; !in.next("]"); n++) {
        if (n > 0) in.need(",");
        last = in.number("output of full", last + 1, box.lo.length - 1);
        if (box.hi[last] == box.lo[last]) throw in.bad("full has an output without room");
        sum = take(last, box.hi[last] - box.lo[last], sum, all, in);
      }
      int full = size;
      in.need(",\"extra\":[");
      for (int n = 0, last = -1, next = start; !in.next("]"); n++) {
        if (n > 0) in.need(",");
        in.need("[");
        last = in.number("output of extra", last + 1, box.lo.length - 1);
        in.need(",");
        long u = in.units();
        in.need("]");
        while (next < full && at[next] < last) next++;
        if (u < 1 || u >= box.hi[last] - box.lo[last] || next < full && at[next] == last) {
          throw in.bad("extra is not between the bounds, or its output is full");
        }
        sum = take(last, u, sum, all, in);
      }
      in.need("}");
      if (sum != all) throw in.bad("a row has not 2^bits units");
      end[rows++] = size;
      return this;
    }

    private long take(int j, long u, long sum, long all, Scanner in) throws Refused {
      if (sum > all - u) throw in.bad("a row has more than 2^bits units");
      if (size == at.length) {
        at = Arrays.copyOf(at, 2 * size);
        add = Arrays.copyOf(add, 2 * size);
      }
      at[size] = j;
      add[size++] = u;
      return sum + u;
    }

    @Override public void law(int i, Policy p, long[] dst) {
      System.arraycopy(box.lo, 0, dst, 0, dst.length);
      for (int r = 0, n = 0; r < rows; r++) {
        long mask = same(r, i);
        for (; n < end[r]; n++) dst[at[n]] += add[n] & mask;
      }
    }
  }

  /** All ones if a = b, else zero. */
  static long same(long a, long b) {
    long x = a ^ b;
    return ((x | -x) >> 63) ^ -1;
  }
}
