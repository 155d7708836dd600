// The lock of a ledger in a file: who may take it over, who may not, and that every end of a program leaves a ledger that
// the next one can open.
import assert from "node:assert/strict";
import {spawn, spawnSync} from "node:child_process";
import {once} from "node:events";
import {existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync,
  writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {openLedger} from "@wpm-go/wpm";
import {fileStore} from "@wpm-go/wpm/file";
import {verdict} from "../src/lock.js";

const program = (name) => fileURLToPath(new URL(`support/${name}.js`, import.meta.url));
const linux = process.platform === "linux" && existsSync("/proc/self/ns/pid"), skip = !linux && "needs /proc";
const full = Boolean(process.env.WPM_FULL);
const BOOT = "0b0b0b0b-1111-2222-3333-444444444444", NS = "4026531836";

function folder(t) {
  const dir = mkdtempSync(join(tmpdir(), "wpm-"));
  t.after(() => rmSync(dir, {recursive: true}));
  return dir;
}

const open = (path, more) => openLedger(fileStore(path), {epoch: "e", budget: "100", ...more});

/** The owner that a process of this system is, in the words of a lock. */
function owner(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return [readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim(), /[0-9]+/.exec(readlinkSync("/proc/self/ns/pid"))[0],
    String(pid), stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]];
}

/** The owner that a process was that has ended. */
function ended() {
  const {stdout} = spawnSync("sh", ["-c", "echo $$; cat /proc/$$/stat"], {encoding: "latin1"});
  const [pid, stat] = stdout.split("\n");
  return [...owner(process.pid).slice(0, 2), pid, stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]];
}

test("the decision", () => {
  const ask = (found, more) => verdict({name: "ledger", found, kernel_locked: false, kernel_locks: false, boot: BOOT, namespace: NS,
    processes: {7: "100", 8: "unknown"}, ...more});
  const file = (text, more) => ask({kind: "file", bytes: Buffer.from(text, "latin1").toString("hex")}, more);
  const inside = (...entries) => ask({kind: "folder", entries});
  const line = `wpm-lock-1 ${BOOT} ${NS} 7 100\n`;
  assert.equal(ask({kind: "absent"}), "free");
  assert.equal(ask({kind: "other"}), "refused");
  for (let n = 0; n <= line.length; n++) {
    assert.equal(file(line.slice(0, n)), "locked", line.slice(0, n));
    assert.equal(file(line.slice(0, n), {kernel_locks: true, kernel_locked: true}), "locked");
    assert.equal(file(line.slice(0, n), {kernel_locks: true}), "take-over");
  }
  assert.equal(file("wpm-lock-1 - - 7 -\n", {kernel_locks: true}), "take-over");
  for (const text of ["x", "\n", " ", "wpm-lock-2", "wpm-lock-1\n", "wpm-lock-1 \n", line + "x", line + "\n", line.trimEnd() + " ",
    "wpm-lock-1  ", line.replace("4026531836", "x"), `wpm-lock-1 ${BOOT}0`, `wpm-lock-1 ${BOOT} ${NS} 7\n`, "# a poetry.lock\n", "\xff",
    "wpm-lock-1 - - 7 " + "1".repeat(21), "wpm-lock-1 - - 7 \n", line.replace("\n", "\r\n")]) {
    for (const more of [{}, {kernel_locks: true}]) assert.equal(file(text, more), "refused", text);
  }
  assert.equal(inside(`${BOOT}_${NS}_9_100`), "take-over"); // gone
  assert.equal(inside(`${BOOT}_${NS}_7_101`), "take-over"); // another process
  for (const entries of [[], [`${BOOT}_${NS}_7_100`], [`${BOOT}_${NS}_8_100`], [`${BOOT.replace("0", "1")}_${NS}_9_100`],
    [`${BOOT}_4026532000_9_100`], [`-_${NS}_9_100`], [`${BOOT}_-_9_100`], [`${BOOT}_${NS}_-_100`], [`${BOOT}_${NS}_9_-`],
    [`${BOOT}_${NS}_9`], [`${BOOT}_${NS}_9_100_`], [`${BOOT}_${NS}_x_100`], [`${BOOT}_${NS}_9_`], ["owner"],
    [`${BOOT}_${NS}_9_100`, `${BOOT}_${NS}_9_101`], [`${BOOT}_${NS}_9_100`, ".x"]]) {
    assert.equal(inside(...entries), "locked", entries.join());
  }
  for (const name of ["ledger.lock", ".lock", "L.lock.lock", "L.LOCK"]) assert.equal(ask({kind: "absent"}, {name}), "refused");
  // A program that knows nothing of itself takes nothing over.
  assert.equal(ask({kind: "folder", entries: ["-_-_9_-"]}, {boot: "-", namespace: "-"}), "locked");
  assert.equal(ask({kind: "folder", entries: [`${BOOT}_${NS}_9_100`]}, {boot: "-", namespace: "-"}), "locked");
});

test("the lock says who has it", {skip}, async (t) => {
  const dir = folder(t), path = join(dir, "ledger"), books = await open(path);
  assert.deepEqual(readdirSync(path + ".lock"), [owner(process.pid).join("_")]);
  await assert.rejects(open(path), {code: "locked"}); // also for the process that has it
  await books.close();
  assert.deepEqual(readdirSync(dir), ["ledger"]);
});

test("a lock is taken over from a process that has ended, and from no other", {skip}, async (t) => {
  const dir = folder(t), path = join(dir, "ledger"), lock = path + ".lock";
  const other = spawn("sleep", ["1000"]);
  t.after(() => other.kill("SIGKILL"));
  await once(other, "spawn");
  const lives = owner(other.pid), [boot, ns, pid, start] = ended(), with_ = (words, i, word) => words.map((w, n) => (n === i ? word : w));
  const dead = [[boot, ns, pid, start], with_(lives, 3, String(Number(lives[3]) + 1))];
  const init = owner(1); // of another user, or not to be seen: in any case alive
  const alive = [lives, owner(process.pid), init, with_(dead[0], 0, BOOT), with_(dead[0], 1, "1"), with_(lives, 1, "1"),
    with_(dead[0], 0, "-"), with_(dead[0], 1, "-"), with_(dead[0], 3, "-"), ["-", "-", pid, "-"]];
  for (const make of [(name) => mkdirSync(join(lock, name)), (name) => writeFileSync(join(lock, name), "")]) {
    for (const words of alive) {
      mkdirSync(lock);
      make(words.join("_"));
      await assert.rejects(open(path), (e) => e.code === "locked" && e.message.includes(lock), words.join("_"));
      assert.deepEqual(readdirSync(lock), [words.join("_")]);
      rmSync(lock, {recursive: true});
    }
    for (const words of dead) {
      mkdirSync(lock);
      make(words.join("_"));
      const books = await open(path);
      assert.deepEqual(readdirSync(lock), [owner(process.pid).join("_")]);
      await books.close();
      assert.deepEqual(readdirSync(dir), ["ledger"]);
    }
  }
});

test("a process that may not be signalled is there", {skip}, async (t) => {
  const path = join(folder(t), "ledger"), lock = path + ".lock", dead = ended().join("_");
  mkdirSync(join(lock, dead), {recursive: true});
  const kill = t.mock.method(process, "kill", (pid) => {
    if (pid !== process.pid) throw Object.assign(new Error("kill EPERM"), {code: "EPERM"});
  });
  await assert.rejects(open(path), {code: "locked"}); // also if /proc hides it
  assert.ok(kill.mock.callCount() > 0);
  kill.mock.restore();
  await (await open(path)).close();
});

test("a zombie has ended", {skip}, async (t) => {
  const path = join(folder(t), "ledger");
  // The shell's child ends, and the program that the shell becomes does not ask for it.
  const parent = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 1000"], {stdio: ["ignore", "pipe", "inherit"]});
  t.after(() => parent.kill("SIGKILL"));
  const [pid] = await once(parent.stdout.setEncoding("latin1"), "data");
  const state = () => { const s = readFileSync(`/proc/${pid.trim()}/stat`, "latin1"); return s[s.lastIndexOf(")") + 2]; };
  while (state() !== "Z") await new Promise((done) => setTimeout(done, 10));
  mkdirSync(join(path + ".lock", owner(pid.trim()).join("_")), {recursive: true});
  await (await open(path)).close();
});

test("what is no lock is refused, and stays as it is", {skip: process.platform === "win32"}, async (t) => {
  const dir = folder(t), path = join(dir, "ledger"), lock = path + ".lock";
  for (const text of ["[[package]]\n", "wpm-ledger-1 9 0\n", "label,count\n", "\n"]) {
    writeFileSync(lock, text);
    await assert.rejects(open(path), (e) => e.code === "store" && e.message.includes(lock), text);
    assert.equal(readFileSync(lock, "latin1"), text);
  }
  for (const text of ["", "wpm-lock-1 ", `wpm-lock-1 ${BOOT} ${NS} 7 100\n`]) { // of a program with kernel locks
    writeFileSync(lock, text);
    await assert.rejects(open(path), {code: "locked"}, text);
    assert.equal(readFileSync(lock, "latin1"), text);
  }
  rmSync(lock);
  symlinkSync("nothing", lock);
  await assert.rejects(open(path), {code: "store"});
  rmSync(lock);
  spawnSync("mkfifo", [lock]);
  await assert.rejects(open(path), {code: "store"});
  rmSync(lock);
  mkdirSync(lock); // of a program from before locks had owners
  await assert.rejects(open(path), {code: "locked"});
  assert.deepEqual(readdirSync(dir), ["ledger.lock"]);
});

test("a ledger does not have the name of a lock", async (t) => {
  const dir = folder(t), books = await open(join(dir, "L"));
  for (const name of ["L.lock", "other.lock", ".lock"]) await assert.rejects(open(join(dir, name)), {code: "store", message: /\.lock/});
  await books.close();
  assert.deepEqual(readdirSync(dir), ["L"]);
  if (process.platform === "win32") return;
  writeFileSync(join(dir, "K.lock"), "");
  symlinkSync("K.lock", join(dir, "link"));
  await assert.rejects(open(join(dir, "link")), {code: "store"});
  assert.deepEqual([statSync(join(dir, "K.lock")).size, readdirSync(dir).length], [0, 3]);
});

test("a long name, as long as its lock has room", {skip}, async (t) => {
  const path = join(folder(t), "n".repeat(240));
  await (await open(path)).close();
});

function hold(t, path, ...how) {
  const child = spawn(process.execPath, [program("release"), path, "e", "0", ...how], {stdio: ["pipe", "pipe", "inherit"]});
  t.after(() => child.kill("SIGKILL"));
  return child;
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"]) {
  test(`${signal} ends a program, and the next one starts`, {skip}, async (t) => {
    const dir = folder(t), path = join(dir, "ledger"), child = hold(t, path, "hold");
    const [report] = await once(child.stdout.setEncoding("latin1"), "data");
    await assert.rejects(open(path), {code: "locked"});
    child.kill(signal);
    assert.deepEqual(await once(child, "exit"), [null, signal]); // as without a listener
    assert.equal(readdirSync(dir).length, signal === "SIGKILL" ? 2 : 1);
    const again = hold(t, path);
    const [same] = await once(again.stdout.setEncoding("latin1"), "data");
    assert.equal(same, report);
    assert.deepEqual(await once(again, "exit"), [0, null]);
    assert.deepEqual(readdirSync(dir), ["ledger"]);
  });
}

test("the end of a program gives its lock up, however it comes about", {skip}, async (t) => {
  const dir = folder(t), path = join(dir, "ledger");
  for (const [how, code] of [["exit", 3], ["throw", 1], ["forget", 0]]) {
    const child = spawn(process.execPath, [program("release"), path, "e", "0", how], {stdio: "ignore"});
    assert.deepEqual(await once(child, "exit"), [code, null], how);
    assert.deepEqual(readdirSync(dir), ["ledger"], how);
  }
});

test("a program that listens to a signal itself goes on, with its lock", {skip}, async (t) => {
  const dir = folder(t), path = join(dir, "ledger"), child = hold(t, path, "listen");
  const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
  await lines.next();
  for (const n of [1, 2]) {
    child.kill("SIGTERM");
    assert.equal((await lines.next()).value, `SIGTERM ${n}`);
    await assert.rejects(open(path), {code: "locked"});
  }
  child.stdin.end();
  assert.deepEqual(await once(child, "exit"), [0, null]);
  assert.deepEqual(readdirSync(dir), ["ledger"]);
});

test("a lock stays while bytes are on their way, and is taken over when that process is gone", {skip}, async (t) => {
  const path = join(folder(t), "ledger"), child = hold(t, path, "interrupt");
  assert.deepEqual(await once(child, "exit"), [null, "SIGINT"]);
  assert.equal(readdirSync(path + ".lock").length, 1);
  await (await open(path)).close();
});

test("killed before any step of locking and unlocking, on a new lock and on a dead one", {skip}, async (t) => {
  const dead = ended().join("_");
  for (const before of [null, (lock) => mkdirSync(join(lock, dead), {recursive: true}),
    (lock) => { mkdirSync(lock); writeFileSync(join(lock, dead), ""); }]) {
    for (let step = 0, whole = false; !whole; step++) {
      const dir = folder(t), path = join(dir, "ledger");
      before?.(path + ".lock");
      const {signal, stdout} = spawnSync(process.execPath, [program("starter"), path, String(step)], {encoding: "latin1"});
      whole = signal === null;
      if (whole) assert.ok(stdout.includes("renameSync") && stdout.trim().split(",").length === step, stdout);
      else assert.equal(signal, "SIGKILL");
      await (await open(path)).close();
      assert.ok(!existsSync(path + ".lock"), `${step}`);
    }
  }
});

test("of 64 that start at once on a dead lock one gets it", {skip}, async (t) => {
  const rounds = full ? 1000 : 20, dir = folder(t), dead = ended().join("_");
  const starters = Array.from({length: 64}, () => {
    const child = spawn(process.execPath, [program("starter")], {stdio: ["pipe", "pipe", "inherit"]});
    const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
    return {child, ask: async (line) => { child.stdin.write(line + "\n"); return (await lines.next()).value; }};
  });
  t.after(() => starters.forEach(({child}) => child.kill("SIGKILL")));
  for (let round = 0; round < rounds; round++) {
    const path = join(dir, `ledger${round}`), lock = path + ".lock";
    mkdirSync(join(lock, dead), {recursive: true});
    const turn = round % 64, all = [...starters.slice(turn), ...starters.slice(0, turn)];
    const answers = await Promise.all(all.map(({ask}) => ask(path)));
    assert.deepEqual(answers.toSorted(), [...Array(63).fill("locked"), "won"], `round ${round}`);
    assert.deepEqual(readdirSync(lock), [owner(all[answers.indexOf("won")].child.pid).join("_")], `round ${round}`);
    await Promise.all(all.map(({ask}) => ask("")));
    assert.deepEqual(readdirSync(dir), [], `round ${round}`);
  }
  t.diagnostic(`${rounds} rounds`);
});
