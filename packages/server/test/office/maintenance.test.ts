import { describe, expect, test } from "vitest";
import { readAge } from "../../src/office/maintenance/operations.ts";

describe("letting history go", () => {
  test.each<readonly [string, object | undefined]>([
    ["7y", { months: 84, days: 0 }],
    ["18m", { months: 18, days: 0 }],
    ["400d", { months: 0, days: 400 }],
    ...["", "0d", "7", "-7y", "101y", "1201m", "7 y", "1.5y"].map((text) => [text, undefined] as const),
  ])("takes the age %j for %j", (text, age) => {
    expect(readAge(text)).toEqual(age);
  });
});
