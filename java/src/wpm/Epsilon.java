package wpm;

import java.math.BigInteger;

/** A privacy loss: an exact fraction from 10^-18 to 64 (docs/spec/mechanism.md, Epsilon). */
public final class Epsilon {
  private static final int MAX_BYTES = 100, PLACES = 38;
  private static final BigInteger TEN = BigInteger.TEN, LEAST = TEN.pow(18), MOST = BigInteger.valueOf(64);

  final BigInteger n, d; // in lowest terms, d > 0
  private BigInteger[] bounds; // of e^x, in units of 2^-bits
  private int bits;

  private Epsilon(BigInteger n, BigInteger d) {
    BigInteger g = n.gcd(d);
    this.n = n.divide(g);
    this.d = d.divide(g);
  }

  /** Reads a decimal or a fraction, for exactly the number that it spells. */
  public static Epsilon parse(String s) throws Refused {
    BigInteger[] f = s.length() <= MAX_BYTES ? fraction(s) : null;
    Refused.need(f != null && f[1].signum() > 0, Refused.Kind.EPSILON, "epsilon is no decimal and no fraction");
    Epsilon e = new Epsilon(f[0], f[1]);
    Refused.need(e.n.multiply(LEAST).compareTo(e.d) >= 0 && e.n.compareTo(e.d.multiply(MOST)) <= 0 && e.d.bitLength() <= 128,
        Refused.Kind.EPSILON, "epsilon is not from 1e-18 to 64, or its denominator is 2^128 or more");
    return e;
  }

  /** The number of a decimal or a fraction, or null. */
  private static BigInteger[] fraction(String s) {
    int at = whole(s, 0);
    if (at < 0) return null;
    if (at < s.length() && s.charAt(at) == '/') {
      if (whole(s, at + 1) != s.length()) return null;
      return new BigInteger[] {new BigInteger(s.substring(0, at)), new BigInteger(s.substring(at + 1))};
    }
    StringBuilder digits = new StringBuilder(s.substring(0, at));
    int places = 0, exponent = 0;
    if (at < s.length() && s.charAt(at) == '.') {
      int end = digits(s, at + 1);
      if (end == at + 1) return null;
      digits.append(s, at + 1, end);
      places = end - at - 1;
      at = end;
    }
    if (at < s.length() && (s.charAt(at) == 'e' || s.charAt(at) == 'E')) {
      at++;
      boolean negative = at < s.length() && s.charAt(at) == '-';
      if (negative || at < s.length() && s.charAt(at) == '+') at++;
      int end = digits(s, at);
      if (end == at || end > at + 3) return null;
      exponent = Integer.parseInt(s.substring(at, end)) * (negative ? -1 : 1);
      at = end;
    }
    if (at != s.length()) return null;
    int shift = exponent - places;
    BigInteger value = new BigInteger(digits.toString()), power = TEN.pow(Math.abs(shift));
    return shift < 0 ? new BigInteger[] {value, power} : new BigInteger[] {value.multiply(power), BigInteger.ONE};
  }

  /** The end of a whole number without leading zeros, or -1. */
  private static int whole(String s, int at) {
    int end = digits(s, at);
    return end == at || s.charAt(at) == '0' && end > at + 1 ? -1 : end;
  }

  private static int digits(String s, int at) {
    while (at < s.length() && s.charAt(at) >= '0' && s.charAt(at) <= '9') at++;
    return at;
  }

  /** The canonical text. */
  @Override public String toString() {
    BigInteger all = TEN.pow(PLACES);
    if (all.mod(d).signum() != 0) return n + "/" + d;
    String s = n.multiply(all.divide(d)).toString();
    while (s.length() <= PLACES) s = "0" + s;
    String fraction = s.substring(s.length() - PLACES).replaceAll("0+$", "");
    return s.substring(0, s.length() - PLACES) + (fraction.isEmpty() ? "" : "." + fraction);
  }

  /** Whether hi <= e^x lo: a comparison of integers with bounds on e^x, which become closer until they decide. */
  boolean allows(long lo, long hi) {
    BigInteger l = BigInteger.valueOf(lo), h = BigInteger.valueOf(hi);
    for (int precision = 256;; precision *= 2) {
      if (bounds == null || bits < precision) exp(precision);
      BigInteger want = h.shiftLeft(bits);
      if (want.compareTo(bounds[0].multiply(l)) <= 0) return true;
      if (want.compareTo(bounds[1].multiply(l)) > 0) return false;
    }
  }

  /**
   * Sets bounds = {a, b} with a / 2^bits <= e^x <= b / 2^bits, from the series: every term is rounded down for a and up for
   * b, and the terms after one of index at least 2 x sum to less than it.
   */
  private void exp(int precision) {
    bits = precision;
    BigInteger low = BigInteger.ONE.shiftLeft(bits), high = low, termLow = low, termHigh = low;
    for (long i = 1;; i++) {
      BigInteger by = d.multiply(BigInteger.valueOf(i));
      termLow = termLow.multiply(n).divide(by);
      BigInteger[] q = termHigh.multiply(n).divideAndRemainder(by);
      termHigh = q[1].signum() == 0 ? q[0] : q[0].add(BigInteger.ONE);
      low = low.add(termLow);
      high = high.add(termHigh);
      boolean past = n.shiftLeft(1).compareTo(d.multiply(BigInteger.valueOf(i))) <= 0;
      if (past && termHigh.compareTo(BigInteger.ONE) <= 0) {
        bounds = new BigInteger[] {low, high.add(termHigh)};
        return;
      }
    }
  }
}
