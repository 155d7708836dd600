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
  private static final int MAX_EPOCH = 64, MIN_REPORT = 37, MAX_REPORT = 256, MAX_BUDGET = 100, MAX_PERIOD = 10_000;

  private final Store store;
  private byte[] chain = new byte[32];
  private Rational budget, spent = Rational.ZERO, always = Rational.ZERO; // always: what counts in every window
  private String key, slotForm; // null: none
  private int period, slot;
  private long turn = Long.MIN_VALUE; // the number of the last turn's epoch
  private final Map<Long, Rational> turns = new HashMap<>(); // what is paid in turns, by the number of the epoch
  private final Map<String, Long> latest = new HashMap<>(); // the last number of an epoch, by its form
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
    always = always.plus(charge());
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
      always = always.plus(take(body.substring(torn + TORN.length())));
      return;
    }
    String[] words = body.split(" ", -1);
    boolean opening = words[0].equals(MAGIC);
    need(opening == (budget == null), "the opening is missing, or there is another");
    if (opening) {
      budget = words.length == 2 ? Rational.parse(words[1]) : null;
      need(budget != null, "the opening has no number");
    } else if (words[0].equals("debit") || words[0].equals("turn")) {
      need(words.length == 4 && isId(words[2]) && isEpoch(words[3]), "this is no debit and no turn");
      Rational r = take(words[1]);
      open = words[2] + " " + words[3];
      if (words[0].equals("turn")) {
        long t = slotForm == null ? Schedule.NONE : Schedule.number(slotForm, words[3]);
        need(t != Schedule.NONE && Math.floorMod(t, (long) period) == slot && t >= turn, "this is not a turn of the slot");
        book(r, t);
      } else {
        always = always.plus(r);
      }
      note(words[3]);
    } else if (words[0].equals("slot")) {
      need(words.length == 4 && slotForm == null && Schedule.number(words[1], "") != Schedule.NO_FORM, "this is no slot, or another one");
      int t = small(words[2]), s = small(words[3]);
      need(t >= 2 && t <= MAX_PERIOD && s >= 0 && s < t, "this is no slot");
      slotForm = words[1];
      period = t;
      slot = s;
    } else if (words[0].equals("key")) {
      need(words.length == 2 && key == null && isId(words[1]), "this is no key, or another one");
      key = words[1];
    } else {
      byte[] report = words[0].equals("report") && words.length == 3 ? Hex.read(words[1]) : null;
      need(report != null && debit != null && debit.endsWith(" " + words[2]) && isReport(report, debit), "this is no record of a ledger");
      reports.put(debit, report);
    }
  }

  /** Adds an amount to what is spent. */
  private Rational take(String amount) throws Refused {
    Rational r = Rational.parse(amount);
    need(r != null, "this is no number");
    spent = spent.plus(r);
    return r;
  }

  private void book(Rational r, long epoch) {
    turn = epoch;
    turns.merge(epoch, r, Rational::plus);
  }

  /** Keeps the last number of an epoch, for every form that its text has. */
  private void note(String epoch) {
    for (String form : Schedule.FORMS) {
      long n = Schedule.number(form, epoch);
      if (n != Schedule.NONE) latest.merge(form, n, Math::max);
    }
  }

  /** A number below 10^6 without leading zeros, or -1. */
  private static int small(String s) {
    boolean good = !s.isEmpty() && s.length() <= 6 && (s.length() == 1 || s.charAt(0) != '0');
    for (int i = 0; good && i < s.length(); i++) good = s.charAt(i) >= '0' && s.charAt(i) <= '9';
    return good ? Integer.parseInt(s) : -1;
  }

  /** What the line without an end is charged. */
  private Rational charge() {
    String[] words = rest.split(" ", 3);
    Rational r = words.length == 3 && (words[0].equals("debit") || words[0].equals("turn")) ? Rational.parse(words[1]) : null;
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

  /** What a report costs, and what its payment depends on. */
  static final class Debit {
    final String id, epoch;
    final Epsilon eps;
    Epsilon most; // what the device allows at once; null: anything
    Schedule schedule; // null: none
    String signer; // the key of a signature that was found; null: none
    long clock = System.currentTimeMillis();

    Debit(String id, Epsilon eps, String epoch) {
      this.id = id;
      this.eps = eps;
      this.epoch = epoch;
    }
  }

  /** Pays for one report of an ID in an epoch, or repeats the report that is there. Null: silent, and nothing is paid. */
  byte[] pay(Debit d, Drawing draw) throws IOException, Refused {
    need(usable, "the end of the ledger is unknown after an error: open it again");
    Refused.need(isEpoch(d.epoch), Refused.Kind.EPOCH, "this is no epoch");
    String name = d.id + " " + d.epoch;
    byte[] there = reports.get(name);
    if (there != null) return there.clone();
    Refused.need(key == null || key.equals(d.signer), Refused.Kind.KEY, "the ledger takes policies signed by " + key + " alone");
    if (key == null && d.signer != null) {
      write("key " + d.signer);
      key = d.signer;
    }
    Rational price = new Rational(d.eps.n, d.eps.d), room = budget.less(always);
    Refused.need(d.most == null || price.compareTo(new Rational(d.most.n, d.most.d)) <= 0, Refused.Kind.MAXIMUM,
        "epsilon " + d.eps + " is more than the device allows at once, " + d.most);
    long number = d.schedule == null ? 0 : due(d);
    boolean inTurn = d.schedule != null && d.schedule.period > 0;
    if (inTurn) {
      Refused.need(price.compareTo(room) <= 0, Refused.Kind.BUDGET, "epsilon " + d.eps + " is more than a window may hold");
      if (slotForm == null) drawSlot(d.schedule);
      Refused.need(slotForm.equals(d.schedule.form) && period == d.schedule.period, Refused.Kind.EPOCH,
          "the ledger has a slot of another form or period: " + slotForm + ", " + period);
      if (Math.floorMod(number, (long) period) != slot) return null;
    }
    Rational held = Rational.ZERO; // the turns of the epoch, or of the fullest one
    for (Map.Entry<Long, Rational> t : turns.entrySet()) {
      if ((!inTurn || t.getKey() == number) && t.getValue().compareTo(held) > 0) held = t.getValue();
    }
    Refused.need(held.plus(price).compareTo(room) <= 0, Refused.Kind.BUDGET,
        "epsilon " + d.eps + " is more than is left of the budget: " + room.less(held) + " of " + budget);
    write((inTurn ? "turn " : "debit ") + price + " " + name);
    spent = spent.plus(price);
    if (inTurn) book(price, number);
    else always = always.plus(price);
    note(d.epoch);
    byte[] report = draw.report();
    Refused.need(isReport(report, name), Refused.Kind.REPORT, "the draw gave no report");
    write("report " + Hex.of(report) + " " + d.epoch);
    reports.put(name, report.clone());
    return report;
  }

  /** The number of the epoch, which the schedule, the clock and the epochs before must allow. */
  private long due(Debit d) throws Refused {
    Schedule s = d.schedule;
    long n = Schedule.number(s.form, d.epoch);
    Refused.need(n != Schedule.NONE, Refused.Kind.EPOCH, "epoch " + d.epoch + " is no " + s.form);
    Refused.need(n >= s.first && n <= s.last, Refused.Kind.EPOCH, "the policy is not for epoch " + d.epoch);
    String now = Schedule.at(s.form, d.clock);
    Refused.need(now != null && n <= Schedule.number(s.form, now), Refused.Kind.EPOCH,
        "the clock says " + now + ", before epoch " + d.epoch);
    Refused.need(n >= latest.getOrDefault(s.form, Long.MIN_VALUE), Refused.Kind.EPOCH, "the ledger has a later epoch than " + d.epoch);
    return n;
  }

  /** Draws the slot of this ledger, once and for all: each is equally likely, whatever the data, the policy and the epoch. */
  private void drawSlot(Schedule s) throws IOException, Refused {
    int n = new SecureRandom().nextInt(s.period);
    write("slot " + s.form + " " + s.period + " " + n);
    slotForm = s.form;
    period = s.period;
    slot = n;
  }

  /**
   * Releases one report of private data (a CSV of label,count, gzipped or not), or repeats that of the epoch. The debit is
   * stored first; from then on nothing but the report depends on the data. Data that cannot be used give a report, too. No
   * caller can choose the random bytes. Under a policy with a period it returns null if the epoch is not that of this
   * ledger's slot: then there is no report, and nothing is paid.
   */
  public byte[] release(Policy policy, String epoch, byte[] data) throws IOException, Refused {
    return release(policy, epoch, data, null, null);
  }

  /** Releases under a policy that is signed by a key, 64 hexadecimal digits. From then on the ledger takes no other key. */
  public byte[] release(Policy policy, String epoch, byte[] data, String key, String signature) throws IOException, Refused {
    Refused.need(key == null || signature != null && policy.signedBy(key, signature), Refused.Kind.KEY,
        "the policy is not signed by the key");
    Draw draw = new Draw(policy);
    byte[] random = new byte[Draw.randomBytes(policy)];
    SecureRandom source = new SecureRandom();
    Debit d = new Debit(policy.id(), policy.epsilon(), epoch);
    d.schedule = policy.schedule;
    d.signer = key;
    return pay(d, () -> {
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

  /** What is left; with a slot, what a window to come may hold. */
  public String remaining() {
    return budget.less(slotForm == null ? spent : always).toString();
  }

  /** The first epoch of this ledger's slot from an epoch on; null without a slot, or for a text that is no epoch of its form. */
  public String next(String epoch) {
    long n = slotForm == null ? Schedule.NONE : Schedule.number(slotForm, epoch);
    return n == Schedule.NONE ? null : Schedule.name(slotForm, n + Math.floorMod(slot - n, (long) period));
  }

  @Override public void close() throws IOException {
    usable = false;
    store.unlock();
  }
}
