import { afterAll, beforeAll, expect, test } from "vitest";
import { type Issuer, oidcIssuer } from "../../src/system/oidc.ts";
import { type Browser, launchBrowser } from "../support/browser.ts";
import { CONSOLE_FOLDER } from "../support/console-provider.ts";
import { buttonsOf, findViolations, openVisit, rowOf } from "../support/console-visit.ts";
import { CLIENT, CLIENT_SECRET, startIssuer, type TestIssuer } from "../support/oidc-issuer.ts";
import { shareStaffApi } from "../support/staff-api.ts";

/** Filled once the issuer runs, which needs the console's address. */
const oidc = {} as Issuer;
const api = shareStaffApi({ consoleFolder: CONSOLE_FOLDER, world: { issuer: oidc } });
let browser: Browser;
let issuer: TestIssuer;
let origin: string;

beforeAll(async () => {
  const listening = await api().app.listen({ host: "127.0.0.1", port: 0 });
  // The issuer is another site: SameSite is taken by host name.
  origin = listening.replace("127.0.0.1", "localhost");
  issuer = await startIssuer([`${origin}/api/v1/session/oidc/callback`]);
  const settings = { issuer: issuer.url, client: CLIENT, secret: CLIENT_SECRET, roleClaim: "topupd_role" };
  Object.assign(oidc, oidcIssuer(settings));
  issuer.accounts.set("maya", { preferred_username: "Maya Rai", topupd_role: "admin" });
  api().service.now = Date.now();
  browser = await launchBrowser();
});
afterAll(() => Promise.all([browser?.close(), issuer?.stop()]));

const comeTo = (path: string) =>
  openVisit(browser, { origin, now: api().service.now, path, issuer: issuer.url, refusals: [401] });

test("a person logs in with the issuer, is told why not, and returns to the page", async () => {
  const visit = await comeTo("/");
  const { page, main, dialog } = visit;
  const logInAs = async (account: string) => {
    await page.getByRole("link", { name: `Log in with ${new URL(issuer.url).host}` }).click();
    await page.getByLabel("Account").fill(account);
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  await logInAs("nobody");
  await page.getByRole("alert").getByText("it has no role for topupd").waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.context().clearCookies();
  await page.goto(`${origin}/staff`);
  await logInAs("maya");

  await rowOf(visit, "People", "Maya Rai").getByText("OpenID Connect").waitFor();
  expect(new URL(page.url()).pathname).toBe("/staff");
  await visit.press("Add a key");
  await dialog.getByText("This needs a log-in of the last five minutes.").waitFor();
  const again = await dialog.getByRole("link", { name: "Log in again" }).getAttribute("href");
  expect(again).toBe("/api/v1/session/oidc?to=%2Fstaff&proof=yes");
  await dialog.getByLabel("Name").fill("billing");
  await visit.press("Add a key", dialog);
  await dialog.getByLabel("Key").waitFor();
  await visit.press("Saved it", dialog);
  await visit.goTo("/account");
  expect(await buttonsOf(visit)).not.toContain("Change password");
  await visit.choose(/^Account/, "Log out");
  await main.getByRole("heading", { name: "Log in" }).waitFor();
});

test("the log-in page has no form if log-in by password is off", async () => {
  const visit = await comeTo("/none");
  const { page } = visit;
  await page.getByLabel("Password").waitFor();
  await page.route("**/api/v1/session/ways", (route) =>
    route.fulfill({ json: { password: false, issuer: "x.example" } }),
  );
  await page.reload();
  await page.getByRole("link", { name: "Log in with x.example" }).waitFor();
  expect(await page.getByLabel("Password").count()).toBe(0);
});
