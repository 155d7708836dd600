package wpm;

import java.math.BigInteger;
import java.util.Arrays;

/** One draw, from random bytes on: private bytes, the row, the index, the report (docs/spec/release.md). */
final class Draw {
  private final Policy policy;
  private final double[] counts;
  private final long[] units, row;
  private final Private reader;
  int index, input = -1; // what was drawn; the input whose row decided, or -1
  boolean usable;

  /** Takes nearly all the memory of a draw, before anything private is read. */
  Draw(Policy policy) {
    this.policy = policy;
    counts = new double[policy.inputs];
    units = new long[policy.inputs];
    row = new long[policy.outputs];
    reader = new Private(policy, counts);
  }

  static int randomBytes(Policy p) {
    return 8 + (p.box.bits + 7) / 8;
  }

  /** The report. Data that cannot be used take the same steps, with counts of 1. */
  byte[] report(byte[] data, byte[] random) {
    usable = reader.usable(data);
    if (!usable) Arrays.fill(counts, 1);
    int i = pick(Box.word(random, 0, 8));
    boolean own = usable && policy.rows != null;
    if (policy.rows != null) policy.rows.law(i, policy, row);
    index = Box.sample(own ? row : policy.fallback, policy.box.bits, random, 8);
    input = own ? i : -1;
    byte[] report = new byte[Report.BYTES];
    System.arraycopy(new byte[] {'w', 'p', 'm', '1'}, 0, report, 0, 4);
    System.arraycopy(policy.id, 0, report, 4, 32);
    for (int n = 0; n < 4; n++) report[36 + n] = (byte) (index >> 8 * n);
    return report;
  }

  /** The input that w draws: the first i with u_0 + ... + u_i > floor(w U / 2^64). */
  private int pick(long w) {
    double total = 0;
    for (double c : counts) total += c;
    int shift = 61 - Math.getExponent(total);
    if (total < Double.MIN_NORMAL) shift = 61 + 1074 - (63 - Long.numberOfLeadingZeros(Double.doubleToRawLongBits(total)));
    long all = 0;
    for (int i = 0; i < units.length; i++) {
      units[i] = (long) Math.scalb(counts[i], shift);
      all += units[i]; // at most 2^62, but for the roundings of total
    }
    BigInteger unsigned = BigInteger.valueOf(w >>> 1).shiftLeft(1).or(BigInteger.valueOf(w & 1));
    long t = unsigned.multiply(BigInteger.valueOf(all)).shiftRight(64).longValue(), sum = 0, i = 0;
    for (long u : units) {
      sum += u;
      i += (sum - t - 1) >>> 63;
    }
    return (int) i;
  }
}
