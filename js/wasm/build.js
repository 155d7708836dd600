// Builds what npm packs beside the sources, and what is not committed: the solvers for the entry ./wasm, in dist, and the
// licences. It needs Go. npm runs it before it packs, and packs nothing if it fails.
import {execFileSync} from "node:child_process";
import {copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const env = {...process.env, GOOS: "wasip1", GOARCH: "wasm", CGO_ENABLED: "0", GOFLAGS: ""};

mkdirSync(path("../dist"), {recursive: true});
// A page loads the first. The second has the kind estimate, too; its limit is the first's and what estimate needs.
for (const [name, folder, most] of [["wpm", ".", 2300000], ["wpm-estimate", "./estimate", 3000000]]) {
  const plain = path(`../dist/${name}.wasm`), packed = plain + ".gz";
  const args = ["build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", plain, folder];
  execFileSync("go", args, {cwd: path("."), stdio: ["ignore", "inherit", "inherit"], env});
  const gzip = gzipSync(readFileSync(plain), {level: 9});
  rmSync(plain);
  if (gzip.length > most) throw new Error(`${gzip.length} bytes, more than ${most}`);
  writeFileSync(packed, gzip);
  console.error(`${packed}: ${gzip.length} bytes`);
}
for (const name of ["LICENSE", "THIRD_PARTY.md"]) copyFileSync(path(`../../${name}`), path(`../${name}`));
