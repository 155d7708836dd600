package wpm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A program for tests of ledgers in files. {@code Hold PATH} opens the ledger, says so, and keeps it until its input ends.
 * {@code Hold PATH POLICY EPOCH} releases the bytes of its input, and prints the report. With the property owner, four words,
 * it is an application that says itself which process it is, and that no other process of its words lives.
 */
public final class Hold {
  private Hold() {}

  public static void main(String[] args) throws IOException {
    try (Ledger l = Ledger.open(store(Path.of(args[0])), "100")) {
      if (args.length == 1) {
        System.out.println("open");
        System.in.readAllBytes();
        return;
      }
      Policy p = Policy.decode(Files.readString(Path.of(args[1]), StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8));
      byte[] report = l.release(p, args[2], input());
      System.out.println(report == null ? "silent" : Report.text(report));
    } catch (Refused e) {
      System.out.println(e.kind());
    }
  }

  /** All of the input. Of a file there is one copy: a read of more than 8 KiB would make another. */
  private static byte[] input() throws IOException {
    byte[] b = new byte[System.in.available()];
    for (int n = 0; n < b.length; ) {
      int read = System.in.read(b, n, Math.min(b.length - n, 1 << 13));
      if (read < 0) return Arrays.copyOf(b, n);
      n += read;
    }
    byte[] rest = System.in.readAllBytes();
    if (rest.length == 0) return b;
    byte[] all = Arrays.copyOf(b, b.length + rest.length);
    System.arraycopy(rest, 0, all, b.length, rest.length);
    return all;
  }

  private static FileStore store(Path path) throws IOException, Refused {
    if (System.getProperty("owner") == null) return new FileStore(path);
    String[] w = System.getProperty("owner").split(" ");
    return new FileStore(path, new FileStore.Owner(w[0], w[1], w[2], w[3]) {
      @Override public boolean ended(String pid, String start) {
        return !pid.equals(w[2]) || !start.equals(w[3]);
      }
    });
  }
}
