// Reports to partial counts: docs/spec/counts.md. It is what a server does, with no private data and no solver.
// @ts-check
import {Refused, need} from "./box.js";
import {hex, latin, sha256, unlatin} from "./bytes.js";
import {gunzip} from "./gzip.js";
import {inside} from "./policy.js";

/** @typedef {import("./policy.js").Policy} Policy */

/**
 * A file that was read.
 * @typedef {object} Shard
 * @property {string} name
 * @property {string} sha256 of its bytes as they are stored
 * @property {number} bytes
 * @property {number} lines
 */

/** @typedef {"malformed" | "other-policy" | "no-such-output" | "never-released"} Reason */

/**
 * @typedef {object} Counts
 * @property {string} policy its ID
 * @property {string} epoch empty where none is stated
 * @property {number[]} reports of each output
 * @property {Record<Reason, number>} refused
 * @property {number} lines
 * @property {Shard[]} shards
 * @property {string[]} notices what a reader should know
 */

/**
 * @typedef {object} ReportFile
 * @property {string} name
 * @property {Uint8Array} bytes
 */

/** @typedef {{epoch?: string}} CountOptions */

/** @type {Reason[]} */
const REASONS = ["malformed", "other-policy", "no-such-output", "never-released"];
const SIZE = 40, LINE = 4096, OUTPUTS = 2 ** 20, SHARDS = 2 ** 16, TEXT = 64 * 2 ** 20, EQUAL = 100, UNPACKED = 2 ** 31;
const LF = 10, WHITE = [9, 13, 32];
const MAGIC = "wpm1", COUNTS = "wpm-counts-", SIMULATION = "wpm-simulation-1", BOM = "\xef\xbb\xbf";
const EPOCH = /^[A-Za-z0-9._:-]{1,64}$/;
const decoder = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}), encoder = new TextEncoder();

/**
 * Reads a report, from its 40 bytes or its 80 hexadecimal digits.
 * @param {Uint8Array | string} record
 * @returns {{policy: string, index: number}}
 */
export function readReport(record) {
  const text = typeof record === "string" ? record : record instanceof Uint8Array ? hex(record) : "";
  const m = /^77706d31([0-9a-f]{64})([0-9a-f]{2})([0-9a-f]{2})0([0-9a-f])00$/.exec(text);
  need(m && /[1-9a-f]/.test(text.slice(8)), "not a report");
  return {policy: m[1], index: parseInt(m[4] + m[3] + m[2], 16)};
}

/** @type {() => Record<Reason, number>} */
const none = () => ({"malformed": 0, "other-policy": 0, "no-such-output": 0, "never-released": 0});

/**
 * The first characters of bytes, one for each.
 * @param {Uint8Array} bytes
 * @param {number} n
 */
const head = (bytes, n) => latin(bytes.subarray(0, n));

/**
 * Counts the reports of a policy in files, whole in memory, also gzipped.
 * @param {Policy} policy from decode
 * @param {readonly ReportFile[]} files
 * @param {CountOptions} [options]
 * @returns {Promise<Counts>}
 */
export async function countReports(policy, files, options = {}) {
  const {epoch = "", ...others} = options;
  need(Object.keys(others).length === 0, `an option that there is not: ${Object.keys(others)}`);
  need(epoch === "" || typeof epoch === "string" && EPOCH.test(epoch), "an epoch is 1 to 64 letters, digits, '.', '_', ':' or '-'");
  need(Array.isArray(files) && files.length > 0 && files.length <= SHARDS, "files: a list of 1 to 65536");
  inside(policy); // or it is none that decode made
  /** @type {Counts} */
  const counts = {policy: policy.id, epoch, reports: Array(policy.outputs).fill(0), refused: none(), lines: 0, shards: [],
    notices: []};
  let simulated = 0;
  for (const {name, bytes} of files) {
    need(typeof name === "string" && bytes instanceof Uint8Array, "a file is {name, bytes}");
    const found = count(policy.id, policy.hi, name, plain(bytes), counts);
    simulated += found.simulated ? 1 : 0;
    counts.shards.push({name, sha256: hex(await sha256(bytes.slice())), bytes: bytes.length, lines: found.lines});
    counts.lines += found.lines;
  }
  if (simulated) {
    need(simulated === files.length, "simulated reports beside others");
    counts.epoch ||= "simulation";
    need(counts.epoch.startsWith("simulation"), "simulated reports, for an epoch that does not begin with simulation");
    counts.notices.push("the reports are simulated");
  }
  sort(counts.shards);
  check(counts);
  copies(counts.shards);
  return counts;
}

/** @param {Uint8Array} bytes of a file, which may be gzipped */
function plain(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  gunzip(bytes, UNPACKED, (b, n) => {
    parts.push(b.slice(0, n));
    size += n;
  });
  const all = new Uint8Array(size);
  for (let at = 0, n = 0; n < parts.length; at += parts[n++].length) all.set(parts[n], at);
  return all;
}

/**
 * Adds the reports of a file to counts.
 * @param {string} id
 * @param {readonly bigint[]} hi
 * @param {string} name
 * @param {Uint8Array} bytes
 * @param {Counts} counts
 */
function count(id, hi, name, bytes, counts) {
  let lines = 0;
  /** @type {(record: string | Uint8Array) => void} */
  const add = (record) => {
    lines++;
    const reason = verdict(id, hi, record);
    if (typeof reason === "number") counts.reports[reason]++;
    else counts.refused[reason]++;
  };
  need(head(bytes, COUNTS.length) !== COUNTS, `${name}: counts, and no reports`);
  if (head(bytes, 4) === MAGIC) {
    for (let at = 0; at < bytes.length; at += SIZE) add(bytes.subarray(at, at + SIZE));
    if (bytes.length % SIZE) counts.notices.push(`${name}: the last record is short; the file may have been cut off`);
    return {lines, simulated: false};
  }
  const mark = head(bytes, 3) === BOM ? 3 : 0, simulated = head(bytes.subarray(mark), SIMULATION.length) === SIMULATION;
  let inner = false;
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const lf = bytes.indexOf(LF, at), end = lf < 0 ? bytes.length : lf;
    if (!(simulated && n === 0)) {
      const long = end - at > LINE;
      let from = at, to = end;
      while (!long && from < to && WHITE.includes(bytes[from])) from++;
      while (!long && from < to && WHITE.includes(bytes[to - 1])) to--;
      if (long) add("");
      else if (from < to) add(to - from === 2 * SIZE ? latin(bytes.subarray(from, to)) : "");
      inner ||= n > 0 && head(bytes.subarray(from, to), SIMULATION.length) === SIMULATION;
    }
    at = end + 1;
  }
  if (inner) counts.notices.push(`${name}: a mark of a simulation stands within it; it may hold simulated reports`);
  if (bytes.length ? bytes[bytes.length - 1] !== LF : name.endsWith(".gz")) {
    counts.notices.push(`${name}: the last line has no end; the file may have been cut off`);
  }
  return {lines, simulated};
}

/**
 * The output of a report that counts, or the reason why it does not.
 * @param {string} id
 * @param {readonly bigint[]} hi
 * @param {string | Uint8Array} record
 * @returns {number | Reason}
 */
function verdict(id, hi, record) {
  let report;
  try {
    report = readReport(record);
  } catch (e) {
    if (!(e instanceof Refused)) throw e;
    return "malformed";
  }
  if (report.policy !== id) return "other-policy";
  if (report.index >= hi.length) return "no-such-output";
  return hi[report.index] === 0n ? "never-released" : report.index;
}

/** @type {(name: string) => string} The UTF-8 of a name, a character for each byte, by which shards are sorted. */
const key = (name) => latin(encoder.encode(name));

/** @param {Shard[]} shards */
function sort(shards) {
  shards.sort((a, b) => (key(a.name) < key(b.name) ? -1 : 1));
}

/** @param {Counts} counts */
function check(counts) {
  const {policy, epoch, reports, refused, lines, shards} = counts;
  need(/^[0-9a-f]{64}$/.test(policy) && (epoch === "" || EPOCH.test(epoch)), "counts: a policy or an epoch");
  need(reports.length >= 1 && reports.length <= OUTPUTS && shards.length <= SHARDS, "counts: numbers of outputs or shards");
  const each = [...reports, ...REASONS.map((r) => refused[r]), lines, ...shards.flatMap((s) => [s.bytes, s.lines])];
  need(each.every((n) => Number.isInteger(n) && n >= 0 && n <= 2 ** 53), "counts: a number that is not from 0 to 2^53");
  /** @type {(list: number[]) => bigint} */
  const sum = (list) => list.reduce((a, b) => a + BigInt(b), 0n);
  const all = BigInt(lines);
  need(sum([...reports, ...REASONS.map((r) => refused[r])]) === all && sum(shards.map((s) => s.lines)) === all,
    "counts: the sum of lines");
  need(sum(shards.map((s) => s.bytes)) <= 2n ** 53n, "counts: bytes of all shards");
  shards.forEach(({name, sha256}, n) => {
    const size = key(name).length;
    need(size >= 1 && size <= 256 && name.isWellFormed() && !/[\x00-\x1f\x7f-\x9f]/.test(name) && /^[0-9a-f]{64}$/.test(sha256),
      "counts: a shard");
    need(n === 0 || key(shards[n - 1].name) < key(name), "counts: a shard twice, or the order of shards");
  });
}

/**
 * Refuses a copy of a shard under another name.
 * @param {readonly Shard[]} shards
 */
function copies(shards) {
  const seen = new Set();
  for (const {lines, sha256, name} of shards) {
    need(lines <= EQUAL || !seen.has(sha256), `counts: ${name} is a copy of another shard`);
    seen.add(sha256);
  }
}

/**
 * The one text of counts.
 * @param {Counts} counts
 * @returns {Promise<Uint8Array>}
 */
export async function encodeCounts(counts) {
  check(counts);
  const {policy, epoch, reports, refused, lines, shards} = counts;
  const text = [
    `${COUNTS}1`, `policy ${policy}`, epoch ? `epoch ${epoch}` : "epoch", `lines ${lines}`,
    ...REASONS.map((r) => `refused ${r} ${refused[r]}`), `shards ${shards.length}`,
    ...shards.map((s) => `${s.sha256} ${s.bytes} ${s.lines} ${s.name}`), `reports ${reports.length}`, ...reports, "",
  ].join("\n");
  const bytes = encoder.encode(text), end = unlatin(`sha256 ${hex(await sha256(bytes))}\n`);
  need(bytes.length + end.length <= TEXT, "counts: more than 64 MiB");
  const all = new Uint8Array(bytes.length + end.length);
  all.set(bytes);
  all.set(end, bytes.length);
  return all;
}

/**
 * Reads the text of counts, and no other.
 * @param {Uint8Array} bytes
 * @returns {Promise<Counts>}
 */
export async function decodeCounts(bytes) {
  need(bytes instanceof Uint8Array && bytes.length <= TEXT, "counts: bytes, at most 64 MiB");
  let text;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new Refused("counts: not UTF-8");
  }
  const lines = text.split("\n");
  let at = 0;
  /** @type {(what: string) => string} */
  const take = (what) => {
    const line = lines[at++] ?? "";
    need(line.startsWith(what), `counts: line ${at}: ${what} is wanted`);
    return line.slice(what.length);
  };
  /** @type {(word: string) => number} */
  const number = (word) => {
    need(/^(?:0|[1-9][0-9]{0,15})$/.test(word), `counts: line ${at}: a number is wanted`);
    return Number(word);
  };
  take(`${COUNTS}1`);
  const policy = take("policy "), epoch = take("epoch").slice(1), all = number(take("lines "));
  const refused = none();
  for (const r of REASONS) refused[r] = number(take(`refused ${r} `));
  const n = number(take("shards "));
  need(n <= SHARDS, "counts: too many shards");
  /** @type {Shard[]} */
  const shards = [];
  for (let i = 0; i < n; i++) {
    const m = /^([0-9a-f]{64}) ([0-9]+) ([0-9]+) (.+)$/s.exec(take(""));
    need(m, `counts: line ${at}: a shard is wanted`);
    shards.push({sha256: m[1], bytes: number(m[2]), lines: number(m[3]), name: m[4]});
  }
  const kv = number(take("reports "));
  need(kv <= OUTPUTS, "counts: too many outputs");
  const reports = [];
  for (let j = 0; j < kv; j++) reports.push(number(take("")));
  take("sha256 ");
  /** @type {Counts} */
  const counts = {policy, epoch, reports, refused, lines: all, shards, notices: []};
  const again = await encodeCounts(counts);
  need(again.length === bytes.length && again.every((b, i) => b === bytes[i]), "counts: not the text that they have");
  return counts;
}

/**
 * The sum of the counts of parts, of one policy and one epoch.
 * @param {readonly Counts[]} parts
 * @returns {Counts}
 */
export function mergeCounts(parts) {
  need(Array.isArray(parts) && parts.length > 0, "counts: no part");
  /** @type {readonly Counts[]} */
  const list = parts;
  const [first] = list, refused = none(), reports = first.reports.map(() => 0);
  let lines = 0;
  for (const c of list) {
    check(c);
    need(c.policy === first.policy, "counts of two policies");
    need(c.epoch === first.epoch, "counts of two epochs");
    need(c.reports.length === reports.length, "counts of two numbers of outputs");
    for (const r of REASONS) refused[r] += c.refused[r];
    c.reports.forEach((v, j) => { reports[j] += v; });
    lines += c.lines;
  }
  /** @type {Counts} */
  const counts = {...first, refused, reports, lines, shards: list.flatMap((c) => c.shards),
    notices: list.flatMap((c) => c.notices)};
  sort(counts.shards);
  check(counts);
  copies(counts.shards);
  return counts;
}
