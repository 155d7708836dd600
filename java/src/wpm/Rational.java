package wpm;

import java.math.BigInteger;

/** A number of a ledger: at least 0, of any size. */
final class Rational implements Comparable<Rational> {
  static final Rational ZERO = new Rational(BigInteger.ZERO, BigInteger.ONE);
  private static final int MAX_BYTES = 256;

  private final BigInteger n, d;

  Rational(BigInteger n, BigInteger d) {
    BigInteger g = n.gcd(d);
    this.n = n.divide(g);
    this.d = d.divide(g);
  }

  /** The number that a text spells, or null. */
  static Rational parse(String s) {
    int cut = 0;
    while (cut < s.length() && digit(s.charAt(cut))) cut++;
    if (cut == 0 || s.length() > MAX_BYTES) return null;
    if (cut == s.length()) return new Rational(new BigInteger(s), BigInteger.ONE);
    if (s.charAt(cut) != '.' && s.charAt(cut) != '/' || cut + 1 == s.length()) return null;
    for (int i = cut + 1; i < s.length(); i++) if (!digit(s.charAt(i))) return null;
    String whole = s.substring(0, cut), part = s.substring(cut + 1);
    if (s.charAt(cut) == '.') return new Rational(new BigInteger(whole + part), BigInteger.TEN.pow(part.length()));
    BigInteger d = new BigInteger(part);
    return d.signum() == 0 ? null : new Rational(new BigInteger(whole), d);
  }

  private static boolean digit(char c) {
    return c >= '0' && c <= '9';
  }

  Rational plus(Rational r) {
    return new Rational(n.multiply(r.d).add(r.n.multiply(d)), d.multiply(r.d));
  }

  /** The difference, at least 0. */
  Rational less(Rational r) {
    return compareTo(r) <= 0 ? ZERO : new Rational(n.multiply(r.d).subtract(r.n.multiply(d)), d.multiply(r.d));
  }

  @Override public int compareTo(Rational r) {
    return n.multiply(r.d).compareTo(r.n.multiply(d));
  }

  @Override public boolean equals(Object o) {
    return o instanceof Rational && compareTo((Rational) o) == 0;
  }

  @Override public int hashCode() {
    return 31 * n.hashCode() + d.hashCode();
  }

  @Override public String toString() {
    return d.equals(BigInteger.ONE) ? n.toString() : n + "/" + d;
  }
}
