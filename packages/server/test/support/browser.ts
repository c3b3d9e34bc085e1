import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
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

/** Begins a browser. @param folder that holds it, unpacked at the first use */
export function launchBrowser(folder = FOLDER): Promise<Playwright.Browser> {
  if (!existsSync(folder)) unpackTo(folder);
  const { chromium } = createRequire(tool("playwright-core/package.json"))("playwright-core") as typeof Playwright;
  // A bare machine has no fonts either: without one, a page has no text.
  const environment = {
    ...process.env,
    LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
    XDG_DATA_HOME: join(folder, "fonts"),
  };
  return chromium.launch({
    executablePath: join(folder, "chromium"),
    args: FLAGS,
    env: environment as Record<string, string>,
  });
}

/** The folder gets its name when all is in it, so that tests which unpack at once never start a half-written program. */
function unpackTo(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  const own = mkdtempSync(`${folder}-`);
  try {
    const unpack = fileURLToPath(new URL("unpack-chromium.mjs", import.meta.url));
    execFileSync(process.execPath, [unpack], { env: { ...process.env, TMPDIR: own } });
    renameSync(own, folder);
  } catch (error) {
    // Another test was faster.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
