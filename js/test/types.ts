// What the types say is what the modules are, both ways. The compiler checks this file, and nothing runs it.
import * as code from "../src/index.js";
import * as file from "../src/file.js";
import * as opfs from "../src/opfs.js";
import * as count from "../src/count.js";
import * as indexeddb from "../src/indexeddb.js";
import * as wasm from "../src/wasm.js";
import type * as saidOfCode from "../types/index.js";
import type * as saidOfFile from "../types/file.js";
import type * as saidOfOPFS from "../types/opfs.js";
import type * as saidOfCount from "../types/count.js";
import type * as saidOfIndexedDB from "../types/indexeddb.js";
import type * as saidOfWasm from "../types/wasm.js";

code satisfies typeof saidOfCode;
file satisfies typeof saidOfFile;
opfs satisfies typeof saidOfOPFS;
count satisfies typeof saidOfCount;
indexeddb satisfies typeof saidOfIndexedDB;
wasm satisfies typeof saidOfWasm;
true satisfies keyof typeof code extends keyof typeof saidOfCode ? true : false;
true satisfies keyof typeof file extends keyof typeof saidOfFile ? true : false;
true satisfies keyof typeof opfs extends keyof typeof saidOfOPFS ? true : false;
true satisfies keyof typeof count extends keyof typeof saidOfCount ? true : false;
true satisfies keyof typeof indexeddb extends keyof typeof saidOfIndexedDB ? true : false;
true satisfies keyof typeof wasm extends keyof typeof saidOfWasm ? true : false;

// Of what functions take, parameters and options: what the types allow, the code takes.
true satisfies saidOfCode.LedgerOptions extends Parameters<typeof code.openLedger>[1] ? true : false;
true satisfies Parameters<typeof code.openLedger>[1] extends saidOfCode.LedgerOptions ? true : false;

// What a user writes over the solvers has types, and what is wrong with it is an error.
export async function use(solve: saidOfWasm.Solve) {
  const [a] = await solve("project", [{cost: {kind: "ring", n: 6, p: 1}, mu: {index: [1], weight: [1]}, m: [1], eps: 1, want: ["q"]}]);
  a.q[0] + a.lower;
  const [e] = await solve("estimate", [{cost: {kind: "grid", rows: 1, cols: 2}, m: [1, 1], eps: "1", counts: [1, 2], groups: true}]);
  (e.map ?? e.raw)[0] + (e.groups?.low[0] ?? 0) + (e.map_error?.within90 ?? 0);
  (await solve("hilbert", [{define: "c"}, {reg: 1, cost: "c"}]))[0].anything;
  // @ts-expect-error: a misspelt answer
  a.qq;
  // @ts-expect-error: no number
  a.lower.length;
}
