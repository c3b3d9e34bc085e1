import { describe, expect, test } from "vitest";
import type { AccountKey } from "../../src/domain/account.ts";
import type { CommissionRule } from "../../src/domain/commission.ts";
import { ADDRESS_REFUSED } from "../../src/domain/target.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { testTarget } from "../../src/office/targets/deliveries.ts";
import { setWebhook, showWebhook } from "../../src/office/targets/webhook.ts";
import { by } from "../support/by.ts";
import { deskOf, run } from "../support/desk.ts";
import { partnersOf, setAccount } from "../support/partners.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { ask, askAll, fill, topUp } from "../support/reports.ts";
import { START, startTestService, type TestService } from "../support/service.ts";
import { startReceiver } from "../targets/receivers.ts";

const DAY = 86_400_000;
const MINUTE = 60_000;
/** A minute before midnight. */
const LATE = Date.UTC(2026, 10, 20, 23, 59);

const ENTRIES = "partner/account/entries";

async function walletOf({ store }: TestService): Promise<AccountKey> {
  return { partnerId: (await partnersOf(store).find("wallet"))?.id ?? 0, environment: "trial" };
}

/** Enters a deposit as staff do. */
async function deposit({ store, now }: TestService, key: AccountKey, amount: number, reference: string): Promise<void> {
  const { instant: at, wall } = store.provider.zone.moment(now);
  const entry = { ...key, reference, kind: "deposit", amount, reason: "paid", author: "tester", at, wall } as const;
  await store.engine.transact((tx) => tx.insertInto("accountEntry").values(entry).execute());
}

async function setCommission({ store }: TestService, rules: readonly Partial<CommissionRule>[]): Promise<void> {
  const commission = JSON.stringify(rules);
  await store.engine.change((tx) =>
    tx.updateTable("partner").set({ commission }).where("name", "=", "wallet").execute(),
  );
}

const account = async (service: TestService, token?: string) =>
  (await ask(service, "partner/account", "", token)).json.body;

test("an account shows its balance, the rules in force and the limits, in its environment alone", async () => {
  const service = await startTestService({ currency: "NPR" });
  const { store } = service;
  const wallet = await walletOf(service);
  const other = await service.issue(await service.addPartner("other"), "trial");
  await deposit(service, wallet, 500_000, "bank 1");
  const general = { percent: 200, from: "2026-11-01" };
  const fixed = { service: "tv", bouquetCode: "TRIAL-TV-1M", fixed: 1_050, from: "2026-11-20" } as const;
  const [old, later] = [
    { percent: 150, from: "2026-10-01" },
    { percent: 300, from: "2026-11-21" },
  ] as never[];
  await setCommission(service, [old, general, later, fixed] as never[]);
  await topUp(service);
  const shown = await account(service);
  expect(shown).toEqual({
    ...{ balance: 3892.6, creditLimit: null, available: null, currency: "NPR" },
    commission: [
      { service: null, bouquetId: null, percent: 2, fixed: null, from: "2026-11-01" },
      { service: "tv", bouquetId: "TRIAL-TV-1M", percent: null, fixed: 10.5, from: "2026-11-20" },
    ],
    limits: {
      ...{ topUpAmount: null, dayAmount: null, dayTopUps: null },
      ...{ rate: 50, burst: 500, newLookUps: 600 },
    },
  });
  const none = { balance: 0, commission: [], creditLimit: null };
  expect(await account(service, other)).toMatchObject(none);
  expect(await account(service, service.liveToken)).toMatchObject({ ...none, commission: shown.commission });
  await setAccount(store, wallet, { creditLimit: 100_000n });
  await partnersOf(store).setLimits("wallet", { newLookUps: 1_000_000 }, by(service.now));
  // The stored balance of a guarded account is always the newest.
  expect(await account(service)).toMatchObject({ balance: 3892.6, creditLimit: 1000, available: 4892.6 });
  await setAccount(store, wallet, { creditLimit: 0n });
  expect(await account(service)).toMatchObject({ balance: 3892.6, creditLimit: 0, available: 3892.6 });
  await setAccount(store, wallet, { creditLimit: 100_000n });
  for (let times = 0; times < 4; times += 1) await topUp(service);
  expect(await account(service)).toMatchObject({ balance: -537, available: 463, limits: { newLookUps: null } });
});

/** No desk of these tests may call this address. */
const PRIVATE_WEBHOOK = JSON.stringify({ kind: "webhook", url: "http://192.168.1.1/" });

test("a partner sees the last deliveries of its webhook, in its environment alone, and no status and no answer", async () => {
  const service = await startTestService();
  const receiver = await startReceiver((response) => response.writeHead(500).end("inner secret"));
  const shown = async (token?: string) => (await ask(service, "partner/webhook", "", token)).json.body;
  expect(await shown()).toEqual({ paused: null, deliveries: [] });
  const desk = deskOf(service.ports);
  await run(desk, setWebhook, { name: "wallet", environment: "trial", url: receiver.url });
  await run(desk, testTarget, { name: "partner wallet trial" });
  const at = "2026-11-20 09:00:00";
  const failed = { at, id: `test_${START}`, type: "test", attempt: 1, problem: "refused" };
  expect(await shown()).toEqual({ paused: false, deliveries: [failed] });
  expect(await shown(service.liveToken)).toEqual({ paused: null, deliveries: [] });

  await receiver.close();
  service.now += 1_000;
  await run(desk, testTarget, { name: "partner wallet trial" });
  await service.store.engine.db.updateTable("target").set({ config: PRIVATE_WEBHOOK }).execute();
  service.now += 1_000;
  await run(desk, testTarget, { name: "partner wallet trial" });
  const problems = async () => (await shown()).deliveries.map(({ problem }: { readonly problem: string }) => problem);
  expect(await problems()).toEqual(["not allowed", "no answer", "refused"]);
  const { deliveries } = await run(desk, showWebhook, { name: "wallet", environment: "trial" });
  expect(deliveries.map(({ status, problem }) => [status, problem])).toEqual([
    [null, ADDRESS_REFUSED],
    [null, "connection refused"],
    [500, "status 500"],
  ]);
});

test("one sum serves all requests of two seconds, unless the balance is stored", async () => {
  const service = await startTestService();
  expect(await account(service)).toMatchObject({ balance: 0 });
  await topUp(service);
  service.now += 1_999;
  expect(await account(service)).toMatchObject({ balance: 0 });
  service.now += 1;
  expect(await account(service)).toMatchObject({ balance: -1130 });
});

test("entries follow one another with their balances, also over midnight and over pages", async () => {
  const service = await startTestService({ now: LATE });
  const wallet = await walletOf(service);
  const other = await service.issue(await service.addPartner("other"), "trial");
  await setCommission(service, [{ percent: 200, from: "2026-11-01" }]);
  await deposit(service, wallet, 500_000, "नगद १");
  service.now += 1;
  const sold = await topUp(service);
  await topUp(service, other);
  service.now = LATE + MINUTE;
  const second = await topUp(service);
  service.now += 1;
  await run(deskOf(service.ports), reverseTransaction, { id: sold.txnId, reason: "twice" });
  const sale = (of: typeof sold) => ({
    reference: null,
    txnId: of.txnId,
    orderId: of.orderId,
    gross: 1130,
    commission: 22.6,
  });
  const byStaff = { txnId: null, orderId: null, gross: null, commission: null };
  const first = [
    { at: "2026-11-20 23:59:00", kind: "deposit", amount: 5000, balance: 5000, reference: "नगद १", ...byStaff },
    { at: "2026-11-20 23:59:00", kind: "top_up", amount: -1107.4, balance: 3892.6, ...sale(sold) },
  ];
  const last = [
    { at: "2026-11-21 00:00:00", kind: "top_up", amount: -1107.4, balance: 2785.2, ...sale(second) },
    { at: "2026-11-21 00:00:00", kind: "reversal", amount: 1107.4, balance: 3892.6, ...sale(sold) },
  ];
  const body = async (query: Readonly<Record<string, string>>, token?: string) =>
    (await ask(service, ENTRIES, query, token)).json.body;
  const days = (from: string, to: string) => ({ from, to });
  const [friday, saturday] = ["2026-11-20", "2026-11-21"];
  expect(await body(days(friday, friday))).toEqual({ ...days(friday, friday), items: first, next: null, opening: 0 });
  expect(await body({})).toEqual({ ...days(saturday, saturday), items: last, next: null, opening: 3892.6 });
  const all = await askAll(service, ENTRIES, days(friday, "2027-11-20"), service.trialToken);
  expect(all.items).toEqual([...first, ...last]);
  // Stored sums of the days change nothing.
  service.now += 3 * DAY;
  expect(await body(days(saturday, saturday))).toMatchObject({ items: last, opening: 3892.6 });
  expect(await body({})).toMatchObject({ items: [], opening: 3892.6 });
  expect((await account(service)).balance).toBe(3892.6);
  expect(await body(days(friday, friday), other)).toMatchObject({ items: [{ balance: -1130 }], opening: 0 });
  expect(await body(days(friday, friday), service.liveToken)).toMatchObject({ items: [], opening: 0 });
});

describe.each(["SQLite", "PostgreSQL"])("on %s", (engine) => {
  const openStore = () => (engine === "SQLite" ? {} : { openStore: makePostgresDatabase().open });

  test("many entries come page by page with bounded work", async () => {
    const service = await startTestService(openStore());
    const [rare, busy] = [await service.addPartner("rare"), await service.addPartner("busy")];
    const token = await service.issue(rare, "trial");
    const key = { partnerId: rare.id, environment: "trial" } as const;
    await fill(service, busy.id, START, 12_000);
    // More at the same moment than a page has.
    for (let nth = 0; nth < 201; nth += 1) await deposit(service, key, 100, `bank ${nth}`);
    // A step ends among these, each at the same moment as a top-up of the other.
    for (let nth = 0; nth < 20; nth += 1) {
      service.now = START + 986 + nth;
      await deposit(service, key, 100, `cash ${nth}`);
    }
    const txnIds = [
      ...(await fill(service, rare.id, START + 986, 20)),
      ...(await fill(service, rare.id, START + 11_999, 1)),
    ];
    const { items, pages } = await askAll(service, ENTRIES, { from: "2026-11-20", to: "2026-11-20" }, token);
    expect(new Set(items.slice(0, 201).map(({ reference }) => reference)).size).toBe(201);
    const among = items.slice(201, 241).map(({ reference, txnId }) => reference ?? txnId);
    expect(among).toEqual(txnIds.slice(0, 20).flatMap((txnId, nth) => [`cash ${nth}`, txnId]));
    expect(items.slice(241)).toMatchObject([{ txnId: txnIds[20], balance: 221 - 21 * 1120 }]);
    // The number of pages depends on the own entries alone.
    expect(pages).toBe(2);
    expect(await askAll(service, ENTRIES, { from: "2026-01-01", to: "2027-01-01" }, token)).toEqual({ items, pages });
  });
});
