import { describe, expect, test } from "vitest";
import { CatalogueRows, readCatalogueRow } from "../../src/domain/catalogue.ts";
import { ADD_ON, asJson, MONTHLY, QUARTERLY } from "./builders.ts";

const ROW = { service: "internet", code: "NET-1M", name: "Fiber 100 (MONTHLY)", price: "1130" };

function read(changes: object, exponent = 2) {
  return readCatalogueRow(asJson({ ...ROW, ...changes }), exponent);
}

function refused(...problems: { readonly field: string; readonly problem: string }[]) {
  return { ok: false, problems };
}

describe("a catalogue row", () => {
  test("is a bouquet whose name gives plan and period", () => {
    expect(read({})).toEqual({ ok: true, value: MONTHLY });
  });

  test("may name its plan and the segments it is sold to", () => {
    const reading = read({ plan: "Fiber", segments: ["gold", "silver"] });
    expect(reading).toEqual({ ok: true, value: { ...MONTHLY, plan: "Fiber", segments: ["gold", "silver"] } });
  });

  test("is an add-on by the marker in its name", () => {
    const reading = read({ code: "IP-1M", name: "Static IP [AddOn] (MONTHLY)", price: 500 });
    expect(reading).toEqual({ ok: true, value: ADD_ON });
  });

  test("may consist of a period alone where the plan is named", () => {
    expect(read({ name: "(MONTHLY)", plan: "Fiber" })).toMatchObject({ ok: true, value: { plan: "Fiber" } });
  });

  test.each(["service", "code", "name", "price"])("without %s is refused", (field) => {
    expect(read({ [field]: undefined })).toEqual(refused({ field, problem: "is required" }));
  });

  test.each([
    ["service", "radio", 'must be one of "tv", "internet", "iptv"'],
    ["code", 1, "must be a string"],
    ["name", `${"x".repeat(191)} (MONTHLY)`, "must have at most 200 characters"],
    ["name", "Fiber", "has no period"],
    ["name", "Fiber (MONTHLY) (YEARLY)", "has more than one period"],
    ["name", "Fiber (121 MONTHS)", "has a period of over ten years"],
    ["name", "(MONTHLY)", "must hold more than a period"],
    ["price", 0, "must be more than zero"],
    ["price", 1.234, "must be a plain decimal with at most 2 decimals, without sign, exponent or blanks"],
    ["price", "0.00", "must be more than zero"],
    ["segments", "gold", "must be a list"],
    ["code", "NET-1M ", "must not begin or end with a blank or an unseen sign"],
    ["plan", 7, "must be a string"],
    ["prise", "1130", "is not a known field"],
  ])("with %s %j is refused", (field, value, problem) => {
    expect(read({ [field]: value })).toEqual(refused({ field, problem }));
  });

  test("is told all of its problems at once", () => {
    const reading = readCatalogueRow(asJson({ service: "radio", name: "Fiber", price: "x", extra: 1 }), 2);
    const fields = reading.ok ? [] : reading.problems.map(({ field }) => field);
    expect(fields).toEqual(["service", "code", "price", "extra", "name"]);
  });
});

describe("the rows of a catalogue", () => {
  test("hold each code once within its service", () => {
    const rows = new CatalogueRows();
    const television = { ...MONTHLY, service: "tv" } as const;
    expect(rows.add(MONTHLY).ok).toBe(true);
    expect(rows.add(television).ok).toBe(true);
    expect(rows.add({ ...QUARTERLY, code: MONTHLY.code })).toEqual(
      refused({ field: "code", problem: "stands on an earlier line already" }),
    );
    expect(rows.bouquets).toEqual([MONTHLY, television]);
  });

  test("hold no plan that is both a base bouquet and an add-on", () => {
    const rows = new CatalogueRows();
    const mixed = { ...ADD_ON, plan: MONTHLY.plan };
    rows.add(MONTHLY);
    expect(rows.add(mixed)).toEqual(refused({ field: "plan", problem: "holds both a base bouquet and an add-on" }));
    expect(rows.add({ ...mixed, service: "iptv" }).ok).toBe(true);
  });

  test("forget a row that they refused", () => {
    const rows = new CatalogueRows();
    rows.add(MONTHLY);
    rows.add({ ...ADD_ON, code: "X", plan: MONTHLY.plan });
    expect(rows.add({ ...QUARTERLY, code: "X" }).ok).toBe(true);
    expect(rows.bouquets.map(({ code }) => code)).toEqual(["NET-1M", "X"]);
  });
});
