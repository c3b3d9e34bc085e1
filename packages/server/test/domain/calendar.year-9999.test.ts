import { expect, test } from "vitest";
import { at, fold, months, topUp, UTC } from "./builders.ts";

test("a subscription for ever, topped up, still ends at the last moment that the wire can tell", () => {
  const end = UTC.parse("9999-12-31 23:59:59") as number;
  expect(UTC.format(end)).toBe("9999-12-31 23:59:59");
  const forever = fold([topUp(at("9999-12-15")), topUp(at("9999-12-16"))]);
  expect(UTC.format(forever.end)).toBe("9999-12-31 23:59:59");
  expect(forever.end).toBeGreaterThan(UTC.add(end, months(1)));
});
