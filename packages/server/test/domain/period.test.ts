import { describe, expect, test } from "vitest";
import { readBouquetName } from "../../src/domain/bouquet.ts";
import { findPeriod } from "../../src/domain/period.ts";

describe("a period", () => {
  test.each([
    ["(DAILY)", 0, 1],
    ["(WEEKLY)", 0, 7],
    ["(MONTHLY)", 1, 0],
    ["(QUARTERLY)", 3, 0],
    ["(HALF YEARLY)", 6, 0],
    ["(YEARLY)", 12, 0],
    ["(1 DAYS)", 0, 1],
    ["(45 DAYS)", 0, 45],
    ["(3660 DAYS)", 0, 3660],
    ["(2 MONTHS)", 2, 0],
    ["(120 MONTHS)", 120, 0],
  ])("of %s is %i months and %i days", (marker, months, days) => {
    expect(findPeriod(`Fiber ${marker}`)).toEqual({ period: { months, days }, rest: "Fiber" });
  });

  test.each([
    "Fiber",
    "Fiber MONTHLY",
    "Fiber (monthly)",
    "Fiber (Monthly)",
    "Fiber ( MONTHLY )",
    "Fiber (HALF-YEARLY)",
    "Fiber (HALF  YEARLY)",
    "Fiber [MONTHLY]",
    "Fiber (45 days)",
    "Fiber (45DAYS)",
    "Fiber (0 DAYS)",
    "Fiber (045 DAYS)",
    "Fiber (4.5 DAYS)",
    "Fiber (-45 DAYS)",
    "Fiber (45 WEEKS)",
    "Fiber (99999 DAYS)",
    "",
  ])("is not found in %j", (name) => {
    expect(findPeriod(name)).toBe("has no period");
  });

  test.each(["Fiber (MONTHLY) (YEARLY)", "Fiber (MONTHLY)(MONTHLY)", "(30 DAYS) Fiber (MONTHLY)"])(
    "is refused where there are two: %s",
    (name) => {
      expect(findPeriod(name)).toBe("has more than one period");
    },
  );

  test.each(["Fiber (3661 DAYS)", "Fiber (9999 DAYS)", "Fiber (121 MONTHS)"])(
    "is refused over ten years: %s",
    (name) => {
      expect(findPeriod(name)).toBe("has a period of over ten years");
    },
  );

  test("leaves other parentheses in the name", () => {
    expect(findPeriod("Family (HD) (MONTHLY)")).toMatchObject({ rest: "Family (HD)" });
    expect(findPeriod("Family (monthly deal) (YEARLY)")).toMatchObject({ rest: "Family (monthly deal)" });
  });

  test("is taken out of the name wherever it stands, with single blanks left", () => {
    const names = ["Fiber 100 (MONTHLY)", "(MONTHLY) Fiber 100", "Fiber (MONTHLY) 100", " Fiber   100(MONTHLY) "];
    for (const name of names) expect(findPeriod(name)).toMatchObject({ rest: "Fiber 100" });
  });
});

describe("a bouquet's name", () => {
  test("gives the plan, which is the same for every period", () => {
    const monthly = readBouquetName("Fiber 100 Mbps (MONTHLY)");
    const yearly = readBouquetName("Fiber 100 Mbps (YEARLY)");
    expect(monthly).toEqual({ plan: "Fiber 100 Mbps", addOn: false, period: { months: 1, days: 0 } });
    expect(yearly).toEqual({ plan: "Fiber 100 Mbps", addOn: false, period: { months: 12, days: 0 } });
  });

  test.each(["Kids [AddOn] (MONTHLY)", "[AddOn] Kids (MONTHLY)", "Kids (MONTHLY)[AddOn]"])(
    "makes an add-on of %s",
    (name) => {
      expect(readBouquetName(name)).toMatchObject({ addOn: true });
    },
  );

  test.each(["Kids AddOn (MONTHLY)", "Kids (AddOn) (MONTHLY)", "Kids [addon] (MONTHLY)", "Kids [ADDON] (MONTHLY)"])(
    "makes no add-on of %s",
    (name) => {
      expect(readBouquetName(name)).toMatchObject({ addOn: false });
    },
  );

  test("keeps a base bouquet and an add-on of the same words in different plans", () => {
    expect(readBouquetName("Kids (MONTHLY)")).toMatchObject({ plan: "Kids" });
    expect(readBouquetName("Kids [AddOn] (MONTHLY)")).toMatchObject({ plan: "Kids [AddOn]" });
  });

  test("is refused for what is wrong with its period", () => {
    expect(readBouquetName("Kids")).toBe("has no period");
    expect(readBouquetName("Kids (DAILY) (WEEKLY)")).toBe("has more than one period");
  });
});
