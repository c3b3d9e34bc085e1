import { describe, expect, test } from "vitest";
import { readBouquetName } from "../../src/domain/bouquet.ts";

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
