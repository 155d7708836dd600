// Builds dist/wpm.wasm.gz, the solvers for the entry ./wasm: node wasm/build.js. It needs Go, and is not committed.
import {execFileSync} from "node:child_process";
import {mkdirSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const plain = path("../dist/wpm.wasm"), packed = plain + ".gz", most = 2300000;

mkdirSync(path("../dist"), {recursive: true});
const env = {...process.env, GOOS: "wasip1", GOARCH: "wasm", CGO_ENABLED: "0", GOFLAGS: ""};
const args = ["build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", plain, "."];
execFileSync("go", args, {cwd: path("."), stdio: "inherit", env});
const gzip = gzipSync(readFileSync(plain), {level: 9});
rmSync(plain);
if (gzip.length > most) throw new Error(`${gzip.length} bytes, more than ${most}`);
writeFileSync(packed, gzip);
console.log(`${packed}: ${gzip.length} bytes`);
