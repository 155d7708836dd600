package wpm;

import java.math.BigInteger;

/** Integer keys that order the outputs for each input: squared distances, or those of a grid or a ring (docs/spec/policy.md). */
final class Geometry {
  private enum Kind { POINTS, GRID, RING }

  private final Kind kind;
  private final int axes, grid, cols, inputs; // rows and columns of a grid
  private final int[] from, to; // coordinates of inputs and of outputs

  private Geometry(Kind kind, int axes, int grid, int cols, int inputs, int[] from, int[] to) {
    this.kind = kind;
    this.axes = axes;
    this.grid = grid;
    this.cols = cols;
    this.inputs = inputs;
    this.from = from;
    this.to = to;
  }

  /** Reads a geometry. With codes the outputs are the inputs, and are stated once. */
  static Geometry read(Scanner in, int inputs, int outputs, boolean codes) throws Refused {
    in.need("\"geometry\":{\"kind\":");
    String name = in.text("kind", 1, 16);
    Kind kind = name.equals("points") ? Kind.POINTS : name.equals("grid") ? Kind.GRID : name.equals("ring") ? Kind.RING : null;
    if (kind == null) throw in.bad("geometry of kind " + name);
    boolean points = kind == Kind.POINTS, cells = kind == Kind.GRID;
    in.need(",\"axes\":");
    int axes = in.number("axes", points ? 1 : 0, points ? Policy.MAX_BYTES : 0);
    in.need(",\"rows\":");
    int r = in.number("rows", cells ? 1 : 0, cells ? Policy.MAX_ITEMS : 0);
    in.need(",\"cols\":");
    int c = in.number("cols", cells ? 1 : 0, cells ? Policy.MAX_ITEMS : 0);
    if (cells && (long) r * c != outputs) throw in.bad("the grid has not as many cells as there are outputs");
    in.need("},\n\"input_points\":");
    int[] from = points && !in.next("null") ? coordinates(in, (long) axes * inputs) : null;
    if (!points) in.need("null");
    if (codes && from != null) throw in.bad("with codes, the points of inputs are those of outputs");
    in.need(",\n\"output_points\":");
    int[] to = points ? coordinates(in, (long) axes * outputs) : null;
    if (!points) in.need("null");
    in.need(",\n");
    if (from == null && inputs != outputs) throw in.bad("there are not as many inputs as outputs");
    if (from == null) from = to;
    if (points && !spread(axes, from, to)) throw in.bad("the points are too far apart for keys below 2^63");
    return new Geometry(kind, axes, r, c, inputs, from, to);
  }

  private static int[] coordinates(Scanner in, long count) throws Refused {
    int[] x = room(in, count);
    for (int i = 0; i < x.length; i++) {
      in.need(i == 0 ? "[" : ",");
      x[i] = in.coordinate();
    }
    in.need("]");
    return x;
  }

  /** A threshold for each input: an output. */
  static int[] thresholds(Scanner in, int inputs, int outputs) throws Refused {
    int[] t = room(in, inputs);
    for (int i = 0; i < t.length; i++) {
      in.need(i == 0 ? "[" : ",");
      t[i] = in.number("threshold", 0, outputs - 1);
    }
    in.need("]");
    return t;
  }

  /** Room for integers, of which each takes two bytes of the file. */
  private static int[] room(Scanner in, long count) throws Refused {
    if (count > in.b.length - in.at) throw in.bad("fewer integers than " + count);
    return new int[(int) count];
  }

  /** Whether one of the two bounds on the keys is below 2^63. */
  private static boolean spread(int axes, int[]... clouds) {
    BigInteger sum = BigInteger.ZERO, largest = BigInteger.ZERO;
    for (int a = 0; a < axes; a++) {
      long least = Long.MAX_VALUE, most = Long.MIN_VALUE;
      for (int[] x : clouds) {
        for (int n = a; n < x.length; n += axes) {
          least = Math.min(least, x[n]);
          most = Math.max(most, x[n]);
        }
      }
      BigInteger wide = BigInteger.valueOf(most - least);
      sum = sum.add(wide.multiply(wide));
    }
    if (sum.bitLength() <= 63) return true;
    for (int[] x : clouds) {
      for (int n = 0; n < x.length; n += axes) {
        long square = 0; // at most 2^62 for each axis: stops before it wraps
        for (int a = 0; a < axes && square >= 0; a++) square += (long) x[n + a] * x[n + a];
        if (square < 0) return false;
        largest = largest.max(BigInteger.valueOf(square));
      }
    }
    return largest.shiftLeft(2).bitLength() <= 63;
  }

  /**
   * Sets before to all ones for outputs that come before the threshold of input i, and to zero for others, and returns the
   * threshold. All points and thresholds are read.
   */
  int order(int i, int[] thresholds, long[] before) {
    int t = 0;
    int[] own = new int[axes];
    for (int n = 0; n < inputs; n++) {
      int mask = (int) Policy.same(n, i);
      t |= thresholds[n] & mask;
      for (int a = 0; a < axes; a++) own[a] |= from[n * axes + a] & mask;
    }
    long last = 0;
    for (int j = 0; j < before.length; j++) {
      before[j] = key(own, i, j);
      last |= before[j] & Policy.same(j, t);
    }
    for (int j = 0; j < before.length; j++) { // keys are from 0 to 2^63 - 1
      before[j] = (before[j] - last) >> 63 | Policy.same(before[j], last) & (long) (j - t) >> 63;
    }
    return t;
  }

  private long key(int[] own, int i, int j) {
    long x, y;
    switch (kind) {
      case GRID:
        x = (long) grid * (i % cols - j % cols);
        y = (long) cols * (i / cols - j / cols);
        return x * x + y * y;
      case RING:
        return Math.min(Math.floorMod(i - j, inputs), Math.floorMod(j - i, inputs));
      default:
        x = 0;
        for (int a = 0; a < axes; a++) {
          y = (long) own[a] - to[j * axes + a];
          x += y * y;
        }
        return x;
    }
  }
}
