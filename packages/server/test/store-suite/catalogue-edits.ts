import { expect, test } from "vitest";
import { listEntries } from "../../src/office/audit/sql.ts";
import { removeBouquet, restoreCatalogue, setBouquet } from "../../src/office/catalogue/edit.ts";
import { listCatalogueRevisions, publishCatalogue } from "../../src/office/catalogue/operations.ts";
import { fileOfRows } from "../support/catalogue.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { type MakeDatabase, openStore } from "./database.ts";

const TV = { service: "tv", code: "TV-1M", name: "Family TV (MONTHLY)", price: 450 } as const;
const KIDS = { service: "tv", code: "KIDS", name: "Kids [AddOn] (MONTHLY)", price: 100 } as const;
const NET = { service: "internet", code: "NET-3M", name: "Fiber (QUARTERLY)", price: "2847.15", segments: ["ftth"] };
const IN_TRIAL = { environment: "trial" } as const;
const THE_TV = { service: TV.service, code: TV.code, ...IN_TRIAL } as const;

const tvs = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...TV, code: `TV-${index}`, plan: `Plan ${index}` }));

export function testCatalogueEdits(makeDatabase: MakeDatabase): void {
  /** A trial catalogue of these rows, as revision 1. */
  async function open(rows: readonly object[] = [TV, NET, KIDS]) {
    const opened = await openStore(makeDatabase);
    const { store } = opened;
    const desk = deskOf({ store, clock: () => opened.now }, { name: "maya" });
    const publish = (next: readonly object[], reason?: string) => {
      const more = { ...IN_TRIAL, allowLargeChange: true, ...(reason !== undefined && { reason }) };
      return run(desk, publishCatalogue, { file: fileOfRows(next), ...more });
    };
    if (rows.length > 0) await publish(rows);
    const sold = async () => (await store.currentCatalogue("trial", opened.now))?.bouquets ?? [];
    return { opened, store, desk, publish, sold, codes: async () => (await sold()).map(({ code }) => code) };
  }

  test("a changed price is a new revision, which names the change and keeps the order and all else", async () => {
    const { desk, sold } = await open();
    const before = await sold();
    expect(await run(desk, setBouquet, { ...THE_TV, price: "499.90" })).toEqual({
      revision: 2,
      from: null,
      added: 0,
      changed: 1,
      unchanged: 2,
      removed: 0,
      reorders: false,
      warnings: [],
      bouquets: [
        { kind: "changed", service: "tv", code: "TV-1M", fields: [{ field: "price", from: "450.00", to: "499.90" }] },
      ],
      largeChange: null,
    });
    expect(await sold()).toEqual(before.map((each) => (each.code === "TV-1M" ? { ...each, price: 49_990n } : each)));
  });

  test("a changed name changes the period, and never the plan, unless a plan is given", async () => {
    const { desk, sold } = await open();
    const { bouquets } = await run(desk, setBouquet, { ...THE_TV, name: "Home TV (YEARLY)", segments: ["dth"] });
    expect(bouquets[0]?.fields).toEqual([
      { field: "name", from: "Family TV (MONTHLY)", to: "Home TV (YEARLY)" },
      { field: "period", from: "1 month", to: "12 months" },
      { field: "segments", from: "all", to: "dth" },
    ]);
    await run(desk, setBouquet, { ...THE_TV, plan: "Home", segments: [] });
    expect((await sold())[0]).toMatchObject({ plan: "Home", segments: [], period: { months: 12, days: 0 } });
  });

  test("a price that is probably not meant is warned of", async () => {
    const year = { ...TV, code: "TV-1Y", name: "Family TV (YEARLY)", price: 4500 };
    const { desk } = await open([TV, year, NET]);
    const warnings = async (more: object) =>
      (await run(desk, setBouquet, { ...THE_TV, ...more, preview: true })).warnings;
    expect(await warnings({ price: "675" })).toEqual([]);
    const much = "tv TV-1M changes its price by more than 50 %";
    expect(await warnings({ price: "675.01" })).toEqual([`${much}, from 450.00 to 675.01`]);
    expect(await warnings({ price: "224.99" })).toEqual([`${much}, from 450.00 to 224.99`]);
    expect(await warnings({ price: "4500.01" })).toEqual([
      `${much}, from 450.00 to 4500.01`,
      "tv TV-1M costs 4500.01 for 1 month, but TV-1Y costs 4500.00 for 12 months of the same plan",
    ]);
    expect(await warnings({ code: "TV-10D", name: "Family TV (10 DAYS)", price: "451" })).toEqual([
      "tv TV-10D costs 451.00 for 10 days, but TV-1M costs 450.00 for 1 month of the same plan",
    ]);
    expect(await warnings({ plan: "Home" })).toEqual([expect.stringContaining("is of another plan now")]);
  });

  test("prices of other segments, and of bouquets that stay as they are, are not compared", async () => {
    const year = { ...TV, code: "TV-1Y", name: "Family TV (YEARLY)", price: 400, segments: ["a"] };
    const { desk } = await open([TV, year, NET]);
    const edit = (more: object) => run(desk, setBouquet, { ...THE_TV, ...more, preview: true });
    expect(await edit({ code: "NEW", name: "New (MONTHLY)", price: "1" })).toMatchObject({ warnings: [] });
    expect(await edit({ segments: ["b"] })).toMatchObject({ warnings: [] });
    expect((await edit({ segments: ["a", "b"] })).warnings).toHaveLength(1);
  });

  test("a revision names its author and reason", async () => {
    const { opened, desk, publish } = await open();
    opened.now += 1;
    await run(desk, setBouquet, { ...THE_TV, price: "500", reason: "prices of December" });
    opened.now += 1;
    await publish([TV, NET], "Kids is no longer sold");
    const { items } = await run(desk, listCatalogueRevisions, IN_TRIAL);
    expect(items.map(({ revision, author, reason }) => [revision, author, reason])).toEqual([
      [3, "maya", expect.stringMatching(/^import 2: .*, Kids is no longer sold$/)],
      [2, "maya", "prices of December"],
      [1, "maya", expect.stringMatching(/^import 1: [^,]*$/)],
    ]);
  });

  test("a new bouquet is the last of its service, and starts a catalogue if there is none", async () => {
    const { desk, codes, sold } = await open([NET, TV]);
    const added = { ...IN_TRIAL, service: "internet", code: "NET-1M", name: "Fiber (MONTHLY)", price: "1000" } as const;
    expect((await run(desk, setBouquet, added)).bouquets).toMatchObject([{ kind: "added", code: "NET-1M" }]);
    expect(await codes()).toEqual(["NET-3M", "NET-1M", "TV-1M"]);
    expect((await sold())[1]?.plan).toBe("Fiber");
    const empty = await open([]);
    await run(empty.desk, setBouquet, { ...added, baseRevision: 0 });
    expect(await empty.codes()).toEqual(["NET-1M"]);
  });

  test("a bouquet that breaks a rule of catalogue files is refused with its fields", async () => {
    const { desk, sold } = await open();
    const problemsOf = async (more: object) => {
      const { code, problems } = await refusal(run(desk, setBouquet, { ...THE_TV, ...more }));
      return [code, ...problems.map(({ field, problem }) => `${field} ${problem}`)];
    };
    expect(await problemsOf({ name: "Family TV" })).toEqual(["invalid", "name has no period"]);
    expect(await problemsOf({ price: "0" })).toEqual(["invalid", "price must be more than zero"]);
    expect(await problemsOf({ plan: "Kids [AddOn]" })).toEqual([
      "invalid",
      "plan holds both a base bouquet and an add-on",
    ]);
    expect(await problemsOf({ code: "NEW" })).toEqual(["invalid", "name is required", "price is required"]);
    expect((await sold())[0]?.price).toBe(45_000n);
  });

  test("a bouquet is taken off sale, unless it is the only one or is not sold", async () => {
    const { desk, codes } = await open();
    const change = await run(desk, removeBouquet, THE_TV);
    expect(change).toMatchObject({ removed: 1, unchanged: 2, bouquets: [{ kind: "removed", code: "TV-1M" }] });
    expect(change.bouquets[0]?.fields).toContainEqual({ field: "price", from: "450.00", to: null });
    expect(await codes()).toEqual(["NET-3M", "KIDS"]);
    expect(await refusal(run(desk, removeBouquet, THE_TV))).toMatchObject({ code: "not_found" });
    await run(desk, removeBouquet, { ...THE_TV, code: "KIDS" });
    const last = run(desk, removeBouquet, { ...IN_TRIAL, service: "internet", code: "NET-3M" });
    expect(await refusal(last)).toMatchObject({ code: "conflict" });
    expect(await codes()).toEqual(["NET-3M"]);
  });

  test("an earlier revision is published again in its environment and order", async () => {
    const { desk, publish, sold } = await open();
    const first = await sold();
    await publish([KIDS, { ...TV, price: 500 }]);
    const change = await run(desk, restoreCatalogue, { revision: 1 });
    expect(change).toMatchObject({ revision: 3, added: 1, changed: 1, unchanged: 1, reorders: true });
    expect(await sold()).toEqual(first);
    expect(await refusal(run(desk, restoreCatalogue, { revision: 9 }))).toMatchObject({ code: "not_found" });
  });

  test("an earlier revision that drops many codes must be allowed", async () => {
    const { desk, publish, codes } = await open(tvs(1));
    await publish(tvs(6));
    const restored = { revision: 1 };
    expect(await refusal(run(desk, restoreCatalogue, restored))).toMatchObject({ code: "invalid" });
    expect(await codes()).toHaveLength(6);
    const largeChange = { what: "codes_dropped", count: 5, of: 6 };
    expect(await run(desk, restoreCatalogue, { ...restored, allowLargeChange: true })).toMatchObject({ largeChange });
    expect(await codes()).toEqual(["TV-0"]);
  });

  test("previews write nothing", async () => {
    const { store, desk, sold } = await open();
    const before = await sold();
    const preview = { preview: true };
    const changes = [
      await run(desk, setBouquet, { ...THE_TV, price: "1", ...preview }),
      await run(desk, removeBouquet, { ...THE_TV, ...preview }),
      await run(desk, restoreCatalogue, { revision: 1, ...preview }),
    ];
    expect(changes.map(({ revision, changed, removed }) => [revision, changed, removed])).toEqual([
      [null, 1, 0],
      [null, 0, 1],
      [null, 0, 0],
    ]);
    expect(await sold()).toEqual(before);
    expect(await listEntries(store.engine.db, {}, 5)).toHaveLength(1);
  });

  test("of two persons who edit the same revision, the second is refused", async () => {
    const { desk, codes, sold } = await open();
    const edits = ["1", "2"].map((price) => run(desk, setBouquet, { ...THE_TV, price, baseRevision: 1 }));
    const outcomes = await Promise.allSettled(edits);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const won = outcomes[0]?.status === "fulfilled" ? 100n : 200n;
    expect((await sold())[0]?.price).toBe(won);
    const stale = { baseRevision: 1, preview: true };
    // Each promise has its handler before the next one is made.
    const late = await Promise.all([
      refusal(run(desk, removeBouquet, { ...THE_TV, ...stale })),
      refusal(run(desk, restoreCatalogue, { revision: 1, ...stale })),
    ]);
    for (const refused of late)
      expect(refused).toMatchObject({
        code: "conflict",
        words: expect.stringContaining("revision 2 is the current one"),
      });
    await run(desk, removeBouquet, { ...THE_TV, baseRevision: 2 });
    expect(await codes()).toEqual(["NET-3M", "KIDS"]);
  });

  test("each edit leaves an entry in the audit trail, which names it", async () => {
    const { store, desk } = await open();
    await run(desk, setBouquet, { ...THE_TV, price: "500" });
    await run(desk, removeBouquet, THE_TV);
    await run(desk, restoreCatalogue, { revision: 1 });
    const entries = (await listEntries(store.engine.db, {}, 3)).map(({ action, subject, author, before, after }) => [
      action,
      `${author} ${subject}`,
      ...[before, after].map((each) => JSON.parse(each ?? "null")),
    ]);
    const named = { service: "tv", code: "TV-1M" };
    expect(entries).toEqual([
      ["catalogue.restore", "maya trial", { revision: 3 }, { revision: 4, bouquets: 3, restored: 1 }],
      ["catalogue.remove", "maya trial", { revision: 2 }, { revision: 3, bouquets: 2, ...named }],
      ["catalogue.set", "maya trial", { revision: 1 }, { revision: 2, bouquets: 3, ...named }],
    ]);
  });
}
