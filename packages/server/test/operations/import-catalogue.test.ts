import { describe, expect, test } from "vitest";
import type { Environment } from "../../src/domain/customer.ts";
import { importCatalogue } from "../../src/operations/import-catalogue.ts";
import type { ImportProgress } from "../../src/operations/import-report.ts";
import type { RejectedLine } from "../../src/operations/source-rows.ts";
import { ndjson, startTestService, type TestService } from "../support/service.ts";

const TV = { service: "tv", code: "TV-1M", name: "Family TV (MONTHLY)", price: 450 };
const NET = { service: "internet", code: "NET-3M", name: "Fiber (QUARTERLY)", price: "2847.15", segments: ["ftth"] };
const KIDS = { service: "tv", code: "KIDS-1M", name: "Kids [AddOn] (MONTHLY)", price: 100, plan: "kids" };

async function run(service: TestService, rows: readonly object[], skipInvalid = false, environment?: Environment) {
  const rejected: RejectedLine[] = [];
  const progress: ImportProgress[] = [];
  const report = await importCatalogue(service.ports, environment ?? "production", ndjson(rows), {
    skipInvalid,
    onRejected: (line) => rejected.push(line),
    onProgress: (seen) => progress.push(seen),
  });
  return { report, rejected, progress };
}

describe("importing a catalogue", () => {
  test("publishes all of its rows, in the file's order", async () => {
    const service = await startTestService({ bare: true });
    const { report, rejected } = await run(service, [TV, NET, KIDS]);
    expect(report).toMatchObject({ accepted: 3, rejected: 0, revision: 1 });
    expect(rejected).toEqual([]);
    const catalogue = await service.store.currentCatalogue("production");
    expect(catalogue?.bouquets).toMatchObject([
      { code: "TV-1M", price: 45_000n, segments: [], plan: "Family TV", addOn: false, period: { months: 1, days: 0 } },
      { code: "NET-3M", price: 284_715n, segments: ["ftth"], plan: "Fiber", period: { months: 3, days: 0 } },
      { code: "KIDS-1M", price: 10_000n, plan: "kids", addOn: true },
    ]);
  });

  test("each import is a revision of its own, and leaves the other environment alone", async () => {
    const service = await startTestService({ bare: true });
    await run(service, [TV]);
    const { report } = await run(service, [NET], false, "trial");
    expect(report.revision).toBe(2);
    expect((await service.store.currentCatalogue("production"))?.revision).toBe(1);
    expect((await service.store.currentCatalogue("trial"))?.revision).toBe(2);
  });

  test("one bad row keeps the whole file out", async () => {
    const service = await startTestService({ bare: true });
    const { report, rejected } = await run(service, [TV, { ...NET, name: "Fiber" }, KIDS]);
    expect(report).toMatchObject({ accepted: 0, rejected: 1 });
    expect(rejected).toEqual([{ line: 2, problems: [{ field: "name", problem: "has no period" }] }]);
    expect(await service.store.currentCatalogue("production")).toBeUndefined();
  });

  test("where bad rows are to be skipped, the good ones are published", async () => {
    const service = await startTestService({ bare: true });
    const { report, rejected } = await run(service, [{}, TV, { ...NET, price: -1 }, KIDS], true);
    expect(report).toMatchObject({ accepted: 2, rejected: 2, revision: 1 });
    expect(rejected.map(({ line }) => line)).toEqual([1, 3]);
  });

  test("all problems of a row are told at once", async () => {
    const service = await startTestService({ bare: true });
    const { rejected } = await run(service, [{ service: "radio", price: "1,5", colour: "red" }]);
    const fields = rejected[0]?.problems.map(({ field }) => field);
    expect(fields).toEqual(["service", "code", "name", "price", "colour"]);
  });

  test("a code may stand once for each service", async () => {
    const service = await startTestService({ bare: true });
    const { report, rejected } = await run(service, [TV, { ...TV, price: 451 }, { ...TV, service: "iptv" }], true);
    expect(report.accepted).toBe(2);
    expect(rejected).toEqual([
      { line: 2, problems: [{ field: "code", problem: "stands on an earlier line already" }] },
    ]);
  });

  test("a plan may not hold both a base and an add-on", async () => {
    const service = await startTestService({ bare: true });
    const { rejected } = await run(service, [
      { ...TV, plan: "family" },
      { ...KIDS, plan: "family" },
    ]);
    expect(rejected).toEqual([
      { line: 2, problems: [{ field: "plan", problem: "holds both a base bouquet and an add-on" }] },
    ]);
  });

  test("a row that was refused takes no code and no plan from those after it", async () => {
    const service = await startTestService({ bare: true });
    const refused = { ...KIDS, code: TV.code, plan: "Family TV", price: 0 };
    const { report } = await run(service, [refused, TV], true);
    expect(report).toMatchObject({ accepted: 1, rejected: 1 });
  });

  test.each([[[]], [[{}]]])("the rows %j publish nothing, even where bad ones are to be skipped", async (rows) => {
    const service = await startTestService({ bare: true });
    await run(service, [TV]);
    const { report } = await run(service, rows, true);
    expect(report).toMatchObject({ accepted: 0, rejected: rows.length });
    expect((await service.store.currentCatalogue("production"))?.revision).toBe(1);
  });

  test("progress tells of every line that was looked at", async () => {
    const service = await startTestService({ bare: true });
    const { progress } = await run(service, [TV, {}, NET]);
    expect(progress).toEqual([1, 2, 3].map((lines) => ({ step: "checking", lines })));
  });

  test("what partners see is the new catalogue, from the next listing on", async () => {
    const service = await startTestService({ bare: true });
    await run(service, [TV]);
    await service.importCustomers([
      {
        cuid: "1",
        first_name: "A",
        last_name: "B",
        status: "active",
        connections: { tv: [{ stb: "S", status: "active" }] },
      },
    ]);
    const offered = async () => {
      const body = { cuid: "1", service: "tv", reqId: "S" };
      const { json } = await service.call("get-subscription-package", body, { token: service.liveToken });
      return json.body.tv.bouquets;
    };
    expect(await offered()).toEqual([{ code: "TV-1M", name: "Family TV (MONTHLY)", price: 450 }]);
    await run(service, [{ ...TV, price: "499.90" }]);
    expect(await offered()).toEqual([{ code: "TV-1M", name: "Family TV (MONTHLY)", price: 499.9 }]);
  });
});
