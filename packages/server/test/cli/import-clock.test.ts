import { describe, expect, test } from "vitest";
import { importCustomers } from "../../src/operations/import-customers.ts";
import { ClockInDoubt } from "../../src/operations/import-report.ts";
import { customersOf } from "../support/customers-of.ts";
import { type HistoryLine, historyLine } from "../support/history-line.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { SITA } from "../support/provider-files.ts";
import { ndjson } from "../support/service.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const NAMES = { first_name: "A", last_name: "B", status: "active" };
/** The set-top box was topped up to February 2027; what runs on the line was over in 2026. */
const WITHOUT_BOX = { ...SITA };
const BOX = { stb: "00077", status: "inactive" };
const WITHOUT_LINE = { ...SITA, connections: { tv: [BOX] } };
const AS_EVER = { ...SITA, connections: { ...SITA.connections, tv: [BOX] } };
const SAID =
  "topupd: the clock of this machine says 2028-01-10 12:00:00, and the newest record is of 2027-01-10 12:00:00 (Asia/Kathmandu). The clock may be ahead. If it is right, and the service truly lay idle since, add --clock-is-right; otherwise set it right first. By that clock, this import would take back what was paid for, and nothing brings it back.\n";

const file = (line: HistoryLine, ...rows: readonly object[]) =>
  line.write("c.ndjson", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const connectionsOf = (line: HistoryLine) =>
  line.change(async ({ store }) => {
    const [sita] = await customersOf(store, "production", SITA.cuid);
    return sita?.connections
      .map(({ reqId, subscriptions }) => [reqId, ...subscriptions.map(({ plan }) => plan)])
      .toSorted();
  });
const entriesOf = async (line: HistoryLine) => (await line.run("audit", "list", "--json")).stdout;

describe.each([
  ["SQLite", makeSqliteDatabase],
  ["PostgreSQL", makePostgresDatabase],
])("on %s, a customers file", (_, makeDatabase) => {
  test("is not taken where only a clock that is ahead says that what was paid for is over", async () => {
    const line = await historyLine(() => makeDatabase());
    const before = [await connectionsOf(line), await entriesOf(line)];
    // What would be taken is in the second portion.
    const others = Array.from({ length: 501 }, (__, index) => ({ ...NAMES, cuid: `n${index}`, connections: {} }));
    file(line, ...others, WITHOUT_BOX);
    await line.setTime("2028-01-10 12:00:00");
    for (const flags of [["--dry-run"], [], ["--top-ups", "apart"]])
      expect(await line.run("import", "customers", "c.ndjson", ...flags)).toEqual({
        code: 1,
        stdout: "",
        stderr: SAID,
      });
    expect([await connectionsOf(line), await entriesOf(line)]).toEqual(before);
    await line.setTime("2027-01-11 12:00:00");
    expect(await line.run("import", "customers", "c.ndjson")).toMatchObject({ code: 0 });
    expect(await connectionsOf(line)).toEqual(before[0]);
  });

  test("is taken by a clock that is ahead where somebody has looked at it", async () => {
    const line = await historyLine(() => makeDatabase());
    file(line, WITHOUT_BOX);
    await line.setTime("2028-01-10 12:00:00");
    expect(await line.run("import", "customers", "c.ndjson", "--clock-is-right")).toMatchObject({ code: 0 });
    expect((await connectionsOf(line))?.map(([reqId]) => reqId)).not.toContain("00077");
  });

  test("is taken by a clock that is ahead where it takes nothing back that the clock alone says to be over", async () => {
    const line = await historyLine(() => makeDatabase());
    await line.setTime("2028-01-10 12:00:00");
    for (const row of [{ ...AS_EVER, last_name: "Tamang" }, WITHOUT_LINE]) {
      file(line, row);
      expect(await line.run("import", "customers", "c.ndjson", "--top-ups", "included")).toMatchObject({ code: 0 });
    }
  });

  test("is not taken either where it ends such a run sooner", async () => {
    const line = await historyLine(() => makeDatabase());
    const before = await connectionsOf(line);
    const sold = { code: "TV-1M", startdate: "2026-12-01 00:00:00", enddate: "2027-01-01 00:00:00" };
    file(line, { ...SITA, connections: { ...SITA.connections, tv: [{ ...BOX, subscriptions: [sold] }] } });
    await line.setTime("2028-01-10 12:00:00");
    expect(await line.run("import", "customers", "c.ndjson", "--top-ups", "included")).toMatchObject({ code: 1 });
    expect(await connectionsOf(line)).toEqual(before);
  });

  test("ends where the clock is set ahead while it is imported, before it takes anything back", async () => {
    const line = await historyLine(() => makeDatabase());
    const before = await connectionsOf(line);
    const others = Array.from({ length: 500 }, (__, index) => ({ ...NAMES, cuid: `n${index}`, connections: {} }));
    await line.change(async (ports) => {
      let now = ports.clock();
      const options = { skipInvalid: false, onRejected: () => {} };
      const onProgress = ({ step }: { step: string }) => {
        if (step === "writing") now += 366 * 86_400_000;
      };
      const imported = importCustomers(
        { ...ports, clock: () => now },
        "production",
        () => ndjson([...others, WITHOUT_BOX]),
        "apart",
        { ...options, onProgress },
      );
      await expect(imported).rejects.toThrow(ClockInDoubt);
    });
    expect(await connectionsOf(line)).toEqual(before);
  });
});

test("a service that was used this month is not asked about its clock", async () => {
  const line = await historyLine(makeSqliteDatabase);
  file(line, WITHOUT_BOX);
  await line.setTime("2027-02-09 12:00:00");
  expect(await line.run("import", "customers", "c.ndjson")).toMatchObject({ code: 0, stderr: "" });
  expect((await connectionsOf(line))?.map(([reqId]) => reqId)).not.toContain("00077");
});
