import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const START = `
const { launchBrowser } = await import(process.argv[1]);
const browser = await launchBrowser(process.argv[2]);
console.log(browser.version());
await browser.close();`;

/** Both unpack 200 MB, which a busy machine does slowly. */
const PATIENT = { timeout: 180_000 };

test("two processes that begin a browser at once, before it is unpacked, both have one", PATIENT, async () => {
  const folder = join(temporaryFolder(), "cache");
  const support = new URL("../support/browser.ts", import.meta.url).href;
  const args = ["--import", "tsx", "--input-type=module", "--eval", START, support, join(folder, "chromium")];
  const start = () => promisify(execFile)(process.execPath, args);
  const versions = (await Promise.all([start(), start()])).map(({ stdout }) => stdout);
  expect(versions).toEqual([expect.stringMatching(/^\d+\.[\d.]+\n$/), versions[0]]);
  expect(readdirSync(folder)).toEqual(["chromium"]);
});
