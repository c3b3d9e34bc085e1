import { expect, test } from "vitest";
import type { Environment } from "../../src/domain/customer.ts";
import { digestOf } from "../../src/store/common/archive.ts";
import { StoreRefused, StoreUnavailable } from "../../src/store/errors.ts";
import type { ArchiveChunk, Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { customersOf } from "../support/customers-of.ts";
import { copyRows, countRows, findWrong, type MakeDatabase, openStore } from "./database.ts";
import { archiveOf, collect, type FilledProvider, hashOf, openFilledProvider } from "./filled-provider.ts";
import { expectRecorded, openProvider, RAM_NET, restate, SITA, SITA_NET } from "./provider.ts";

type Rows = Extract<ArchiveChunk, { kind: "rows" }>;

/** What may befall an archive on its way, and what is said of it. */
const SPOILT: readonly (readonly [what: string, spoil: (chunks: ArchiveChunk[]) => ArchiveChunk[], said: RegExp])[] = [
  ["lacks its end", (chunks) => chunks.slice(0, -1), /retired_checkout should have 1 rows, and got 0/],
  ["lacks its top-ups", (chunks) => chunks.filter((chunk) => !isOf(chunk, "top_up")), /top_up should have 6 rows/],
  ["lacks a row", (chunks) => changed(chunks, "customer_code", (rows) => rows.slice(1)), /customer_code should have/],
  ["lacks its totals", (chunks) => chunks.slice(1), /nothing says what there was to copy/],
  ["is empty", () => [], /nothing says what there was to copy/],
  ["comes twice", (chunks) => [...chunks, ...chunks.slice(1)], /refuses a row of provider/],
  [
    "has a chunk twice",
    (chunks) => chunks.flatMap((chunk) => (isOf(chunk, "top_up") ? [chunk, chunk] : [chunk])),
    /top_up/,
  ],
  ["has another name", (chunks) => changedValue(chunks, "customer", 2, "Eve"), /rows of customer are not those/],
  ["has another secret", (chunks) => changedValue(chunks, "checkout_secret", 1, new Uint8Array(32)), /checkout_secret/],
  ["has another flag", (chunks) => changedValue(chunks, "connection", 6, true), /rows of connection are not those/],
  ["has another amount", (chunks) => changedValue(chunks, "top_up", 8, 1), /rows of top_up are not those/],
  ["has an amount that is none", (chunks) => changedValue(chunks, "top_up", 8, -1), /refuses a row of top_up/],
  ["has another status", (chunks) => changedValue(chunks, "top_up", 10, "reversed"), /there should not be/],
  ["has another table", (chunks) => [...chunks, { ...rowsOf(chunks, "top_up"), table: "tip" }], /tip is not a table/],
  [
    "has another column",
    (chunks) => changed(chunks, "partner", (rows) => rows.map((row) => [...row, 1])),
    /partner is/,
  ],
  [
    "was out of order before it was sent",
    (chunks) => truly(changedValue(chunks, "subscription", 9, 1_800_000_000_000), "subscription"),
    /is not the fold of its grants/,
  ],
  [
    "has money of nobody's before it was sent",
    (chunks) => truly(changedValue(chunks, "top_up", 8, 7), "top_up"),
    /there should be .* that make .*; there should not be/,
  ],
];

export function testArchives(makeDatabase: MakeDatabase): void {
  test("an archive holds every row of every table, and what the top-ups come to", async () => {
    const opened = await openFilledProvider(makeDatabase);
    const [first, ...others] = await collect(opened.store);
    if (first?.kind !== "totals") throw new Error("the totals come first");
    for (const [table, rows] of Object.entries(first.totals.rows)) {
      expect(rows, table).toBeGreaterThan(0);
      expect(await countRows(opened, table), table).toBe(rows);
      const sent = others.filter((chunk) => isOf(chunk, table)).flatMap((chunk) => (chunk as Rows).rows);
      expect(sent, table).toHaveLength(rows);
    }
    const money = first.totals.money.map(({ service, status, topUps, amount }) => [service, status, topUps, amount]);
    expect(money).toEqual([
      ["internet", "reversed", 1, 322_000n],
      ["internet", "success", 1, 113_000n],
      ["iptv", "success", 1, 30_000n],
      ["tv", "success", 3, 151_345n],
    ]);
  });

  test("what top-ups come to is told to the last digit, also beyond 64 bits", async () => {
    const { store, command, database } = await openProvider(makeDatabase);
    expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
    const most = 9_007_199_254_740_991n;
    await database.tamper(`UPDATE top_up SET amount = ${most}`);
    for (const letter of "abcdefghijk")
      await copyRows(database, "top_up", "true", {
        checkout_id: `checkout_id || '${letter}'`,
        txn_id: `txn_id || '${letter}'`,
      });
    const [first] = await collect(store);
    if (first?.kind !== "totals") throw new Error("the totals come first");
    expect(first.totals.money.map(({ topUps, amount }) => [topUps, amount])).toEqual([[2_048, 2_048n * most]]);
  });

  test("a store that was filled from another equals it", async () => {
    const { store, ...opened } = await openFilledProvider(makeDatabase);
    const copy = await copyOf(makeDatabase, store, opened.now);
    expect(await archiveOf(copy.store)).toEqual(await archiveOf(store));
    expect(await visible(copy.store)).toEqual(await visible(store));
    const again = await copy.another();
    expect(await visible(again)).toEqual(await visible(store));
    expect(await findWrong(again)).toEqual([]);
  });

  test("a store that was filled from another goes on where that was", async () => {
    const opened = await openFilledProvider(makeDatabase);
    const { store } = await copyOf(makeDatabase, opened.store, opened.now);
    await expectToGoOn(store, opened);
    expect(await store.addPartner("wallet", by(opened.now))).toBe("name_taken");
    expect(await store.addPartner("new", by(opened.now))).toMatchObject({ id: 3 });
    expect(await store.publishCatalogue("trial", [], by(opened.now))).toMatchObject({ revision: 4 });
    await restate(store, opened.now + DAY, SITA);
    expect(await findWrong(store)).toEqual([]);
  });

  test("an empty database can be copied too", async () => {
    const settings = { timeZone: "Asia/Kathmandu", currencyExponent: 0 };
    const { store } = await openStore(makeDatabase, settings);
    const copy = await openStore(makeDatabase, { ...settings, seed: 2 });
    await copy.store.importArchive(from(await collect(store)));
    expect(await archiveOf(copy.store)).toEqual(await archiveOf(store));
  });

  test.each([
    ["a partner", (store: Store) => store.addPartner("other", by(1))],
    ["a catalogue", (store: Store) => store.publishCatalogue("trial", [], by(1))],
    ["a customer", (store: Store) => restate(store, 1, { ...SITA, connections: {} })],
    ["a concluded checkout", (store: Store) => store.concludeCheckout("x".repeat(64))],
  ])("a store that holds %s is not filled", async (_, fill) => {
    const { store } = await openProvider(makeDatabase);
    const target = await openStore(makeDatabase);
    await fill(target.store);
    const before = await archiveOf(target.store);
    await expect(target.store.importArchive(from(await collect(store)))).rejects.toThrow(/not empty/);
    expect(await archiveOf(target.store)).toEqual(before);
  });

  test("a store that was opened with another time zone or currency is not filled", async () => {
    const { store } = await openProvider(makeDatabase);
    const chunks = await collect(store);
    for (const other of [{ timeZone: "Asia/Kathmandu" }, { currencyExponent: 0 }]) {
      const target = await openStore(makeDatabase, other);
      await expect(target.store.importArchive(from(chunks))).rejects.toThrow(/another time zone, currency or country/);
      expect(await countRows(target, "customer")).toBe(0);
    }
  });

  test.each(SPOILT)("an archive that %s leaves the store as it was", async (_, spoil, said) => {
    const { store } = await openFilledProvider(makeDatabase);
    const chunks = await collect(store);
    const target = await openStore(makeDatabase);
    const before = await archiveOf(target.store);
    const filled = target.store.importArchive(from(spoil(chunks)));
    await expect(filled).rejects.toThrow(said);
    await expect(filled).rejects.toBeInstanceOf(StoreRefused);
    expect(await archiveOf(target.store)).toEqual(before);
    await target.store.importArchive(from(chunks));
    expect(await archiveOf(target.store)).toEqual(await archiveOf(store));
  });

  test("an archive that breaks off leaves the store as it was", async () => {
    const { store } = await openFilledProvider(makeDatabase);
    const chunks = await collect(store);
    const target = await openStore(makeDatabase);
    const before = await archiveOf(target.store);
    const breaksOff = async function* () {
      yield* chunks.slice(0, -3);
      throw new StoreUnavailable("gone");
    };
    await expect(target.store.importArchive(breaksOff())).rejects.toThrow("gone");
    expect(await archiveOf(target.store)).toEqual(before);
  });

  test("an export that is broken off leaves the store usable", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const failed = store.exportArchive("wait", async (chunks) => {
      for await (const chunk of chunks) if (chunk.kind === "rows") throw new StoreRefused("enough");
    });
    await expect(failed).rejects.toThrow("enough");
    expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
  });

  test("nothing is acknowledged while an archive is taken, and whatever was before is in it", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    let isTaken = false;
    const acknowledged: string[] = [];
    const refused: unknown[] = [];
    const race = Array.from({ length: 30 }, async (_, index) => {
      const command = opened.command(index % 2 === 0 ? SITA_NET : RAM_NET, "NET-1M");
      await new Promise((resolve) => setTimeout(resolve, index * 3));
      const outcome = await other.settleTopUp(command).catch((error: unknown) => {
        refused.push(error);
        return undefined;
      });
      if (outcome !== undefined && !isTaken) acknowledged.push(expectRecorded(outcome).checkoutId);
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const taken = await opened.store.exportArchive("wait", async (chunks) => {
      const inArchive: unknown[] = [];
      for await (const chunk of chunks) {
        if (isOf(chunk, "top_up")) inArchive.push(...(chunk as Rows).rows.map(([checkoutId]) => checkoutId));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect(await customersOf(other, "production", "2000001")).toHaveLength(1);
      isTaken = true;
      return inArchive.map(String).sort();
    });
    await Promise.all(race);
    expect(acknowledged.sort()).toEqual(taken);
    expect(refused.filter((error) => !(error instanceof StoreUnavailable))).toEqual([]);
    expect(await findWrong(other)).toEqual([]);
  });

  test("whoever waits too long for an archive to be taken is told that the store is unavailable", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    await opened.store.exportArchive("wait", async () => {
      const attempts = [
        other.settleTopUp(opened.command(SITA_NET, "NET-1M")),
        other.concludeCheckout(opened.command(SITA_NET, "NET-1M").checkoutId),
        restate(other, opened.now, SITA),
        other.addPartner("late", by(opened.now)),
        other.publishCatalogue("trial", [], by(opened.now)),
        other.rotateCheckoutSecret(new Uint8Array(32), by(opened.now)),
      ];
      for (const attempt of await Promise.allSettled(attempts))
        expect(attempt).toMatchObject({ status: "rejected", reason: expect.any(StoreUnavailable) });
    });
    expect(await countRows(opened, "top_up")).toBe(0);
    expectRecorded(await other.settleTopUp(opened.command(SITA_NET, "NET-1M")));
  });
}

const DAY = 86_400_000;

/** What was given out by one store, in the hands of another that was filled from it. */
export async function expectToGoOn(store: Store, { checkouts, partner, now }: FilledProvider): Promise<void> {
  const { used, reversed, retired, open } = checkouts;
  expect(await store.findAccessToken(hashOf("valid"))).toMatchObject({ id: "tok_valid", partner: { id: partner.id } });
  expect(await store.findAccessToken(hashOf("revoked"))).toMatchObject({ revokedAt: expect.any(Number) });
  expect(await store.settleTopUp(used)).toMatchObject({ kind: "replayed", transaction: { txnId: used.txnId } });
  expect(await store.settleTopUp({ ...used, amount: 1n })).toMatchObject({ refusal: "checkout_used" });
  expect(await store.findTransaction(reversed.checkoutId)).toMatchObject({ status: "reversed" });
  expect(await store.settleTopUp(retired)).toMatchObject({ refusal: "checkout_expired" });
  expect(expectRecorded(await store.settleTopUp(open)).at).toBe(now);
}

async function copyOf(makeDatabase: MakeDatabase, store: Store, now: number) {
  const target = await openStore(makeDatabase, { seed: 2 });
  target.now = now;
  await target.store.importArchive(from(await collect(store)));
  return target;
}

/** All that the port shows. */
async function visible(store: Store) {
  const environments: readonly Environment[] = ["production", "trial"];
  const codes = ["2000001", "2000002", "2000003", "2000004", "9800000101", "9800000999", "sita", "ram"];
  return {
    partners: await store.listPartners(),
    tokens: await store.listAccessTokens(),
    byHash: await Promise.all(
      ["valid", "trial", "expired", "revoked"].map((name) => store.findAccessToken(hashOf(name))),
    ),
    secrets: (await store.checkoutSecrets()).map(({ key, ...secret }) => ({ ...secret, key: [...key] })),
    catalogues: await Promise.all(environments.map((environment) => store.currentCatalogue(environment))),
    bouquets: await Promise.all(environments.map((environment) => store.knownBouquets(environment))),
    customers: await Promise.all(
      environments.flatMap((environment) => codes.map((code) => customersOf(store, environment, code))),
    ),
  };
}

async function* from(chunks: readonly ArchiveChunk[]): AsyncGenerator<ArchiveChunk> {
  yield* chunks;
}

function isOf(chunk: ArchiveChunk, table: string): boolean {
  return chunk.kind === "rows" && chunk.table === table;
}

function rowsOf(chunks: readonly ArchiveChunk[], table: string): Rows {
  return chunks.find((chunk) => isOf(chunk, table)) as Rows;
}

function changed(chunks: readonly ArchiveChunk[], table: string, change: (rows: Rows["rows"]) => Rows["rows"]) {
  return chunks.map((chunk) =>
    chunk.kind === "rows" && chunk.table === table ? { ...chunk, rows: change(chunk.rows) } : chunk,
  );
}

/** Another value in the first row. */
function changedValue(chunks: readonly ArchiveChunk[], table: string, column: number, value: Rows["rows"][0][0]) {
  return changed(chunks, table, ([first = [], ...others]) => [first.with(column, value), ...others]);
}

/** As if the rows had been so in the database that they come from. */
function truly(chunks: readonly ArchiveChunk[], table: string): ArchiveChunk[] {
  return chunks.map((chunk) =>
    chunk.kind === "rows" && chunk.table === table ? { ...chunk, digest: digestOf(chunk.rows) } : chunk,
  );
}
