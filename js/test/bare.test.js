// The package in JavaScriptCore's jsc, a bare engine: what an app for iOS has, which gives it UTF-8, SHA-256, random bytes
// and a store.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {decode, openLedger, release} from "@wpm-go/wpm";
import {memory} from "./support/memory.js";

const absent = spawnSync("jsc", ["-e", ""]).status !== 0;

test("a bare engine verifies, pays and releases as node does", {skip: absent && "no jsc"}, async (t) => {
  const spec = readFileSync(new URL("../../docs/spec/policy.md", import.meta.url), "utf8");
  const [, policy] = /```json policy-1\n([^]*?)```/.exec(spec), data = "label,count\nhome,1\nwork,2.5\n";
  const folder = mkdtempSync(join(tmpdir(), "wpm-bare-"));
  t.after(() => rmSync(folder, {recursive: true}));
  const files = Object.entries({policy, data}).map(([name, text]) => (writeFileSync(join(folder, name), text), join(folder, name)));
  const program = fileURLToPath(new URL("support/bare.js", import.meta.url));
  const {stdout, stderr, status} = spawnSync("jsc", ["-m", program, "--", ...files], {encoding: "utf8", timeout: 60000});
  assert.equal(status, 0, stderr + stdout);
  const got = JSON.parse(stdout);
  assert.deepEqual(got.there, []); // or it is no bare engine

  t.mock.method(globalThis.crypto, "getRandomValues", (a) => a.fill(7));
  const store = memory(), encode = (s) => new TextEncoder().encode(s), said = [];
  for (let n = 0; n < 2; n++) {
    const ledger = await openLedger(store, {epoch: "2026-11", budget: "8"});
    said.push(Buffer.from(await release(await decode(encode(policy)), encode(data), ledger)).toString("hex"));
    await ledger.close();
    said.push(Buffer.from(store.text).toString("latin1"));
  }
  assert.deepEqual(got.said, said);
  assert.match(got.refused, /^key: the signature cannot be checked/);
  assert.equal(got.paid, "1");
});
