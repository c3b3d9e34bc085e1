import { describe, expect, test } from "vitest";
import { importCustomers } from "../../src/operations/import-customers.ts";
import type { ImportProgress } from "../../src/operations/import-report.ts";
import type { RejectedLine } from "../../src/operations/source-rows.ts";
import type { Store } from "../../src/store/store.ts";
import { customersOf } from "../support/customers-of.ts";
import { ndjson, startTestService, type TestService } from "../support/service.ts";

const CATALOGUE = [
  { service: "tv", code: "TV-1M", name: "Family TV (MONTHLY)", price: 450 },
  { service: "internet", code: "NET-1M", name: "Fiber (MONTHLY)", price: 1130 },
];

const customer = (cuid: string, more: object = {}) => ({
  cuid,
  first_name: "A",
  last_name: "B",
  status: "active",
  connections: { tv: [{ stb: `STB-${cuid}`, status: "active" }] },
  ...more,
});

const subscribed = (code: string) => ({
  connections: {
    tv: [
      {
        stb: "S",
        status: "active",
        subscriptions: [{ code, startdate: "2026-11-10 09:00:00", enddate: "2026-12-10 09:00:00" }],
      },
    ],
  },
});

async function startWithCatalogue(wrapStore?: (store: Store) => Store): Promise<TestService> {
  const service = await startTestService({ bare: true, ...(wrapStore && { wrapStore }) });
  await service.importCatalogue(CATALOGUE);
  return service;
}

interface RunOptions {
  readonly skipInvalid?: boolean;
  /** What the file holds when it is read for the second time. */
  readonly changedTo?: readonly object[];
}

async function run(service: TestService, rows: readonly object[], { skipInvalid = false, changedTo }: RunOptions = {}) {
  const rejected: RejectedLine[] = [];
  const progress: ImportProgress[] = [];
  let readings = 0;
  const open = () => {
    readings += 1;
    return ndjson(readings === 1 ? rows : (changedTo ?? rows));
  };
  const report = await importCustomers(service.ports, "production", open, "unsaid", {
    skipInvalid,
    onRejected: (line) => rejected.push(line),
    onProgress: (seen) => progress.push(seen),
  });
  return { report, rejected, progress, readings };
}

const cuids = async (service: TestService, code: string) =>
  (await customersOf(service.store, "production", code)).map(({ cuid }) => cuid);

describe("importing customers", () => {
  test("adds them, with their subscriptions named by the catalogue", async () => {
    const service = await startWithCatalogue();
    const { report } = await run(service, [customer("1", subscribed("TV-1M")), customer("2")]);
    expect(report).toMatchObject({ accepted: 2, rejected: 0 });
    const [found] = await customersOf(service.store, "production", "S");
    expect(found?.connections[0]?.subscriptions).toMatchObject([
      { plan: "Family TV", bouquet: { code: "TV-1M", name: "Family TV (MONTHLY)", addOn: false } },
    ]);
  });

  test("one bad row keeps the whole file out", async () => {
    const service = await startWithCatalogue();
    const { report, rejected, readings } = await run(service, [customer("1"), customer("2", { status: "gone" })]);
    expect(report).toMatchObject({ accepted: 0, rejected: 1 });
    expect(rejected).toEqual([
      { line: 2, problems: [{ field: "status", problem: 'must be one of "active", "inactive"' }] },
    ]);
    expect(await cuids(service, "1")).toEqual([]);
    expect(readings).toBe(1);
  });

  test("where bad rows are to be skipped, the good ones are written, and the bad ones told once", async () => {
    const service = await startWithCatalogue();
    const rows = [customer("1"), {}, customer("3")];
    const { report, rejected } = await run(service, rows, { skipInvalid: true });
    expect(report).toMatchObject({ accepted: 2, rejected: 1 });
    expect(rejected.map(({ line }) => line)).toEqual([2]);
    expect([await cuids(service, "1"), await cuids(service, "3")]).toEqual([["1"], ["3"]]);
  });

  test.each([
    ["a code that no catalogue has", "TV-9M"],
    ["a code of another service", "NET-1M"],
  ])("%s is refused, naming where it stands", async (_, code) => {
    const service = await startWithCatalogue();
    const { rejected } = await run(service, [customer("1", subscribed(code))]);
    expect(rejected[0]?.problems.map(({ field }) => field)).toEqual(["connections.tv[0].subscriptions[0].code"]);
  });

  test("a bouquet that was sold once is known for ever", async () => {
    const service = await startWithCatalogue();
    await service.importCatalogue(CATALOGUE.slice(1));
    expect((await run(service, [customer("1", subscribed("TV-1M"))])).report.accepted).toBe(1);
  });

  test("more customers than one transaction takes are all written", async () => {
    const service = await startWithCatalogue();
    const rows = Array.from({ length: 1201 }, (_, index) => customer(String(index + 1)));
    const { report, progress } = await run(service, rows);
    expect(report).toMatchObject({ accepted: 1201, rejected: 0 });
    for (const cuid of ["1", "500", "501", "1000", "1201"]) expect(await cuids(service, `STB-${cuid}`)).toEqual([cuid]);
    expect(progress.filter(({ step }) => step === "writing").map(({ lines }) => lines)).toEqual([500, 1000, 1201]);
    expect(progress.filter(({ step }) => step === "checking")).toHaveLength(1201);
  });

  test("an import that was broken off is made whole by importing again", async () => {
    let calls = 0;
    const service = await startWithCatalogue((store) => {
      const write = store.importCustomers.bind(store);
      store.importCustomers = async (...words) => {
        calls += 1;
        if (calls === 2) throw new Error("the power went");
        return write(...words);
      };
      return store;
    });
    const rows = Array.from({ length: 700 }, (_, index) => customer(String(index + 1), { mobile: `M${index}` }));
    await expect(run(service, rows)).rejects.toThrow("the power went");
    expect([await cuids(service, "500"), await cuids(service, "501")]).toEqual([["500"], []]);
    expect((await run(service, rows)).report).toMatchObject({ accepted: 700, rejected: 0 });
    expect([await cuids(service, "500"), await cuids(service, "501")]).toEqual([["500"], ["501"]]);
  });

  test("a file that turned bad between its two readings is not written on", async () => {
    const service = await startWithCatalogue();
    const changedTo = [{}, customer("1")];
    await expect(run(service, [customer("1")], { changedTo })).rejects.toThrow(
      "was changed while it was being imported",
    );
    expect(await cuids(service, "1")).toEqual([]);
  });

  test("a customer that stands twice is as the last line says", async () => {
    const service = await startWithCatalogue();
    await run(service, [customer("1", { last_name: "First" }), customer("1", { last_name: "Last" })]);
    const found = await customersOf(service.store, "production", "1");
    expect(found).toMatchObject([{ lastName: "Last" }]);
  });

  test("a file of no customers is no error, and writes nothing", async () => {
    const service = await startWithCatalogue();
    expect((await run(service, [])).report).toMatchObject({ accepted: 0, rejected: 0 });
  });

  test("reads dates on the provider's wall clock", async () => {
    const service = await startTestService({ bare: true, timeZone: "Asia/Kathmandu" });
    await service.importCatalogue(CATALOGUE);
    await run(service, [customer("1", subscribed("TV-1M"))]);
    const [found] = await customersOf(service.store, "production", "1");
    const end = found?.connections[0]?.subscriptions[0]?.end ?? 0;
    expect(new Date(end).toISOString()).toBe("2026-12-10T03:15:00.000Z");
  });
});
