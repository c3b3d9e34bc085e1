import { expect, test } from "vitest";
import { listEntries } from "../../src/office/audit/sql.ts";
import {
  exportCatalogue,
  listCatalogueRevisions,
  publishCatalogue,
  showCatalogue,
  showCatalogueRevision,
} from "../../src/office/catalogue/operations.ts";
import { listRuns } from "../../src/office/imports/runs.ts";
import { knownBouquets } from "../../src/store/reference-cache.ts";
import { by } from "../support/by.ts";
import { fileOfRows, publish } from "../support/catalogue.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { type MakeDatabase, type OpenedStore, openStore, START, withinASecond } from "./database.ts";
import { BOUQUETS, bouquet } from "./provider.ts";

const FREE_TEXT = bouquet("tv", "ODD", "Ćevap „TV“ (7 DAYS)", "0.01", { segments: ["a,b", "ü"], plan: "Odd" });
const TV = { service: "tv", code: "TV-1M", name: "Family TV (MONTHLY)", price: 450 };
const NET = { service: "internet", code: "NET-3M", name: "Fiber (QUARTERLY)", price: "2847.15", segments: ["ftth"] };
const KIDS = { service: "tv", code: "KIDS-1M", name: "Kids [AddOn] (MONTHLY)", price: 100, plan: "kids" };

const tvs = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ ...TV, code: `TV-${index}`, plan: `Plan ${index}`, ...more }));

export function testCatalogues(makeDatabase: MakeDatabase): void {
  async function open() {
    const opened = await openStore(makeDatabase);
    const { store } = opened;
    const desk = deskOf({ store, clock: () => opened.now }, { name: "maya" });
    const send = (rows: readonly object[], more: object = {}) =>
      run(desk, publishCatalogue, { file: fileOfRows(rows), environment: "trial", ...more });
    const sold = async () => (await store.currentCatalogue("trial", opened.now))?.bouquets;
    return { ...opened, store, desk, send, sold };
  }
  const lastRun = async ({ store }: Pick<OpenedStore, "store">) => (await listRuns(store.engine.db))[0];

  test("there is no catalogue before the first", async () => {
    const { store, desk } = await open();
    expect(await store.currentCatalogue("production", START)).toBeUndefined();
    expect(await knownBouquets(store.engine.db, "production", START)).toEqual([]);
    expect(await run(desk, showCatalogue, {})).toEqual({
      revision: null,
      createdAt: null,
      bouquets: [],
      waiting: null,
    });
    expect(await refusal(run(desk, showCatalogueRevision, { revision: 9 }))).toMatchObject({ code: "not_found" });
  });

  test("a file is published whole, in its order, for its own environment", async () => {
    const { store, desk, send, sold, now } = await open();
    await publish(store, "production", BOUQUETS, by(now));
    const counts = { accepted: 3, rejected: 0, added: 3, changed: 0, unchanged: 0, removed: 0, reorders: false };
    expect(await send([TV, NET, KIDS])).toMatchObject({ revision: 2, ...counts });
    expect(await sold()).toMatchObject([
      { code: "TV-1M", price: 45_000n, segments: [], plan: "Family TV", addOn: false, period: { months: 1, days: 0 } },
      { code: "NET-3M", price: 284_715n, segments: ["ftth"], plan: "Fiber", period: { months: 3, days: 0 } },
      { code: "KIDS-1M", price: 10_000n, plan: "kids", addOn: true },
    ]);
    expect((await store.currentCatalogue("production", START))?.bouquets).toHaveLength(BOUQUETS.length);
    expect(await lastRun({ store })).toMatchObject({
      ...{
        kind: "catalogue",
        environment: "trial",
        author: "maya",
        file: "rows.ndjson",
        outcome: "done",
        report: counts,
      },
    });
    const [first] = (await run(desk, showCatalogue, { environment: "trial" })).bouquets;
    expect(first).toMatchObject({ code: "TV-1M", price: "450.00", months: 1, days: 0 });
  });

  test("the first file of a database is for production, unless it is said otherwise", async () => {
    const { store, desk } = await open();
    await run(desk, publishCatalogue, { file: fileOfRows([TV]) });
    expect((await store.currentCatalogue("production", START))?.bouquets).toHaveLength(1);
  });

  test("a revision is read as it was published, within a second in every process", async () => {
    const { store, another, now } = await openStore(makeDatabase);
    const other = await another();
    const published = await publish(store, "production", [FREE_TEXT, ...BOUQUETS.toReversed()], by(now));
    expect(await store.currentCatalogue("production", START)).toEqual(published);
    await withinASecond(async () => expect(await other.currentCatalogue("production", START)).toEqual(published));
  });

  test("revisions are listed newest first, page by page, and each is shown", async () => {
    const { store, desk, now } = await open();
    const [sold, ...retired] = BOUQUETS;
    for (const [index, bouquets] of [BOUQUETS, [FREE_TEXT], sold === undefined ? [] : [sold]].entries())
      await publish(store, "production", bouquets, by(now + index), retired);
    await publish(store, "trial", [FREE_TEXT], by(now));
    const list = (more: object) => run(desk, listCatalogueRevisions, { environment: "production", ...more });
    const { items, cursor } = await list({ limit: 2 });
    expect(items.map(({ bouquets }) => bouquets)).toEqual([1, 1]);
    const next = await list({ limit: 2, cursor: cursor ?? "" });
    expect(next).toMatchObject({ items: [{ bouquets: BOUQUETS.length }], cursor: null });
    const revision = next.items[0]?.revision ?? 0;
    expect((await run(desk, showCatalogueRevision, { revision })).bouquets).toHaveLength(BOUQUETS.length);
    expect(await refusal(list({ cursor: "x" }))).toMatchObject({ code: "invalid" });
  });

  test("known is the newest definition of every code that any revision had", async () => {
    const { store, now } = await openStore(makeDatabase);
    await publish(store, "trial", [FREE_TEXT], by(now));
    await publish(store, "production", BOUQUETS, by(now));
    const dearer = bouquet("tv", "TV-1M", "Family TV (MONTHLY)", "500");
    await publish(store, "production", [dearer], by(now));
    const known = await knownBouquets(store.engine.db, "production", START);
    expect(known).toHaveLength(BOUQUETS.length);
    expect(known.find(({ code }) => code === "TV-1M")).toEqual(dearer);
    expect(known.find(({ code }) => code === "TV-3M")).toEqual(BOUQUETS[1]);
  });

  test("a retired bouquet is known and not sold, and makes a revision only if it is new", async () => {
    const { store, now } = await openStore(makeDatabase);
    const [sold, ...retired] = BOUQUETS;
    if (sold === undefined) throw new Error("there are some");
    const first = await publish(store, "production", [sold], by(now), retired);
    expect(first.revision).toBe(2);
    expect(await store.currentCatalogue("production", START)).toEqual(first);
    expect(await knownBouquets(store.engine.db, "production", START)).toHaveLength(BOUQUETS.length);
    expect((await publish(store, "production", [sold], by(now), retired)).revision).toBe(3);
  });

  test("each revision leaves an entry in the audit trail, with the import that made it", async () => {
    const { store, send } = await open();
    await send([TV]);
    await send([NET, { ...TV, price: 500, retired: true }]);
    const entries = await listEntries(store.engine.db, {}, 5);
    expect(entries.map(({ action, subject, author }) => [action, subject, author])).toEqual(
      entries.map(() => ["catalogue.import", "trial", "maya"]),
    );
    const changes = entries.map(({ before, after }) => [before, after].map((each) => each && JSON.parse(each)));
    expect(changes).toEqual([
      [{ revision: 2 }, { revision: 3, bouquets: 1 }],
      [{ revision: 1 }, { revision: 2, bouquets: 1 }],
      [entries[2]?.before, { revision: 1, bouquets: 1 }],
    ]);
    expect(entries.map(({ reason }) => reason)).toEqual(["2", "2", "1"].map((id) => `import ${id}: rows.ndjson`));
  });

  test("a file with a bad line is refused with each of them, also in a preview, unless they are to be left out", async () => {
    const { store, send, sold } = await open();
    const rows = [TV, { ...NET, name: "Fiber" }, { service: "radio", price: "1,5", colour: "red" }, KIDS];
    for (const preview of [true, false]) {
      const { code, words, problems } = await refusal(send(rows, { preview }));
      const todo = "Correct the file, or skip bad lines";
      expect({ code, words }).toEqual({
        code: "invalid",
        words: `nothing was written: 2 lines cannot be read. ${todo}`,
      });
      expect(problems[0]).toEqual({ field: "line 2: name", problem: "has no period" });
      expect(problems.map(({ field }) => field).slice(1)).toEqual(
        ["service", "code", "name", "price", "colour"].map((field) => `line 3: ${field}`),
      );
    }
    expect(await sold()).toBeUndefined();
    const problem = expect.stringContaining("2 lines cannot be read");
    expect(await listRuns(store.engine.db)).toMatchObject([{ outcome: "refused", report: null, problem }]);
    expect(await send(rows, { skipInvalid: true })).toMatchObject({
      ...{ accepted: 2, rejected: 2, problems: [{ line: 2, problems: [{ field: "name" }] }, { line: 3 }] },
    });
  });

  test("a file without a good line is refused, also if bad ones are to be left out", async () => {
    const { send, sold } = await open();
    for (const rows of [[], [{}]]) {
      const words = "nothing was written: the file holds no good line";
      expect(await refusal(send(rows, { skipInvalid: true }))).toMatchObject({ code: "invalid", words });
    }
    expect(await sold()).toBeUndefined();
  });

  test("a preview lists the changes, writes nothing and is not recorded", async () => {
    const { store, send, sold } = await open();
    await send([TV, NET]);
    const change = await send([NET, KIDS, { ...TV, price: "499.90" }], { preview: true });
    expect(change).toEqual({
      ...{
        revision: null,
        from: null,
        accepted: 3,
        rejected: 0,
        added: 1,
        changed: 1,
        unchanged: 1,
        removed: 0,
        reorders: true,
      },
      warnings: [],
      bouquets: [
        {
          kind: "added",
          service: "tv",
          code: "KIDS-1M",
          fields: [
            { field: "name", from: null, to: "Kids [AddOn] (MONTHLY)" },
            { field: "price", from: null, to: "100.00" },
            { field: "period", from: null, to: "1 month" },
            { field: "segments", from: null, to: "all" },
            { field: "plan", from: null, to: "kids" },
            { field: "add-on", from: null, to: "yes" },
          ],
        },
        { kind: "changed", service: "tv", code: "TV-1M", fields: [{ field: "price", from: "450.00", to: "499.90" }] },
      ],
      ...{ problems: [], largeChange: null },
    });
    expect(await sold()).toHaveLength(2);
    expect(await listRuns(store.engine.db)).toHaveLength(1);
    expect(await listEntries(store.engine.db, {}, 5)).toHaveLength(1);
  });

  test.each([
    [24, 19, true],
    [25, 20, false],
    [6, 2, false],
    [6, 1, true],
  ])("of %i and then %i codes, a file is refused as a large change: %s", async (before, after, isLarge) => {
    const { send, sold } = await open();
    await send(tvs(before));
    const drop = `nothing was written: it would be ${before - after} of ${before} codes dropped`;
    if (isLarge) {
      const refused = await refusal(send(tvs(after)));
      expect(refused).toMatchObject({ code: "invalid", words: `${drop}. If that is meant, give --allowLargeChange` });
      expect(await sold()).toHaveLength(before);
      const seen = await send(tvs(after), { allowLargeChange: true, preview: true });
      expect(seen.largeChange).toEqual({ what: "codes_dropped", count: before - after, of: before });
    }
    expect((await send(tvs(after), { allowLargeChange: isLarge })).removed).toBe(before - after);
    expect(await sold()).toHaveLength(after);
  });

  test("codes may be dropped by retiring them", async () => {
    const { send } = await open();
    await send(tvs(6));
    expect(await send([...tvs(1), ...tvs(6, { retired: true }).slice(1)])).toMatchObject({ removed: 5 });
  });

  test("an export contains sold bouquets, then retired ones, and can be published unchanged", async () => {
    const { desk, send } = await open();
    await send([TV, NET, KIDS]);
    await send([NET, KIDS]);
    const pages = await run(desk, exportCatalogue, { environment: "trial" });
    const { value } = await pages.next();
    const rows = value as readonly { code: string; retired?: true }[];
    expect(rows.map(({ code, retired = false }) => [code, retired])).toEqual([
      ["NET-3M", false],
      ["KIDS-1M", false],
      ["TV-1M", true],
    ]);
    expect(await send(rows, { preview: true })).toMatchObject({ added: 0, changed: 0, removed: 0, unchanged: 2 });
  });
}
