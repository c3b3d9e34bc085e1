import { describe, expect, test } from "vitest";
import type { Bouquet } from "../../src/domain/bouquet.ts";
import { at, MONTHLY } from "./builders.ts";
import { fileWith, ProviderWorld, statedConnection, statedCustomer } from "./provider-world.ts";

const KEY = { service: "internet", reqId: "fiber1", plan: MONTHLY.plan } as const;

/** A provider that books the top-ups made here, and says so. */
function bookingWorld() {
  const world = new ProviderWorld();
  const book = (when: string, end: string) => world.import(fileWith("2026-01-01", end), when, "included");
  book("2026-01-01", "2026-02-01");
  return { world, book, endOf: () => world.endOf("fiber1") };
}

describe("records that hold the top-ups", () => {
  test("are corrected after a reversal, also of a top-up that is not the last", () => {
    const { world, book, endOf } = bookingWorld();
    world.topUp("fiber1", "2026-01-05");
    book("2026-01-06", "2026-03-01");
    world.topUp("fiber1", "2026-01-07");
    book("2026-01-08", "2026-04-01");
    world.reverse(KEY, at("2026-01-09"), 0);
    expect(endOf()).toBe("2026-04-01");
    book("2026-01-10", "2026-03-01");
    expect(endOf()).toBe("2026-03-01");
    book("2026-01-11", "2026-02-01");
    expect(endOf()).toBe("2026-03-01");
    book("2026-01-12", "2026-05-01");
    expect(endOf()).toBe("2026-05-01");
  });

  test("are corrected where they tell of days as months", () => {
    const daysOf = (days: number): Bouquet => ({ ...MONTHLY, code: `NET-${days}D`, period: { months: 0, days } });
    const world = new ProviderWorld();
    world.import(statedCustomer([statedConnection()]), "2026-01-01");
    world.topUp("fiber1", "2026-01-01", daysOf(30));
    world.import(fileWith("2026-01-01", "2026-01-31"), "2026-01-02", "included");
    world.topUp("fiber1", "2026-01-02", daysOf(2));
    world.import(fileWith("2026-01-01", "2026-02-02"), "2026-01-02", "included");
    world.reverse(KEY, at("2026-01-02"), 0);
    world.import(fileWith("2026-01-01", "2026-01-03"), "2026-01-02", "included");
    expect(world.endOf("fiber1")).toBe("2026-01-03");
  });

  test("hold no top-up that lies on top of them, though as many days are goodwill by now", () => {
    const week: Bouquet = { ...MONTHLY, code: "NET-7D", period: { months: 0, days: 7 } };
    const world = new ProviderWorld();
    world.import(statedCustomer([statedConnection()]), "2026-01-01");
    for (let count = 0; count < 2; count += 1) world.topUp("fiber1", "2026-01-01", week);
    world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-02", "apart");
    world.goodwill("fiber1", at("2026-01-20"), 14);
    world.reverse(KEY, at("2026-01-21"), 0);
    expect(world.endOf("fiber1")).toBe("2026-02-22");
    world.import(fileWith("2026-01-01", "2026-01-27"), "2026-01-22", "apart");
    expect(world.endOf("fiber1")).toBe("2026-02-22");
  });

  test("do not cut short what was topped up since, where the reversed top-up lay on top of them", () => {
    const week: Bouquet = { ...MONTHLY, code: "NET-7D", period: { months: 0, days: 7 } };
    for (const mode of ["apart", "unsaid", "included"] as const) {
      const world = new ProviderWorld();
      world.import(statedCustomer([statedConnection()]), "2026-01-01");
      world.topUp("fiber1", "2026-01-01");
      world.import(fileWith("2026-01-01", "2026-02-01"), "2026-01-02", "apart");
      world.reverse(KEY, at("2026-01-03"), 0);
      world.topUp("fiber1", "2026-01-04", week);
      world.import(fileWith("2026-01-01", "2026-01-17"), "2026-01-05", mode);
      expect(world.endOf("fiber1")).toBe("2026-02-08");
    }
  });

  test("do not cut short a run that began after the one in which a top-up was reversed", () => {
    const { world, book, endOf } = bookingWorld();
    world.topUp("fiber1", "2026-01-05");
    book("2026-01-06", "2026-03-01");
    world.reverse(KEY, at("2026-01-07"), 0);
    world.topUp("fiber1", "2026-03-10");
    world.import(fileWith("2026-03-01", "2026-03-28"), "2026-03-11", "included");
    expect(endOf()).toBe("2026-04-10");
  });

  test("are corrected beside goodwill, which stays", () => {
    const { world, book, endOf } = bookingWorld();
    world.topUp("fiber1", "2026-01-05");
    book("2026-01-06", "2026-03-01");
    world.goodwill("fiber1", at("2026-01-07"), 1);
    world.reverse(KEY, at("2026-01-08"), 0);
    expect(endOf()).toBe("2026-03-02");
    book("2026-01-09", "2026-02-01");
    expect(endOf()).toBe("2026-02-02");
  });

  test("take nothing of a top-up that they do not hold yet", () => {
    const { world, book, endOf } = bookingWorld();
    world.topUp("fiber1", "2026-01-05");
    world.topUp("fiber1", "2026-01-06");
    world.reverse(KEY, at("2026-01-07"), 0);
    expect(endOf()).toBe("2026-03-01");
    book("2026-01-08", "2026-02-15");
    expect(endOf()).toBe("2026-03-01");
  });

  test("are not cut short for a top-up of an earlier run, that was reversed", () => {
    const { world, endOf } = bookingWorld();
    world.topUp("fiber1", "2026-01-05");
    world.import(fileWith("2026-03-01", "2026-04-01"), "2026-03-01", "included");
    world.topUp("fiber1", "2026-03-10");
    world.reverse(KEY, at("2026-03-20"), 0);
    expect(endOf()).toBe("2026-05-01");
    world.import(fileWith("2026-03-01", "2026-04-15"), "2026-03-21", "included");
    expect(endOf()).toBe("2026-05-01");
  });

  test("do not grow by goodwill where they are copied from here, night after night", () => {
    const { world, book, endOf } = bookingWorld();
    world.topUp("fiber1", "2026-01-05");
    world.goodwill("fiber1", at("2026-01-06"), 10);
    expect(endOf()).toBe("2026-03-11");
    for (const day of ["2026-01-07", "2026-01-08", "2026-01-09"]) book(day, "2026-03-11");
    expect(endOf()).toBe("2026-03-11");
  });
});
