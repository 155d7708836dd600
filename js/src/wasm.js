// The solvers, as a WebAssembly program that answers the lines of "wpm solve" (js/wasm/main.go). It is an oracle and a
// solver, and no way to release: nothing in it draws, and it gets no random bytes.
// @ts-check
import {need} from "./box.js";

/** @typedef {import("../types/wasm.js").Solve} Solve */

/** A line that the solvers refuse. */
export class SolverError extends Error {
  /**
   * @param {string} what
   * @param {number} line
   * @param {readonly Record<string, unknown>[]} answers
   */
  constructor(what, line, answers) {
    super(`line ${line}: ${what}`);
    this.name = "SolverError";
    /** Its number, from 0. */
    this.line = line;
    /** Of all lines; those that were refused have a member error. */
    this.answers = answers;
  }
}

// Numbers of WASI, preview 1: errors, and what its tables hold.
const OK = 0, NO_FILE = 8, NOT_HERE = 52;
const CHARACTERS = 2;

/** What the program ends itself with. */
class Exit {
  /** @param {number} code */
  constructor(code) { this.code = code; }
}

/**
 * Compiles the program, from its bytes or their gzip.
 * @param {Uint8Array} program
 * @returns {Promise<Solve>}
 */
export async function solver(program) {
  need(program instanceof Uint8Array, "a program comes as bytes");
  const bytes = new Response(program.slice());
  const plain = program[0] !== 0x1f ? bytes
    : new Response(/** @type {ReadableStream} */ (bytes.body).pipeThrough(new DecompressionStream("gzip")));
  const module = await WebAssembly.compile(await plain.arrayBuffer());
  /** @type {(kind: string, lines: readonly object[]) => Promise<any[]>} */
  const solve = async (kind, lines) => {
    const text = lines.map((line) => {
      need(typeof line === "object" && line !== null, "a line is an object");
      return JSON.stringify(line) + "\n";
    });
    const {code, out, err} = await run(module, ["wpm", String(kind)], new TextEncoder().encode(text.join("")));
    need(code === 0, err.trim() || `the program ended with ${code}`);
    const answers = out.split("\n").slice(0, -1).map((line) => JSON.parse(line));
    need(answers.length === lines.length, "the program did not answer every line");
    const bad = answers.findIndex((a) => typeof a.error === "string");
    if (bad >= 0) throw new SolverError(answers[bad].error, bad, answers);
    return answers;
  };
  return /** @type {Solve} */ (solve);
}

/**
 * Runs the program on an input: WASI with arguments, a clock and the three streams, and nothing else.
 * @param {WebAssembly.Module} module
 * @param {string[]} args
 * @param {Uint8Array} input
 */
async function run(module, args, input) {
  /** @type {WebAssembly.Memory} */
  let memory;
  const view = () => new DataView(memory.buffer);
  /** @type {(at: number, value: number) => void} */
  const put = (at, value) => view().setUint32(at, value, true);
  /** @type {Uint8Array<ArrayBuffer>[][]} */
  const written = [[], [], []];
  const strings = args.map((s) => new TextEncoder().encode(s + "\0"));
  let read = 0;

  /**
   * Calls f with each of the pieces of memory that a read or a write names, and stores the sum of what it returns.
   * @type {(from: number, count: number, sum: number, f: (piece: Uint8Array) => number) => number}
   */
  const pieces = (from, count, sum, f) => {
    let n = 0;
    for (let i = 0; i < count; i++) {
      const at = view().getUint32(from + 8 * i, true), size = view().getUint32(from + 8 * i + 4, true);
      n += f(new Uint8Array(memory.buffer, at, size));
    }
    put(sum, n);
    return OK;
  };

  /** @type {Record<string, (...values: any[]) => number>} */
  const offered = {
    args_sizes_get(count, size) {
      put(count, strings.length);
      put(size, strings.reduce((n, s) => n + s.length, 0));
      return OK;
    },
    args_get(list, at) {
      strings.forEach((s, i) => {
        put(list + 4 * i, at);
        new Uint8Array(memory.buffer).set(s, at);
        at += s.length;
      });
      return OK;
    },
    environ_sizes_get(count, size) {
      put(count, 0);
      put(size, 0);
      return OK;
    },
    environ_get: () => OK,
    clock_time_get(id, _, at) {
      const ms = id === 0 ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
      return OK;
    },
    fd_fdstat_get(fd, at) {
      if (fd > 2) return NO_FILE;
      new Uint8Array(memory.buffer, at, 24).fill(0);
      view().setUint8(at, CHARACTERS);
      return OK;
    },
    fd_fdstat_set_flags: () => OK,
    fd_prestat_get: () => NO_FILE,
    fd_read(fd, from, count, sum) {
      if (fd !== 0) return NO_FILE;
      return pieces(from, count, sum, (piece) => {
        const part = input.subarray(read, read + piece.length);
        piece.set(part);
        read += part.length;
        return part.length;
      });
    },
    fd_write(fd, from, count, sum) {
      if (fd !== 1 && fd !== 2) return NO_FILE;
      return pieces(from, count, sum, (piece) => {
        written[fd].push(Uint8Array.from(piece));
        return piece.length;
      });
    },
    /** Every wait is over at once; who waited looks at the clock again. */
    poll_oneoff(subscriptions, events, count, sum) {
      for (let i = 0; i < count; i++) {
        new Uint8Array(memory.buffer, events + 32 * i, 32).fill(0);
        view().setBigUint64(events + 32 * i, view().getBigUint64(subscriptions + 48 * i, true), true);
        view().setUint8(events + 32 * i + 10, view().getUint8(subscriptions + 48 * i + 8));
      }
      put(sum, count);
      return OK;
    },
    sched_yield: () => OK,
    proc_exit(code) { throw new Exit(code); },
  };
  const system = Object.fromEntries(WebAssembly.Module.imports(module).map(({name}) =>
    [name, Object.hasOwn(offered, name) ? offered[name] : () => NOT_HERE]));
  const {exports} = await WebAssembly.instantiate(module, {wasi_snapshot_preview1: system});
  memory = /** @type {WebAssembly.Memory} */ (exports.memory);
  let code = 0;
  try {
    /** @type {() => void} */ (exports._start)();
  } catch (e) {
    if (!(e instanceof Exit)) throw e;
    code = e.code;
  }
  const [, out, err] = await Promise.all(written.map((parts) => new Blob(parts).text()));
  return {code, out, err};
}
