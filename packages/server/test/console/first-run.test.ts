import { afterAll, beforeAll, expect, test } from "vitest";
import { type Browser, launchBrowser } from "../support/browser.ts";
import { CONSOLE_FOLDER } from "../support/console-provider.ts";
import { buttonsOf, findViolations, fitsTelephone, openVisit, rowOf } from "../support/console-visit.ts";
import { PASSWORD, shareStaffApi } from "../support/staff-api.ts";

const currency = { title: "Currency", variable: "TOPUPD_CURRENCY", isNeeded: true };
const settings = [{ ...currency, value: "NPR" }];
const CODE = "abcd-efgh-ijkm-npqr";
const api = shareStaffApi({ consoleFolder: CONSOLE_FOLDER, world: { settings, setUpCode: CODE } });
let browser: Browser;
let origin: string;

beforeAll(async () => {
  origin = await api().app.listen({ host: "127.0.0.1", port: 0 });
  api().service.now = Date.now();
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

test("the first page adds the first admin, and Overview lists the other steps until they are done", async () => {
  const visit = await openVisit(browser, { origin, now: api().service.now, refusals: [422] });
  const { page, main } = visit;
  await main.getByRole("heading", { name: "Add the first admin" }).waitFor();
  expect(await buttonsOf(visit)).toEqual(["Add the admin"]);
  expect([await findViolations(page), await fitsTelephone(page)]).toEqual([[], true]);
  const fill = async (password: string, again = password) => {
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByLabel("Password again").fill(again);
    await visit.press("Add the admin");
  };
  await page.getByLabel("Code").fill(CODE);
  await page.getByLabel("Name").fill("Maya");
  await fill(PASSWORD, "another");
  await page.getByText("is not the same password").waitFor();
  await fill("password1234");
  await page.getByText("is easy to guess").waitFor();
  await fill(PASSWORD);
  await page.getByRole("button", { name: "Trial" }).click();
  await page.getByRole("menuitemradio", { name: "Production" }).click();

  await rowOf(visit, "Steps that are not done yet", "Catalogue").getByText("topupd import catalogue FILE").waitFor();
  const steps = page.getByRole("table", { name: "Steps that are not done yet" }).getByRole("link");
  expect(await steps.allInnerTexts()).toEqual(["Catalogue", "Customers"]);
  await rowOf(visit, "Settings", "TOPUPD_CURRENCY").getByText("NPR").waitFor();
  expect([await findViolations(page), await fitsTelephone(page)]).toEqual([[], true]);
  await api().service.importCatalogue([{ service: "internet", code: "NET-1M", name: "Fiber (MONTHLY)", price: 1130 }]);
  await steps.first().click();
  await main.getByRole("heading", { name: "Catalogue", exact: true }).waitFor();
});
