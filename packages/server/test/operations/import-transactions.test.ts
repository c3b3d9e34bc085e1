import { describe, expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import { issueCheckout } from "../../src/domain/checkout.ts";
import type { CheckoutSecret } from "../../src/domain/checkout-secret.ts";
import { FileChanged, type ImportedRow } from "../../src/operations/import-report.ts";
import { importTransactions } from "../../src/operations/import-transactions.ts";
import { queryTransaction } from "../../src/operations/query-transaction.ts";
import type { RejectedLine } from "../../src/operations/source-rows.ts";
import { topUp } from "../../src/operations/top-up.ts";
import { findWrong } from "../store-suite/database.ts";
import { exportedRows } from "../support/exported-rows.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { ndjson, startTestService, type TestService } from "../support/service.ts";

interface RunOptions {
  readonly skipInvalid?: boolean;
  readonly dryRun?: boolean;
  /** What the file holds when it is read for the second time. */
  readonly changedTo?: readonly object[];
}

async function run(service: TestService, rows: readonly object[], { changedTo, ...options }: RunOptions = {}) {
  const rejected: RejectedLine[] = [];
  const changes: ImportedRow[] = [];
  let readings = 0;
  const open = () => {
    readings += 1;
    return ndjson(readings === 1 ? rows : (changedTo ?? rows));
  };
  const work = importTransactions(service.ports, "production", open, {
    skipInvalid: false,
    ...options,
    onRejected: (line) => rejected.push(line),
    onProgress: () => {},
    onChange: (change) => changes.push(change),
  });
  const report = await work.catch((error: unknown) => error);
  return { report, rejected, changes };
}

const STORES = [
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ openStore: makePostgresDatabase().open })],
] as const;

async function start(opening: (typeof STORES)[number][1]) {
  const service = await startTestService({ bare: true, ...opening() });
  await service.ports.store.addPartner("old wallet", { author: "tester", at: service.ports.clock() });
  const rows = exportedRows(1_203, { partner: "old wallet", until: service.ports.clock() - 60_000 });
  const count = async () => {
    const filter = { environment: "production" } as const;
    return (await service.ports.store.search.listTransactions(filter, { before: undefined, limit: 5_000 })).length;
  };
  return { service, rows, count };
}

const counts = (added: number, changed: number, unchanged: number, rejected = 0) => ({
  ...{ accepted: added + changed + unchanged, rejected },
  ...{ added, changed, unchanged },
});

async function* brokenOff(rows: readonly object[]): AsyncGenerator<Uint8Array> {
  yield* ndjson(rows);
  throw new Error("the disk is gone");
}

describe.each(STORES)("in %s", (_, opening) => {
  test("a file of several portions is taken once, and changes nothing the second time", async () => {
    const { service, rows, count } = await start(opening);
    expect(await run(service, rows)).toMatchObject({ report: counts(1_203, 0, 0), rejected: [] });
    expect(await count()).toBe(1_203);
    expect((await run(service, rows)).report).toEqual(counts(0, 0, 1_203));
    const entries = await service.ports.store.auditTrail.list({ action: "transactions.import" }, 10);
    expect(entries.map(({ after }) => JSON.parse(after as string).added.topUps)).toEqual([203, 500, 500]);
    expect(await findWrong(service.ports.store)).toEqual([]);
  });

  test("a dry run tells what would change, and writes nothing", async () => {
    const { service, rows, count } = await start(opening);
    await run(service, rows.slice(0, 3));
    const { report, changes } = await run(service, rows.slice(0, 5), { dryRun: true });
    expect(report).toEqual(counts(2, 0, 3));
    expect(changes).toEqual([
      { what: "transaction", line: 4, txnId: rows[3]?.txnId, kind: "added" },
      { what: "transaction", line: 5, txnId: rows[4]?.txnId, kind: "added" },
    ]);
    expect(await count()).toBe(3);
  });

  test("whoever has the number here that a partner had where the secret was copied from is told nothing", async () => {
    const { service, rows } = await start(opening);
    const { ports } = service;
    const [secret] = await ports.store.checkoutSecrets();
    const key = { environment: "production", cuid: "E0", service: "tv", reqId: "S0" } as const;
    const quote = { revision: 1, issuedAt: ports.clock() - 120_000, nonce: new Uint8Array(16) };
    const stranger = (await ports.store.addPartner("new here", { author: "tester", at: ports.clock() })) as Partner;
    const caller = { partnerId: stranger.id, partnerName: stranger.name, environment: "production" } as const;
    const checkoutId = issueCheckout(secret as CheckoutSecret, caller, key, quote);
    expect((await run(service, [{ ...rows[0], checkoutId }])).report).toEqual(counts(1, 0, 0));
    expect(await queryTransaction(ports, caller, { checkoutId })).toEqual({ ok: false, refusal: "checkout_unknown" });
    const request = { ...key, checkoutId, bouquetId: "OLD-1M", amount: 45_050n };
    expect(await topUp(ports, caller, request)).toEqual({ ok: false, refusal: "checkout_unknown" });
  });

  test("a reversal by a clock that was set back since the top-up is taken as it is on record there", async () => {
    const { service, rows } = await start(opening);
    const reversedAt = new Date(Date.parse(rows[0]?.at as string) - 3_600_000).toISOString();
    const reversed = { ...rows[0], status: "reversed", reversedAt, reversedBy: "maya", reversalReason: "paid twice" };
    expect(await run(service, [reversed])).toMatchObject({ report: counts(1, 0, 0), rejected: [] });
    expect((await run(service, [reversed])).report).toEqual(counts(0, 0, 1));
    expect(await findWrong(service.ports.store)).toEqual([]);
  });

  test("a bad line in a late portion keeps all of the file out, and is left out where that is said", async () => {
    const { service, rows, count } = await start(opening);
    const bad = rows.map((row, index) => (index === 1_100 ? { ...row, amount: "-1" } : row));
    const refused = await run(service, bad);
    expect(refused.report).toEqual(counts(0, 0, 0, 1));
    expect(refused.rejected.map(({ line }) => line)).toEqual([1_101]);
    expect(refused.changes).toEqual([]);
    expect(await count()).toBe(0);
    expect((await run(service, bad, { skipInvalid: true })).report).toEqual(counts(1_202, 0, 0, 1));
    expect(await count()).toBe(1_202);
  });

  test("lines that contradict each other from afar are told of, and the portions before stay", async () => {
    const { service, rows, count } = await start(opening);
    const clash = [...rows.slice(0, 600), { ...rows[0], udf1: "another" }];
    const { report, rejected } = await run(service, clash);
    expect(report).toBeInstanceOf(FileChanged);
    expect(rejected).toEqual([{ line: 601, problems: [{ field: "udf1", problem: "is another than on record here" }] }]);
    expect(await count()).toBe(600);
    expect((await run(service, clash, { skipInvalid: true })).report).toEqual(counts(0, 0, 600, 1));
    expect((await run(service, [...rows, rows[0] as object])).report).toEqual(counts(603, 0, 601));
  });

  test("an import that is broken off leaves whole portions, and the next one brings the rest", async () => {
    const { service, rows, count } = await start(opening);
    let readings = 0;
    const open = () => {
      readings += 1;
      return readings === 1 ? ndjson(rows) : brokenOff(rows.slice(0, 700));
    };
    const heard = { skipInvalid: false, onRejected: () => {}, onProgress: () => {} };
    await expect(importTransactions(service.ports, "production", open, heard)).rejects.toThrow("the disk is gone");
    expect(await count()).toBe(500);
    expect(await findWrong(service.ports.store)).toEqual([]);
    expect((await run(service, rows)).report).toEqual(counts(703, 0, 500));
  });

  test("a file that changes while it is read is not taken for whole", async () => {
    const { service, rows } = await start(opening);
    expect((await run(service, rows.slice(0, 4), { changedTo: rows.slice(0, 3) })).report).toBeInstanceOf(FileChanged);
  });
});
