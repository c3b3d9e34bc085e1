import { describe, expect, test } from "vitest";
import { findCuids } from "../../src/office/customer-search.ts";
import { customer, openWorld } from "../support/world.ts";

describe("a connection that is another customer's", () => {
  const having = (cuid: string, ...names: readonly string[]) =>
    customer(cuid, { connections: { tv: names.map((stb) => ({ stb, status: "active" })) } });
  const BOTH = [having("1", "BOX-1"), having("2", "BOX-2")];

  test.each([
    ["in this order", [having("1"), having("2", "BOX-2", "BOX-1")]],
    ["in the other", [having("2", "BOX-2", "BOX-1"), having("1")]],
    ["along a chain", [having("3", "BOX-2"), having("2", "BOX-1"), having("1")]],
  ])("moves to the customer who is stated to have it: %s", async (_, rows) => {
    const world = await openWorld();
    await world.importCustomers(BOTH);
    const { result } = await world.importCustomers(rows);
    expect(result).toMatchObject({ kind: "done", report: { accepted: rows.length, rejected: 0 } });
    const taker = rows.find(({ connections }) => JSON.stringify(connections).includes("BOX-1"));
    expect(await findCuids(world.store, "production", "BOX-1", 5)).toEqual([taker?.cuid]);
  });

  test("is refused where its name differs by case or accents alone, with both spellings", async () => {
    const world = await openWorld();
    await world.importCustomers(BOTH);
    const rows = [having("3", "box-1"), having("4", "Caf\u00e9"), having("5", "CAFE")];
    const { result, rejected } = await world.importCustomers(rows);
    expect(result).toMatchObject({ kind: "done", report: { added: 1, rejected: 2 } });
    expect(rejected.map(({ line, problems }) => [line, problems[0]?.problem])).toEqual([
      [1, "of customer 3 hold box-1, which differs only by case or accents from customer 1's BOX-1"],
      [3, "of customer 5 hold CAFE, which differs only by case or accents from customer 4's Caf\u00e9"],
    ]);
  });

  test("is told by a dry run to move", async () => {
    const world = await openWorld();
    await world.importCustomers(BOTH);
    const rows = [having("2", "BOX-2", "BOX-1"), having("1")];
    const { result, changes } = await world.importCustomers(rows, { preview: true });
    expect(result).toMatchObject({ kind: "done", report: { changed: 2, rejected: 0 } });
    expect(changes.at(-1)).toMatchObject({ changes: [{ field: "BOX-1", from: "customer 1", to: "customer 2" }] });
  });

  test.each([false, true])("counts what its taker loses by the move (dry run: %j)", async (preview) => {
    const world = await openWorld();
    await world.importCustomers([having("1", "BOX-1"), customer("2", { end: "2026-12-10 10:00:00" })]);
    const { result } = await world.importCustomers([having("2", "BOX-1"), having("1")], { preview });
    expect(result).toMatchObject({ kind: "done", report: { changed: 2, endsRunning: 1 } });
  });

  test.each([false, true])(
    "is refused where it stays with the other, and the rest is taken (dry run: %j)",
    async (preview) => {
      const world = await openWorld();
      await world.importCustomers(BOTH);
      const { result, rejected } = await world.importCustomers([having("2", "BOX-1"), having("3", "BOX-3")], {
        preview,
      });
      expect(result).toMatchObject({ kind: "done", report: { accepted: 1, rejected: 1, added: 1 } });
      expect(rejected).toEqual([
        { line: 1, problems: [{ field: "connections", problem: "of customer 2 hold BOX-1, which is customer 1's" }] },
      ]);
      expect(await findCuids(world.store, "production", "BOX-1", 5)).toEqual(["1"]);
    },
  );
});
