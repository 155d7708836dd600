// The store in a file: its lock, links, other processes, kills and full disks.
import assert from "node:assert/strict";
import {execFile, spawn} from "node:child_process";
import {existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, rmdirSync, statSync, symlinkSync, unlinkSync, writeFileSync,
  appendFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {once} from "node:events";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {promisify} from "node:util";
import {decode, openLedger, release} from "@wpm-go/wpm";
import {fileStore} from "@wpm-go/wpm/file";

const encode = (s) => new TextEncoder().encode(s), data = encode("home,1\n");
const spec = readFileSync(new URL("../../docs/spec/policy.md", import.meta.url), "utf8");
const policy = await decode(encode(/```json policy-1\n([^]*?)```/.exec(spec)[1]));
const program = fileURLToPath(new URL("support/release.js", import.meta.url));
const unix = process.platform !== "win32";

function folder(t) {
  const dir = mkdtempSync(join(tmpdir(), "wpm-"));
  t.after(() => rmSync(dir, {recursive: true}));
  return dir;
}

const open = (path, epoch = "e", more = {budget: "100"}) => openLedger(fileStore(path), {epoch, ...more});
const run = promisify(execFile);
const other = async (...args) => (await run(process.execPath, [program, ...args])).stdout.trim();

test("a file of its own, a lock while it is open, and the same report again", async (t) => {
  const dir = folder(t), path = join(dir, "ledger");
  const books = await open(path);
  assert.deepEqual(readdirSync(dir).sort(), ["ledger", "ledger.lock"]);
  assert.ok(statSync(path + ".lock").isDirectory());
  if (unix) assert.deepEqual([statSync(path).mode & 0o777, statSync(path + ".lock").mode & 0o777], [0o600, 0o700]);
  const report = await release(policy, data, books);
  await assert.rejects(open(path), {code: "locked"});
  await books.close();
  assert.deepEqual(readdirSync(dir), ["ledger"]);
  const again = await open(path, "e", {});
  assert.deepEqual(await release(policy, data, again), report);
  assert.equal(again.spent, "1");
  await again.close();
  assert.equal(readFileSync(path, "latin1").split("\n").length, 4);
});

test("no ledger and no budget: no file, and no lock that stays", async (t) => {
  const dir = folder(t);
  await assert.rejects(open(join(dir, "ledger"), "e", {}), {code: "budget"});
  await assert.rejects(open(join(dir, "none", "ledger")), {code: "store"});
  assert.deepEqual(readdirSync(dir), []);
});

test("what another program has at the lock is left alone", async (t) => {
  const path = join(folder(t), "ledger");
  for (const [make, remove] of [[() => writeFileSync(path + ".lock", ""), unlinkSync], [() => mkdirSync(path + ".lock"), rmdirSync]]) {
    make();
    await assert.rejects(open(path), (e) => e.code === "locked" && e.message.includes(path + ".lock"));
    assert.ok(existsSync(path + ".lock") && !existsSync(path));
    remove(path + ".lock");
  }
  await (await open(path)).close();
});

test("a link leads to the one ledger, and a second name is refused", {skip: !unix}, async (t) => {
  const dir = folder(t), path = join(dir, "ledger"), link = join(dir, "link"), second = join(dir, "second");
  symlinkSync("ledger", link);
  await assert.rejects(open(link)); // to nothing
  const books = await open(path);
  await assert.rejects(open(link), {code: "locked"});
  linkSync(path, second); // while it is open: no debit can be written
  await assert.rejects(release(policy, data, books), {code: "store"});
  await books.close();
  for (const name of [path, link, second]) await assert.rejects(open(name), /2 names/);
  unlinkSync(second);
  await (await open(link)).close();
  assert.deepEqual(readdirSync(dir).sort(), ["ledger", "link"]);
});

test("what is no file, or no ledger, stays as it is", {skip: !unix}, async (t) => {
  const dir = folder(t), fifo = join(dir, "fifo"), text = join(dir, "text");
  await run("mkfifo", [fifo]);
  writeFileSync(text, "hello");
  for (const path of [dir, fifo, "/dev/full"]) await assert.rejects(open(path), {code: "store"}, path);
  await assert.rejects(open(text), {code: "corrupt"});
  assert.equal(readFileSync(text, "latin1"), "hello");
  assert.deepEqual(readdirSync(dir).sort(), ["fifo", "text"]);
});

test("a ledger that grows under another hand is not paid from", async (t) => {
  const path = join(folder(t), "ledger"), books = await open(path);
  appendFileSync(path, "x");
  await assert.rejects(release(policy, data, books), {code: "store"});
  await books.close();
  assert.ok(readFileSync(path, "latin1").endsWith("x"));
});

test("processes in turn: one report in an epoch, and every epoch is paid", async (t) => {
  const path = join(folder(t), "ledger"), epochs = ["a", "b", "a", "c"];
  const reports = await Promise.all(epochs.map((epoch) => other(path, epoch, "120000")));
  assert.equal(reports[0], reports[2]);
  const books = await open(path);
  assert.equal(books.spent, "3");
  await books.close();
});

test("a process that holds the ledger keeps others out", async (t) => {
  const path = join(folder(t), "ledger");
  const child = spawn(process.execPath, [program, path, "e", "0", "hold"], {stdio: ["pipe", "pipe", "inherit"]});
  const [report] = await once(child.stdout.setEncoding("utf8"), "data");
  await assert.rejects(open(path), {code: "locked"});
  const waits = open(path, "e", {wait: 120000});
  child.stdin.end();
  const books = await waits;
  assert.equal(Buffer.from(await release(policy, data, books)).toString("hex"), report.trim());
  await books.close();
});

test("killed between debit and draw: the debit stands, and the next try pays again", {skip: !unix}, async (t) => {
  const path = join(folder(t), "ledger");
  await assert.rejects(other(path, "e", "0", "die"), {signal: "SIGKILL"});
  assert.match(readFileSync(path, "latin1").split("\n").at(-2), /^debit 1 /);
  if (process.platform !== "linux") rmSync(path + ".lock", {recursive: true}); // by hand
  const books = await open(path);
  assert.equal(books.spent, "1");
  await release(policy, data, books);
  assert.equal(books.spent, "2");
  await books.close();
});

test("a full disk tears a line: no report, and what broke off is charged", {skip: !unix}, async (t) => {
  const path = join(folder(t), "ledger");
  // A file may have 512 or 1024 bytes, by the shell. The signal of that limit would end node before it sees the error.
  const limited = (epoch) => run("sh", ["-c", `trap '' XFSZ; ulimit -f 1; exec "$0" "$@"`, process.execPath, program, path, epoch, "0"]);
  let n = 0;
  for (;; n++) {
    const failed = await limited(`epoch${n}`).then(() => null, (e) => e);
    if (!failed) continue;
    assert.match(failed.stderr, /LedgerError/);
    assert.equal(failed.stdout, "");
    break;
  }
  assert.ok(n > 0);
  assert.ok(!existsSync(path + ".lock")); // the program ended without closing
  const text = readFileSync(path, "latin1");
  assert.ok([512, 1024].includes(text.length) && !text.endsWith("\n"), `${text.length}`);
  // Where nothing can be written, a report that was paid for is repeated.
  const kept = text.split("\n").find((line) => line.startsWith("report")).split(" ")[1];
  assert.equal((await limited("epoch0")).stdout.trim(), kept);
  const books = await open(path, `epoch${n}`);
  const torn = text.slice(text.lastIndexOf("\n") + 1), debits = text.split("\n").filter((line) => line.startsWith("debit 1 "));
  assert.equal(books.spent, String(debits.length), torn);
  await release(policy, data, books);
  await books.close();
  assert.match(readFileSync(path, "latin1"), /~torn [01] [0-9a-f]{64}\n/);
  await (await open(path)).close();
});
