import { readFileSync } from "node:fs";
import { expect, onTestFinished } from "vitest";
import type { Browser, Locator, Page } from "./browser.ts";
import { findWrongFigures, KEEP_ANSWERS } from "./console-figures.ts";
import { COOKIE } from "./staff-api.ts";
import { tool } from "./tools.ts";

/** Somebody at a browser of their own. */
export interface Visit {
  readonly page: Page;
  /** The part of the page that changes with the address. */
  readonly main: Locator;
  /** The dialog that is open. */
  readonly dialog: Locator;
  /** Goes to a page within the console, as a link does. */
  goTo(path: string): Promise<void>;
  /** Fills in the log-in form, and waits until the page behind it shows. */
  logIn(name: string, password: string): Promise<void>;
  press(name: string | RegExp, within?: Locator): Promise<void>;
  /** Waits until the console tells that something was done, and dismisses it. */
  expectToast(text: string | RegExp): Promise<void>;
  /** Waits until what the page reads is there. */
  settle(): Promise<void>;
  /** Chooses a row's or an account's action from its menu. */
  choose(menu: string | RegExp, item: string | RegExp): Promise<void>;
}

export interface VisitOptions {
  readonly origin: string;
  /** What the browser's clock says. */
  readonly now: number;
  readonly path?: string;
  /** The token of a session, of somebody who has logged in already. */
  readonly session?: string;
  /** Statuses by which the API refuses something in this test. */
  readonly refusals?: readonly number[];
  /** Another host that pages of this test visit. */
  readonly issuer?: string;
}

/** Longer than anything takes, shorter than a test: what does not show is told with the page's own words. */
const PATIENCE_MS = 15_000;

/**
 * Opens a page in a browser context of its own. The test fails, in its end, where the page had an error, opened a dialog of
 * the browser, asked anything of another host, or was refused what the test does not mean to be.
 */
export async function openVisit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const { origin, now, path = "/", session, refusals = [], issuer } = options;
  const localStorage = session === undefined ? [] : [{ name: "topupd.loggedIn", value: "yes" }];
  const context = await browser.newContext({
    ...{ acceptDownloads: true, reducedMotion: "reduce", colorScheme: "light" },
    storageState: { cookies: [], origins: [{ origin, localStorage }] },
  });
  const wrong: string[] = [];
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") process.stderr.write(`The page says:\n${await page.innerText("body")}\n`);
    else await expectFigures(page);
    await context.close();
    expect(wrong, "what the browser found wrong").toEqual([]);
  });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.clock.setFixedTime(now);
  context.on("weberror", (error) => wrong.push(String(error.error())));
  context.on("dialog", async (dialog) => {
    wrong.push(`${dialog.type()}: ${dialog.message()}`);
    await dialog.dismiss();
  });
  context.on("console", (message) => {
    const { url } = message.location();
    const isRefusal = message.text().startsWith("Failed to load resource") && url.startsWith(`${origin}/api/`);
    if (message.type() === "error" && !isRefusal) wrong.push(message.text());
  });
  context.on("request", (request) => {
    const isOwn = [origin, issuer].includes(new URL(request.url()).origin);
    if (!/^(data|blob):/.test(request.url()) && !isOwn) wrong.push(request.url());
  });
  context.on("response", (response) => {
    const status = response.status();
    if (status >= 400 && !refusals.includes(status))
      wrong.push(`${status} ${response.request().method()} ${response.url()}`);
  });
  await context.addInitScript(KEEP_ANSWERS);
  if (session !== undefined) await context.addCookies([{ name: COOKIE, value: session, url: origin }]);
  const page = await context.newPage();
  await page.goto(origin + path);
  return visitOf(page);
}

function visitOf(page: Page): Visit {
  const main = page.getByRole("main");
  const visit: Visit = {
    ...{ page, main, dialog: page.getByRole("dialog") },
    async goTo(path) {
      await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
      await visit.settle();
    },
    async logIn(name, password) {
      await page.getByLabel("Name").fill(name);
      await page.getByLabel("Password").fill(password);
      await visit.press("Log in");
    },
    press: (name, within = main) => within.getByRole("button", { name, exact: typeof name === "string" }).click(),
    async expectToast(text) {
      const toast = page.getByRole("region", { name: "Notifications" }).getByRole("status").filter({ hasText: text });
      await toast.waitFor();
      await toast.getByRole("button", { name: "Dismiss" }).click();
    },
    async settle() {
      const isThere = "document.querySelector('main h1') !== null && !document.body.innerText.includes('Loading…')";
      await expect.poll(() => page.evaluate(isThere), { timeout: PATIENCE_MS, interval: 20 }).toBe(true);
      await expectFigures(page);
    },
    async choose(menu, item) {
      await page.getByRole("button", { name: menu }).click();
      await page
        .getByRole("menu")
        .getByText(item, { exact: typeof item === "string" })
        .click();
    },
  };
  return visit;
}

/** Waits until all figures of the page are those of the answers that it has read. */
async function expectFigures(page: Page): Promise<void> {
  await expect.poll(() => findWrongFigures(page), { timeout: PATIENCE_MS, interval: 20 }).toEqual([]);
}

/** A row of a table, by the words in it. */
export function rowOf({ page }: Visit, table: string, text: string | RegExp): Locator {
  return page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: text });
}

/** Buttons of the page, except those that sort a table, copy a txnId or open a part of the page. */
export function buttonsOf({ page }: Visit): Promise<string[]> {
  const buttons = "document.querySelectorAll('main button:not(th button, .txn-id, [role=tab])')";
  return page.evaluate(`[...${buttons}].map((each) => each.ariaLabel ?? each.innerText)`);
}

/** Waits until the dialog tells where a subscription ends before and after. */
export async function expectEnds({ dialog }: Visit, before: string, after: string): Promise<void> {
  await dialog.getByText(after).waitFor();
  const times = await dialog.getByRole("time").allInnerTexts();
  expect(times.slice(-2)).toEqual([before, after]);
}

/** Whether nothing lies beyond the side of a telephone's screen, and linked rows have two lines. Charts take some frames. */
export async function fitsTelephone(page: Page): Promise<boolean> {
  const { width, height } = page.viewportSize() ?? { width: 1280, height: 720 };
  await page.setViewportSize({ width: 360, height: 740 });
  const fits = await page.evaluate<boolean>(`new Promise((done) => {
    let frames = 60;
    const look = () => {
      const rows = [...document.querySelectorAll(".row-linked")];
      const fits = document.documentElement.scrollWidth <= innerWidth && rows.every((row) => row.clientHeight < 66);
      if (fits || --frames === 0) done(fits);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  })`);
  await page.setViewportSize({ width, height });
  return fits;
}

/** A file as somebody chooses it. */
export function fileOf(name: string, ...lines: readonly string[]) {
  return { name, mimeType: "application/octet-stream", buffer: Buffer.from(lines.map((line) => `${line}\n`).join("")) };
}

const AXE = readFileSync(tool("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Rules that say another thing when the colours are others. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** @returns what axe-core finds against WCAG 2.2 AA on the page as it stands, in light and in dark. */
export async function findViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  await expectFigures(page);
  // The sticky header of a scrolled page covers parts of controls.
  await page.evaluate("scrollTo(0, 0)");
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const runOnly = colorScheme === "light" ? { type: "tag", values: TAGS } : { type: "rule", values: OF_COLOURS };
    const options = JSON.stringify({ runOnly, resultTypes: ["violations"] });
    const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`);
    for (const { id, nodes } of violations) found.push(...nodes.map(({ html }) => `${colorScheme}: ${id}: ${html}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}

interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}
