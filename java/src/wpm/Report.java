package wpm;

import java.util.Arrays;

/** Reports: "wpm1", the ID of the policy, the index (docs/spec/release.md, The report). */
public final class Report {
  static final int BYTES = 40;
  private static final int MAX_INDEX = 1 << 20;

  private Report() {}

  /** The text of a report: 80 hexadecimal digits. */
  public static String text(byte[] report) {
    return Hex.of(report);
  }

  /** The output that a report of this policy names. */
  public static int index(Policy p, byte[] report) throws Refused {
    Refused.need(belongs(report, p.id), Refused.Kind.REPORT, "this is no report of the policy");
    int j = (int) Box.word(report, 36, 4);
    Refused.need(j < p.outputs && p.box.hi[j] > 0, Refused.Kind.REPORT, "the policy never releases output " + j);
    return j;
  }

  /** Whether the bytes are a report with the ID. */
  static boolean belongs(byte[] b, byte[] id) {
    if (b.length != BYTES || b[0] != 'w' || b[1] != 'p' || b[2] != 'm' || b[3] != '1') return false;
    long j = Box.word(b, 36, 4);
    boolean zero = j == 0;
    for (int n = 4; n < 36; n++) zero &= b[n] == 0;
    return !zero && j < MAX_INDEX && Arrays.equals(Arrays.copyOfRange(b, 4, 36), id);
  }
}
