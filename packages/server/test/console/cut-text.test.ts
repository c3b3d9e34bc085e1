import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, launchBrowser } from "../support/browser.ts";
import { findCutText } from "../support/cut-text.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

async function foundIn(html: string): Promise<string[]> {
  const page = await browser.newPage();
  await page.setContent(`<body style="font: 16px sans-serif; line-height: 1.5">${html}</body>`);
  const found = await findCutText(page);
  await page.close();
  return found;
}

const CARD = "border: 1px solid";
const LINE = "white-space: nowrap";

test.each([
  ["leaves a card", `<p style="${CARD}; ${LINE}; width: 9ch">from NPR 37,270.00</p>`, `"from NPR 37,270.00" leaves p`],
  [
    "leaves a cell",
    `<table style="table-layout: fixed; width: 90px"><tr><td><span style="${LINE}">Namaste Pay Kathmandu</span></td><td></td></tr></table>`,
    `"Namaste Pay Kathmandu" leaves td`,
  ],
  ["leaves the page", `<p style="${LINE}; margin-left: 99%">Namaste Pay</p>`, `"Namaste Pay" leaves the page`],
  [
    "ends in dots",
    `<p style="${LINE}; width: 9ch; overflow: hidden; text-overflow: ellipsis">Namaste Pay Kathmandu</p>`,
    `"Namaste Pay Kathmandu" is cut by p`,
  ],
  [
    "is cut below",
    `<p style="width: 9ch; height: 1.5em; overflow: hidden">Namaste Pay Kathmandu</p>`,
    `"Namaste Pay Kathmandu" is cut by p`,
  ],
  [
    "is cut, and lies in an element without a box",
    `<p style="${LINE}; width: 5ch; overflow: hidden"><span style="display: contents">Namaste Pay</span></p>`,
    `"Namaste Pay" is cut by p`,
  ],
  ["is cut by a chart", `<svg width="40" height="40"><text x="20" y="20">12Cr</text></svg>`, `"12Cr" is cut by svg`],
  [
    "lies over another text",
    `<p>Kept until</p><p style="margin-top: -40px">The file says</p>`,
    `"Kept until" and "The file says" overlap`,
  ],
  [
    "lies below a button",
    `<p>Kept until</p><button style="margin-top: -60px; height: 60px"></button>`,
    `"Kept until" and button overlap`,
  ],
  [
    "is squeezed to a letter a line",
    `<p style="width: 1ch; overflow-wrap: anywhere">Goodwill</p>`,
    expect.stringMatching(/^"Goodwill" of "Goodwill" is broken into [78] lines$/),
  ],
  [
    "is an amount in two lines",
    `<p style="width: 9ch; overflow-wrap: anywhere">11,30,00,000.00</p>`,
    `"11,30,00,000.00" of "11,30,00,000.00" is broken into 2 lines`,
  ],
  [
    "is a number of many digits in two lines",
    `<p style="width: 20ch; overflow-wrap: anywhere">11,30,00,000.00,11,30,00,000.00</p>`,
    `"11,30,00,000.00,11,30,00,000.00" of "11,30,00,000.00,11,30,00,000.00" is broken into 2 lines`,
  ],
  [
    "is a date in two lines",
    `<p style="width: 14ch">Goodwill of 2026-11-28</p>`,
    `"2026-11-28" of "Goodwill of 2026-11-28" is broken into 2 lines`,
  ],
  [
    "is a long name in pieces of a letter or two",
    `<p style="width: 2ch; overflow-wrap: anywhere">chandrakumari.shrestha.bhaktapur</p>`,
    expect.stringMatching(/^"chandrakumari.shrestha.bhaktapur" of .* is broken into \d\d lines$/),
  ],
  [
    "is a chosen option",
    `<select style="width: 60px"><option>By day and partner</option></select>`,
    `"By day and partner" is cut by its select`,
  ],
  ["is an example", `<input size="5" placeholder="Code, name or plan">`, `"Code, name or plan" is cut by its input`],
])("a text that %s is found", async (_, html, expected) => {
  expect(await foundIn(html)).toEqual([expected]);
});

test.each([
  ["wraps between words", `<p style="${CARD}; width: 12ch">from NPR 37,270.00</p>`],
  ["is in one line of its cell", `<table><tr><td>11,30,00,000.00</td><td>2026-11-28 09:00</td></tr></table>`],
  [
    "is a long name in two lines",
    `<p style="width: 22ch; overflow-wrap: anywhere">chandrakumari.shrestha.bhaktapur</p>`,
  ],
  [
    "is for screen readers",
    `<p style="position: absolute; width: 1px; overflow: hidden; clip-path: inset(50%)">Copy the id</p>`,
  ],
  [
    "is in a closed part",
    `<details><summary>Show</summary><p style="${LINE}; width: 1px; overflow: hidden">Table</p></details>`,
  ],
  ["can be scrolled to", `<div style="height: 30px; overflow-y: auto"><p>Kept until</p><p>The file says</p></div>`],
  ["lies in front of the page", `<p>Kept until</p><p style="position: absolute; top: 0">The file says</p>`],
  [
    "is chosen, and fits",
    `<select><option>Any</option><option hidden>By day, partner, service and bouquet</option></select>`,
  ],
])("a text that %s is whole", async (_, html) => {
  expect(await foundIn(html)).toEqual([]);
});
