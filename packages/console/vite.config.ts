import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

export default defineConfig({
  plugins: [compress()],
  build: {
    // The page's security policy forbids data: URLs and inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: "manifest.json",
    // The licences of what is bundled ask for their texts.
    license: { fileName: "licenses.md" },
    // Radix marks its files for server rendering, which the console does not use.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8090" } },
});

/** Writes `FILE.gz` next to each text file. The server sends it to browsers that accept gzip. */
function compress(): Plugin {
  return {
    name: "compress",
    apply: "build",
    writeBundle({ dir }) {
      if (dir === undefined) return;
      for (const path of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
        if (!/\.(?:js|css|html|svg)$/.test(path)) continue;
        writeFileSync(join(dir, `${path}.gz`), gzipSync(readFileSync(join(dir, path)), { level: 9 }));
      }
    },
  };
}
