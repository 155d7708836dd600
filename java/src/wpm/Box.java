package wpm;

/** The integers that decide privacy: lo_j <= n_j <= hi_j, sum n = 2^bits, hi_j <= e^x lo_j (docs/spec/mechanism.md). */
final class Box {
  final int bits;
  final long[] lo, hi;
  final long sumLo;

  /** Checks every condition of a box. No sum wraps: it ends at the first that is above 2^bits, or is of numbers below 2^62. */
  Box(Epsilon eps, int bits, long[] lo, long[] hi) throws Refused {
    Refused.policy(1 <= bits && bits <= 62, "bits is not from 1 to 62");
    Refused.policy(lo.length == hi.length && lo.length >= 1, "there is not a lower and an upper bound for each output");
    this.bits = bits;
    this.lo = lo;
    this.hi = hi;
    long all = 1L << bits, sum = 0, room = 0, l = -1, h = -1;
    for (int j = 0; j < lo.length; j++) {
      Refused.policy(0 <= lo[j] && lo[j] <= hi[j] && hi[j] <= all, "output " + j + ": lo <= hi <= 2^bits does not hold");
      if (lo[j] != l || hi[j] != h) Refused.policy(eps.allows(lo[j], hi[j]), "output " + j + ": hi is more than e^epsilon lo");
      l = lo[j];
      h = hi[j];
      Refused.policy(sum <= all - l, "the lower bounds add up to more than 2^bits");
      sum += l;
      room = h > all - room ? all : room + h;
    }
    Refused.policy(room == all, "the upper bounds add up to less than 2^bits");
    sumLo = sum;
  }

  /** Checks that n is a point of the box. */
  void checkRow(long[] n) throws Refused {
    Refused.policy(n.length == lo.length, "a row has not a weight for each output");
    long all = 1L << bits, sum = 0;
    for (int j = 0; j < n.length; j++) {
      Refused.policy(lo[j] <= n[j] && n[j] <= hi[j], "a row is out of the box at output " + j);
      Refused.policy(sum <= all - n[j], "a row has more than 2^bits units");
      sum += n[j];
    }
    Refused.policy(sum == all, "a row has not 2^bits units");
  }

  /** The index that random bytes draw: the first j with n_0 + ... + n_j > r. Every n_j is read, without a branch. */
  static int sample(long[] n, int bits, byte[] random, int at) {
    long r = word(random, at, (bits + 7) / 8) & ((1L << bits) - 1), sum = 0, index = 0;
    for (long x : n) {
      sum += x;
      index += (sum - r - 1) >>> 63; // 1 if sum <= r: both are at most 2^62
    }
    return (int) index;
  }

  /** Bytes as a number, the first one lowest. */
  static long word(byte[] b, int at, int size) {
    long w = 0;
    for (int i = size - 1; i >= 0; i--) w = w << 8 | b[at + i] & 0xff;
    return w;
  }
}
