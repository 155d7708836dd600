package wpm;

/** What is refused, and why: a policy, a ledger or a text that breaks a rule of docs/spec. It never says anything of private data. */
public final class Refused extends Exception {
  private static final long serialVersionUID = 1;

  /** The kinds of refusal that a caller may want to tell apart. */
  public enum Kind { POLICY, EPSILON, EPOCH, LEDGER, BUDGET, MAXIMUM, KEY, LOCKED, NO_LOCK, REPORT }

  private final Kind kind;

  Refused(Kind kind, String what) {
    super(what);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }

  static void need(boolean good, Kind kind, String what) throws Refused {
    if (!good) throw new Refused(kind, what);
  }

  static void policy(boolean good, String what) throws Refused {
    need(good, Kind.POLICY, what);
  }
}
