import { describe, expect, test } from "vitest";
import { findClaim, nameOfClaims, readAuthTime, roleOfClaim } from "../../src/domain/issuer.ts";
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

describe("a claim", () => {
  const roles = ["admin"];
  test.each([
    ["role", { role: "admin" }, "admin"],
    ["realm_access.roles", { realm_access: { roles } }, roles],
    ["resource_access.topupd.roles", { resource_access: { topupd: { roles } } }, roles],
    ["resource_access.top.upd.roles", { resource_access: { "top.upd": { roles } } }, roles],
    ["realm_access.roles", { "realm_access.roles": "viewer", realm_access: { roles } }, "viewer"],
    ["https://provider.example/role", { "https://provider.example/role": "finance" }, "finance"],
    ["realm_access.roles", { realm_access: "admin" }, undefined],
    ["realm_access.roles", { realm_access: null }, undefined],
    ["constructor.name", {}, undefined],
    ["__proto__.role", {}, undefined],
  ])("%s is found by its name, then by its path, in %j", (name, claims, found) => {
    expect(findClaim(claims, name)).toEqual(found);
  });
});

describe("the time of a log-in at the issuer", () => {
  const now = Date.UTC(2026, 10, 23, 9);
  const seconds = now / 1000;
  const asked = { at: now - 60_000, maxAgeMs: 300_000 };
  test.each([
    ["not stated", undefined, undefined],
    ["a second ago", seconds - 1, now - 1000],
    ["as old as asked", seconds - 360, now - 360_000],
    ["older", seconds - 361, "not_recent"],
    ["three days ago", seconds - 3 * 86_400, "not_recent"],
    ["a minute ahead", seconds + 60, now],
    ["more than a minute ahead", seconds + 61, "not_recent"],
    ["in milliseconds", now, "not_recent"],
    ["a fraction", seconds - 0.5, "not_recent"],
    ["a text", String(seconds), "not_recent"],
    ["null", null, "not_recent"],
    ["zero", 0, "not_recent"],
    ["endless", Number.POSITIVE_INFINITY, "not_recent"],
  ])("is read if it is %s", (_, claim, time) => {
    expect(readAuthTime(claim, asked, now)).toBe(time);
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
