import { describe, expect, test } from "vitest";
import { type Bouquet, readBouquetName } from "../../src/domain/bouquet.ts";
import {
  type BasePlans,
  CatalogueRows,
  DEFAULT_BASE_PLANS,
  findPurchasable,
  purchasableBouquets,
  readCatalogueRow,
} from "../../src/domain/catalogue.ts";
import type { Connection } from "../../src/domain/customer.ts";
import { secondBefore } from "../../src/domain/wall-time.ts";
import { ADD_ON, asJson, connectionHaving, connectionWith, MONTHLY, monthFrom, QUARTERLY, wall } from "./builders.ts";

const NOW = wall("2027-01-20");
const RUNNING = monthFrom("2027-01-10");
const LAPSED = monthFrom("2026-12-20");

const TV: Bouquet = { ...MONTHLY, service: "tv", code: "TV-1M", plan: "Family" };
const GOLD: Bouquet = { ...MONTHLY, code: "GOLD-1M", plan: "Gold", segments: ["gold", "platinum"] };
const FAST: Bouquet = { ...MONTHLY, code: "FAST-1M", name: "Fiber 300 (MONTHLY)", plan: "Fiber 300" };
const MANY: BasePlans = { tv: "many", internet: "many", iptv: "many" };

function codesFor(connection: Connection, bouquets: readonly Bouquet[], now = NOW, basePlans = MANY): string[] {
  return purchasableBouquets({ revision: 1, bouquets }, connection, now, basePlans).map(({ code }) => code);
}

describe("the bouquets that can be bought", () => {
  test("are those of the connection's service, in the catalogue's order", () => {
    expect(codesFor(connectionWith(), [QUARTERLY, TV, MONTHLY])).toEqual(["NET-3M", "NET-1M"]);
    expect(codesFor(connectionWith({ service: "tv", reqId: "0001" }), [QUARTERLY, TV, MONTHLY])).toEqual(["TV-1M"]);
    expect(codesFor(connectionWith({ service: "iptv" }), [QUARTERLY, TV, MONTHLY])).toEqual([]);
  });

  test.each([
    ["gold", ["NET-1M", "GOLD-1M"]],
    ["platinum", ["NET-1M", "GOLD-1M"]],
    ["silver", ["NET-1M"]],
    ["Gold", ["NET-1M"]],
    [undefined, ["NET-1M"]],
  ])("for the segment %s are %j", (segment, codes) => {
    expect(codesFor(connectionWith({ segment }), [MONTHLY, GOLD])).toEqual(codes);
  });

  test("have add-ons among them only while a base subscription runs", () => {
    const bouquets = [MONTHLY, ADD_ON];
    expect(codesFor(connectionWith(), bouquets)).toEqual(["NET-1M"]);
    expect(codesFor(connectionHaving([LAPSED]), bouquets)).toEqual(["NET-1M"]);
    expect(codesFor(connectionHaving([RUNNING]), bouquets)).toEqual(["NET-1M", "IP-1M"]);
  });

  test("have no add-ons among them where only an add-on still runs", () => {
    const addOn = monthFrom("2027-01-10", ADD_ON);
    expect(codesFor(connectionHaving([LAPSED, addOn]), [MONTHLY, ADD_ON])).toEqual(["NET-1M"]);
  });

  test("lose the add-ons exactly at the end of the base subscription", () => {
    const connection = connectionHaving([RUNNING]);
    expect(codesFor(connection, [ADD_ON], secondBefore(RUNNING.end))).toEqual(["IP-1M"]);
    expect(codesFor(connection, [ADD_ON], RUNNING.end)).toEqual([]);
  });
});

describe("while a base subscription runs, on a service with base plans", () => {
  const catalogue = [MONTHLY, FAST, QUARTERLY, ADD_ON];
  const withBasePlans = (internet: "one" | "many", connection: Connection) =>
    codesFor(connection, catalogue, NOW, { ...MANY, internet });

  test("one: its own plan and add-ons are sold, and no other base plan", () => {
    expect(withBasePlans("one", connectionHaving([RUNNING]))).toEqual(["NET-1M", "NET-3M", "IP-1M"]);
    const fast = monthFrom("2027-01-10", FAST);
    expect(withBasePlans("one", connectionHaving([LAPSED, fast]))).toEqual(["FAST-1M", "IP-1M"]);
    expect(withBasePlans("one", connectionHaving([RUNNING, fast]))).toEqual(["NET-1M", "FAST-1M", "NET-3M", "IP-1M"]);
  });

  test("one: any base plan is sold where none runs", () => {
    const addOn = monthFrom("2027-01-10", ADD_ON);
    for (const connection of [connectionWith(), connectionHaving([LAPSED]), connectionHaving([addOn])])
      expect(withBasePlans("one", connection)).toEqual(["NET-1M", "FAST-1M", "NET-3M"]);
  });

  test("many: each plan runs by itself", () => {
    expect(withBasePlans("many", connectionHaving([RUNNING]))).toEqual(["NET-1M", "FAST-1M", "NET-3M", "IP-1M"]);
  });

  test("the default is one for internet alone", () => {
    expect(DEFAULT_BASE_PLANS).toEqual({ tv: "many", internet: "one", iptv: "many" });
  });

  test("the same list is answered again as long as it is the same answer", () => {
    const known = { revision: 1, bouquets: catalogue };
    const list = (connection: Connection) => purchasableBouquets(known, connection, NOW, DEFAULT_BASE_PLANS);
    expect(list(connectionHaving([RUNNING]))).toBe(list(connectionHaving([RUNNING], { reqId: "fiber2" })));
    expect(list(connectionHaving([RUNNING]))).not.toEqual(list(connectionWith()));
  });
});

describe("a subscription for ever", () => {
  const upTo = (start: string) => connectionHaving([monthFrom(start)]);

  test("is offered nothing of its plan, and all of the others", () => {
    expect(codesFor(upTo("9999-12-15"), [MONTHLY, FAST, QUARTERLY])).toEqual(["FAST-1M"]);
  });

  test("is offered what ends by the last time that the wire can tell, and no more", () => {
    expect(codesFor(upTo("9999-08-31 23:59:59"), [MONTHLY, QUARTERLY])).toEqual(["NET-1M", "NET-3M"]);
    expect(codesFor(upTo("9999-09-30"), [MONTHLY, QUARTERLY])).toEqual(["NET-1M"]);
    expect(codesFor(upTo("9990-01-01"), [MONTHLY, QUARTERLY])).toEqual(["NET-1M", "NET-3M"]);
  });
});

describe("a bouquet's code", () => {
  test("finds the bouquet of the connection's own service", () => {
    const sameCode = { ...TV, code: MONTHLY.code };
    const catalogue = { revision: 1, bouquets: [sameCode, MONTHLY] };
    expect(findPurchasable(catalogue, connectionWith(), MONTHLY.code, NOW, MANY)).toBe(MONTHLY);
    expect(findPurchasable(catalogue, connectionWith({ service: "tv" }), MONTHLY.code, NOW, MANY)).toBe(sameCode);
  });

  test("finds nothing that is not sold to the connection, and compares exactly", () => {
    const catalogue = { revision: 1, bouquets: [MONTHLY, GOLD, ADD_ON] };
    for (const code of ["GOLD-1M", "IP-1M", "net-1m", "NET-1M ", "", "NET"]) {
      expect(findPurchasable(catalogue, connectionWith(), code, NOW, MANY)).toBeUndefined();
    }
  });
});

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

describe("the period in a bouquet's name", () => {
  test.each([
    ["(DAILY)", 0, 1],
    ["(WEEKLY)", 0, 7],
    ["(MONTHLY)", 1, 0],
    ["(QUARTERLY)", 3, 0],
    ["(HALF YEARLY)", 6, 0],
    ["(YEARLY)", 12, 0],
    ["(45 DAYS)", 0, 45],
    ["(3660 DAYS)", 0, 3660],
    ["(120 MONTHS)", 120, 0],
  ])("of %s is %i months and %i days", (marker, months, days) => {
    expect(readBouquetName(`Fiber ${marker}`)).toMatchObject({ period: { months, days }, plan: "Fiber" });
  });

  test("is found in its exact form alone", () => {
    const units = ["(monthly)", "( MONTHLY )", "(HALF-YEARLY)", "(HALF  YEARLY)", "[MONTHLY]", "(45 days)", "(45DAYS)"];
    const counts = ["(0 DAYS)", "(045 DAYS)", "(4.5 DAYS)", "(-45 DAYS)", "(45 WEEKS)", "(99999 DAYS)"];
    for (const marker of ["", "MONTHLY", ...units, ...counts])
      expect(readBouquetName(`Fiber ${marker}`), marker).toBe("has no period");
  });

  test("is refused where there are two, or over ten years", () => {
    for (const name of ["Fiber (MONTHLY) (YEARLY)", "Fiber (MONTHLY)(MONTHLY)", "(30 DAYS) Fiber (MONTHLY)"])
      expect(readBouquetName(name)).toBe("has more than one period");
    for (const name of ["Fiber (3661 DAYS)", "Fiber (9999 DAYS)", "Fiber (121 MONTHS)"])
      expect(readBouquetName(name)).toBe("has a period of over ten years");
  });

  test("leaves other parentheses in the name", () => {
    expect(readBouquetName("Family (HD) (MONTHLY)")).toMatchObject({ plan: "Family (HD)" });
    expect(readBouquetName("Family (monthly deal) (YEARLY)")).toMatchObject({ plan: "Family (monthly deal)" });
  });

  test("is taken out of the name wherever it stands, with single blanks left", () => {
    const names = ["Fiber 100 (MONTHLY)", "(MONTHLY) Fiber 100", "Fiber (MONTHLY) 100", " Fiber   100(MONTHLY) "];
    for (const name of names) expect(readBouquetName(name)).toMatchObject({ plan: "Fiber 100" });
  });
});

describe("a bouquet's name", () => {
  test("gives the plan, which is the same for every period", () => {
    const monthly = readBouquetName("Fiber 100 Mbps (MONTHLY)");
    const yearly = readBouquetName("Fiber 100 Mbps (YEARLY)");
    expect(monthly).toEqual({ plan: "Fiber 100 Mbps", addOn: false, period: { months: 1, days: 0 } });
    expect(yearly).toEqual({ plan: "Fiber 100 Mbps", addOn: false, period: { months: 12, days: 0 } });
  });

  test("makes an add-on by its exact marker", () => {
    for (const name of ["Kids [AddOn] (MONTHLY)", "[AddOn] Kids (MONTHLY)", "Kids (MONTHLY)[AddOn]"])
      expect(readBouquetName(name)).toMatchObject({ addOn: true });
    for (const name of ["Kids AddOn (MONTHLY)", "Kids (AddOn) (MONTHLY)", "Kids [addon] (MONTHLY)"])
      expect(readBouquetName(name)).toMatchObject({ addOn: false });
  });

  test("keeps a base bouquet and an add-on of the same words in different plans", () => {
    expect(readBouquetName("Kids (MONTHLY)")).toMatchObject({ plan: "Kids" });
    expect(readBouquetName("Kids [AddOn] (MONTHLY)")).toMatchObject({ plan: "Kids [AddOn]" });
  });
});
