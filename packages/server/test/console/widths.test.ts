import { afterAll, beforeAll, expect, test } from "vitest";
import { groupDigits } from "../../../console/src/format.ts";
import { type Browser, launchBrowser } from "../support/browser.ts";
import { CONSOLE_FOLDER } from "../support/console-provider.ts";
import { openVisit } from "../support/console-visit.ts";
import { findCutText } from "../support/cut-text.ts";
import { fillLongProvider, type LongProvider } from "../support/long-provider.ts";
import { shareStaffApi } from "../support/staff-api.ts";

const WIDTHS = [1280, 1366];
/** Pages, with elements in which a longer value must be found. */
const PAGES: readonly (readonly [path: string, ...planted: string[]])[] = [
  [
    "/",
    ".stat-value .number",
    ".stat-note .number",
    "td[data-label=Amount] .number",
    "td[data-label=Time] .seconds",
    ".shares td",
  ],
  ["/imports?tab=held-back", "td[data-label='Because of'] .number", "td[data-label='Kept until'] time"],
];
/** What is appended to a value so that no column has room for it. */
const LONGER = ",99,99,999".repeat(9);
const api = shareStaffApi({ consoleFolder: CONSOLE_FOLDER, world: { numberGrouping: "indian" } });
let browser: Browser;
let provider: LongProvider;

beforeAll(async () => {
  groupDigits("indian");
  [browser, provider] = await Promise.all([launchBrowser(), fillLongProvider(api())]);
});
afterAll(async () => {
  groupDigits("western");
  await browser?.close();
});

test.each(WIDTHS.flatMap((width) => PAGES.map(([path, ...planted]) => ({ width, path, planted }))))(
  "at $width pixels, $path shows the longest amounts, dates and names whole",
  async ({ width, path, planted }) => {
    const session = await api().logIn(provider.admin);
    const visit = await openVisit(browser, { origin: provider.origin, now: api().service.now, path, session });
    const { page, main } = visit;
    await page.setViewportSize({ width, height: 800 });
    await visit.settle();
    await page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true; })");
    await expect.poll(() => findCutText(page)).toEqual([]);
    for (const each of planted) {
      const element = main.locator(each).first();
      await element.evaluate(({ lastChild }, longer) => lastChild.appendData(longer), LONGER);
      expect(await findCutText(page), `a longer ${each}`).not.toEqual([]);
      await element.evaluate(({ lastChild }, { length }) => {
        lastChild.deleteData(lastChild.length - length, length);
      }, LONGER);
    }
  },
);
