import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type * as Playwright from "../../../../tools/node_modules/playwright-core/index.js";
import { tool } from "./tools.ts";

/*
 * A real Chromium from a package of tools/: nothing is downloaded but that, and nothing is asked of the machine.
 */

export type { Browser, Locator, Page } from "../../../../tools/node_modules/playwright-core/index.js";

const FOLDER = tool(".cache/topupd-chromium");

/** Without the flags by which the package switches off what browsers guard their pages with. */
const FLAGS = ["--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-background-networking", "--no-first-run"];

/** Begins a browser, unpacked at the first use. */
export function launchBrowser(): Promise<Playwright.Browser> {
  mkdirSync(FOLDER, { recursive: true });
  const unpack = fileURLToPath(new URL("unpack-chromium.mjs", import.meta.url));
  const env = { ...process.env, TMPDIR: FOLDER };
  const executablePath = execFileSync(process.execPath, [unpack], { env, encoding: "utf8" });
  const { chromium } = createRequire(tool("playwright-core/package.json"))("playwright-core") as typeof Playwright;
  // A bare machine has no fonts either: without one, a page has no text.
  const environment = {
    ...process.env,
    LD_LIBRARY_PATH: join(FOLDER, "al2023", "lib"),
    XDG_DATA_HOME: join(FOLDER, "fonts"),
  };
  return chromium.launch({ executablePath, args: FLAGS, env: environment as Record<string, string> });
}
