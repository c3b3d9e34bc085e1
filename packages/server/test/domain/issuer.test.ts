import { describe, expect, test } from "vitest";
import { nameOfClaims, roleOfClaim } from "../../src/domain/issuer.ts";
import { STAFF_NAME } from "../../src/domain/names.ts";

describe("the role of a claim", () => {
  test.each([
    ["finance", "finance"],
    [["viewer", "support", "staff"], "support"],
    [["admin", "viewer"], "admin"],
    ["Admin", undefined],
    ["admin viewer", undefined],
    [["owner"], undefined],
    [[["admin"]], undefined],
    [{ admin: true }, undefined],
    [undefined, undefined],
  ])("%j is %s", (claim, role) => {
    expect(roleOfClaim(claim)).toBe(role);
  });
});

describe("the name of claims", () => {
  test.each([
    [["maya", "maya@provider.example"], "maya"],
    [[undefined, "maya@provider.example"], "maya@provider.example"],
    [["\u200b ", 7, "maya"], "maya"],
    [["  Maya\u00a0\t Rai\u202e "], "Maya Rai"],
    [["key key billing"], "billing"],
    [["\u200bkey billing"], "billing"],
    [["keyboard"], "keyboard"],
    [["key "], "key"],
    [["सीता".repeat(30)], "सीता".repeat(16)],
    [["", null], undefined],
  ])("of %j is %j", (claims, name) => {
    expect(nameOfClaims(...claims)).toBe(name);
    if (name !== undefined) expect(name).toMatch(STAFF_NAME);
  });
});
