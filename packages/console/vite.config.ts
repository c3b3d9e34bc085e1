import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

export default defineConfig({
  plugins: [compress()],
  build: {
    // The policy of the page allows no data: URL and no script within it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: "manifest.json",
    // Radix marks its files for servers that render; there is none.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8090" } },
});

/** Writes `FILE.gz` beside each text file, which the server sends to whoever takes it. */
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
