package wpm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Answers the lines of docs/spec/conform.md, for tests. It takes its random bytes from the lines. */
public final class Client {
  private static final Object NONE = new Object();

  private Client() {}

  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, false, "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    out.print("{\"wpm-conform\":1,\"name\":\"java\",\"kinds\":[\"verify\",\"policy\",\"sample\",\"draw\",\"ledger\",\"schedule\"]}\n");
    out.flush();
    for (String line; (line = in.readLine()) != null; ) {
      out.print(answer(line) + "\n");
      out.flush();
    }
  }

  private static String answer(String line) {
    String[] id = {"null"};
    try {
      Map<String, Object> o = Json.line(line, id);
      return "{\"id\":" + id[0] + "," + ask(o) + "}";
    } catch (Exception | StackOverflowError e) { // whatever a line holds, it is this line that is refused
      return "{\"id\":" + id[0] + ",\"error\":" + Json.text("refused: " + e) + "}";
    }
  }

  private static void need(boolean good, String what) {
    if (!good) throw new IllegalArgumentException(what);
  }

  private static String text(Map<String, Object> o, String name) {
    Object v = o.get(name);
    need(v instanceof String, "want a text " + name);
    return (String) v;
  }

  private static byte[] bytes(Object v) {
    byte[] b = v instanceof String ? Hex.read((String) v) : null;
    need(b != null, "want hexadecimal");
    return b;
  }

  private static int integer(Object v) {
    need(v instanceof Json.Num && ((Json.Num) v).text.matches("-?[0-9]{1,9}"), "want an integer");
    return Integer.parseInt(((Json.Num) v).text);
  }

  private static List<?> list(Object v) {
    need(v instanceof List, "want a list");
    return (List<?>) v;
  }

  @SuppressWarnings("unchecked") private static Map<String, Object> object(Object v) {
    need(v instanceof Map, "want an object");
    return (Map<String, Object>) v;
  }

  /** Weights; what no box can have becomes -1. */
  private static long[] units(Object v) {
    List<?> l = list(v);
    long[] n = new long[l.size()];
    for (int i = 0; i < n.length; i++) {
      need(l.get(i) instanceof String && ((String) l.get(i)).matches("0|[1-9][0-9]{0,19}"), "want weights");
      BigInteger x = new BigInteger((String) l.get(i));
      n[i] = x.bitLength() < 64 ? x.longValue() : -1;
    }
    return n;
  }

  private static void members(Map<String, Object> o, String... names) {
    for (String n : names) need(n.endsWith("?") || o.containsKey(n), "no member " + n);
    for (String n : o.keySet()) need(Arrays.asList(names).contains(n) || Arrays.asList(names).contains(n + "?"), "another member " + n);
  }

  private static Policy policy(Map<String, Object> o) throws Refused {
    need(o.containsKey("policy") != o.containsKey("policy_hex"), "want one of policy and policy_hex");
    if (o.containsKey("policy_hex")) return Policy.decode(bytes(o.get("policy_hex")));
    try {
      ByteBuffer b = StandardCharsets.UTF_8.newEncoder().encode(java.nio.CharBuffer.wrap(text(o, "policy")));
      return Policy.decode(Arrays.copyOf(b.array(), b.limit()));
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("a surrogate without its partner");
    }
  }

  private static String ask(Map<String, Object> o) throws Exception {
    Object kind = o.remove("kind");
    need(kind instanceof String && o.containsKey("id"), "want a kind and an id");
    o.remove("id");
    switch ((String) kind) {
      case "verify": {
        members(o, "eps", "bits", "lo", "hi", "rows");
        Box box = new Box(Epsilon.parse(text(o, "eps")), integer(o.get("bits")), units(o.get("lo")), units(o.get("hi")));
        for (Object row : list(o.get("rows"))) box.checkRow(units(row));
        return "\"verified\":true";
      }
      case "policy":
        members(o, "policy?", "policy_hex?");
        return "\"sha256\":\"" + policy(o).id() + "\"";
      case "sample": {
        members(o, "bits", "weights", "random");
        long[] n = units(o.get("weights"));
        int bits = integer(o.get("bits"));
        new Box(Epsilon.parse("1"), bits, n, n);
        byte[] random = bytes(o.get("random"));
        need(random.length >= (bits + 7) / 8, "too few random bytes");
        return "\"index\":" + Box.sample(n, bits, random, 0);
      }
      case "draw": {
        members(o, "policy?", "policy_hex?", "private", "random");
        Policy p = policy(o);
        byte[] data = bytes(o.get("private")), random = bytes(o.get("random"));
        need(random.length >= Draw.randomBytes(p), "too few random bytes");
        Draw d = new Draw(p);
        String report = Hex.of(d.report(data, random));
        return "\"index\":" + d.index + ",\"report\":\"" + report + "\",\"usable\":" + d.usable + ",\"input\":" + d.input;
      }
      case "ledger": {
        Object op = o.remove("op");
        need("books".equals(op) || "lock".equals(op), "an operation that there is not");
        return "books".equals(op) ? books(o, STEP) : lock(o);
      }
      case "schedule": {
        Object op = o.remove("op");
        need(op instanceof String, "an operation");
        return schedule((String) op, o);
      }
      default: throw new IllegalArgumentException("a kind that is not offered");
    }
  }

  /** A store in memory. */
  private static final class Memory implements Store {
    byte[] text;

    Memory(byte[] text) {
      this.text = text;
    }

    @Override public void lock() {}

    @Override public void unlock() {}

    @Override public byte[] load() {
      return text;
    }

    @Override public void append(long at, byte[] more) throws IOException {
      if (at != text.length) throw new IOException("another length");
      text = Arrays.copyOf(text, text.length + more.length);
      System.arraycopy(more, 0, text, (int) at, more.length);
    }
  }

  private static final String[] STEP = {"policy", "eps", "epoch", "report", "max_epsilon?"};
  private static final String[] TIMED = {"policy", "eps", "epoch", "report", "max_epsilon?", "schedule?", "clock?", "key?", "signature?"};

  /** What the kind schedule asks. */
  private static String schedule(String op, Map<String, Object> o) throws Exception {
    switch (op) {
      case "books": {
        String start = "\"text\":\"" + text(o, "text"), answer = books(o, TIMED);
        need(answer.startsWith(start), "the text was changed");
        return "\"appended\":\"" + answer.substring(start.length());
      }
      case "epoch": {
        members(o, "form", "name");
        long n = Schedule.number(text(o, "form"), text(o, "name"));
        need(n != Schedule.NONE && n != Schedule.NO_FORM, "not an epoch of this form");
        return "\"number\":" + n;
      }
      case "signature": {
        members(o, "policy", "key", "signature");
        need(Policy.signed(text(o, "policy"), text(o, "key"), text(o, "signature")), "not a signature of the policy by the key");
        return "\"verified\":true";
      }
      case "ed25519": {
        members(o, "key", "message", "signature");
        need(Ed25519.verify(bytes(o.get("key")), bytes(o.get("message")), bytes(o.get("signature"))), "the signature does not verify");
        return "\"verified\":true";
      }
      default: throw new IllegalArgumentException("an operation that there is not");
    }
  }

  /** Pays for reports, of whose steps names are the members. */
  private static String books(Map<String, Object> o, String[] names) throws Exception {
    members(o, "text", "budget?", "steps");
    Memory store = new Memory(bytes(o.get("text")));
    String budget = o.containsKey("budget") ? text(o, "budget") : null, verdicts = "";
    for (Object step : list(o.get("steps"))) {
      Map<String, Object> s = object(step);
      if (s.containsKey("torn")) {
        members(s, "torn");
        store.append(store.text.length, bytes(s.get("torn")));
        continue;
      }
      members(s, names);
      verdicts += (verdicts.isEmpty() ? "\"" : ",\"") + step(store, budget, s) + "\"";
    }
    try (Ledger l = Ledger.open(store, budget)) {
      return "\"text\":\"" + Hex.of(store.text) + "\",\"budget\":\"" + l.budget() + "\",\"spent\":\"" + l.spent()
          + "\",\"remaining\":\"" + l.remaining() + "\",\"verdicts\":[" + verdicts + "]";
    }
  }

  private static String step(Memory store, String budget, Map<String, Object> s) throws Exception {
    String id = text(s, "policy"), epoch = text(s, "epoch"), key = s.containsKey("key") ? text(s, "key") : null;
    need(id.matches("[0-9a-f]{64}") && Ledger.isEpoch(epoch), "want an ID and an epoch");
    Epsilon eps = Epsilon.parse(text(s, "eps")), most = s.containsKey("max_epsilon") ? Epsilon.parse(text(s, "max_epsilon")) : null;
    byte[] report = bytes(s.get("report"));
    boolean[] drawn = {false};
    try (Ledger l = Ledger.open(store, budget)) {
      if (key != null && !(s.containsKey("signature") && Policy.signed(id, key, text(s, "signature")))) return "key";
      Ledger.Debit d = new Ledger.Debit(id, eps, epoch);
      d.most = most;
      d.signer = key;
      if (s.containsKey("schedule")) {
        d.schedule = schedule(object(s.get("schedule")));
        need(s.get("clock") instanceof Json.Num && ((Json.Num) s.get("clock")).text.matches("-?[0-9]{1,15}"), "want a clock");
        d.clock = Long.parseLong(((Json.Num) s.get("clock")).text);
      }
      if (l.pay(d, () -> {
        String text = new String(store.text, StandardCharsets.ISO_8859_1);
        need(text.indexOf(" " + id + " " + epoch + " ", text.lastIndexOf('\n', text.length() - 2)) >= 0, "a draw before its debit is stored");
        drawn[0] = true;
        return report;
      }) == null) return "silent " + l.next(epoch);
      return drawn[0] ? "drawn" : "repeated";
    } catch (Refused e) {
      switch (e.kind()) {
        case MAXIMUM: return "maximum";
        case BUDGET: return "budget";
        case REPORT: return "report";
        case EPOCH: return "schedule";
        case KEY: return "key";
        default: throw e;
      }
    }
  }

  /** A schedule, as a policy has it: it is read from the text that it has there. */
  private static Schedule schedule(Map<String, Object> w) throws Refused {
    members(w, "epochs", "first", "last", "period");
    String text = "\"schedule\":{\"epochs\":" + Json.text(text(w, "epochs"));
    for (String bound : new String[] {"first", "last"}) text += ",\"" + bound + "\":" + (w.get(bound) == null ? "null" : Json.text(text(w, bound)));
    return Schedule.read(new Scanner((text + ",\"period\":" + integer(w.get("period")) + "},\n").getBytes(StandardCharsets.UTF_8)));
  }

  private static String lock(Map<String, Object> o) {
    members(o, "name", "found", "kernel_locked", "kernel_locks", "boot", "namespace", "processes");
    Map<String, Object> found = object(o.get("found")), processes = object(o.get("processes"));
    members(found, "kind", "bytes?", "entries?");
    Lock.Kind kind = Lock.Kind.valueOf(text(found, "kind").toUpperCase(java.util.Locale.ROOT));
    byte[] file = bytes(found.getOrDefault("bytes", ""));
    @SuppressWarnings("unchecked") List<String> entries = (List<String>) list(found.getOrDefault("entries", List.of()));
    for (Object e : entries) need(e instanceof String, "want names");
    Lock.Verdict v = Lock.of(text(o, "name"), kind, file, entries, (Boolean) o.get("kernel_locked"), (Boolean) o.get("kernel_locks"),
        text(o, "boot"), text(o, "namespace"), (pid, start) -> {
          Object is = processes.getOrDefault(pid, NONE);
          return is == NONE || !is.equals("unknown") && !is.equals(start);
        });
    return "\"verdict\":\"" + v.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-') + "\"";
  }
}
