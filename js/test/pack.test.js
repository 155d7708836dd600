// What npm packs of a clean clone: all that the exports name, or nothing.
import assert from "node:assert/strict";
import {execFileSync, spawnSync} from "node:child_process";
import {existsSync, mkdtempSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {delimiter, dirname, join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tools = existsSync(new URL("../dist/wpm.wasm.gz", import.meta.url)) && existsSync(join(root, ".git"));

test("npm pack", {skip: !tools && "it needs Go, git and npm, as npm run build does"}, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "wpm-pack-"));
  t.after(() => rmSync(folder, {recursive: true}));
  const clone = join(folder, "clone"), js = join(clone, "js");
  execFileSync("git", ["clone", "-q", root, clone]);
  const pack = (env) => spawnSync("npm", ["pack", "--json", "--pack-destination", folder], {cwd: js, env, encoding: "utf8"});

  // Without Go it fails, and leaves no archive.
  const go = execFileSync("which", ["go"], {encoding: "utf8"}).trim();
  const path = process.env.PATH.split(delimiter).filter((p) => p !== dirname(go) && !existsSync(join(p, "go"))).join(delimiter);
  const failed = pack({...process.env, PATH: path});
  assert.notEqual(failed.status, 0);

  const done = pack(process.env);
  assert.equal(done.status, 0, done.stderr);
  const [{files, size, filename}] = JSON.parse(done.stdout);
  t.diagnostic(`${filename}: ${size} bytes, ${files.length} files`);
  const names = files.map((f) => f.path), {exports, ...said} = JSON.parse(readFileSync(join(js, "package.json"), "utf8"));
  for (const entry of Object.values(exports)) {
    for (const name of typeof entry === "string" ? [entry] : Object.values(entry)) {
      assert.ok(names.includes(name.slice(2)), `${name} is not in the package`);
    }
  }
  for (const name of ["LICENSE", "THIRD_PARTY.md", "README.md", "package.json"]) assert.ok(names.includes(name), name);
  assert.ok(!names.some((name) => /^(?:test|wasm|conform)\/|\.wasm$/.test(name)), names.join());
  assert.ok(said.repository && said.keywords.length && said.license);
  assert.ok(size < 5e6, `${size}`);
});
