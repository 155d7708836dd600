// What the types say is what the modules are, both ways. The compiler checks this file, and nothing runs it.
import * as code from "../src/index.js";
import * as file from "../src/file.js";
import * as opfs from "../src/opfs.js";
import * as wasm from "../src/wasm.js";
import type * as saidOfCode from "../types/index.js";
import type * as saidOfFile from "../types/file.js";
import type * as saidOfOPFS from "../types/opfs.js";
import type * as saidOfWasm from "../types/wasm.js";

code satisfies typeof saidOfCode;
file satisfies typeof saidOfFile;
opfs satisfies typeof saidOfOPFS;
wasm satisfies typeof saidOfWasm;
true satisfies keyof typeof code extends keyof typeof saidOfCode ? true : false;
true satisfies keyof typeof file extends keyof typeof saidOfFile ? true : false;
true satisfies keyof typeof opfs extends keyof typeof saidOfOPFS ? true : false;
true satisfies keyof typeof wasm extends keyof typeof saidOfWasm ? true : false;

// Of what functions take, parameters and options: what the types allow, the code takes.
true satisfies saidOfCode.LedgerOptions extends Parameters<typeof code.openLedger>[1] ? true : false;
true satisfies Parameters<typeof code.openLedger>[1] extends saidOfCode.LedgerOptions ? true : false;
