// Reports to counts, against the vectors and beside them.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {gzipSync} from "node:zlib";
import {Refused, decode} from "@wpm-go/wpm";
import {countReports, decodeCounts, encodeCounts, mergeCounts, readReport} from "@wpm-go/wpm/count";

const encode = (s) => new TextEncoder().encode(s);
const {cases} = JSON.parse(readFileSync(new URL("../../vectors/aggregate.json", import.meta.url), "utf8"));
const page = readFileSync(new URL("../../docs/spec/policy.md", import.meta.url), "utf8");
const policy = await decode(encode(/```json policy-1\n([^]*?)```/.exec(page)[1]));
const report = (index, id = policy.id) => {
  const tail = Buffer.alloc(4);
  tail.writeUInt32LE(index);
  return "77706d31" + id + tail.toString("hex");
};

async function answer({op, policy, name, epoch, file = "", counts}) {
  if (op === "count") return countReports(await decode(encode(policy)), [{name, bytes: encode(file)}], {epoch});
  const parts = await Promise.all(counts.map((c) => decodeCounts(encode(c))));
  return mergeCounts(parts);
}

test("vectors", async () => {
  const seen = {};
  for (const c of cases) {
    let text = null;
    try {
      text = Buffer.from(await encodeCounts(await answer(c.in))).toString();
    } catch (e) {
      assert.ok(e instanceof Refused, `${c.id}: ${e.stack}`);
    }
    assert.equal(text !== null, c.valid, c.id);
    if (text !== null) assert.equal(text, c.out.counts, c.id);
    seen[`${c.in.op} ${c.valid}`] = true;
  }
  assert.equal(Object.keys(seen).length, 6);
});

test("every form of the same reports has the same counts", async () => {
  const texts = Array.from({length: 90}, (_, n) => report(n % 3)), want = [30, 30, 30];
  const forms = {
    lines: texts.join("\n") + "\n", blanks: texts.map((t) => `\t ${t} \r\n\n`).join(""),
    binary: Buffer.from(texts.join(""), "hex"),
  };
  for (const [name, form] of Object.entries(forms)) {
    const bytes = Uint8Array.from(Buffer.from(form));
    for (const b of [bytes, Uint8Array.from(gzipSync(bytes))]) {
      const c = await countReports(policy, [{name, bytes: b}], {epoch: "2026-11"});
      assert.deepEqual([c.reports, c.lines, c.notices], [want, 90, []], name);
    }
  }
  const many = await countReports(policy, Object.entries(forms).map(([name, f]) => ({name, bytes: Uint8Array.from(Buffer.from(f))})));
  assert.deepEqual(many.reports, [90, 90, 90]);
});

test("what is no report is counted by its reason", async () => {
  const other = "0".repeat(63) + "1";
  const text = [report(0), report(1, other), report(3), report(2 ** 20), "x", " ".repeat(5000), report(0).slice(1),
    report(0).toUpperCase()].join("\n");
  const c = await countReports(policy, [{name: "a", bytes: encode(text)}]);
  assert.deepEqual(c.refused, {"malformed": 5, "other-policy": 1, "no-such-output": 1, "never-released": 0});
  assert.deepEqual(c.reports, [1, 0, 0]);
  assert.match(c.notices.join(), /cut off/);
  assert.deepEqual(readReport(report(2)), {policy: policy.id, index: 2});
  assert.deepEqual(readReport(Buffer.from(report(2), "hex")), {policy: policy.id, index: 2});
  for (const bad of ["", "x", report(2) + "0", null, 3, report(0, "0".repeat(64))]) assert.throws(() => readReport(bad), Refused);
});

test("a byte changed at any place of a report, or of counts", async () => {
  const bytes = Buffer.from(report(2), "hex");
  for (let at = 0; at < bytes.length; at++) {
    const bad = Buffer.from(bytes);
    bad[at] ^= 0x40;
    const c = await countReports(policy, [{name: "a", bytes: encode(bad.toString("hex"))}]);
    assert.deepEqual([c.reports, c.lines], [[0, 0, 0], 1], `${at}`);
  }
  const text = await encodeCounts(await countReports(policy, [{name: "a", bytes: encode(report(1) + "\n")}]));
  for (let at = 0; at < text.length; at++) {
    const bad = text.slice();
    bad[at] ^= 1;
    await assert.rejects(decodeCounts(bad), Refused, `${at}`);
  }
});

test("files that cannot be counted, or not together", async () => {
  const real = {name: "real", bytes: encode(report(0) + "\n")};
  const mark = {name: "mark", bytes: encode(`wpm-simulation-1 policy ${policy.id} seed 1\n${report(0)}\n`)};
  const zip = Uint8Array.from(gzipSync(report(0)));
  const c = await countReports(policy, [mark]);
  assert.deepEqual([c.epoch, c.reports, c.lines], ["simulation", [1, 0, 0], 1]);
  const long = encode((report(0) + "\n").repeat(101));
  for (const [files, options] of [
    [[real, mark]], [[mark], {epoch: "2026-11"}], [[real], {epoch: "a b"}], [[real], {epochs: "x"}], [[]], [[{name: "a"}]],
    [[{name: "a", bytes: zip.slice(0, -9)}]], [[{name: "a", bytes: Uint8Array.from([...zip, 0])}]], [[real, real]],
    [[{name: "a", bytes: long}, {name: "b", bytes: long}]], [[{name: "", bytes: real.bytes}]],
    [[{name: "a\n", bytes: real.bytes}]], [[{name: "a", bytes: encode("wpm-counts-1\n")}]],
  ]) await assert.rejects(countReports(policy, files, options), Refused);
  await assert.rejects(countReports({...policy}, [real]), Refused);
  const inner = await countReports(policy, [{name: "a", bytes: encode(`${report(0)}\nwpm-simulation-1\n`)}]);
  assert.match(inner.notices.join(), /simulated/);
});
