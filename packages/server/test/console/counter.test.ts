import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { listApprovals, refuseChange } from "../../src/office/approvals/operations.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { putTax } from "../../src/office/taxes/sql.ts";
import { type Browser, launchBrowser, type Page } from "../support/browser.ts";
import { KEEP_ANSWERS } from "../support/console-figures.ts";
import { COUNTER_FOLDER } from "../support/console-provider.ts";
import { findViolations, fitsTelephone } from "../support/console-visit.ts";
import { startCounter } from "../support/counter.ts";
import { deskOf, run } from "../support/desk.ts";
import { startStaffApi } from "../support/staff-api.ts";

const SHOP = "Counter Lalitpur";
const PASSWORD = "kettle orbit fjord";
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** A seller at the first page of the counter. */
async function openShop(viewport = { width: 1280, height: 900 }, colorScheme: "light" | "dark" = "light") {
  const api = await startStaffApi();
  await api.service.addPartner(SHOP);
  const counter = await startCounter(api, COUNTER_FOLDER);
  const url = await counter.app.listen({ host: "127.0.0.1", port: 0 });
  const mina = await counter.seller("mina", SHOP);
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
  await context.addInitScript(KEEP_ANSWERS);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const wrong: string[] = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") process.stderr.write(`The page says:\n${await page.innerText("body")}\n`);
    await context.close();
    expect(wrong).toEqual([]);
  });
  await page.clock.setFixedTime(api.service.now);
  await page.goto(url);
  await page.getByLabel("Name").fill("mina");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Sell" }).waitFor();
  const desk = deskOf(api.service.ports, api.service.actor, { accounts: api.world.accounts });
  const balance = async () => (await mina("GET /account")).json.balance as string;
  return { api, page, mina, desk, balance, url };
}

const receiptOf = (page: Page) => page.getByRole("article", { name: "Receipt" });

test("a sale takes six keys after the number, on the keyboard alone", async () => {
  const { page, balance } = await openShop();
  await page.keyboard.type("9800000001");
  let keys = 0;
  const press = async (key: string) => {
    keys += 1;
    await page.keyboard.press(key);
  };
  await press("Enter");
  await page.getByText("What shall be paid?").waitFor();
  expect(await findViolations(page)).toEqual([]);
  await press("ArrowDown");
  await press("Enter");
  await page.getByText("Which bouquet?").waitFor();
  expect(await findViolations(page)).toEqual([]);
  await press("Enter");
  await page.getByText("Check with the customer").waitFor();
  expect(await findViolations(page)).toEqual([]);
  await press("Enter");
  await receiptOf(page).waitFor();
  expect(keys).toBeLessThanOrEqual(6);
  expect(await receiptOf(page).innerText()).toContain("000100000000002");
  expect(await findViolations(page)).toEqual([]);
  const price = await balance();
  // Enter goes on with the next customer, and a reload does not sell again.
  await page.reload();
  await receiptOf(page).waitFor();
  await page.getByRole("button", { name: "Next customer" }).click();
  await page.getByLabel("Mobile number").waitFor();
  expect(await balance()).toBe(price);
}, 60_000);

/** Comes to the confirmation of a sale of the internet of customer 1000002. */
async function confirm(page: Page): Promise<void> {
  await page.getByLabel("Mobile number").fill("1000002");
  await page.keyboard.press("Enter");
  await page.getByText("Which bouquet?").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Check with the customer").waitFor();
}

test("a lost answer is asked for, and the sale is made once; a double click too", async () => {
  const { page, mina } = await openShop();
  await page.clock.resume();
  let lost = 0;
  await page.route("**/api/v1/sales", async (route) => {
    // The first request never reaches the server, the second one's answer is lost.
    lost += 1;
    if (lost === 1) return route.abort();
    await route.fetch();
    return lost === 2 ? route.abort() : route.continue();
  });
  await confirm(page);
  await page.getByRole("button", { name: "Sell", exact: true }).dblclick();
  await receiptOf(page).waitFor();
  expect(lost).toBe(2);
  expect((await mina("GET /sales")).json.items).toHaveLength(1);
}, 60_000);

test("a second sale of the same plan asks again; a reload in the middle goes on with the same sale", async () => {
  const { page, mina } = await openShop();
  await confirm(page);
  await page.keyboard.press("Enter");
  await receiptOf(page).waitFor();
  await page.getByRole("button", { name: "Next customer" }).click();
  await page.getByLabel("Mobile number").fill("1000002");
  await page.keyboard.press("Enter");
  await page.getByText("Which bouquet?").waitFor();
  const begun = new URL(page.url()).searchParams.get("checkoutId");
  await page.reload();
  await page.getByText("Which bouquet?").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Check with the customer").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Sell it again?").waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Sell it again" }).click();
  await receiptOf(page).waitFor();
  const { items } = (await mina("GET /sales")).json;
  expect(items).toHaveLength(2);
  expect(items.map(({ checkoutId }: { checkoutId: string }) => checkoutId)).toContain(begun);
}, 60_000);

test("a shift is opened, counted and closed; a mistake is asked to be reversed, and the cash goes back", async () => {
  const { page, desk, mina } = await openShop();
  await confirm(page);
  await page.keyboard.press("Enter");
  await receiptOf(page).waitFor();
  await page.getByRole("link", { name: "Sales" }).click();
  await page.getByRole("button", { name: "Open a shift" }).click();
  await page.getByLabel("Cash in the drawer").fill("500");
  await page.keyboard.press("Enter");
  await page.getByText("Cash that must be there", { exact: true }).waitFor();
  expect(await findViolations(page)).toEqual([]);

  const [{ txnId }] = (await mina("GET /sales")).json.items;
  const ask = async () => {
    await page.getByRole("button", { name: txnId.slice(-6) }).click();
    await page.getByRole("menuitem", { name: "Ask for a reversal" }).click();
    await page.getByLabel("Reason").fill("wrong customer");
    await page.keyboard.press("Enter");
    await page.getByText("Reversal asked").first().waitFor();
  };
  await ask();
  const [{ id = "" } = {}] = (await run(desk, listApprovals, { environment: "trial" })).items;
  await run(desk, refuseChange, { id, reason: "the customer uses it" });
  await page.reload();
  await page.getByText("the customer uses it").waitFor();
  await ask();
  await run(desk, reverseTransaction, { id: txnId, reason: "wrong customer" });
  await page.reload();
  await page.getByText("return the cash").waitFor();
  await page.getByRole("button", { name: txnId.slice(-6) }).click();
  await page.getByRole("menuitem", { name: "Record that the cash was returned" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Record that the cash was returned" }).click();
  await page.getByText("cash returned").waitFor();

  await page.getByRole("button", { name: "Close the shift" }).click();
  await page.getByLabel("Counted cash").fill("480");
  await page.getByLabel("Note").fill("20 for tea");
  await page.keyboard.press("Enter");
  await page.getByText("Difference: NPR -20.00.").waitFor();
  await page.getByRole("table", { name: "Your shifts" }).getByText("20 for tea").waitFor();
}, 60_000);

test.each([
  [360, "light"],
  [360, "dark"],
  [1280, "light"],
  [1280, "dark"],
] as const)(
  "every page fits %i pixels in the %s, and has no violation",
  async (width, scheme) => {
    const { page, url, api } = await openShop({ width, height: 800 }, scheme);
    const { engine } = api.service.store;
    await engine.transact((tx) => putTax(tx, { service: "internet", name: "VAT", from: "2026-01-01", share: 130_000 }));
    const look = async (name: string) => {
      expect(await findViolations(page), name).toEqual([]);
      expect(await fitsTelephone(page), name).toBe(true);
      await page.emulateMedia({ colorScheme: scheme });
      const folder = process.env["PICTURES"];
      if (folder) await page.screenshot({ path: `${folder}/${name}-${width}-${scheme}.png`, fullPage: true });
    };
    await look("sell");
    await page.getByLabel("Mobile number").fill("1000001");
    await page.keyboard.press("Enter");
    await page.getByText("What shall be paid?").waitFor();
    await look("connections");
    await page.getByRole("button", { name: "Another customer" }).click();
    await confirm(page);
    await look("confirm");
    await page.keyboard.press("Enter");
    await receiptOf(page).getByText("VAT").waitFor();
    await look("receipt");
    await page.goto(`${url}/sales`);
    await page.getByRole("table", { name: "Sales" }).waitFor();
    await look("sales");
    await page.goto(`${url}/money`);
    await page.getByRole("table").waitFor();
    await look("account");
  },
  60_000,
);
