import { readFileSync } from "node:fs";
import { generate } from "otplib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Role } from "../../src/domain/authority.ts";
import { FAULTS, PRACTICE_CUID } from "../../src/domain/practice.ts";
import { previewBulk } from "../../src/office/bulk/preview.ts";
import { updateRun } from "../../src/office/bulk/sql.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { readPartners } from "../../src/office/partners/sql.ts";
import { addStaff } from "../../src/office/staff/operations.ts";
import { addTarget, pauseTarget } from "../../src/office/targets/operations.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import { wellState } from "../../src/system/service-state.ts";
import { type Browser, launchBrowser } from "../support/browser.ts";
import { findWrongFigures, unseenFigures } from "../support/console-figures.ts";
import {
  CONSOLE_FOLDER,
  type ConsoleProvider,
  endOf,
  fillProvider,
  MARKUP,
  PAGES,
  SCRIPT,
  STAFF,
  topUp,
} from "../support/console-provider.ts";
import {
  buttonsOf,
  expectEnds,
  fileOf,
  findViolations,
  fitsTelephone,
  openVisit,
  rowOf,
  type Visit,
  type VisitOptions,
} from "../support/console-visit.ts";
import { deskOf, listOf, NO_LIMITS, run } from "../support/desk.ts";
import { prepareTopUp } from "../support/open-service.ts";
import { PASSWORD, shareStaffApi } from "../support/staff-api.ts";
import { startReceiver } from "../targets/receivers.ts";

/** Pixels between the margins of the printed page. */
const A4_WIDTH = Math.floor(((210 - 2 * 12) / 25.4) * 96);
const FIGURES = {
  minutes: 5,
  topUpsAMinute: 12.2,
  callsAMinute: 12,
  refused: 3,
  restarts: 1,
  allRestarts: 2,
  answers: [{ operation: "subscription-package-topup", count: 60, p50: 0.012, p99: 1.5 }],
  refusals: [{ reason: "unavailable", count: 3 }],
  processes: [{ role: "worker", count: 4, unavailable: 1, restarts: 2 }],
};
/** Elements of pages, in which a wrong figure must be found. */
const PLANTED: Readonly<Record<string, readonly string[]>> = {
  "/customers": ["td[data-label=End] time", "td[data-label='Days left']", "td[data-label=Status] .badge"],
  "/customers/2000001": [".plan-lines .badge", ".plan-lines li > span:nth-of-type(2)"],
  "/partners": ["td[data-label=Available]"],
  "/partners/wallet?tab=account": [".stat-value", "td[data-label=Balance]"],
  "/settlement": ["td[data-label=Net]", ".stat-value"],
};
const NEW_PASSWORD = "tumbling otters sing";
const totpRoles = new Set<Role>();
const limits = { ...NO_LIMITS, secondPersonBulk: 2, secondPersonReversal: 300_000n, secondPersonMoney: 500_000n };
const api = shareStaffApi({
  consoleFolder: CONSOLE_FOLDER,
  defaultCountry: "NP",
  world: { totpRoles, limits, state: { ...wellState(), figures: FIGURES } },
});
let browser: Browser;
let provider: ConsoleProvider;

beforeAll(async () => {
  [browser, provider] = await Promise.all([launchBrowser(), fillProvider(api())]);
});
afterAll(() => browser?.close());

/** Comes to a page of the console as a stranger. */
const comeTo = (path: string, more: Partial<VisitOptions> = {}) =>
  openVisit(browser, { origin: provider.origin, now: api().service.now, path, ...more });

/** Somebody of a role, logged in, at a page. */
async function at(path: string, role: keyof typeof STAFF, more: Partial<VisitOptions> = {}): Promise<Visit> {
  const visit = await comeTo(path, { ...more, session: await api().logIn(STAFF[role]) });
  await visit.page.getByRole("navigation", { name: "Pages" }).waitFor();
  await visit.settle();
  return visit;
}

describe("whoever works with the console", () => {
  test("logs in with the right password, and again where one was when the session has ended", async () => {
    const visit = await comeTo("/customers/2000001", { refusals: [401] });
    const { page, main } = visit;
    await visit.logIn(STAFF.support, "not the password");
    await page.getByRole("alert").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await visit.logIn(STAFF.support, PASSWORD);
    await main.getByRole("heading", { name: "Sita Rai" }).waitFor();

    api().service.now += 31 * 60_000;
    await visit.goTo("/transactions");
    await page.getByText("Your session ended after 30 minutes without use.").waitFor();
    await visit.logIn(STAFF.support, PASSWORD);
    await main.getByRole("heading", { name: "Transactions" }).waitFor();
  });

  test("sets the account up before anything else: a password of one's own, then one-time codes", async () => {
    const { service, world } = api();
    const person = { name: "Esha", role: "viewer", password: PASSWORD } as const;
    await run(deskOf(service.ports, service.actor, world), addStaff, person);
    totpRoles.add("viewer");
    onTestFinished(() => void totpRoles.delete("viewer"));
    const visit = await comeTo("/customers");
    const { page, main, dialog } = visit;
    await visit.logIn("Esha", PASSWORD);
    await main.getByText("Another person set your password.").waitFor();
    expect(await page.getByRole("navigation", { name: "Pages" }).getByRole("link").count()).toBe(0);
    await main.getByLabel("Your password").fill(PASSWORD);
    await main.getByLabel("New password", { exact: true }).fill(NEW_PASSWORD);
    await main.getByLabel("New password again").fill(NEW_PASSWORD);
    await visit.press("Change password");
    await main.getByText("Your role requires one-time codes.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await visit.goTo("/customers");
    await visit.press("Switch on");
    await dialog.getByLabel("Your password").fill(NEW_PASSWORD);
    await visit.press("Continue", dialog);
    const secret = (await dialog.getByLabel("Key").inputValue()).replaceAll(" ", "");
    await dialog.getByLabel("Code from the app").fill(await generate({ secret, epoch: service.now / 1_000 }));
    await visit.press("Switch on", dialog);
    await main.getByRole("list", { name: "Recovery codes" }).waitFor();
    await visit.press("Saved it");
    expect(await buttonsOf(visit)).not.toContain("Switch off");
    await page.getByRole("link", { name: "Customers" }).click();
    await main.getByRole("heading", { name: "Customers" }).waitFor();
  });

  test("searches by a key, with suggestions by name, mobile number in any form, and transaction", async () => {
    const visit = await at("/", "viewer");
    const { page, main } = visit;
    const search = page.getByRole("combobox", { name: "Search customers" });
    const sita = page.getByRole("option").filter({ hasText: "Sita Rai" });
    await page.keyboard.press("/");
    for (const text of ["+977 980-0000101", "0101", "rai si"]) {
      await search.fill("nobody");
      await sita.waitFor({ state: "hidden" });
      await search.fill(text);
      await sita.getByText("2000001").waitFor();
    }
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await main.getByRole("heading", { name: "Sita Rai" }).waitFor();
    for (const text of [provider.txnId, "counter 7", provider.txnId.slice(-6)]) {
      await search.fill("nobody");
      await search.fill(text);
      await page.getByRole("option").filter({ hasText: provider.txnId }).click();
      await main.getByText("counter 7").waitFor();
      await page.goBack();
    }
    await search.fill("980");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    expect(await search.inputValue()).toBe("");
  });

  test("lists all matches of a search, and the connections that end soon", async () => {
    const visit = await at("/", "viewer");
    const { page, main } = visit;
    const search = page.getByRole("combobox", { name: "Search customers" });
    await search.fill("2000");
    await page.keyboard.press("Enter");
    for (const cuid of ["2000001", "2000002"]) await rowOf(visit, "Customers", cuid).first().waitFor();
    await visit.press(/^Remove the search/);
    await main.getByLabel("Show").selectOption("Without subscription");
    await rowOf(visit, "Customers", "2000001").first().waitFor({ state: "detached" });
    await main.getByLabel("Show").selectOption("");
    await visit.goTo("/customers?endsWithin=120");
    await rowOf(visit, "Customers", "000100000000001").waitFor();
    await main.getByLabel("Service").selectOption("Internet");
    await rowOf(visit, "Customers", "000100000000001").waitFor({ state: "detached" });
    await rowOf(visit, "Customers", "Internet sita").waitFor();
    expect(new URL(page.url()).search).toBe("?endsWithin=120&service=internet");
    await visit.goTo("/customers?state=running&service=internet");
    await main.getByLabel("Area").selectOption("Patan");
    await rowOf(visit, "Customers", "2000002").waitFor({ state: "detached" });
    await rowOf(visit, "Customers", "Internet sita").waitFor();
  });

  test("reads what is wrong with the service, what to do, and how it answers", async () => {
    const { main, ...visit } = await at("/health", "viewer");
    for (const text of [
      "Processes ended or hung. Started again in the last five minutes: 1.",
      "One answer of a hundred takes over 1500 milliseconds.",
      "Run topupd backup, and let topupd-backup.timer run it every hour.",
    ])
      await main.getByText(text).waitFor();
    await main.getByText("12.2", { exact: true }).waitFor();
    await rowOf({ main, ...visit }, "Time to answer", "Top up")
      .getByText("1,500 ms")
      .waitFor();
    await main.getByText("4, 1 of them unavailable", { exact: true }).waitFor();
    await main.getByRole("link", { name: "topupd was unavailable" }).waitFor();
    await visit.goTo("/");
    await visit.page.context().setOffline(true);
    await main.getByRole("alert").getByText("topupd does not answer.").waitFor();
  });

  test("filters a list at once, and finds it again by its address", async () => {
    const visit = await at("/transactions", "viewer", { refusals: [422] });
    const { page, main } = visit;
    const rows = main.getByRole("table", { name: "Transactions" }).getByRole("row");
    const expectRows = (count: number) => expect.poll(() => rows.count(), { timeout: 15_000 }).toBe(count + 1);
    await expectRows(5);
    await main.getByLabel("Partner").selectOption("Blue Wallet");
    await expectRows(2);
    await visit.press("More filters");
    await main.getByLabel("Customer id").fill("2000002");
    await expectRows(1);
    await rows.getByText("Ram Thapa").waitFor();
    await page.reload();
    await visit.settle();
    await expectRows(1);
    await main.getByLabel("Period").selectOption("Yesterday");
    await main.getByText("No transactions").waitFor();
    await visit.press("Clear");
    await expectRows(5);
    await main.getByLabel("Period").selectOption("Other days");
    await main.getByLabel("From").fill("2026-13-01");
    await main.getByText("must be a day such as 2026-11-20").waitFor();
  });

  test("continues a list that ended early, at the time that it says, and adds up until the last part", async () => {
    const visit = await at("/transactions", "viewer");
    const { page, main } = visit;
    const cut = { cursor: "next", reached: "2026-11-19 08:00:00" };
    const sums = { count: 7, amount: "7.00", reversed: 0, reversedAmount: "0.00" };
    const isNext = (url: string) => url.includes("cursor=next");
    await page.route(/\/api\/v1\/transactions\/totals/, (route, request) =>
      route.fulfill({
        json: { ...sums, ...(isNext(request.url()) ? { count: 9, cursor: null, reached: null } : cut) },
      }),
    );
    await page.route(/\/api\/v1\/transactions\?/, (route, request) =>
      isNext(request.url())
        ? route.continue({ url: request.url().replace(/&?cursor=next/, "") })
        : route.fulfill({ json: { items: [], prunedBefore: null, ...cut } }),
    );
    await page.reload();
    await main.getByText("0 rows shown. Nothing more back to 2026-11-19 08:00:00.").waitFor();
    await main.getByText(/^9 top-ups/).waitFor();
    await visit.press("Continue");
    await main.getByRole("table", { name: "Transactions" }).getByText("Ram Thapa").waitFor();
  });

  test("finds a list as it was after a reload and on the way back: sorted, filtered, with all loaded pages", async () => {
    const { clock, store } = api().service.ports;
    const [partner] = await readPartners(store.engine.db);
    const tenDaysAgo = clock() - 10 * 24 * 60 * 60_000;
    const call = { environment: "production", operation: "get-customer-information", code: "2009999" } as const;
    const calls = Array.from({ length: 61 }, (_, index) => ({
      ...{ ...call, partnerId: partner?.id ?? 0, reason: "customer_not_found" },
      ...{ at: tenDaysAgo + index, requestId: `unknown-${index}` },
    }));
    await store.recordRefusedCalls(calls);
    const visit = await at("/refused-calls", "viewer");
    const { page, main } = visit;
    await main.getByLabel("Reason").selectOption("customer_not_found");
    await visit.press("Load more");
    const isWhole = () => main.getByText("All 61 rows").waitFor();
    await isWhole();
    await page.reload();
    await isWhole();

    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Partners" }).click();
    const names = main.getByRole("table", { name: "Partners" }).getByRole("link");
    const sortBy = main.getByRole("button", { name: "Name" });
    for (const sorted of ["Blue Wallet", "wallet"]) {
      await sortBy.click();
      await expect.poll(() => names.first().innerText()).toBe(sorted);
    }
    await page.reload();
    await expect.poll(() => names.allInnerTexts()).toEqual(["wallet", "Blue Wallet"]);
    await names.first().click();
    await main.getByRole("heading", { level: 1, name: "wallet" }).waitFor();
    await page.goBack();
    await expect.poll(() => names.allInnerTexts()).toEqual(["wallet", "Blue Wallet"]);
    await page.goBack();
    await isWhole();
    expect(await main.getByLabel("Reason").inputValue()).toBe("customer_not_found");
  });

  test("keeps the colours that one chose", async () => {
    const visit = await at("/health", "viewer");
    const { page } = visit;
    const background = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    const light = await background();
    await visit.choose(/^Account/, "Dark");
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    await visit.settle();
    expect(await background()).toBe(dark);
  });
});

describe("support", () => {
  test("reads a customer's story: what runs, what happened in words, and the calls that were refused", async () => {
    const visit = await at("/customers/2000001", "support");
    const { main } = visit;
    await main.getByText("until 2027-01-10 10:00 · 49 days left").waitFor();
    await visit.press("Internet sita");
    const story = main.getByRole("list", { name: "History: Fiber 100 Mbps" });
    const words = "Topped up by wallet, 1 month for NPR 1,130.00: ends 2027-01-10 10:00 instead of 2026-12-10 10:00.";
    await story.getByText(words).waitFor();
    await rowOf(visit, "Refused calls of partners", "The connection is blocked").getByText("Blue Wallet").waitFor();
  });

  test("reverses a top-up, having seen what becomes of the end", async () => {
    const visit = await at("/customers/2000003", "support");
    const { main, dialog } = visit;
    await visit.press(/^Reverse the top-up of/);
    await expectEnds(visit, "2026-12-25 10:00", "2026-11-25 10:00");
    expect(await endOf(api(), "2000003")).toBe("2026-12-25 10:00:00");
    await dialog.getByLabel("Reason").fill("wrong customer");
    await visit.press("Reverse", dialog);
    await visit.expectToast("Reversed: Fiber 100 Mbps: Internet gita ends 2026-11-25 10:00.");
    await main.getByText(/^Top-up of .* reversed by Bina \(wrong customer\): ends 2026-11-25 10:00/).waitFor();
    await main.getByText("until 2026-11-25 10:00 · 3 days left").waitFor();
    expect(await main.getByRole("button", { name: /^Reverse the top-up of/ }).count()).toBe(0);
  });

  test("asks for a large reversal, which another person confirms on the overview", async () => {
    const gita = { cuid: "2000003", service: "internet", reqId: "gita" };
    const before = await endOf(api(), "2000003");
    const { txnId } = await topUp(api(), gita, { bouquetId: "NET-3M", amt: "3220.50" });
    const visit = await at(`/transactions/${txnId}`, "support");
    await visit.press("Reverse");
    await visit.dialog.getByText(/^So much in a day needs a second person/).waitFor();
    await visit.dialog.getByLabel("Reason").fill("paid twice");
    await visit.press("Reverse", visit.dialog);
    await visit.expectToast("Requested: another person must confirm it.");
    const asked = /^Bina asked .*: Reverse NPR 3,220.50 of customer 2000003 \(paid twice\)/;
    await visit.main.getByText(asked).waitFor();
    expect(await buttonsOf(visit)).toEqual(["Withdraw"]);
    expect(await endOf(api(), "2000003")).not.toBe(before);
    await visit.goTo("/customers/2000003");
    await visit.main
      .getByRole("button", { name: /^Reverse the top-up of/ })
      .first()
      .click();
    await visit.dialog.getByText(/^Bina asked for it already \(paid twice\)/).waitFor();

    const waiting = await at(`/transactions/${txnId}`, "support");
    await waiting.main.getByText(asked).waitFor();
    const other = await at("/", "admin");
    await other.main.getByText(asked).waitFor();
    expect(await findViolations(other.page)).toEqual([]);
    await other.press("Confirm");
    await other.press("Confirm", other.dialog);
    await other.expectToast("Confirmed.");
    await other.main.getByText(asked).waitFor({ state: "detached" });
    await waiting.main.getByText(asked).waitFor({ state: "detached" });
    expect(await endOf(api(), "2000003")).toBe(before);
  });

  test("gives days, having seen the end that they come to, and blocks", async () => {
    const visit = await at("/customers/2000002", "support");
    const { page, main, dialog } = visit;
    await visit.press("Give days: Internet ram");
    await visit.press("3 days", dialog);
    await expectEnds(visit, "2027-01-01 10:00", "2027-01-04 10:00");
    expect(await findViolations(page)).toEqual([]);
    expect(await endOf(api(), "2000002")).toBe("2027-01-01 10:00:00");
    await dialog.getByLabel("Reason").fill("outage");
    await visit.press("Give 3 days", dialog);
    await visit.expectToast("Given: Fiber 100 Mbps: Internet ram ends 2027-01-04 10:00.");
    await main.getByText("Given 3 days by Bina (outage): ends 2027-01-04 10:00 instead of 2027-01-01 10:00.").waitFor();

    await visit.press("Block: Internet ram");
    await dialog.getByText("Blocked by staff", { exact: true }).waitFor();
    const reason = "fraud: three shops of the street use it, and the customer has not called back since Monday";
    await dialog.getByLabel("Reason").fill(reason);
    await visit.press("Block", dialog);
    await visit.expectToast("Internet ram is blocked.");
    await main.getByText(/^Blocked by Bina, 2026-11-22 .*: fraud: three shops .* Monday$/).waitFor();
    const { height } = (await main.locator(".connection-line").boundingBox()) ?? {};
    expect(height).toBeLessThan(120);
    const ram = { cuid: "2000002", service: "internet", reqId: "ram" };
    const { json } = await api().service.call("get-subscription-package", ram, { token: api().service.liveToken });
    expect(json.body.reason).toBe("connection_blocked");
  });

  test("is offered the plan that runs, beside those that ended, each with its end", async () => {
    const subscriptions = [
      { code: "NET-1M", startdate: "2026-10-01 10:00:00", enddate: "2026-11-01 10:00:00" },
      { code: "F60-1M", startdate: "2026-11-01 10:00:00", enddate: "2026-12-02 10:00:00" },
    ];
    const internet = [{ username: "two", status: "active", subscriptions }];
    const row = { cuid: "2000010", first_name: "Dolma", last_name: "Sherpa", status: "active" };
    await api().service.importCustomers([{ ...row, connections: { internet } }], { asOf: "2026-11-22T09:00:00Z" });
    const visit = await at("/customers/2000010", "support");
    await visit.press("Give days: Internet two");
    const options = await visit.dialog.getByLabel("Subscription").locator("option").allInnerTexts();
    expect(options).toEqual([
      "Fiber 60 Mbps · Running · until 2026-12-02 10:00 · 10 days left",
      "Fiber 100 Mbps · Ended · 2026-11-01 10:00 · 21 days ago",
    ]);
    await expectEnds(visit, "2026-12-02 10:00", "2026-12-03 10:00");
  });

  test("gives days to a pasted list: a number means all connections, and unclear lines are listed and left out", async () => {
    const visit = await at("/bulk", "support");
    const { page, main, dialog } = visit;
    await main.getByLabel("Connections").fill("2000004\n\nnobody\n");
    await main.getByText("Connections without a second person").waitFor();
    await main.getByLabel("Days").fill("2");
    await main.getByLabel("Plan").selectOption("Fiber 100 Mbps");
    await main.getByLabel("Reason").fill("storm");
    await visit.press("Preview");
    const effect = rowOf(visit, "Connections that would change", "2000004");
    await effect.getByText("2027-01-03 10:00").waitFor();
    await effect.getByText("2000004: the only connection of").waitFor();
    await rowOf(visit, "Lines left out", "nobody").getByText("3", { exact: true }).waitFor();
    await visit.press("Give 2 days to 1 connection");
    await visit.press("Give 2 days to 1 connection", dialog);
    await main.getByText("1 of 1 connection").waitFor();
    await rowOf(visit, "Bulk changes so far", "storm").getByRole("link").click();
    await main.getByText("Done", { exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await endOf(api(), "2000004")).toBe("2027-01-03 10:00:00");
    await visit.press("Reverse this bulk change");
    await dialog.getByLabel("Reason").fill("no storm there");
    await visit.press("Preview", dialog);
    await main.getByRole("button", { name: "Reverse goodwill of 1 connection" }).waitFor();
    await rowOf(visit, "Connections that would change", "2000004").getByText("2027-01-01 10:00").waitFor();
  });

  test("asks for a large bulk change, which another person refuses", async () => {
    const visit = await at("/bulk", "support");
    const { main, dialog } = visit;
    const left = { code: "NET-1M", startdate: "2026-10-01 10:00:00", enddate: "2026-11-01 10:00:00" };
    const internet = [{ username: "left", status: "active", subscriptions: [left] }];
    await api().service.importCustomers(
      [{ cuid: "2000009", first_name: "Nima", last_name: "Lama", status: "active", connections: { internet } }],
      { asOf: "2026-11-22T09:00:00Z" },
    );
    await main.getByLabel("Connections").fill("2000001\n2000003\n2000009");
    await main.getByLabel("Days").fill("2");
    await main.getByLabel("Ran at").fill("2026-10-20");
    await main.getByLabel("Reason").fill("flood");
    await visit.press("Preview");
    await main.getByText(/^So many connections in a day need a second person/).waitFor();
    await visit.press("Give 2 days to 4 connections; starting again: 1");
    await visit.press("Give 2 days to 4 connections; starting again: 1", dialog);
    const asked = /^Bina asked .*: Give 2 days to 4 connections; starting again: 1 \(flood\)/;
    await main.getByText(asked).waitFor();

    const other = await at("/", "admin");
    await other.main.getByText(asked).waitFor();
    await other.press("Refuse");
    await other.dialog.getByLabel("Reason").fill("no flood there");
    await other.press("Refuse", other.dialog);
    await other.expectToast("Nothing was changed.");
    await main.getByText("Corrections that were made stay.").waitFor();
    const { items } = (await api().call("GET /bulk")).json as { items: readonly object[] };
    expect(items[0]).toMatchObject({ reason: "flood", state: "cancelled", done: 0 });
  });

  test("continues a paused bulk change, and cancels one", async () => {
    const { store } = api().service;
    const paused = async (lines: readonly string[]) => {
      const request = { action: "unblock", reason: "fair", file: listOf(lines) } as const;
      const { id } = await run(deskOf(api().service.ports), previewBulk, request);
      const changes = { state: "paused", startedAt: api().service.now, changedAt: api().service.now } as const;
      await store.engine.transact((tx) => updateRun(tx, { id, state: "checked" }, changes));
      return id;
    };
    const visit = await at(`/bulk/${await paused(["98000-00102", "nobody"])}`, "support");
    const { page, main } = visit;
    await rowOf(visit, "Lines left out", "nobody").waitFor();
    await visit.press("Continue");
    await main.getByText("Done", { exact: true }).waitFor();
    await page.goto(`${provider.origin}/bulk/${await paused(["ram"])}`);
    await visit.press("Cancel");
    await main.getByText("Corrections that were made stay.").waitFor();
  });
});

describe("an administrator", () => {
  test("imports a file, sees first what would change, and decides on what is held back", async () => {
    const visit = await at("/imports?tab=upload", "admin");
    const { page, main, dialog } = visit;
    const head = "cuid,first_name,last_name,mobile,status,service,connection,connection_status,code,startdate,enddate";
    const sita = "2000001,Sita,Rai,9800000101,active";
    const net = `${sita},internet,sita,active,NET-1M,2026-06-10 10:00:00,2026-12-10 10:00:00`;
    const tv = `${sita},tv,000100000000001,active,TV-1M,2026-06-10 10:00:00,2027-01-05 10:00:00`;
    const file = fileOf("night.csv", head, net, tv, "2000005,Maya,Gurung,,active,,,,,,");
    await main.getByLabel("Customers file").setInputFiles(file);
    await main.getByLabel("As of").fill("2026-11-22 09:00:00");
    await visit.press("Check the file");
    await rowOf(visit, "Held back", "sita").getByText("2027-01-10 10:00").waitFor();
    await main.getByRole("tab", { name: /^Changes/ }).click();
    await rowOf(visit, "Changes", "2000005").getByText("Maya").waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect((await api().call("GET /customers/2000005")).status).toBe(404);
    await visit.press("Import");
    await main.getByRole("link", { name: "Decide on held-back subscriptions" }).click();
    await rowOf(visit, "Held back", "Sita Rai").getByText("wallet, NPR 1,130.00, 2026-11-20").waitFor();
    await main.getByLabel("Choose customer 2000001, sita").check();
    await visit.press("Apply the file");
    await expectEnds(visit, "2027-01-10 10:00", "2026-12-10 10:00");
    await dialog.getByLabel("Reason").fill("billing is right");
    await visit.press("Apply the file to 1 customer", dialog);
    await visit.expectToast("Decided for 1 customer.");
    await main.getByText("Nothing is held back").waitFor();
    expect([await endOf(api(), "2000001"), (await api().call("GET /customers/2000005")).status]).toEqual([
      ...["2026-12-10 10:00:00", 200],
    ]);
  });

  test("decides on several customers at once, of whom one refuses", async () => {
    const asOf = new Date(api().service.now - 60_001).toISOString();
    const runs = (code: string) => [{ code, startdate: "2026-06-10 10:00:00", enddate: "2026-12-01 10:00:00" }];
    const net = (username: string) => ({ internet: [{ username, status: "active", subscriptions: runs("NET-1M") }] });
    const tv = { tv: [{ stb: "000100000000001", status: "active", subscriptions: runs("TV-1M") }] };
    const rows = [
      { cuid: "2000001", first_name: "Sita", last_name: "Rai", mobile: "9800000101", connections: tv },
      { cuid: "2000002", first_name: "Ram", last_name: "Thapa", mobile: "9800000102", connections: net("ram") },
      { cuid: "2000004", first_name: MARKUP, last_name: SCRIPT, connections: net("img") },
    ];
    const body = rows.map((row) => `${JSON.stringify({ status: "active", ...row })}\n`).join("");
    const { json } = await api().call(`POST /imports?name=night.ndjson&run=true&asOf=${asOf}`, {
      ...{ body, headers: { "content-type": "application/x-ndjson" } },
    });
    await expect.poll(async () => (await api().call(`GET /imports/${json.id}`)).json.state).toBe("done");

    const visit = await at("/imports?tab=held-back", "admin");
    const { main, dialog } = visit;
    const { count, totals } = (await api().call("GET /held-back")).json;
    const topUps = totals.find(({ kind }: { kind: string }) => kind === "top_up");
    await main.getByText(`Top-up: ${topUps.count}`).waitFor();
    await visit.press(`Choose all ${count}`);
    await visit.press("Apply the file");
    api().service.now += 1_000;
    const connections = {
      tv: [{ stb: "000100000000001", status: "active" }],
      internet: [{ username: "sita", status: "active" }],
    };
    const newer = {
      ...rows[0],
      connections,
      status: "active",
      asOf: new Date(api().service.now - 60_000).toISOString(),
    };
    expect((await api().call("PUT /customers/2000001", { body: newer })).status).toBe(200);
    await dialog.getByLabel("Reason").fill("billing is right");
    await visit.press("Apply the file to 3 customers", dialog);
    await visit.expectToast("Decided for 2 customers.");
    await main.getByRole("listitem").filter({ hasText: "2000001" }).getByText("records of a later moment").waitFor();
    expect([await endOf(api(), "2000002"), await endOf(api(), "2000004")]).toEqual([
      ...["2026-12-04 10:00:00", "2026-12-03 10:00:00"],
    ]);
  });

  test("limits the calls of a partner", async () => {
    const visit = await at("/partners/Blue%20Wallet", "admin");
    await visit.press("Change limits…");
    await visit.dialog.getByLabel("Calls a second").fill("75");
    await visit.press("Save", visit.dialog);
    await visit.expectToast("The limits are set.");
    await visit.main.getByText("75", { exact: true }).waitFor();
    expect((await api().call("GET /partners/Blue%20Wallet")).json).toMatchObject({ rate: 75, newLookUps: 600 });
  });

  test("issues a token, which is shown once, and revokes it", async () => {
    const visit = await at("/partners/Blue%20Wallet", "admin");
    const { main, dialog } = visit;
    await visit.press("Issue a token");
    await visit.press("Issue", dialog);
    const token = await dialog.getByLabel("Access token").inputValue();
    const ask = async () =>
      (await api().service.call("get-customer-information", { code: "2000001" }, { token })).status;
    expect(await ask()).toBe(200);
    await visit.press("Saved it", dialog);
    const issued = (await api().call("GET /partners/Blue%20Wallet/tokens")).json.items.at(-1);
    await visit.press(`Revoke… ${issued.id}`);
    expect(await visit.page.content()).not.toContain(token);
    await visit.press("Revoke", dialog);
    await visit.expectToast(`${issued.id} is revoked.`);
    expect(await ask()).toBe(401);
    await main.getByRole("button", { name: `Revoke… ${issued.id}` }).waitFor({ state: "detached" });
  });
});

test("an admin certifies a partner by its list, and prints the certificate", async () => {
  const { service } = api();
  const partner = await service.addPartner("Moon Pay");
  const token = await service.issue(partner, "trial");
  const order = { cuid: PRACTICE_CUID, service: "internet" } as const;
  const request = await prepareTopUp(service, { ...order, reqId: "reversed" }, undefined, { token });
  await service.call("subscription-package-topup", request, { token });
  const { txnId: id = "" } = (await service.store.findTransaction(request["checkoutId"] ?? "")) ?? {};
  await run(deskOf(service.ports), reverseTransaction, { id, reason: "practice" });
  const calls = FAULTS.flatMap(({ name: reqId, failing, refusal = "success" }, index) => {
    const checkoutId = reqId === "reversed" ? request["checkoutId"] : `order-${index}`;
    const outcome = failing ? FIRST[failing.answering] : refusal;
    const of = { at: service.now - 9_000, ms: 5, partnerId: partner.id, version: "v1.0.1", checkoutId, requestId: "r" };
    const sent = { ...of, ...order, reqId, bouquetId: "NET", amount: "1", retryAfter: undefined };
    return [
      { ...sent, operation: "subscription-package-topup", outcome },
      { ...sent, at: service.now - 6_500, operation: "txn-status", outcome: "never_topped_up" },
    ];
  });
  await service.store.recordTrialCalls(calls);
  const ordersAs = (outcome: string) => {
    const ids = [...new Set(calls.map(({ checkoutId }) => checkoutId))];
    return fileOf(
      "list.csv",
      "checkoutId,outcome",
      ...ids.map((each, index) => `${each},${index === 0 ? outcome : "refunded"}`),
    );
  };

  const visit = await at("/partners/Moon%20Pay?tab=practice", "admin");
  const { page, main } = visit;
  const row = (fault: string) => rowOf(visit, "Practice report", fault);
  await row("lost-before").getByText("+2.5 s").waitFor();
  await main.getByText("For the certificate, every fault must pass with the partner's list.").waitFor();
  await main.getByLabel("Orders").setInputFiles(ordersAs("paid"));
  await visit.press("Check");
  await row("lost-before").getByText("Wrong books.").waitFor();
  await row("lost-before").getByText("Failed").waitFor();
  await main.getByLabel("Orders").setInputFiles(ordersAs("refunded"));
  await visit.press("Check");
  await main.getByText(/^Certified 2026-11-/).waitFor();
  await row("lost-before").getByText("Passed").waitFor();
  expect(await findViolations(page)).toEqual([]);
  await service.store.recordTrialCalls(calls.map((each) => ({ ...each, checkoutId: `later-${each.checkoutId}` })));
  await page.reload();
  await row("lost-before").locator("[title^=later-]").first().waitFor();
  await page.setViewportSize({ width: A4_WIDTH, height: 990 });
  await page.emulateMedia({ media: "print" });
  const printed = await page.innerText("body");
  expect(printed).toMatch(/^Blue Cable\n/);
  expect(printed).not.toContain("later-");
  for (const fact of ["Practice certificate", "Moon Pay", "v1.0.1", ...FAULTS.map(({ name }) => name), "order-0"])
    expect(printed).toContain(fact);
  for (const control of ["Check", "Access", "Print"]) expect(printed).not.toMatch(new RegExp(`^${control}$`, "m"));
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(A4_WIDTH);
});

/** The outcome of a top-up that meets a fault. */
const FIRST = {
  ...{ nothing: "no_answer", half: "no_answer", late: "no_answer" },
  ...{ busy: "unavailable", proxy_page: "proxy_error", limited: "rate_limited" },
} as const;

describe("finance", () => {
  test("sees what partners owe, and takes it along in CSV", async () => {
    const visit = await at("/settlement?period=2026-11", "finance");
    const { page, main } = visit;
    await rowOf(visit, "By partner", "Blue Wallet").getByText("1,580.00").first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      main.getByRole("link", { name: "Download CSV" }).click(),
    ]);
    const { pathname, search } = new URL(download.url());
    const told = await api().call(`GET ${pathname}${search}`, { as: "finance" });
    expect(told.text).toMatch(/^day,partner,/);
    expect(readFileSync(await download.path(), "utf8")).toBe(told.text);
    expect(download.suggestedFilename()).toMatch(/^settlement.*\.csv$/);
  });

  test("prints a settlement on A4, with the provider, a number and lines to sign, and nothing of the screen", async () => {
    const visit = await at("/settlement?period=2026-11&partner=Blue%20Wallet", "finance");
    const { page, main } = visit;
    await page.setViewportSize({ width: A4_WIDTH, height: 990 });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const title = main.getByRole("heading", { name: /^Settlement \d/ });
    expect(await title.innerText()).toMatch(/^Settlement 2026-11-P\d+ \(preliminary\)$/);
    await visit.goTo("/settlement?period=days&from=2026-11-20&to=2026-11-21&partner=Blue%20Wallet&lines=bouquet");
    await page.getByText("NET-1M").waitFor();
    const printed = (await page.innerText("body")).replace(/-P\d+/, "-P7").split(/\n+/);
    expect(printed.map((line) => line.replaceAll("\t", " "))).toEqual([
      ...["Blue Cable", "Main Road 1, Kathmandu", "Reg. 12345/081", "PAN 301234567"],
      ...[
        "Settlement 20261120-20261121-P7",
        "Partner",
        "Blue Wallet",
        "Period",
        "2026-11-20 to 2026-11-21, days of UTC",
      ],
      ...["Date of issue", "2026-11-22", "Amount owed", "NPR 1,580.00"],
      ...["Without taxes", "NPR 1,528.23", "VAT", "NPR 51.77"],
      "By partner",
      "Partner Top-ups Gross (NPR) Reversals Reversed (NPR) Commission (NPR) Net (NPR)",
      "Blue Wallet 2 1,580.00 0 0.00 0.00 1,580.00",
      "By day",
      "Day Service Bouquet Top-ups Gross (NPR) Reversals Reversed (NPR) Commission (NPR) Net (NPR)",
      "2026-11-20 Internet NET-1M 1 1,130.00 0 0.00 0.00 1,130.00",
      "2026-11-21 TV TV-1M 1 450.00 0 0.00 0.00 450.00",
      "Total   2 1,580.00 0 0.00 0.00 1,580.00",
      ...["Blue Cable: name, signature, date", "Blue Wallet: name, signature, date"],
    ]);
    const [width, colours] = await page.evaluate<[number, string]>(
      "[document.documentElement.scrollWidth, ['color', 'backgroundColor'].map((of) => getComputedStyle(document.body)[of]).join()]",
    );
    expect([width, colours]).toEqual([A4_WIDTH, "rgb(0, 0, 0),rgb(255, 255, 255)"]);
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
    expect(pdf.match(/\/MediaBox \[0 0 594\.\d+ 841\.\d+\]/g)).toHaveLength(1);
  });

  test("holds a partner's file against what is on record, and is told what to do", async () => {
    const visit = await at("/reconciliation", "finance");
    const { page, main } = visit;
    await main.getByLabel("Partner", { exact: true }).selectOption("Blue Wallet");
    const file = fileOf("blue.csv", "checkoutId,amount", "unknown-1,450");
    await main.getByLabel("The partner's file").setInputFiles(file);
    await visit.press("Compare");
    await rowOf(visit, "Differences", "unknown-1").getByText("450.00").waitFor();
    await rowOf(visit, "Differences", "Ram Thapa").getByText("1,130.00").waitFor();
    await main.getByText(/Have the partner ask txn-status/).waitFor();
    const ours = rowOf(visit, "Result", "Only on record here");
    await ours.waitFor();
    const cells = await ours.getByRole("cell").allInnerTexts();
    expect(cells.slice(-3).map((text) => text.trim())).toEqual(["0.00", "1,580.00", "-1,580.00"]);
    await main.getByLabel("Finding").selectOption("Only in the partner's file (1)");
    await rowOf(visit, "Differences", "Ram Thapa").waitFor({ state: "detached" });
    expect(await findViolations(page)).toEqual([]);
  });
});

describe("the account of a partner", () => {
  const ACCOUNT = "/partners/Blue%20Wallet?tab=account&period=2026-11";

  test("takes a deposit of finance after its effect was seen, and the same reference only once", async () => {
    const visit = await at(ACCOUNT, "finance", { refusals: [409] });
    const { page, main, dialog } = visit;
    await main.getByText("The partner owes this").waitFor();
    expect(await buttonsOf(visit)).toEqual(["Deposit…", "Withdraw…", "Adjust…", "Print"]);
    const enter = async (amount: string, reference: string) => {
      await visit.press("Deposit…");
      await dialog.getByLabel("Amount, NPR").fill(amount);
      await dialog.getByLabel("Reference").fill(reference);
    };
    const confirm = dialog.getByRole("button", { name: "Enter the deposit" });
    const balance = async () => (await api().call("GET /partners/Blue%20Wallet/account")).json.balance;
    await enter("80,00,000", "bank-1");
    await dialog.getByText("7,998,420.00").waitFor();
    await dialog.getByLabel("Amount, NPR").fill("2,000");
    await dialog.getByText("NPR 420.00", { exact: true }).waitFor();
    expect((await dialog.getByRole("status").innerText()).split(/\s+/)).toEqual(
      "Before NPR -1,580.00 After NPR 420.00".split(" "),
    );
    expect(await balance()).toBe("-1580.00");
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByLabel("Reason").fill("paid at the counter");
    await confirm.click();
    await visit.expectToast("Entered: the balance is NPR 420.00.");
    await rowOf(visit, "Entries", "Chandra").getByText("paid at the counter", { exact: true }).waitFor();
    await main.getByText("The partner owes this").waitFor({ state: "detached" });

    await enter("2000", "bank-1");
    await dialog.getByText(/^Chandra entered this reference at 2026-11-22 .* It is not entered again\.$/).waitFor();
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByText("This would change nothing.").waitFor();
    await dialog.getByLabel("Amount, NPR").fill("200");
    await dialog.getByText("the reference bank-1 was used for a deposit of 2000.00").waitFor();
    expect(await confirm.isDisabled()).toBe(true);
    expect(await balance()).toBe("420.00");
  });

  test("asks for a large adjustment, which another person with the right refuses", async () => {
    const visit = await at(ACCOUNT, "finance");
    await visit.press("Adjust…");
    await visit.dialog.getByLabel("Amount, NPR").fill("-9000");
    await visit.dialog.getByLabel("Reference").fill("C-9");
    await visit.dialog.getByText(/^So much in a day needs a second person/).waitFor();
    await visit.dialog.getByLabel("Reason").fill("fee");
    await visit.press("Adjust", visit.dialog);
    await visit.expectToast("Requested: another person must confirm it under Needs attention.");
    const asked = /^Chandra asked .*: Adjustment of NPR -9,000.00 for Blue Wallet, reference C-9 \(fee\)/;
    const support = await at("/", "support");
    await support.main.getByText(asked).waitFor();
    expect(await support.main.getByRole("button", { name: "Confirm" }).count()).toBe(0);
    const other = await at("/", "admin");
    await other.main.getByText(asked).waitFor();
    await other.press("Refuse");
    await other.dialog.getByLabel("Reason").fill("no fee");
    await other.press("Refuse", other.dialog);
    await other.main.getByText(asked).waitFor({ state: "detached" });
  });

  test("is a statement in CSV and on A4, with both sides, entries, who owes whom, and lines to sign", async () => {
    const body = { legalName: "Blue Wallet Pvt. Ltd.", address: "New Road 7", taxNumber: "PAN 601234567" };
    await api().call("PATCH /partners/Blue%20Wallet", { body });
    const visit = await at(ACCOUNT, "finance");
    const { page, main } = visit;
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      main.getByRole("link", { name: "Download CSV" }).click(),
    ]);
    const { pathname, search } = new URL(download.url());
    const told = await api().call(`GET ${pathname}${search}`, { as: "finance" });
    expect(told.text.trim().split("\r\n")).toHaveLength(4);
    expect(readFileSync(await download.path(), "utf8")).toBe(told.text);
    await rowOf(visit, "Entries", "Top-up").first().getByRole("link").click();
    await main.getByRole("heading", { name: "Top-up" }).waitFor();
    await page.goBack();
    await rowOf(visit, "Entries", "bank-1").waitFor();

    await page.setViewportSize({ width: A4_WIDTH, height: 990 });
    await page.emulateMedia({ media: "print" });
    const printed = (await page.innerText("body"))
      .replace(/-P\d+/, "-P7")
      .replaceAll(/…\w+/g, "…")
      .replaceAll(/Copy \w+/g, "Copy the id")
      .replaceAll(/\d\d:\d\d:\d\d/g, "at");
    const lines = printed.split(/\n+/).map((line) => line.replaceAll("\t", " ").trim());
    expect(lines).toEqual([
      ...["Blue Cable", "Main Road 1, Kathmandu", "Reg. 12345/081", "PAN 301234567"],
      ...["Statement 2026-11-P7 (preliminary)", "Partner", "Blue Wallet Pvt. Ltd.", "New Road 7", "PAN 601234567"],
      ...["Period", "2026-11-01 to 2026-11-30, days of UTC", "Date of issue", "2026-11-22"],
      ...["Closing balance", "Blue Cable owes Blue Wallet Pvt. Ltd. NPR 420.00.", "Statement"],
      "November 2026 is not over yet: these numbers may still change.",
      "Entry Time Reference Reason Amount (NPR)",
      ...["Opening balance    0.00", "Top-ups: 2    -1,580.00", "Commission    0.00", "Reversals: 0    0.00"],
      "Deposit 2026-11-22 at bank-1 paid at the counter 2,000.00",
      "Closing balance    420.00",
      ...["Blue Cable: name, signature, date", "Blue Wallet Pvt. Ltd.: name, signature, date"],
    ]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(A4_WIDTH);
    await visit.goTo("/settlement?period=2026-11&partner=Blue%20Wallet");
    await page.getByText("Charged to the account").first().waitFor();
    expect(await page.getByText("Amount owed").count()).toBe(0);
  });

  test("has limits and commission that an admin sets, and a viewer only reads", async () => {
    const visit = await at("/partners/Blue%20Wallet?tab=account", "admin", { refusals: [422] });
    const { page, main, dialog } = visit;
    await visit.press("Credit limit and alert…");
    await api().call("PATCH /partners/Blue%20Wallet/account", { body: { creditLimit: "5000" } });
    await dialog.getByLabel("Alert below, NPR").fill("-1000");
    await visit.press("Save", dialog);
    await visit.expectToast("The credit limit and the alert are set.");
    // The other admin's limit stays.
    await main.getByText("At zero, top-ups continue: the partner may owe you up to NPR 5,000.00.").waitFor();
    const list = await at("/partners", "viewer");
    expect(await rowOf(list, "Partners", "Blue Wallet").innerText()).toMatch(/^Blue Wallet\tActive\tNPR 5,420.00\t/);
    await visit.press("Credit limit and alert…");
    await dialog.getByLabel("Credit limit, NPR").fill("");
    await visit.press("Save", dialog);
    await visit.expectToast("Requested: another person must confirm it under Needs attention.");
    expect((await api().call("GET /partners/Blue%20Wallet/account")).json).toMatchObject({
      ...{ creditLimit: "5000.00", alertBelow: "-1000.00" },
    });
    await visit.press("Add a rule");
    await dialog.getByLabel("Percent of the price").fill("2.555");
    await dialog.getByLabel("Service").selectOption("Internet");
    await dialog.getByLabel("Bouquet").selectOption("NET-1M");
    await dialog.getByLabel("From").fill("2026-12-01");
    await visit.press("Add a rule", dialog);
    await dialog.getByText("must be a number from 0 to 100 with up to 2 decimals").waitFor();
    await dialog.getByLabel("Percent of the price").fill("2.5");
    expect(await findViolations(page)).toEqual([]);
    await visit.press("Add a rule", dialog);
    await visit.expectToast("The rule is added.");
    expect(await rowOf(visit, "Commission", "2026-12-01").innerText()).toBe("2026-12-01\tInternet\tNET-1M\t2.50 %");

    await page.getByRole("tab", { name: "Access" }).click();
    await visit.press("Change limits…");
    await api().call("PATCH /partners/Blue%20Wallet/limits", { body: { rate: 40, topUpAmount: "7000" } });
    await dialog.getByLabel("Price of all top-ups a day, NPR").fill("100000");
    await dialog.getByLabel("Top-ups a day", { exact: true }).fill("900");
    await visit.press("Save", dialog);
    await visit.expectToast("The limits are set.");
    await main.getByText("NPR 100,000.00").waitFor();
    const limits = { rate: 40, topUpAmount: "7000.00", dayAmount: "100000.00", dayTopUps: 900 };
    expect((await api().call("GET /partners/Blue%20Wallet")).json).toMatchObject(limits);

    const viewer = await at(ACCOUNT, "viewer");
    await rowOf(viewer, "Commission", "2026-12-01").waitFor();
    expect(await buttonsOf(viewer)).toEqual([]);
    expect(await viewer.main.getByText("Entries").count()).toBe(0);
  });
});

describe("the console", () => {
  test("asks an admin for the password again before a key is added or removed", async () => {
    const visit = await at("/staff", "admin", { refusals: [403] });
    const { page } = visit;
    await page.getByRole("button", { name: "Add a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("billing");
    const enter = async (password: string, button: string) => {
      await dialog.getByLabel("Your password").fill(password);
      await dialog.getByRole("button", { name: button, exact: true }).click();
    };
    await enter("not the password", "Add a key");
    await dialog.getByText("is not your password").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await enter(PASSWORD, "Add a key");
    await dialog.getByRole("button", { name: "Saved it" }).click();
    await page.getByRole("button", { name: "Remove the key billing?" }).click();
    await enter(PASSWORD, "Remove");
    await page.getByText("The key billing was removed.").waitFor();
  });

  test("offers nobody what their role does not allow, and says so of a page", async () => {
    const viewer = await at("/customers/2000001", "viewer");
    await viewer.main.getByRole("button", { name: "Internet sita", exact: true }).waitFor();
    expect(await buttonsOf(viewer)).toEqual(["TV 000100000000001", "Internet sita"]);
    const pages = viewer.page.getByRole("navigation", { name: "Pages" });
    for (const name of ["Bulk changes", "Settlement", "Staff"])
      expect(await pages.getByRole("link", { name }).count()).toBe(0);
    await viewer.goTo("/staff");
    await viewer.main.getByText("Your role does not allow this page").waitFor();

    const support = await at("/customers/2000001", "support");
    expect(await buttonsOf(support)).toContain("Give days: Internet sita");
    await support.press("Write a note");
    await support.dialog.getByLabel("Note").fill("called about the outage");
    await support.press("Write a note", support.dialog);
    await support.main.getByText("Bina called about the outage").waitFor();
    for (const path of ["/partners", "/partners/wallet", "/imports", "/catalogue"]) {
      await support.goTo(path);
      expect(await buttonsOf(support), path).toEqual([]);
    }
  });

  test("changes a price, having seen the change, takes a bouquet off sale, and goes back to the revision before", async () => {
    const visit = await at("/catalogue", "admin", { refusals: [422] });
    const { page, main, dialog } = visit;
    const tv = main.getByRole("table", { name: "TV" }).getByRole("row").filter({ hasText: "TV-1M" });
    const before = await tv.innerText();
    const publish = async (button: string) => {
      api().service.now += 1_000;
      await visit.press(button, dialog);
      await visit.expectToast(/^Revision \d+ is published\.$/);
    };
    await main.getByRole("link", { name: "TV-1M" }).click();
    await dialog.getByLabel("Name").fill("Family TV");
    await visit.press("Show the change", dialog);
    await dialog.getByText("has no period").waitFor();
    await dialog.getByLabel("Name").fill("Family TV (MONTHLY)");
    await dialog.getByLabel("Price").fill("512.25");
    await visit.press("Show the change", dialog);
    await dialog.locator("ins", { hasText: "512.25" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    const { bouquets } = (await api().call("GET /catalogue?environment=production")).json;
    expect(bouquets).toContainEqual(expect.objectContaining({ code: "TV-1M", price: "450.00" }));
    await publish("Publish");
    await tv.getByText("512.25").waitFor();

    await main.getByRole("link", { name: "TV-1M" }).click();
    await visit.press("Take off sale…", dialog);
    await dialog.getByText("Removed", { exact: true }).waitFor();
    await publish("Take off sale");
    await expect.poll(() => main.getByRole("link", { name: "TV-1M" }).count()).toBe(0);

    await visit.goTo("/catalogue?tab=revisions");
    await main
      .getByRole("link", { name: /^Revision/ })
      .nth(2)
      .click();
    await visit.press("Go back to this revision…");
    await dialog.getByText("Added", { exact: true }).waitFor();
    await publish("Publish");
    await expect.poll(() => tv.innerText()).toBe(before);

    await main.getByRole("link", { name: "TV-1M" }).click();
    await dialog.getByLabel("Price").fill("512.25");
    await visit.press("Show the change", dialog);
    await dialog.getByLabel("From").fill("2027-12-01");
    api().service.now += 1_000;
    await visit.press("Publish", dialog);
    await visit.expectToast(/^Revision \d+ comes into force on 2027-12-01\.$/);
    expect(await tv.innerText()).toBe(before);
    expect(await main.getByRole("button", { name: "Add a bouquet" }).getAttribute("title")).toMatch(
      /withdraw it first/,
    );
    await main.getByRole("link", { name: "comes into force on 2027-12-01" }).click();
    await main.locator("ins", { hasText: "512.25" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await visit.goTo("/catalogue");
    await visit.press("Withdraw…");
    await visit.press("Withdraw", dialog);
    await visit.expectToast(/is withdrawn/);
    await main.getByRole("link", { name: "TV-1M" }).waitFor();
  });

  test("adds a bouquet, and takes a newer revision for the form that is open when it comes", async () => {
    const visit = await at("/catalogue", "admin");
    const { page, main, dialog } = visit;
    await visit.press("Add a bouquet");
    await dialog.getByLabel("Service").selectOption("IPTV");
    await dialog.getByLabel("Code").fill("ITV-1M");
    await dialog.getByLabel("Name").fill("Movies (MONTHLY)");
    await dialog.getByLabel("Price").fill("300");
    await dialog.getByLabel("Sold to").fill("north\n\nsouth\n");
    expect(await findViolations(page)).toEqual([]);
    await visit.press("Show the change", dialog);
    await dialog.getByText("Added", { exact: true }).waitFor();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/api\/v1\/catalogue\?/, async (route) => {
      await released;
      await route.continue();
    });
    api().service.now += 1_000;
    await visit.press("Publish", dialog);
    await visit.expectToast(/^Revision \d+ is published\.$/);
    const { bouquets } = (await api().call("GET /catalogue?environment=production")).json;
    expect(bouquets.at(-1)).toMatchObject({
      ...{ service: "iptv", code: "ITV-1M", plan: "Movies", price: "300.00", months: 1, segments: ["north", "south"] },
    });

    await main.getByRole("link", { name: "TV-1M" }).click();
    release();
    await page.getByText("ITV-1M").waitFor();
    await dialog.getByLabel("Price").fill("460");
    await visit.press("Show the change", dialog);
    await dialog.locator("ins", { hasText: "460.00" }).waitFor();
  });

  test("sends a test event to a webhook, shows its body and answer, and sends an event again", async () => {
    const { call, service } = api();
    const receiver = await startReceiver((response) => response.end("thank you"));
    const webhook = { url: receiver.url };
    const { id } = (await call("POST /targets", { body: { name: "tv", webhook } })).json.target;
    onTestFinished(async () => void (await call("DELETE /targets/tv")));
    const visit = await at("/targets/tv", "admin");
    const { page, main, dialog } = visit;
    await main.getByText("No deliveries in the last 7 days").waitFor();
    const block = { service: "internet", reqId: "gita", reason: "for an event" };
    for (const blocked of [true, false]) await call("POST /customers/2000003/block", { body: { ...block, blocked } });
    const outbox = outboxOf(service.store.engine);
    const held = { lease: `target:${id}`, holder: "test" };
    await outbox.hold(held.lease, held.holder, service.now, service.now + 20_000);
    const place = await outbox.lastEvent();
    const failed = {
      at: service.now + 1,
      seq: place,
      attempt: 3,
      request: "{}",
      durationMs: 5,
      problem: "connection refused",
    };
    const key = { environment: "production", cuid: "2000003", service: "internet", reqId: "gita" } as const;
    const times = { at: service.now, sentAt: service.now, acceptedAt: service.now, endedAt: service.now };
    const step = { key, seq: place, kind: "connection.unblocked", ...times } as const;
    const steps = [{ ...step, outcome: "failed", detail: "no such box" } as const];
    await outbox.saveProgress({ ...held, targetId: id, place, waiting: [], done: [], steps, logged: [failed] });
    await visit.press("Send a test event");
    await visit.expectToast("The target answered 200 after 0 ms.");
    await visit.press("Body and answer", rowOf(visit, "Last deliveries", "Test event"));
    expect(await dialog.getByLabel("Body").inputValue()).toBe(receiver.deliveries[0]?.body);
    expect(await dialog.getByLabel("Answer").inputValue()).toBe("thank you");
    expect(await dialog.getByRole("button", { name: "Send again" }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await visit.press("Close", dialog);

    await visit.press("Body and answer", rowOf(visit, "Last deliveries", "connection refused"));
    await visit.press("Send again", dialog);
    await visit.expectToast("1 event is tried again now.");
    expect((await call("GET /targets/tv/failed")).json.items).toMatchObject([
      { id: expect.stringMatching(`_${place}$`) },
    ]);
    await call("PUT /partners/Blue%20Wallet/webhook", { body: { url: receiver.url } });
    onTestFinished(async () => void (await call("PUT /partners/Blue%20Wallet/webhook", { body: { remove: true } })));
    const partner = await at("/partners/Blue%20Wallet", "admin");
    await partner.main.getByRole("link", { name: "Manage" }).click();
    await partner.press("Send a test event");
    await partner.page.goBack();
    await rowOf(partner, "Last deliveries", "Test event").waitFor();
    await page.goto(new URL("/health", page.url()).href);
    await main.getByRole("heading", { name: "Paid, and a step failed or late" }).waitFor();
    await main.getByRole("link", { name: "Internet gita" }).click();
    await main.getByText(/^unblocked .* tv accepted .* failed .*: no such box$/).waitFor();
    await visit.press("Send again");
    await visit.expectToast("The present state is sent to all targets: 1 event.");
    const viewer = await at("/targets/tv", "viewer");
    await rowOf(viewer, "Last deliveries", "connection refused").waitFor();
    expect(await viewer.page.getByRole("button", { name: /^(Send|Body)/ }).count()).toBe(0);
  });

  test("shows names and free fields of partners as the text that they are", async () => {
    const visit = await at("/customers?q=2000004", "support");
    const { page, main } = visit;
    await main.getByRole("link", { name: `${MARKUP} ${SCRIPT}` }).click();
    await main.getByRole("heading", { level: 1, name: `${MARKUP} ${SCRIPT}` }).waitFor();
    await visit.settle();
    await main.getByRole("link", { name: /^Transaction of/ }).click();
    await visit.settle();
    for (const text of [MARKUP, SCRIPT]) await main.getByText(text, { exact: true }).waitFor();
    expect(await page.locator("main img, main script").count()).toBe(0);
  });

  test("shows the money or number of a period, the list behind a figure, and a new top-up at once", async () => {
    const told = (await api().call("GET /statistics?days=7&environment=production")).json;
    const { topUps } = told.byPartner.find(({ name }: { name: string }) => name === "Blue Wallet");
    const all = told.days.reduce((sum: number, day: { topUps: number }) => sum + day.topUps, 0);
    const visit = await at("/?days=7", "viewer");
    const { page, main } = visit;
    await visit.press("Top-ups");
    const shares = main.getByRole("table", { name: "By partner, 7 days" });
    const share = `${topUps} · ${Math.round((topUps / all) * 100)} %`;
    await shares
      .getByRole("row", { name: /^Blue Wallet/ })
      .getByText(share)
      .waitFor();
    await main.getByRole("link", { name: String(all), exact: true }).waitFor();
    const newest = main.getByRole("table", { name: "Latest top-ups" }).getByText("000100000000001");
    const before = await newest.count();
    api().service.now += 60_000;
    await topUp(api(), { cuid: "2000001", service: "tv", reqId: "000100000000001" }, {});
    await expect.poll(() => newest.count(), { timeout: 20_000 }).toBe(before + 1);
    await main.getByRole("link", { name: String(all + 1), exact: true }).waitFor();
    await visit.press("Today");
    expect(new URL(page.url()).search).toBe("?days=1&show=topUps");
    await visit.press("7 days");
    await main.getByRole("link", { name: "The connection is blocked" }).click();
    await main.getByRole("heading", { name: "Refused calls" }).waitFor();
    await rowOf(visit, "Refused calls of partners", "The connection is blocked").first().waitFor();
    expect(await main.getByLabel("Reason").inputValue()).toBe("connection_blocked");
  });

  test("names a partner's refusals with number and amount, and every problem on both pages", async () => {
    const { store, now } = api().service;
    const partnerId = (await readPartners(store.engine.db)).find(({ name }) => name === "Blue Wallet")?.id ?? 0;
    await api().call("PATCH /partners/Blue%20Wallet/account", { body: { alertBelow: "9000000" } });
    const holder = { partnerId, environment: "production", at: now } as const;
    const call = { operation: "get-customer-information", reason: "rate_limited", requestId: "r", code: "1" };
    await store.recordRefusedCalls([{ ...call, ...holder, detail: "look-ups" }]);
    const rows = [null, null, "day_amount" as const].map((limitName, index) => {
      const reason = limitName === null ? "insufficient_balance" : "limit_reached";
      return { ...holder, amount: 113_000, reason, limitName, checkoutId: `refused ${index}` } as const;
    });
    await store.engine.transact((tx) => tx.insertInto("retiredCheckout").values(rows).execute());
    await run(deskOf({ store, clock: () => now }, { name: "tester" }), addTarget, { name: "paused" });
    await run(deskOf({ store, clock: () => now }, { name: "tester" }), pauseTarget, { name: "paused", paused: true });
    const visit = await at("/health", "viewer");
    const { main } = visit;
    for (const path of ["/health", "/"]) {
      await visit.goTo(path);
      for (const text of [
        /^Blue Wallet: balance is low. The balance is NPR /,
        /^Blue Wallet: balance too low for top-ups. Top-ups that were refused .*: 2, of NPR 2,260.00./,
        /^Blue Wallet: look-ups refused. .* Refused on this day: 1\./,
        /^paused: target is paused. It gets no events until it is resumed. It lacks 0\./,
      ])
        await main.getByText(text).waitFor();
    }
    await main.getByText("by balance or limit", { exact: true }).waitFor();
    await main.getByRole("link", { name: /3,390\.00$/ }).waitFor();
    const limit = main.getByText(
      /^Blue Wallet: limit reached. The limit of the amount of a .* Refused on this day: 1, of NPR 1,130.00/,
    );
    await limit.getByRole("link", { name: "See it" }).click();
    await main.getByRole("heading", { level: 1, name: "Blue Wallet" }).waitFor();
    await main.getByText("Refused today: 2 top-ups, of NPR 2,260.00. The partner's balance was too low.").waitFor();
    await main.getByText(/^Refused today: 1 top-up, of NPR 1,130.00. Above the amount of a day\./).waitFor();
    await visit.goTo("/partners");
    const listed = rowOf(visit, "Partners", "Refused today: 2, insufficient balance");
    await listed.filter({ hasText: "Refused today: 1, limit reached" }).getByText("Blue Wallet").waitFor();
  });

  test("has pages that everybody can read, in light and dark, and that fit a telephone", async () => {
    const visit = await at("/", "admin");
    const { page, main } = visit;
    const links = await page.getByRole("navigation").getByRole("link").all();
    const inNavigation = await Promise.all(links.map((link) => link.getAttribute("href")));
    const paths = [...PAGES, `/transactions/${provider.txnId}`];
    expect(inNavigation.filter((path) => !paths.includes(path ?? ""))).toEqual([]);
    const found: Record<string, string[]> = {};
    for (const path of paths) {
      await visit.goTo(path);
      for (const figure of PLANTED[path] ?? []) {
        const element = main.locator(figure).first();
        await element.evaluate((each) => each.append("1"));
        expect(await findWrongFigures(page), `a wrong ${figure} of ${path}`).toHaveLength(1);
        await element.evaluate((each) => each.lastChild?.remove());
      }
      const violations = await findViolations(page);
      const problems = [...violations, ...((await fitsTelephone(page)) ? [] : ["is too wide for a telephone"])];
      if ((await main.getByRole("alert").count()) > 0) problems.push("shows an error");
      if (problems.length > 0) found[path] = problems;
    }
    expect(found).toEqual({});
    expect(unseenFigures().filter((figures) => !/goodwill|bulk|held-back|targets|health/.test(figures))).toEqual([]);
  });
});
