import { describe, expect, test } from "vitest";
import type { BouquetEffect } from "../../src/domain/catalogue-file.ts";
import { type CatalogueImport, importCatalogue } from "../../src/services/staff/import-catalogue.ts";
import type { RejectedLine } from "../../src/services/staff/import-file.ts";
import { ACTOR, CATALOGUE, ndjson, openWorld, type World } from "./world.ts";

const TV = { service: "tv", code: "TV-1M", name: "Family TV (MONTHLY)", price: 450 };
const NET = { service: "internet", code: "NET-3M", name: "Fiber (QUARTERLY)", price: "2847.15", segments: ["ftth"] };
const KIDS = { service: "tv", code: "KIDS-1M", name: "Kids [AddOn] (MONTHLY)", price: 100, plan: "kids" };

async function run({ ports }: World, rows: readonly object[], request: Partial<CatalogueImport> = {}) {
  const rejected: RejectedLine[] = [];
  const changes: BouquetEffect[] = [];
  const asked = { environment: "trial", open: () => ndjson(rows), ...request } as const;
  const result = await importCatalogue(ports, ACTOR, asked, {
    onRejected: (line) => rejected.push(line),
    onChange: (change) => changes.push(change),
    onProgress: () => {},
  });
  return { result, rejected, changes };
}

const current = ({ store }: World) => store.currentCatalogue("trial");

describe("importing a catalogue", () => {
  test("publishes all of its rows in the file's order, and leaves the other environment alone", async () => {
    const world = await openWorld();
    const { result, rejected } = await run(world, [TV, NET, KIDS]);
    expect(result).toMatchObject({ kind: "done", revision: 2, report: { accepted: 3, added: 3 } });
    expect(rejected).toEqual([]);
    expect((await current(world))?.bouquets).toMatchObject([
      { code: "TV-1M", price: 45_000n, segments: [], plan: "Family TV", addOn: false, period: { months: 1, days: 0 } },
      { code: "NET-3M", price: 284_715n, segments: ["ftth"], plan: "Fiber", period: { months: 3, days: 0 } },
      { code: "KIDS-1M", price: 10_000n, plan: "kids", addOn: true },
    ]);
    expect((await world.store.currentCatalogue("production"))?.bouquets).toHaveLength(CATALOGUE.length);
  });

  test("with a bad line publishes nothing, unless bad lines are to be left out", async () => {
    const world = await openWorld();
    const rows = [TV, { ...NET, name: "Fiber" }, { service: "radio", price: "1,5", colour: "red" }, KIDS];
    const { result, rejected } = await run(world, rows);
    expect(result).toEqual({ kind: "bad_lines", rejected: 2, hasGood: true });
    expect(rejected[0]).toEqual({ line: 2, problems: [{ field: "name", problem: "has no period" }] });
    expect(rejected[1]?.problems.map(({ field }) => field)).toEqual(["service", "code", "name", "price", "colour"]);
    expect(await current(world)).toBeUndefined();
    expect((await run(world, rows, { skipInvalid: true })).result).toMatchObject({
      report: { accepted: 2, rejected: 2 },
    });
  });

  test("holds each row against those before it, but for what was refused", async () => {
    const world = await openWorld();
    const refused = { ...KIDS, code: TV.code, plan: "Family TV", price: 0 };
    const both = { ...KIDS, plan: "Family TV" };
    const rows = [refused, TV, { ...TV, price: 451 }, { ...TV, service: "iptv" }, both];
    const { result, rejected } = await run(world, rows, { skipInvalid: true });
    expect(result).toMatchObject({ report: { accepted: 2 } });
    expect(rejected.slice(1)).toEqual([
      { line: 3, problems: [{ field: "code", problem: "stands on an earlier line already" }] },
      { line: 5, problems: [{ field: "plan", problem: "holds both a base bouquet and an add-on" }] },
    ]);
  });

  test.each([[[]], [[{}]]])(
    "of the rows %j publishes nothing, even where bad ones are to be left out",
    async (rows) => {
      const world = await openWorld();
      expect((await run(world, rows, { skipInvalid: true })).result).toEqual({
        kind: "bad_lines",
        rejected: rows.length,
        hasGood: false,
      });
      expect(await current(world)).toBeUndefined();
    },
  );

  test("tells what changes, also in a dry run, which publishes nothing", async () => {
    const world = await openWorld();
    await run(world, [TV, NET]);
    const rows = [NET, { ...KIDS }, { ...TV, price: "499.90" }];
    const { result, changes } = await run(world, rows, { dryRun: true });
    const report = { accepted: 3, rejected: 0, added: 1, changed: 1, unchanged: 1, removed: 0, reorders: true };
    expect(result).toEqual({ kind: "done", revision: undefined, report });
    expect(changes).toEqual([
      { kind: "added", service: "tv", code: "KIDS-1M", fields: [] },
      { kind: "changed", service: "tv", code: "TV-1M", fields: [{ field: "price", from: "450", to: "499.9" }] },
    ]);
    expect((await current(world))?.bouquets).toHaveLength(2);
  });
});

describe("a catalogue that drops codes", () => {
  const rows = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, index) => ({ ...TV, code: `TV-${index}`, plan: `Plan ${index}`, ...more }));

  test.each([
    [24, 19, "large_change"],
    [25, 20, "done"],
    [6, 2, "done"],
    [6, 1, "large_change"],
  ])("is, of %i and then %i codes, %s", async (before, after, kind) => {
    const world = await openWorld();
    await run(world, rows(before));
    const { result } = await run(world, rows(after));
    expect(result.kind).toBe(kind);
    if (result.kind === "large_change")
      expect(result.change).toEqual({ what: "codes_dropped", count: before - after, of: before });
    expect((await current(world))?.bouquets).toHaveLength(kind === "done" ? after : before);
    expect((await run(world, rows(after), { allowLargeChange: true })).result.kind).toBe("done");
  });

  test("may do so by retiring them", async () => {
    const world = await openWorld();
    await run(world, rows(6));
    const retired = rows(6, { retired: true }).slice(1);
    expect((await run(world, [...rows(1), ...retired])).result).toMatchObject({ kind: "done", report: { removed: 5 } });
  });
});
