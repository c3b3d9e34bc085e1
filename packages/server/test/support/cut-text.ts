import { readFileSync } from "node:fs";
import type { Page } from "./browser.ts";

const SCRIPT = readFileSync(new URL("cut-text.js", import.meta.url), "utf8");

/**
 * Measures the text of a page as it is drawn.
 * @param within selects what is measured, such as an open dialog.
 * @returns a sentence for each text that leaves its cell or box, is cut, broken within a word, or covered.
 */
export async function findCutText(page: Page, within = "body"): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'findCutText' in window"))) await page.evaluate(SCRIPT);
  return page.evaluate<string[]>(`findCutText(document.querySelector(${JSON.stringify(within)}))`);
}
