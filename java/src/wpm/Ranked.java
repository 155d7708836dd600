package wpm;

/** Rows by threshold: outputs in the order of integer keys, full before the threshold, and low after it. */
final class Ranked implements Policy.Rows {
  private final Geometry geometry;
  private final int[] thresholds;

  private Ranked(Geometry geometry, int[] thresholds) {
    this.geometry = geometry;
    this.thresholds = thresholds;
  }

  static Ranked read(Scanner in, Policy p) throws Refused {
    Geometry g = Geometry.read(in, p.inputs, p.outputs, false);
    in.need("\"thresholds\":");
    return new Ranked(g, Geometry.thresholds(in, p.inputs, p.outputs));
  }

  @Override public void law(int i, Policy p, long[] dst) {
    long[] lo = p.box.lo, hi = p.box.hi, before = new long[dst.length];
    int t = geometry.order(i, thresholds, before);
    long sum = 0, low = 0, high = 0;
    for (int j = 0; j < dst.length; j++) {
      long at = Policy.same(j, t);
      dst[j] = lo[j] + (hi[j] - lo[j] & before[j]) & ~at;
      sum += dst[j];
      low |= lo[j] & at;
      high |= hi[j] & at;
    }
    long rest = (1L << p.box.bits) - sum; // means nothing if sum wraps, which atMost finds
    long good = ~((rest - low) >> 63) & ~((high - rest) >> 63) & ~rest >> 63 & atMost(dst, p.box.bits);
    for (int j = 0; j < dst.length; j++) {
      long law = dst[j] | rest & Policy.same(j, t);
      dst[j] = law & good | p.fallback[j] & ~good;
    }
  }

  /** All ones if the sum of n is at most 2^bits, else zero. A sum that is above stays at 2^bits + 1, and never wraps. */
  private static long atMost(long[] n, int bits) {
    long sum = 0, all = 1L << bits;
    for (long x : n) {
      sum += x;
      long over = ~((sum - all - 1) >> 63); // all ones once the sum is above: it is at most 2^63 + 1, as a word
      sum = sum & ~over | (all + 1) & over;
    }
    return ~((all - sum) >> 63);
  }
}
