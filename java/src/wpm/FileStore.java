package wpm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * A ledger in a file, whose lock is a folder (docs/spec/ledger.md, A folder as a lock). Java's locks of files are not those
 * of other programs, so that this is a program without kernel locks. A folder that a killed program left is taken over where
 * /proc says that the program has ended, or where the application says so.
 */
public final class FileStore implements Store {
  private final Path file, lock;
  private final Owner self;
  private boolean held;

  /** The ledger at a path. Its owner is this process, as /proc describes it. */
  public FileStore(Path path) throws IOException, Refused {
    this(path, Owner.ofProc());
  }

  /** The ledger at a path, for an application that knows its process better than /proc does. */
  public FileStore(Path path, Owner self) throws IOException, Refused {
    file = Files.exists(path) ? path.toRealPath() : path.toAbsolutePath().getParent().toRealPath().resolve(path.getFileName());
    lock = file.resolveSibling(file.getFileName() + ".lock");
    this.self = self;
  }

  @Override public void lock() throws IOException, Refused {
    switch (look()) {
      case REFUSED: throw new Refused(Refused.Kind.NO_LOCK, "what is at " + lock + " is no lock, or the ledger has the name of one");
      case LOCKED: throw busy();
      case TAKE_OVER: takeOver(); break;
      default: make();
    }
    held = true;
  }

  private Refused busy() {
    return new Refused(Refused.Kind.LOCKED, "another program has the ledger, or may have it: " + lock);
  }

  /** What is at the lock. A file may become a folder while one looks: then it is locked. */
  private Lock.Verdict look() throws IOException {
    Lock.Kind kind = Files.isSymbolicLink(lock) ? Lock.Kind.OTHER
        : Files.isDirectory(lock, LinkOption.NOFOLLOW_LINKS) ? Lock.Kind.FOLDER
        : Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS) ? Lock.Kind.FILE
        : Files.exists(lock, LinkOption.NOFOLLOW_LINKS) ? Lock.Kind.OTHER : Lock.Kind.ABSENT;
    try {
      byte[] text = new byte[0];
      if (kind == Lock.Kind.FILE) { // with one byte more than a lock may have
        try (FileChannel c = FileChannel.open(lock, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
          ByteBuffer b = ByteBuffer.allocate(257);
          while (b.hasRemaining() && c.read(b) >= 0) continue;
          text = java.util.Arrays.copyOf(b.array(), b.position());
        }
      }
      return Lock.of(file.getFileName().toString(), kind, text, kind == Lock.Kind.FOLDER ? entries() : null, false, false, self.boot,
          self.namespace, self);
    } catch (NoSuchFileException | java.nio.file.NotDirectoryException e) {
      return Lock.Verdict.LOCKED;
    }
  }

  private List<String> entries() throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(lock)) {
      for (Path p : all) names.add(p.getFileName().toString());
    }
    return names;
  }

  /** Makes a folder with an entry beside the lock, and renames it: that fails if somebody has the lock. */
  private void make() throws IOException, Refused {
    Path own = beside();
    Files.createDirectory(own);
    Files.createFile(own.resolve(self.entry()));
    try {
      Files.move(own, lock, StandardCopyOption.ATOMIC_MOVE); // rename(2): not onto a file or a folder with an entry
    } catch (IOException e) {
      Files.deleteIfExists(own.resolve(self.entry()));
      Files.deleteIfExists(own);
      if (Files.exists(lock, LinkOption.NOFOLLOW_LINKS)) throw busy();
      throw e;
    }
  }

  private Path beside() {
    byte[] name = new byte[12];
    new SecureRandom().nextBytes(name);
    return lock.resolveSibling(lock.getFileName() + "." + Hex.of(name));
  }

  /** Renames the entry of the owner that has ended to one's own. Of several who try, one can. */
  private void takeOver() throws IOException, Refused {
    List<String> before = entries();
    if (before.size() != 1 || !Lock.ended(before.get(0), self.boot, self.namespace, self)) throw busy();
    Path dead = lock.resolve(before.get(0)), own = lock.resolve(self.entry());
    try {
      Files.move(dead, own, StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException e) {
      throw busy();
    }
    if (entries().size() == 1) return;
    Files.move(own, dead, StandardCopyOption.ATOMIC_MOVE);
    throw busy();
  }

  @Override public byte[] load() throws IOException, Refused {
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) return new byte[0];
    check();
    return Files.readAllBytes(file);
  }

  /** The file is a regular one with one name: another name could have another lock. */
  private void check() throws IOException, Refused {
    need(Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS), "the ledger is no regular file");
    Object links;
    try {
      links = Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
    } catch (UnsupportedOperationException | IllegalArgumentException e) {
      links = 1; // a system that does not say
    }
    need(((Number) links).intValue() == 1, "the ledger's file has more than one name");
  }

  private static void need(boolean good, String what) throws Refused {
    Refused.need(good, Refused.Kind.LEDGER, what);
  }

  @Override public void append(long at, byte[] bytes) throws IOException, Refused {
    need(held, "the ledger is not locked");
    boolean fresh = !Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    need(!fresh || at == 0, "the ledger's file is gone");
    if (!fresh) check();
    try (FileChannel c = fresh ? FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW)
        : FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      need(c.size() == at, "the ledger's file has " + c.size() + " bytes, not " + at + ": somebody else wrote");
      c.position(at);
      for (ByteBuffer b = ByteBuffer.wrap(bytes); b.hasRemaining(); ) c.write(b);
      c.force(true);
    } catch (FileAlreadyExistsException e) {
      throw new Refused(Refused.Kind.LEDGER, "somebody else made the ledger's file");
    }
    if (fresh) sync(file.getParent());
  }

  /** Makes the entry of a new file durable, where the system lets a program open a folder. */
  private static void sync(Path folder) throws IOException {
    try (FileChannel c = FileChannel.open(folder, StandardOpenOption.READ)) {
      c.force(true);
    } catch (java.nio.file.AccessDeniedException e) {
      return; // Windows, whose file systems keep names with files
    }
  }

  @Override public void unlock() throws IOException {
    if (!held) return;
    held = false;
    if (!Files.exists(lock.resolve(self.entry()), LinkOption.NOFOLLOW_LINKS)) return; // somebody took it over
    Path gone = beside();
    Files.move(lock, gone, StandardCopyOption.ATOMIC_MOVE);
    Files.deleteIfExists(gone.resolve(self.entry()));
    Files.deleteIfExists(gone);
  }

  /** Which process has a lock. A word that is not known is "-": such a lock is taken over by nobody. */
  public abstract static class Owner implements Lock.Processes {
    final String boot, namespace, pid, start;

    /** The boot and the namespace that numbers of processes belong to, the number, and when the process started. */
    protected Owner(String boot, String namespace, String pid, String start) {
      this.boot = boot;
      this.namespace = namespace;
      this.pid = pid;
      this.start = start;
    }

    String entry() {
      return boot + "_" + namespace + "_" + pid + "_" + start;
    }

    /** This process, as /proc describes it. */
    static Owner ofProc() {
      String boot = "-", namespace = "-", pid = "-", start = "-";
      try {
        String[] pids = text(Paths.get("/proc/self/status")).split("\nNSpid:\\s*")[1].split("\n")[0].split("\\s+");
        pid = pids[pids.length - 1]; // its own number; those before are of namespaces around it, which /proc shows
        Path time = Paths.get("/proc/self/ns/time");
        String link = Files.readSymbolicLink(Paths.get("/proc/self/ns/pid")).toString();
        String since = stat("self")[1], name = text(Paths.get("/proc/sys/kernel/random/boot_id")).trim();
        boolean known = pids.length == 1 && (!Files.exists(time, LinkOption.NOFOLLOW_LINKS)
            || Files.readSymbolicLink(time).toString().equals("time:[4026531834]"));
        if (known && link.startsWith("pid:[") && link.endsWith("]")) {
          boot = name;
          namespace = link.substring(5, link.length() - 1);
          start = since;
        }
      } catch (IOException | RuntimeException e) { // no /proc, or an odd one
        boot = namespace = start = "-";
      }
      return new Owner(boot, namespace, pid, start) {
        @Override public boolean ended(String pid, String start) {
          try {
            String[] s = stat(pid); // state, start, threads
            return !s[1].equals(start) || s[0].equals("Z") && s[2].equals("1");
          } catch (IOException e) {
            // No such process, if those of everybody can be seen: process 1 can be, and this one.
            return !Files.exists(Paths.get("/proc/" + pid)) && Files.exists(Paths.get("/proc/1/stat"))
                && Files.exists(Paths.get("/proc/self/stat"));
          }
        }
      };
    }

    /** State, start and number of threads of a process. */
    private static String[] stat(String pid) throws IOException {
      String s = text(Paths.get("/proc/" + pid + "/stat"));
      String[] f = s.substring(s.lastIndexOf(')') + 1).trim().split(" ");
      if (f.length < 20) throw new IOException("no stat of a process");
      return new String[] {f[0], f[19], f[17]};
    }

    private static String text(Path p) throws IOException {
      return new String(Files.readAllBytes(p), StandardCharsets.ISO_8859_1);
    }
  }
}
