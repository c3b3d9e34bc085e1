import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { listPackages } from "../../src/operations/list-packages.ts";
import { topUp } from "../../src/operations/top-up.ts";
import type { ArchiveChunk } from "../../src/store/store.ts";
import type { MakeDatabase } from "../store-suite/database.ts";
import { collect } from "../store-suite/filled-provider.ts";
import { type HistoryLine, historyLine } from "../support/history-line.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { SITA } from "../support/provider-files.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const DAYS = ["--from", "2026-02-10", "--to", "2027-01-13", "--by", "day"];
const NET = { environment: "production", cuid: SITA.cuid, service: "internet", reqId: "sita" } as const;

/** A service that is set back to a backup of 10 January 2027, and what it was on the 12th. */
async function setBack(makeDatabase: MakeDatabase) {
  const [lost, restored] = [makeDatabase(), makeDatabase()];
  let current = lost;
  const line = await historyLine(() => ({ ...lost, open: (options) => current.open(options) }));
  const backup = await line.change(({ store }) => collect(store));
  const [tv] = JSON.parse(`[${(await line.run("transaction", "list", "--udf1", "order-3", "--json")).stdout}]`);
  await line.setTime("2027-01-11 10:00:00");
  expect(await line.run("transaction", "reverse", tv.txnId, "--reason", "paid twice", "--as", "maya")).toMatchObject({
    code: 0,
  });
  await buy(line);
  const reverseNewest = async () => {
    const [newest] = (await line.run("transaction", "list", "--json")).stdout.split("\n");
    await line.run("transaction", "reverse", JSON.parse(newest as string).txnId, "--reason", "paid twice");
  };
  await reverseNewest();
  await line.setTime("2027-01-12 10:00:00");
  await buy(line);
  const before = await whatThereIs(line);
  line.write("transactions.ndjson", (await line.run("export", "transactions")).stdout);
  line.write("customers.ndjson", (await line.run("export", "customers")).stdout);
  current = restored;
  await line.change(({ store }) => store.importArchive(Readable.from(backup) as AsyncIterable<ArchiveChunk>));
  await line.setTime("2027-01-13 10:00:00");
  return { line, before, tv };
}

async function buy(line: HistoryLine): Promise<void> {
  await line.change(async (ports) => {
    const [partner] = await ports.store.listPartners();
    if (partner === undefined) throw new Error("there is no partner");
    const caller = { partnerId: partner.id, partnerName: partner.name, environment: NET.environment };
    const listed = await listPackages(ports, caller, NET, 0);
    if (!listed.ok) throw new Error(listed.refusal);
    const { checkoutId, bouquets } = listed.value;
    const { code: bouquetId, price } = bouquets[0] as (typeof bouquets)[number];
    const made = await topUp(ports, caller, { ...NET, checkoutId, bouquetId, amount: price });
    if (!made.ok) throw new Error(made.refusal);
  });
}

/** What is settled, what is on record, and until when the customer is served. */
async function whatThereIs(line: HistoryLine) {
  const settled = (await line.run("report", "settlement", ...DAYS)).stdout;
  const recorded = (await line.run("export", "transactions")).stdout;
  const served = (await line.run("customer", "show", SITA.cuid, "--by-cuid")).stdout;
  return { settled, recorded, served };
}

describe.each([
  ["SQLite", makeSqliteDatabase],
  ["PostgreSQL", makePostgresDatabase],
])("on %s, after a restore", (_, makeDatabase) => {
  test("what an export holds of the time since makes every day come to what was settled", async () => {
    const { line, before } = await setBack(() => makeDatabase());
    const restore = ["import", "transactions", "transactions.ndjson", "--own-reversals"];
    expect(await line.run(...restore, "--dry-run")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("it would be: 2 added, 1 changed, 2 unchanged"),
    });
    expect(await line.run(...restore)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("2 added, 1 changed, 2 unchanged"),
    });
    expect(await line.run("import", "customers", "customers.ndjson", "--top-ups", "included")).toMatchObject({
      code: 0,
    });
    expect(await whatThereIs(line)).toEqual(before);
    expect(await line.run(...restore)).toMatchObject({
      stdout: expect.stringContaining("0 added, 0 changed, 5 unchanged"),
    });
    expect(await line.run("check")).toMatchObject({ code: 0 });
    expect((await line.run("report", "settlement", "--from", "2027-01-13", "--to", "2027-01-13")).stdout).toMatch(
      /^TOTAL +0 /m,
    );
  });

  test("the audit trail tells who took it back again, and when it was taken back", async () => {
    const { line, tv } = await setBack(() => makeDatabase());
    await line.run("import", "transactions", "transactions.ndjson", "--own-reversals", "--as", "anita");
    const { stdout } = await line.run("audit", "list", "--action", "transaction.reverse", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ author: "anita", at: "2027-01-13T04:15:00.000Z", reason: "paid twice" },
      subject: expect.stringContaining(tv.txnId),
      after: expect.stringContaining('"reversedAt":"2027-01-11T04:15:00.000Z","reversedBy":"maya"'),
    });
  });

  test("nothing that was made here is taken back on a day that is over, unless somebody says so", async () => {
    const { line } = await setBack(() => makeDatabase());
    const before = await whatThereIs(line);
    const { code, stderr } = await line.run("import", "transactions", "transactions.ndjson");
    expect(code).toBe(1);
    expect(stderr).toContain(
      "status must be success, since it was made here: topupd transaction reverse takes it back",
    );
    expect(await whatThereIs(line)).toEqual(before);
  });
});
