// Work and memory are bounded: a release takes as much for 64 MiB of text as for 16 bytes, and a policy of 64 MiB is
// decoded within 1 GB, whatever is in it.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {existsSync, readFileSync} from "node:fs";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

const program = fileURLToPath(new URL("support/bound.js", import.meta.url));
const measures = existsSync("/proc/self/status");
const M = 2 ** 20;

function run(what, input, ...options) {
  const {status, signal, stdout, stderr} = spawnSync(process.execPath, [...options, program, what],
    {input, maxBuffer: M, timeout: 120000}); // against a hang
  assert.deepEqual([status, signal], [0, null], String(stderr).slice(-2000));
  return JSON.parse(stdout);
}

const many = (line, size) => Buffer.alloc(Math.floor(size / line.length) * line.length, line);

test("a release from 64 MiB of text, in a heap of 16 MB, takes no more than from 16 bytes", async (t) => {
  const whole = (b) => b, cut = (b) => b.subarray(0, -20), wrong = (b) => { b[b.length - 8] ^= 1; return b; };
  const more = (b) => Buffer.concat([b, Buffer.of(0)]), plain = "plain";
  for (const [line, spoil, usable] of [["home,1\n", whole, true], ["home,1\n", plain, true], ["0,1\n", whole, false],
    ["\n", whole, false], ["\n", plain, false], ["\n", cut, false], ["x", whole, false], ["x", plain, false],
    ["home,1\n", cut, false], ["home,1\n", wrong, false], ["home,1\n", more, false], ['"home",1e-3\n', whole, true],
    ["home,0.50000000000000000000000000000000000000000000000000000000001\n", whole, true]]) {
    const text = many(line, 64 * M), input = spoil === plain ? text : spoil(gzipSync(text, {level: 1}));
    const name = `${JSON.stringify(line)}, ${spoil.name ?? spoil}, ${input.length} bytes`;
    const said = run("private", input, "--max-old-space-size=16");
    assert.equal(said.bytes, 40, name);
    assert.equal(said.usable, usable, name);
    if (measures) assert.ok(said.more <= 40, `${name}: ${said.more} MB`);
    t.diagnostic(`${name}: ${said.more.toFixed(1)} MB`);
  }
  const said = run("private", gzipSync(many("\n", 64 * M + 1), {level: 1}), "--max-old-space-size=16");
  assert.deepEqual([said.bytes, said.usable], [40, false]);
});

const spec = readFileSync(new URL("../../docs/spec/policy.md", import.meta.url), "utf8");
const [one, two] = ["policy-1", "policy-2"].map((name) => new RegExp("```json " + name + "\n([^]*?)```").exec(spec)[1]);
const set = (text, name, value) => {
  const line = new RegExp(`^"${name}":[^\n]*\n`, "m");
  assert.match(text, line);
  return text.replace(line, () => `"${name}":${value},\n`);
};
const all = (text, members) => Object.entries(members).reduce((t, [name, value]) => set(t, name, value), text);
const times = (unit, size) => unit.repeat(Math.floor(size / unit.length));
const holding = (value) => set(one, "certificate", value);
const listed = (n, f) => `[${Array.from({length: n}, (_, i) => f(i)).join()}]`;

test("strings of any length, plain and with escapes", () => {
  for (const size of [8 * M, 16 * M, 30 * M, 60 * M]) {
    for (const unit of ["x", "\\n", ...size < 60 * M ? [] : ["\\u00e9", "\\\"", "\u00e9", "\u{1f600}"]]) {
      const text = times(unit, unit < "\x7f" ? size : size / Buffer.byteLength(unit));
      const said = run("policy", holding(`{"a":"${text}"}`));
      assert.deepEqual([said.usable, said.bytes], [true, 40], `${size} of ${unit}`);
      assert.ok(said.peak <= 1000, `${size} of ${unit}: ${said.peak} MB`);
    }
  }
  for (const end of ["\n\"", "\\x\"", "\\u00x0\"", "\\", ""]) {
    assert.equal(run("policy", holding(`{"a":"${times("x", 60 * M)}${end}}`)).error, "Refused", end);
  }
});

test("policies of 64 MiB end within 1 GB, accepted or refused", (t) => {
  const n = 2 ** 20, wide = {input_labels: "null", output_labels: "null"}, none = '{"full":[],"extra":[]}';
  const unit = `["${n}"${`,"${n}"`.repeat(n - 1)}]`, ones = (k) => `[${times("1,", 2 * k - 2)}1]`;
  const bare = one.replace(/"input_aliases":[^\n]*\n/, "");
  const label = (p) => listed(n, (i) => `"${p}${String(i).padStart(14, "-")}"`);
  const row = `{"full":[],"extra":${listed(1000, (j) => `[${j},"5"]`)}}`, rows = Math.floor(60 * M / (row.length + 2));
  const accepted = {
    "a name": () => holding(`{"${times("x", 60 * M)}":1}`),
    "digits": () => holding(`{"a":${times("1", 60 * M)}}`),
    "digits after a point": () => holding(`{"a":1.${times("0", 60 * M)}}`),
    "digits of a power": () => holding(`{"a":1e+${times("0", 60 * M)}}`),
    "numbers": () => holding(`{"a":[${times("1,", 60 * M)}1]}`),
    "members": () => holding(`{${times('"":1,', 60 * M)}"":1}`),
    "arrays": () => holding(`{"a":[${times("[],", 60 * M)}1]}`),
    "labels": () => all(bare, {inputs: n, outputs: n, bits: 40, mode: '"projection"', work_limit_ms: 10, input_labels: label("i"),
      output_labels: label("o"), lo: unit, hi: unit}).replace(/"fallback":[^]*/, `"fallback":${none},\n"rows":null\n}\n`),
    "rows": () => all(bare, {...wide, inputs: rows, outputs: 1000, bits: 14,
      lo: listed(1000, (j) => (j ? '"11"' : `"${2 ** 14 - 999 * 11 - 5000}"`)), hi: listed(1000, (j) => (j ? '"22"' : '"800"'))})
      .replace(/"fallback":[^]*/, () => `"fallback":${row},\n"rows":[\n${Array(rows).fill(row).join(",\n")}\n]\n}\n`),
    "points": () => all(two, {...wide, output_labels: "null", inputs: n, outputs: n, bits: 40, lo: `"${n}"`, hi: `"${n}"`, fallback: none,
      geometry: '{"kind":"points","axes":15,"rows":0,"cols":0}', input_points: ones(15 * n), output_points: ones(15 * n)})
      .replace(/"thresholds":[^\n]*/, () => `"thresholds":${ones(n)}`),
    "axes": () => all(two, {...wide, inputs: 1, outputs: 1, bits: 1, lo: '"2"', hi: '"2"', fallback: none,
      geometry: `{"kind":"points","axes":${15 * n},"rows":0,"cols":0}`, input_points: ones(15 * n), output_points: ones(15 * n)})
      .replace(/"thresholds":[^\n]*/, '"thresholds":[0]'),
  };
  const refused = {
    "epsilon": () => set(one, "epsilon", `"${times("1", 60 * M)}"`),
    "a note": () => one.replace('"note":""', () => `"note":"${times('\\"', 60 * M)}"`),
    "a label": () => one.replace('["home"', () => `["${times("x", 60 * M)}"`),
    "too many labels": () => one.replace('["home"', () => `[${times('"x",', 60 * M)}"home"`),
    "too many bounds": () => one.replace('"lo":[', () => `"lo":[${times('"3",', 60 * M)}`),
    "a long row": () => one.replace('{"full":[0]', () => `{"full":[${times("0,", 60 * M)}0]`),
    "too many thresholds": () => two.replace('"thresholds":[', () => `"thresholds":[${times("1,", 60 * M)}`),
    "too many points": () => two.replace('"output_points":[', () => `"output_points":[${times("1,", 60 * M)}`),
    "deep": () => holding(`{"a":${times("[", 30 * M)}${times("]", 30 * M)}}`),
    "spaces": () => one + times(" ", 60 * M),
  };
  for (const [cases, check] of [[accepted, (said) => said.usable === true && said.bytes === 40], [refused, (said) => said.error === "Refused"]]) {
    for (const [name, make] of Object.entries(cases)) {
      const input = make(), said = run("policy", input);
      assert.ok(check(said), `${name}: ${JSON.stringify(said)}`);
      assert.ok(said.peak <= 1000, `${name}: ${said.peak} MB`);
      t.diagnostic(`${name}, ${(input.length / M).toFixed(0)} MiB: ${said.peak.toFixed(0)} MB`);
    }
  }
});
