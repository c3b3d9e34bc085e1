import { describe, expect, test } from "vitest";
import { foldName } from "../../src/domain/names.ts";

describe("the fold of a username", () => {
  test.each([
    ["sita.rai", "Sita.RAI"],
    ["jose", "Jos\u00e9"],
    ["jose\u0301", "jos\u00e9"],
    ["strasse", "stra\u00dfe"],
    ["sita1", "\uff53\uff49\uff54\uff41\uff11"],
    ["si\u200dta", "sita"],
  ])("is the same for %j and %j", (one, other) => {
    expect(foldName(one)).toBe(foldName(other));
  });

  test.each([
    ["sita", "sita1"],
    ["sita.rai", "sita-rai"],
    ["\u0938\u0940\u0924\u093e", "\u0938\u0924\u093e"],
    ["\u0930\u093e\u092e", "\u0930\u092e\u093e"],
  ])("is another for %j and %j", (one, other) => {
    expect(foldName(one)).not.toBe(foldName(other));
  });
});
