package wpm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The account of one person's privacy losses (docs/spec/ledger.md), and the release that it pays for. What is paid is stored
 * before anything is drawn. A ledger is locked from open to close.
 */
public final class Ledger implements AutoCloseable {
  private static final String MAGIC = "wpm-ledger-1", TORN = "~torn ";
  private static final int MAX_EPOCH = 64, MIN_REPORT = 37, MAX_REPORT = 256, MAX_BUDGET = 100;

  private final Store store;
  private byte[] chain = new byte[32];
  private Rational budget, spent = Rational.ZERO;
  private String rest = "", open; // a line without its end; the ID and epoch of the debit in the line before
  private long length;
  private boolean usable = true;
  private final Map<String, byte[]> reports = new HashMap<>();

  private Ledger(Store store) {
    this.store = store;
  }

  /**
   * Locks a store and opens its ledger. The budget is what one person may ever spend, an integer, a decimal or a fraction: it
   * is written once, and another one is refused. Null is that of a ledger that is there.
   */
  public static Ledger open(Store store, String budget) throws IOException, Refused {
    store.lock();
    Ledger l = new Ledger(store);
    try {
      Rational want = budget == null || budget.length() > MAX_BUDGET ? null : Rational.parse(budget);
      need(budget == null || want != null && want.compareTo(Rational.ZERO) > 0, "the budget is no number above 0");
      l.read(store.load());
      need(want == null || l.budget == null || want.equals(l.budget), "the ledger has the budget " + l.budget);
      need(want != null || l.budget != null, "a new ledger needs a budget");
      if (l.budget == null) {
        l.budget = want;
        l.write(MAGIC + " " + want);
      }
      return l;
    } catch (IOException | Refused | RuntimeException e) {
      store.unlock();
      throw e;
    }
  }

  private static void need(boolean good, String what) throws Refused {
    Refused.need(good, Refused.Kind.LEDGER, what);
  }

  private void read(byte[] text) throws Refused {
    int at = 0, number = 1;
    for (int i = 0; i < text.length; i++) {
      if (text[i] != '\n') continue;
      try {
        line(latin1(text, at, i));
      } catch (Refused e) {
        throw new Refused(e.kind(), "line " + number + ": " + e.getMessage());
      }
      at = i + 1;
      number++;
    }
    rest = latin1(text, at, text.length);
    length = text.length;
    spent = spent.plus(charge());
    String head = rest.split("~", 2)[0], start = MAGIC + " ";
    need(rest.isEmpty() || budget != null || head.startsWith(start) || !head.isEmpty() && start.startsWith(head), "this is no ledger");
  }

  private void line(String line) throws Refused {
    int cut = line.lastIndexOf(' ');
    String body = line.substring(0, Math.max(cut, 0)), debit = open;
    open = null;
    chain = follow(body);
    need(cut >= 0 && Hex.of(chain).equals(line.substring(cut + 1)), "the chain of hashes breaks");
    int torn = body.lastIndexOf(TORN);
    if (torn >= 0) {
      pay(body.substring(torn + TORN.length()));
      return;
    }
    String[] words = body.split(" ", -1);
    boolean opening = words[0].equals(MAGIC);
    need(opening == (budget == null), "the opening is missing, or there is another");
    if (opening) {
      budget = words.length == 2 ? Rational.parse(words[1]) : null;
      need(budget != null, "the opening has no number");
    } else if (words[0].equals("debit")) {
      need(words.length == 4 && isId(words[2]) && isEpoch(words[3]), "this is no debit");
      pay(words[1]);
      open = words[2] + " " + words[3];
    } else {
      byte[] report = words[0].equals("report") && words.length == 3 ? Hex.read(words[1]) : null;
      need(report != null && debit != null && debit.endsWith(" " + words[2]) && isReport(report, debit), "this is no record of a ledger");
      reports.put(debit, report);
    }
  }

  private void pay(String amount) throws Refused {
    Rational r = Rational.parse(amount);
    need(r != null, "this is no number");
    spent = spent.plus(r);
  }

  /** What the line without an end is charged. */
  private Rational charge() {
    String[] words = rest.split(" ", 3);
    Rational r = words.length == 3 && words[0].equals("debit") ? Rational.parse(words[1]) : null;
    return r == null ? Rational.ZERO : r;
  }

  private byte[] follow(String body) {
    return Policy.sha256(chain, body.getBytes(StandardCharsets.ISO_8859_1));
  }

  private static String latin1(byte[] b, int from, int to) {
    return new String(b, from, to - from, StandardCharsets.ISO_8859_1);
  }

  private static boolean isId(String s) {
    return s.length() == 64 && Hex.read(s) != null;
  }

  static boolean isEpoch(String s) {
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (!(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || "._:-".indexOf(c) >= 0)) return false;
    }
    return !s.isEmpty() && s.length() <= MAX_EPOCH;
  }

  /** Whether bytes are a report of the debit with that ID and epoch: of a policy, or of another kind. */
  private static boolean isReport(byte[] b, String debit) {
    if (b.length < MIN_REPORT || b.length > MAX_REPORT) return false;
    byte[] id = Arrays.copyOfRange(b, 4, 36);
    if (!debit.startsWith(Hex.of(id))) return false;
    return b[0] != 'w' || b[1] != 'p' || b[2] != 'm' || b[3] != '1' || Report.belongs(b, id);
  }

  /** Completes a torn line, and appends another one, in one append. A write that fails ends the use of this ledger. */
  private void write(String body) throws IOException, Refused {
    need(usable, "the end of the ledger is unknown after an error: open it again");
    StringBuilder more = new StringBuilder();
    if (!rest.isEmpty()) {
      String tail = TORN + charge();
      chain = follow(rest + tail);
      more.append(tail).append(' ').append(Hex.of(chain)).append('\n');
    }
    chain = follow(body);
    more.append(body).append(' ').append(Hex.of(chain)).append('\n');
    byte[] bytes = more.toString().getBytes(StandardCharsets.ISO_8859_1);
    usable = false;
    store.append(length, bytes);
    usable = true;
    length += bytes.length;
    rest = "";
  }

  /** What a draw needs of its caller: the report, after the debit is stored. */
  interface Drawing {
    byte[] report() throws IOException;
  }

  /** Pays for one report of an ID in an epoch, or repeats the report that is there. */
  byte[] pay(String id, Epsilon eps, String epoch, Epsilon most, Drawing draw) throws IOException, Refused {
    need(usable, "the end of the ledger is unknown after an error: open it again");
    Refused.need(isEpoch(epoch), Refused.Kind.EPOCH, "this is no epoch");
    String key = id + " " + epoch;
    byte[] there = reports.get(key);
    if (there != null) return there.clone();
    Rational price = new Rational(eps.n, eps.d);
    Refused.need(most == null || price.compareTo(new Rational(most.n, most.d)) <= 0, Refused.Kind.MAXIMUM,
        "epsilon " + eps + " is more than the device allows at once, " + most);
    Refused.need(spent.plus(price).compareTo(budget) <= 0, Refused.Kind.BUDGET,
        "epsilon " + eps + " is more than is left of the budget: " + budget.less(spent) + " of " + budget);
    write("debit " + price + " " + key);
    spent = spent.plus(price);
    byte[] report = draw.report();
    Refused.need(isReport(report, key), Refused.Kind.REPORT, "the draw gave no report");
    write("report " + Hex.of(report) + " " + epoch);
    reports.put(key, report.clone());
    return report;
  }

  /**
   * Releases one report of private data (a CSV of label,count, gzipped or not), or repeats that of the epoch. The debit is
   * stored first; from then on nothing but the report depends on the data. Data that cannot be used give a report, too. No
   * caller can choose the random bytes.
   */
  public byte[] release(Policy policy, String epoch, byte[] data) throws IOException, Refused {
    Refused.need(policy.schedule == null, Refused.Kind.POLICY, "this program knows no schedules");
    Draw draw = new Draw(policy);
    byte[] random = new byte[Draw.randomBytes(policy)];
    SecureRandom source = new SecureRandom();
    return pay(policy.id(), policy.epsilon(), epoch, null, () -> {
      source.nextBytes(random);
      return draw.report(data, random);
    });
  }

  /** What has been spent, and what may be in all: integers or fractions. */
  public String spent() {
    return spent.toString();
  }

  public String budget() {
    return budget.toString();
  }

  public String remaining() {
    return budget.less(spent).toString();
  }

  @Override public void close() throws IOException {
    usable = false;
    store.unlock();
  }
}
