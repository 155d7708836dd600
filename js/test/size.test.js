// What a page has to load: the package, minified, in gzip. The minifier is a development dependency (npm ci).
import assert from "node:assert/strict";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

const esbuild = await import("esbuild").catch(() => null);
const folder = fileURLToPath(new URL("../", import.meta.url));

test("at most 15 kB", {skip: !esbuild && "npm ci installs the minifier"}, async (t) => {
  for (const [platform, ...entries] of [["browser", ""], ["browser", "", "/opfs"], ["node", "", "/file"]]) {
    const {outputFiles: [{contents}], metafile} = await esbuild.build({
      stdin: {contents: entries.map((name) => `export * from "@wpm-go/wpm${name}";`).join("\n"), resolveDir: folder},
      bundle: true, minify: true, write: false, metafile: true, format: "esm", platform, target: "es2022",
    });
    const size = gzipSync(contents, {level: 9}).length;
    t.diagnostic(`${platform}, .${entries.join(" .")}: ${contents.length} bytes, ${size} in gzip`);
    assert.ok(size <= 15000, `${size}`);
    for (const name of Object.keys(metafile.inputs)) assert.match(name, /^(?:<stdin>|src\/[a-z]+\.js)$/); // no dependency
  }
});
