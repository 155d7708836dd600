package wpm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * A list of codes and discs, each with a public weight (docs/spec/policy.md, Codes). The outputs of a component have its
 * weight in every row, so that which component a release is of says nothing about its owner.
 */
final class Codes implements Policy.Rows {
  private static final long MAX_WORK = 1L << 28; // inputs times components
  private static final int MAX_COLORS = 1 << 20;

  /** A code, or a disc. */
  private static final class Component {
    long weight, low, high;
    int first, size; // its outputs
    byte[] colors; // of inputs, in depth bits each; null: a disc
    int depth;
    int[] thresholds;
    long full; // inputs before the threshold of a disc

    /** The colour of an input: at most 20 bits, from at most four bytes. */
    int color(int i) {
      long bit = (long) i * depth, word = 0;
      int from = (int) (bit >> 3);
      for (int n = 0; n < 4; n++) word = word << 8 | (from + n < colors.length ? colors[from + n] & 0xff : 0);
      return (int) (word >> 32 - depth - (bit & 7)) & (1 << depth) - 1;
    }
  }

  final long[] lo, hi; // the bounds of all outputs
  private final int inputs;
  private final Geometry geometry; // null: no disc
  private final List<Component> all = new ArrayList<>();

  private Codes(int inputs, int outputs, Geometry geometry) {
    this.inputs = inputs;
    this.geometry = geometry;
    lo = new long[outputs];
    hi = new long[outputs];
  }

  static Codes read(Scanner in, int bits, int inputs, int outputs) throws Refused {
    Codes codes = new Codes(inputs, outputs, in.sees("\"geometry\":") ? Geometry.read(in, inputs, inputs, true) : null);
    in.need("\"codes\":[\n");
    long left = 1L << bits;
    int at = 0;
    boolean discs = false;
    do {
      if ((long) inputs * (codes.all.size() + 1) > MAX_WORK) throw in.bad("inputs times components are more than 2^28");
      Component c = codes.component(in);
      if (c.size > outputs - at) throw in.bad("the components have more outputs than " + outputs);
      if (c.weight > left) throw in.bad("the weights sum to more than 2^bits");
      left -= c.weight;
      c.first = at;
      Arrays.fill(codes.lo, at, at + c.size, c.low);
      Arrays.fill(codes.hi, at, at + c.size, c.high);
      at += c.size;
      discs |= c.colors == null;
      codes.all.add(c);
    } while (in.next(",\n"));
    in.need("\n]");
    if (left != 0 || at != outputs) throw in.bad("the components have not the weight 2^bits, or not " + outputs + " outputs");
    if (discs != (codes.geometry != null)) throw in.bad("there is a geometry if and only if there is a disc");
    return codes;
  }

  private Component component(Scanner in) throws Refused {
    Component c = new Component();
    in.need("{\"weight\":");
    c.weight = in.units();
    in.need(",\"low\":");
    c.low = in.units();
    if (c.weight < 1) throw in.bad("a weight of 0");
    if (in.next(",\"colors\":")) {
      c.size = in.number("colors", 2, MAX_COLORS);
      if (c.low > c.weight / c.size) throw in.bad("the low weights are more than the weight");
      c.high = c.weight - (c.size - 1) * c.low;
      in.need(",\"color\":");
      colors(in, c);
    } else {
      in.need(",\"high\":");
      c.high = in.units();
      c.size = inputs;
      if (c.low > c.weight / c.size || c.high < c.low || c.high < (c.weight + c.size - 1) / c.size) {
        throw in.bad("the weight of a disc is not between that of low and of high outputs");
      }
      in.need(",\"thresholds\":");
      c.thresholds = Geometry.thresholds(in, inputs, inputs);
      long more = c.weight - c.size * c.low, room = c.high - c.low;
      c.full = more == 0 ? 0 : (more + room - 1) / room - 1; // the least f with more <= (f + 1) room
    }
    in.need("}");
    return c;
  }

  private void colors(Scanner in, Component c) throws Refused {
    c.depth = 32 - Integer.numberOfLeadingZeros(c.size - 1);
    long bytes = ((long) inputs * c.depth + 7) / 8;
    String s = in.text("color", 0, (int) ((bytes + 2) / 3 * 4));
    try {
      c.colors = Base64.getDecoder().decode(s);
    } catch (IllegalArgumentException e) {
      throw in.bad("color is no base64");
    }
    boolean good = c.colors.length == bytes && Base64.getEncoder().encodeToString(c.colors).equals(s);
    int idle = (int) (bytes * 8 - (long) inputs * c.depth);
    if (!good || (c.colors[c.colors.length - 1] & (1 << idle) - 1) != 0) throw in.bad("color has not one spelling for each input");
    for (int i = 0; i < inputs; i++) if (c.color(i) >= c.size) throw in.bad("a colour that there is not");
  }

  /** The fallback row: the outputs of a component share its weight. */
  void even(long[] dst) {
    for (Component c : all) {
      for (int n = 0; n < c.size; n++) dst[c.first + n] = c.weight / c.size + (n < c.weight % c.size ? 1 : 0);
    }
  }

  @Override public void law(int i, Policy p, long[] dst) {
    long[] before = new long[geometry == null ? 0 : inputs];
    for (Component c : all) {
      if (c.colors == null) disc(c, i, before, p.fallback, dst);
      else code(c, i, dst);
    }
  }

  private void code(Component c, int i, long[] dst) {
    int own = 0;
    for (int n = 0; n < inputs; n++) own |= c.color(n) & (int) Policy.same(n, i);
    for (int n = 0; n < c.size; n++) dst[c.first + n] = c.low + (c.high - c.low & Policy.same(n, own));
  }

  private void disc(Component c, int i, long[] before, long[] fallback, long[] dst) {
    int t = geometry.order(i, c.thresholds, before);
    long count = 0;
    for (long b : before) count -= b;
    long good = Policy.same(count, c.full), rest = c.weight - c.full * (c.high - c.low) - (c.size - 1) * c.low;
    for (int n = 0; n < c.size; n++) {
      long at = Policy.same(n, t), law = c.low + (c.high - c.low & before[n]) & ~at | rest & at;
      dst[c.first + n] = law & good | fallback[c.first + n] & ~good;
    }
  }
}
