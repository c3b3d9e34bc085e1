import { expect, test } from "vitest";
import { ENVIRONMENTS } from "../../src/domain/customer.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { digestOf } from "../../src/store/archive.ts";
import { listCustomers } from "../../src/store/customers.ts";
import type { ArchiveValue } from "../../src/store/engine.ts";
import { StoreRefused, StoreUnavailable } from "../../src/store/errors.ts";
import { knownBouquets } from "../../src/store/reference-cache.ts";
import type { ArchiveChunk, Store } from "../../src/store/store.ts";
import { columnsOf, type RawTables, TABLE_NAMES } from "../../src/store/tables.ts";
import { by } from "../support/by.ts";
import { publish } from "../support/catalogue.ts";
import { refusal } from "../support/desk.ts";
import { moveHorizon, pruneHistory } from "../support/history.ts";
import { partnersOf } from "../support/partners.ts";
import { plain } from "./customers.ts";
import { countRows, findWrong, type MakeDatabase, openStore, START } from "./database.ts";
import { archiveOf, collect, type FilledProvider, hashOf, openFilledProvider } from "./filled-provider.ts";
import { BOUQUETS, expectRecorded, importRows, openProvider, RAM_NET, SITA, SITA_NET } from "./provider.ts";

export type Rows = Extract<ArchiveChunk, { kind: "rows" }>;
type Spoil = (chunks: ArchiveChunk[]) => ArchiveChunk[];

/** Faults of an archive, each with its error. */
const SPOILT: readonly (readonly [what: string, spoil: Spoil, said: RegExp])[] = [
  ["lacks its end", (chunks) => chunks.slice(0, -1), /backup_taken should have/],
  [
    "lacks its top-ups",
    (chunks) => chunks.filter((chunk) => !isOf(chunk, "top_up")),
    /top_up should have 5 rows|refuses a row of sale/,
  ],
  ["lacks a row", (chunks) => changed(chunks, "customer_code", (rows) => rows.slice(1)), /customer_code should have/],
  ["lacks its totals", (chunks) => chunks.slice(1), /the totals of the source are missing/],
  ["comes twice", (chunks) => [...chunks, ...chunks.slice(1)], /refuses a row of provider/],
  [
    "has another name",
    (chunks) => withValue(chunks, "customer", "first_name", "Eve"),
    /rows of customer are not those/,
  ],
  [
    "has another secret",
    (chunks) => withValue(chunks, "checkout_secret", "key", new Uint8Array(32)),
    /rows of checkout_secret are not those/,
  ],
  ["has another amount", (chunks) => withValue(chunks, "top_up", "amount", 1), /rows of top_up are not those/],
  ["has an amount that is none", (chunks) => withValue(chunks, "top_up", "amount", -1), /refuses a row of top_up/],
  ["has another table", (chunks) => [...chunks, { ...rowsOf(chunks, "top_up"), table: "tip" }], /tip is not a table/],
  [
    "has another column",
    (chunks) => changed(chunks, "partner", (rows) => rows.map((row) => [...row, 1])),
    /partner is not a table/,
  ],
  [
    "was out of order before it was sent",
    (chunks) => truly(withValue(chunks, "subscription", "seq", 9), "subscription"),
    /the last entry differs from the stored subscription/,
  ],
  [
    "has money of an unknown partner before it was sent",
    (chunks) => truly(withValue(chunks, "top_up", "amount", 7), "top_up"),
    /the top-ups do not add up/,
  ],
];

export function testArchives(makeDatabase: MakeDatabase): void {
  test("an archive holds every row of every table, and what the top-ups come to", async () => {
    const opened = await openFilledProvider(makeDatabase);
    const [first, ...others] = await collect(opened.store);
    if (first?.kind !== "totals") throw new Error("the totals come first");
    expect(Object.keys(first.totals.rows)).toEqual(TABLE_NAMES);
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
      ["tv", "success", 2, 139_000n],
    ]);
  });

  test("sums of top-ups are exact to the last digit, also beyond 64 bits", async () => {
    const { store, topUp, database } = await openProvider(makeDatabase);
    await topUp(SITA_NET, "NET-1M");
    const most = 9_007_199_254_740_991n;
    await database.tamper(`UPDATE top_up SET amount = ${most}`);
    await database.tamper(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2047)
      INSERT INTO top_up SELECT checkout_id || i, txn_id || i, partner_id, environment, cuid, service, req_id,
        bouquet_code, amount, commission, at, txn_date, status, udf1, udf2 FROM n, top_up`);
    const [first] = await collect(store);
    if (first?.kind !== "totals") throw new Error("the totals come first");
    expect(first.totals.money.map(({ topUps, amount }) => [topUps, amount])).toEqual([[2_048, 2_048n * most]]);
  });

  test("a store that was filled from another equals it, with more rows than a chunk has", async () => {
    const { store, restate, ...opened } = await openFilledProvider(makeDatabase);
    const { internet } = SITA.connections;
    const connections = (index: number) => ({ internet: [{ ...internet[0], username: `u${index}` }] });
    await restate(
      ...Array.from({ length: 1_100 }, (_, index) => plain(`C${index}`, { connections: connections(index) })),
    );
    const copy = await copyOf(makeDatabase, store, opened.now);
    expect(await archiveOf(copy.store)).toEqual(await archiveOf(store));
    expect(await visible(copy.store)).toEqual(await visible(store));
    const again = await copy.another();
    expect(await visible(again)).toEqual(await visible(store));
    expect(await findWrong(again)).toEqual([]);
  });

  test("a store that was filled from another continues where that stopped", async () => {
    const opened = await openFilledProvider(makeDatabase);
    const copy = await copyOf(makeDatabase, opened.store, opened.now);
    const { store } = copy;
    await expectToGoOn(store, opened);
    expect(await refusal(partnersOf(store).add("wallet", by(opened.now)))).toMatchObject({ code: "conflict" });
    expect(await partnersOf(store).add("new", by(opened.now))).toMatchObject({ id: 3 });
    expect(await publish(store, "trial", BOUQUETS, by(opened.now))).toMatchObject({ revision: 4 });
    await importRows(store, opened.now + DAY_MS, { ...SITA, last_name: "Tamang" });
    expect(await findWrong(store)).toEqual([]);
  });

  test("a pruned store can be copied, and goes on", async () => {
    const opened = await openProvider(makeDatabase);
    for (const days of [100, 300, 0]) {
      await opened.topUp(RAM_NET, "NET-1M");
      opened.now += days * DAY_MS;
    }
    const horizon = opened.now - 100 * DAY_MS;
    await moveHorizon(opened, horizon);
    const pruned = await pruneHistory(opened, horizon);
    expect(pruned.topUps).toBeGreaterThan(0);
    const { store } = await copyOf(makeDatabase, opened.store, opened.now);
    expect(await archiveOf(store)).toEqual(await archiveOf(opened.store));
    expectRecorded(await store.settleTopUp(opened.command(RAM_NET, "NET-1M")));
    expect(await findWrong(store)).toEqual([]);
  });

  test("an empty database can be copied too", async () => {
    const settings = { timeZone: "Asia/Kathmandu", currencyExponent: 0 };
    const { store } = await openStore(makeDatabase, settings);
    const copy = await openStore(makeDatabase, { ...settings, seed: 2 });
    await copy.store.importArchive(from(await collect(store)));
    expect(await archiveOf(copy.store)).toEqual(await archiveOf(store));
  });

  test("a store that holds anything is not filled", async () => {
    const { store } = await openProvider(makeDatabase);
    const chunks = await collect(store);
    for (const fill of [
      (target: Store) => partnersOf(target).add("other", by(1)),
      (target: Store) => importRows(target, 1, { ...SITA, connections: {} }),
      (target: Store) => target.concludeCheckout("x".repeat(64)),
    ]) {
      const target = await openStore(makeDatabase);
      await fill(target.store);
      const before = await archiveOf(target.store);
      await expect(target.store.importArchive(from(chunks))).rejects.toThrow(StoreRefused);
      expect(await archiveOf(target.store)).toEqual(before);
    }
  });

  test("a store that was opened with another time zone or currency is not filled", async () => {
    const { store } = await openProvider(makeDatabase);
    const chunks = await collect(store);
    for (const other of [{ timeZone: "Asia/Kathmandu" }, { currencyExponent: 0 }]) {
      const target = await openStore(makeDatabase, other);
      await expect(target.store.importArchive(from(chunks))).rejects.toThrow(/time zone, currency exponent or country/);
      expect(await countRows(target, "customer")).toBe(0);
    }
  });

  test("a spoilt archive leaves the store as it was", async () => {
    const { store } = await openFilledProvider(makeDatabase);
    const chunks = await collect(store);
    const target = await openStore(makeDatabase);
    const before = await archiveOf(target.store);
    for (const [what, spoil, said] of SPOILT) {
      const filled = target.store.importArchive(from(spoil(chunks)));
      await expect(filled, what).rejects.toThrow(said);
      await expect(filled, what).rejects.toBeInstanceOf(StoreRefused);
      expect(await archiveOf(target.store), what).toEqual(before);
    }
    const breaksOff = async function* () {
      yield* chunks.slice(0, -3);
      throw new StoreUnavailable("gone");
    };
    await expect(target.store.importArchive(breaksOff())).rejects.toThrow("gone");
    expect(await archiveOf(target.store)).toEqual(before);
    await target.store.importArchive(from(chunks));
    expect(await archiveOf(target.store)).toEqual(await archiveOf(store));
  });

  test.each(["wait", "go_on"] as const)(
    "an export that is broken off leaves the store usable (%s)",
    async (writers) => {
      const { store, topUp } = await openProvider(makeDatabase);
      const failed = store.exportArchive(writers, async (chunks) => {
        for await (const chunk of chunks) if (chunk.kind === "rows") throw new StoreRefused("enough");
      });
      await expect(failed).rejects.toThrow("enough");
      await topUp(SITA_NET, "NET-1M");
    },
  );
}

/** Uses one store's secrets and tokens at a copy of it. */
export async function expectToGoOn(store: Store, { checkouts, partner, now }: FilledProvider): Promise<void> {
  const { used, reversed, retired, refused, open } = checkouts;
  expect(await store.findAccessToken(hashOf("valid"))).toMatchObject({ id: "tok_valid", partner: { id: partner.id } });
  expect(await store.findAccessToken(hashOf("revoked"))).toMatchObject({ revokedAt: expect.any(Number) });
  expect(await store.settleTopUp(used)).toMatchObject({
    kind: "replayed",
    transaction: { txnId: expect.stringContaining(used.txnDigits) },
  });
  expect(await store.settleTopUp({ ...used, amount: 1n })).toMatchObject({ refusal: "checkout_used" });
  expect(await store.findTransaction(reversed.checkoutId)).toMatchObject({ status: "reversed" });
  expect(await store.settleTopUp(retired)).toMatchObject({ refusal: "checkout_expired" });
  expect(await store.settleTopUp(refused)).toMatchObject({
    ...{ refusal: "limit_reached", retired: { refused: { limit: "paid_ahead", partnerId: partner.id } } },
  });
  expect(expectRecorded(await store.settleTopUp(open)).at).toBe(now);
}

async function copyOf(makeDatabase: MakeDatabase, store: Store, now: number) {
  const target = await openStore(makeDatabase, { seed: 2 });
  target.now = now;
  await target.store.importArchive(from(await collect(store)));
  return target;
}

/** Everything that the store's methods return. */
async function visible(store: Store) {
  return {
    partners: await partnersOf(store).list(),
    tokens: await partnersOf(store).listTokens(),
    byHash: await Promise.all(["valid", "trial", "revoked"].map((name) => store.findAccessToken(hashOf(name)))),
    secrets: (await store.checkoutSecrets()).map(({ key, ...secret }) => ({ ...secret, key: [...key] })),
    catalogues: await Promise.all(ENVIRONMENTS.map((environment) => store.currentCatalogue(environment, START))),
    bouquets: await Promise.all(ENVIRONMENTS.map((environment) => knownBouquets(store.engine.db, environment, START))),
    customers: await Promise.all(
      ENVIRONMENTS.map((environment) =>
        listCustomers(store.engine.db, environment, { after: undefined, limit: 2_000 }),
      ),
    ),
    found: await Promise.all(
      ["9800000101", "sita", "ram", "u7"].map((code) => store.lookUpCustomers("production", code)),
    ),
  };
}

async function* from(chunks: readonly ArchiveChunk[]): AsyncGenerator<ArchiveChunk> {
  yield* chunks;
}

export function isOf(chunk: ArchiveChunk, table: string): boolean {
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

/** Changes a value in the first row. */
function withValue<Table extends keyof RawTables>(
  chunks: readonly ArchiveChunk[],
  table: Table,
  column: keyof RawTables[Table] & string,
  value: ArchiveValue,
) {
  const index = (columnsOf(table) as readonly string[]).indexOf(column);
  return changed(chunks, table, ([first = [], ...others]) => [first.with(index, value), ...others]);
}

/** Corrects the digests, as if the original database had these rows. */
function truly(chunks: readonly ArchiveChunk[], table: string): ArchiveChunk[] {
  return chunks.map((chunk) =>
    chunk.kind === "rows" && chunk.table === table ? { ...chunk, digest: digestOf(chunk.rows) } : chunk,
  );
}
