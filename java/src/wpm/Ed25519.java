package wpm;

import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * Verifies signatures of Ed25519 (RFC 8032, section 5.1.7), as Go's crypto/ed25519 does: S is below the order, encodings of
 * the key are reduced, and R is compared as bytes. Java 11 has no Ed25519. All that it works on is public.
 */
final class Ed25519 {
  private static final BigInteger TWO = BigInteger.valueOf(2);
  private static final BigInteger P = TWO.pow(255).subtract(BigInteger.valueOf(19));
  private static final BigInteger ORDER = TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));
  private static final BigInteger D = BigInteger.valueOf(-121665).multiply(BigInteger.valueOf(121666).modInverse(P)).mod(P);
  private static final BigInteger ROOT = TWO.modPow(P.subtract(BigInteger.ONE).shiftRight(2), P); // of -1
  private static final BigInteger[] BASE = decode(Hex.read("5866666666666666666666666666666666666666666666666666666666666666"));

  private Ed25519() {}

  static boolean verify(byte[] key, byte[] message, byte[] signature) {
    if (key.length != 32 || signature.length != 64) return false;
    byte[] r = Arrays.copyOf(signature, 32);
    BigInteger s = little(Arrays.copyOfRange(signature, 32, 64));
    BigInteger[] a = decode(key);
    if (a == null || s.compareTo(ORDER) >= 0) return false;
    a[0] = P.subtract(a[0]).mod(P); // -A
    a[3] = P.subtract(a[3]).mod(P);
    BigInteger h = little(sha512(r, key, message)).mod(ORDER);
    return Arrays.equals(encode(add(times(s, BASE), times(h, a))), r); // S B - h A = R
  }

  private static byte[] sha512(byte[]... parts) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-512");
      for (byte[] p : parts) sha.update(p);
      return sha.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-512", e);
    }
  }

  private static BigInteger little(byte[] b) {
    byte[] big = new byte[b.length];
    for (int i = 0; i < b.length; i++) big[i] = b[b.length - 1 - i];
    return new BigInteger(1, big);
  }

  /** A point in extended coordinates X, Y, Z, T with x = X / Z, y = Y / Z, x y = T / Z; null if the bytes are none. */
  private static BigInteger[] decode(byte[] b) {
    byte[] bytes = b.clone();
    boolean odd = bytes[31] < 0;
    bytes[31] &= 0x7f;
    BigInteger y = little(bytes).mod(P), square = y.multiply(y);
    BigInteger u = square.subtract(BigInteger.ONE).mod(P), v = square.multiply(D).add(BigInteger.ONE).mod(P);
    BigInteger x2 = u.multiply(v.modInverse(P)).mod(P); // v is not 0: -1/d is no square
    BigInteger x = x2.modPow(P.add(BigInteger.valueOf(3)).shiftRight(3), P);
    if (!x.multiply(x).mod(P).equals(x2)) x = x.multiply(ROOT).mod(P);
    if (!x.multiply(x).mod(P).equals(x2)) return null;
    if (x.testBit(0) != odd) x = P.subtract(x).mod(P);
    return new BigInteger[] {x, y, BigInteger.ONE, x.multiply(y).mod(P)};
  }

  private static byte[] encode(BigInteger[] p) {
    BigInteger inverse = p[2].modInverse(P), x = p[0].multiply(inverse).mod(P), y = p[1].multiply(inverse).mod(P);
    byte[] out = new byte[32];
    for (int i = 0; i < 32; i++) out[i] = (byte) y.shiftRight(8 * i).intValue();
    if (x.testBit(0)) out[31] |= (byte) 0x80;
    return out;
  }

  /** RFC 8032, section 5.1.4. It is complete: it doubles, too. */
  private static BigInteger[] add(BigInteger[] p, BigInteger[] q) {
    BigInteger a = p[1].subtract(p[0]).multiply(q[1].subtract(q[0])).mod(P);
    BigInteger b = p[1].add(p[0]).multiply(q[1].add(q[0])).mod(P);
    BigInteger c = p[3].multiply(q[3]).multiply(TWO).multiply(D).mod(P);
    BigInteger d = p[2].multiply(q[2]).multiply(TWO).mod(P);
    BigInteger e = b.subtract(a), f = d.subtract(c), g = d.add(c), h = b.add(a);
    return new BigInteger[] {e.multiply(f).mod(P), g.multiply(h).mod(P), f.multiply(g).mod(P), e.multiply(h).mod(P)};
  }

  private static BigInteger[] times(BigInteger n, BigInteger[] p) {
    BigInteger[] sum = {BigInteger.ZERO, BigInteger.ONE, BigInteger.ONE, BigInteger.ZERO};
    for (int i = n.bitLength() - 1; i >= 0; i--) {
      sum = add(sum, sum);
      if (n.testBit(i)) sum = add(sum, p);
    }
    return sum;
  }
}
