import { afterAll, beforeAll, expect, test } from "vitest";
import { PAUSE_MS } from "../../../console/src/counter/pause.ts";
import { listApprovals, refuseChange } from "../../src/office/approvals/operations.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { addStaff } from "../../src/office/staff/operations.ts";
import { addTarget } from "../../src/office/targets/operations.ts";
import { putTax } from "../../src/office/taxes/sql.ts";
import { type Browser, launchBrowser, type Page } from "../support/browser.ts";
import { COUNTER_FOLDER } from "../support/console-provider.ts";
import {
  findViolations,
  fitsTelephone,
  openVisit,
  rowOf,
  type Visit,
  type VisitOptions,
} from "../support/console-visit.ts";
import { startCounter } from "../support/counter.ts";
import { deskOf, run } from "../support/desk.ts";
import { PASSWORD, startStaffApi } from "../support/staff-api.ts";

const SHOP = "Counter Lalitpur";
const SELLER_PASSWORD = "kettle orbit fjord";
/** Points of the width of the receipt's paper. */
const MM_80 = (80 / 25.4) * 72;
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** A shop with the seller Mina, who is logged in at a page of the counter. */
async function openShop({ path = "/", refusals = [] }: Partial<VisitOptions> = {}) {
  const api = await startStaffApi();
  const { service, world } = api;
  await service.addPartner(SHOP);
  const desk = deskOf(service.ports, service.actor, world);
  await run(desk, addTarget, {
    name: "tv",
    webhook: { url: "http://127.0.0.1:9/events", environment: "trial" },
  } as never);
  const counter = await startCounter(api, COUNTER_FOLDER);
  const mina = await counter.seller("mina", SHOP);
  const origin = await counter.app.listen({ host: "127.0.0.1", port: 0 });
  const visit = await openVisit(browser, { origin, now: service.now, path, refusals: [401, ...refusals] });
  const sold = async () => (await (await counter.logIn("mina"))("GET /sales")).json.items.length as number;
  return { api, service, desk, counter, mina, visit, sold };
}

/** Presses keys, one after another, each when the page is ready for it. @returns their number */
async function press(page: Page, ...keys: readonly (readonly [key: string, ready: string])[]): Promise<number> {
  for (const [key, ready] of keys) {
    await page.keyboard.press(key);
    await page.locator(ready).first().waitFor();
  }
  return keys.length;
}

/** Expects no violation on a telephone and on a wide screen, in both themes. */
async function expectGood({ page }: Visit, step: string): Promise<void> {
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 740 });
    expect(await findViolations(page), `${step} at ${width}`).toEqual([]);
  }
  expect(await fitsTelephone(page), `${step} fits a telephone`).toBe(true);
}

test("a new seller changes the password, and sells with six keys after the number", async () => {
  const { visit, desk, sold, mina } = await openShop();
  const { page, main } = visit;
  await run(desk, addStaff, { name: "ravi", sellerOf: SHOP, environment: "trial", password: PASSWORD });
  await visit.logIn("ravi", PASSWORD);
  await main.getByText("Another person set your password.").waitFor();
  expect(await page.getByRole("navigation").getByRole("link").count()).toBe(0);
  await main.getByLabel("Your password").fill(PASSWORD);
  await main.getByLabel("New password", { exact: true }).fill(SELLER_PASSWORD);
  await main.getByLabel("New password again").fill(SELLER_PASSWORD);
  await visit.press("Change password");
  await page.getByRole("link", { name: "Sell", exact: true }).last().click();

  await page.locator("input[name=code]:focus").waitFor();
  await expectGood(visit, "find");
  await page.keyboard.type("9800000001");
  const keys = await press(
    page,
    ["Enter", ".picker button:focus >> text=TV 000100000000001"],
    ["ArrowDown", ".picker button:focus >> text=TV 000100000000002"],
    ["ArrowDown", ".picker button:focus >> text=Internet trial1"],
  );
  await expectGood(visit, "connection");
  const more = await press(page, ["Enter", ".picker button:focus >> text=MONTHLY"]);
  await expectGood(visit, "bouquet");
  const last = await press(page, ["Enter", "button:focus >> text=Sell for NPR 1,130.00"]);
  await expectGood(visit, "confirm");
  await pause(page);
  const all = keys + more + last + (await press(page, ["Enter", "h2 >> text=Sold"]));
  expect(all).toBeLessThanOrEqual(6);
  await main.getByText(/^paid .* tv not sent yet$/).waitFor();
  await expectGood(visit, "sold");
  expect((await mina("GET /sales")).json.items[0]).toMatchObject({ seller: "ravi", method: "cash", reqId: "trial1" });
  await page.reload();
  await main.getByRole("heading", { name: "Sold" }).waitFor();
  expect(await sold()).toBe(1);
});

const [FIRST_CONNECTION, FIRST_BOUQUET] = ["Connections of the customer", "Bouquets for the connection"].map(
  (label) => `ul[aria-label="${label}"] button:focus`,
) as [string, string];

/** Comes to the confirmation of a sale for the customer's first connection. @param connections of the customer */
async function confirm({ page }: Visit, code = "9800000002", connections = 1): Promise<void> {
  await page.locator("input[name=code]:focus").waitFor();
  await page.keyboard.type(code);
  if (connections > 1) await press(page, ["Enter", FIRST_CONNECTION]);
  await press(page, ["Enter", FIRST_BOUQUET], ["Enter", "button[type=submit]:focus"]);
  await pause(page);
}

/** Lets the time pass after which a press is meant. */
const pause = (page: Page) => page.clock.runFor(PAUSE_MS);

/** Stops the page's time, so that no press comes late on a slow machine. */
async function standStill(page: Page): Promise<void> {
  const now = (await page.evaluate("Date.now()")) as number;
  await page.clock.pauseAt(now + 1);
}

test("a double click, a reload, a lost answer and a lost request sell once; a second sale is asked for", async () => {
  const { visit, counter, sold, service } = await openShop({ refusals: [404, 409] });
  const { page, main } = visit;
  await visit.logIn("mina", SELLER_PASSWORD);
  await confirm(visit);
  await main.getByRole("button", { name: /^Sell for/ }).dblclick();
  await main.getByRole("heading", { name: "Sold" }).waitFor();
  expect(await sold()).toBe(1);
  await page.goBack();

  // The request arrives, and its answer is lost; the first question too.
  let arrives = true;
  const asked: string[] = [];
  await page.route(/\/api\/v1\/(sales|offers\/.*)$/, async (route, request) => {
    asked.push(`${request.method()} ${new URL(request.url()).pathname.split("/")[3]}`);
    if (arrives && asked.length === 1) await route.fetch();
    await (asked.length <= 2 ? route.abort() : route.continue());
  });
  await confirm(visit, "trial4-iptv", 2);
  await page.keyboard.press("Enter");
  await main.getByText("Asking what became of the sale").waitFor();
  await main.getByRole("heading", { name: "Sold" }).waitFor();
  expect(asked).toEqual(["POST sales", "GET offers", "GET offers"]);
  expect(await sold()).toBe(2);

  // The request never arrives: it is sent again with the same checkoutId.
  await visit.press("Next customer");
  asked.length = 0;
  arrives = false;
  await confirm(visit, "000100000000003");
  const address = page.url();
  await page.keyboard.press("Enter");
  await main.getByRole("heading", { name: "Sold" }).waitFor();
  expect(asked).toEqual(["POST sales", "GET offers", "GET offers", "POST sales"]);
  expect([await sold(), page.url()]).toEqual([3, address]);
  await page.unroute(/\/api\/v1\/(sales|offers\/.*)$/);

  await visit.press("Next customer");
  await confirm(visit);
  await page.reload();
  await main.getByText("Confirm the sale").waitFor();
  await page.locator("button[type=submit]:focus").waitFor();
  await pause(page);
  await page.keyboard.press("Enter");
  await main.getByText("Sell it again?").waitFor();
  await expectGood(visit, "again");
  await page.locator("button[name=no]:focus").waitFor();
  expect(await sold()).toBe(3);
  await pause(page);
  await visit.press("Yes");
  await main.getByRole("heading", { name: "Sold" }).waitFor();
  expect(await sold()).toBe(4);

  await visit.press("Next customer");
  await confirm(visit);
  service.now += 7 * 60_000;
  await page.reload();
  await main.getByText("Nothing was sold, and nothing will be.").waitFor();
  await expectGood(visit, "never");
  await page.keyboard.press("Enter");
  await page.locator("input[name=code]:focus").waitFor();
  await page.keyboard.type("nobody");
  await page.keyboard.press("Enter");
  await main.getByText("No customer has this number.").waitFor();
  expect(counter.logs.join("")).not.toContain("nobody");

  // A held key chooses nothing; an ended session asks for the log-in, and goes on where it was.
  await page.locator("input[name=code]").fill("1000002");
  for (let times = 0; times < 20; times += 1) {
    await page.keyboard.down("Enter");
    await page.waitForTimeout(20);
  }
  await page.keyboard.up("Enter");
  await main.getByText("until 2027").first().waitFor();
  service.now += 31 * 60_000;
  await page.keyboard.press("Enter");
  await page.locator("button[type=submit]:focus").waitFor();
  await pause(page);
  await page.keyboard.press("Enter");
  await page.getByText("Your session ended after 30 minutes without use.").waitFor();
  await visit.logIn("mina", SELLER_PASSWORD);
  await main.getByText("Nothing was sold, and nothing will be.").waitFor();
  expect(await sold()).toBe(4);
});

test("presses that run on from the search sell nothing; Enter after a pause sells once", async () => {
  const { visit, sold } = await openShop({ refusals: [409] });
  const { page, main } = visit;
  await visit.logIn("mina", SELLER_PASSWORD);
  await page.locator("input[name=code]:focus").waitFor();
  await page.keyboard.type("9800000002");
  await press(page, ["Enter", FIRST_BOUQUET]);
  await standStill(page);
  for (let times = 2; times <= 6; times += 1) await page.keyboard.press("Enter");
  await page.locator("button[type=submit]:focus").waitFor();
  await page.keyboard.press("Space");
  await main.getByRole("button", { name: /^Sell for/ }).dblclick();
  await page.clock.runFor(PAUSE_MS - 1);
  await page.keyboard.press("Enter");
  expect(await sold()).toBe(0);

  await page.clock.resume();
  await pause(page);
  await press(page, ["Enter", "h2 >> text=Sold"]);
  expect(await sold()).toBe(1);

  await visit.press("Next customer");
  await confirm(visit);
  await standStill(page);
  await page.keyboard.press("Enter");
  await main.getByText("Sell it again?").waitFor();
  await main.getByRole("button", { name: "Yes" }).dblclick();
  expect(await sold()).toBe(1);
});

test("a seller opens a shift, asks for a reversal, returns the cash, and closes the shift", async () => {
  const { visit, desk, service } = await openShop({ path: "/sales" });
  const vat = { service: "internet", name: "VAT", from: "2026-01-01", share: 130_000 } as const;
  await service.store.engine.transact((tx) => putTax(tx, vat));
  const { page, main, dialog } = visit;
  await visit.logIn("mina", SELLER_PASSWORD);
  await main.getByText("No sales").waitFor();
  await main.getByLabel(/^Cash at the beginning/).fill("500");
  await visit.press("Open a shift");
  await main.getByText("Open since").waitFor();
  await page.getByRole("link", { name: "Sell", exact: true }).click();
  for (const [number, method] of [
    ["A-17", "Cash"],
    ["A-18", "Card"],
  ] as const) {
    await confirm(visit, number === "A-17" ? "9800000002" : "000100000000003");
    await visit.press(method);
    await main.getByLabel(/^Number in your receipt book/).fill(number);
    await page.keyboard.press("Enter");
    await main.getByRole("heading", { name: "Sold" }).waitFor();
    await visit.press("Next customer");
  }

  await page.getByRole("link", { name: "Sales" }).click();
  const row = (text: string) => rowOf(visit, "Sales of the shop", text);
  await row("A-17").getByText("1,130.00").waitFor();
  await expectGood(visit, "sales");
  const ask = async () => {
    await row("A-17").getByRole("button").click();
    await page.getByRole("menuitem", { name: "Ask for a reversal…" }).click();
    await dialog.getByLabel("Reason").fill("wrong customer");
    expect(await findViolations(page)).toEqual([]);
    await visit.press("Ask", dialog);
    await row("A-17").getByText("Reversal asked for").waitFor();
    expect(await row("A-17").getByRole("button").count()).toBe(0);
  };
  await ask();
  const [request] = (await run(desk, listApprovals, { environment: "trial" })).items;
  await run(desk, refuseChange, { id: request?.id ?? "", reason: "the customer uses it" });
  await page.reload();
  await row("A-17").getByText("the customer uses it").waitFor();
  await ask();
  await main.getByRole("link", { name: "A-17" }).click();
  await main.getByRole("article", { name: "Receipt" }).getByText("Bikash Trial 1000002").waitFor();
  await main.getByText("VAT").waitFor();
  await expectGood(visit, "receipt");
  await page.evaluate("window.print = () => {}");
  await visit.press("Print");
  const paper = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
  const boxes = [...paper.matchAll(/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(([, ...size]) => size.map(Number));
  expect(boxes).toEqual([[expect.closeTo(MM_80, 0), expect.any(Number)]]);
  const [, txnId = ""] = /sales\/(.*)$/.exec(page.url()) ?? [];
  await run(desk, reverseTransaction, { id: txnId, reason: "wrong customer" });

  await main.getByRole("link", { name: "Sales" }).click();
  await page.reload();
  await row("A-17").getByText("Return the cash").waitFor();
  await main.getByRole("link", { name: "A-17" }).click();
  await main.getByRole("article", { name: "Receipt" }).getByText("REVERSED", { exact: true }).waitFor();
  await main.getByRole("link", { name: "Sales" }).click();
  await row("A-17").getByRole("button").click();
  await page.getByRole("menuitem", { name: "Record cash returned…" }).click();
  await visit.press("Record", dialog);
  await visit.expectToast("Recorded in your shift.");
  await main.getByLabel("Find").fill("A-18");
  await row("A-17").waitFor({ state: "detached" });
  await row("A-18").getByText("Card").waitFor();
  await visit.press("Close the shift…");
  await dialog.getByLabel(/^Cash counted/).fill("480");
  await dialog.getByLabel("Note (optional)").fill("20 for tea");
  expect(await findViolations(page)).toEqual([]);
  await visit.press("Close the shift", dialog);
  await main.getByText("Your shift is closed").waitFor();
  await rowOf(visit, "Your shifts", "20 for tea").getByText("-20.00").waitFor();
  await expectGood(visit, "closed");
  await page.getByRole("link", { name: "Account" }).click();
  await main.getByText("Entries of November 2026").first().waitFor();
  await expectGood(visit, "account");
});
