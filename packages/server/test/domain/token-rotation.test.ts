import { describe, expect, test } from "vitest";
import type { AccessToken } from "../../src/domain/access-token.ts";
import { rotateAccessToken } from "../../src/domain/token-rotation.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 10, 20, 9);

const LASTING: AccessToken = {
  id: "tok_old",
  partner: { id: 7, name: "wallet", status: "active", createdAt: 1, allowedAddresses: undefined },
  environment: "production",
  createdAt: 1,
  expiresAt: undefined,
  revokedAt: undefined,
  replacedBy: undefined,
};
const TO = { id: "tok_new", overlapMs: DAY_MS, expiresAt: "as_before" } as const;

describe("a rotated token", () => {
  test("holds for the overlap, and names its successor", () => {
    expect(rotateAccessToken(LASTING, TO, NOW)).toEqual({
      kind: "rotated",
      former: { ...LASTING, expiresAt: NOW + DAY_MS, replacedBy: "tok_new" },
      successor: { ...LASTING, id: "tok_new", createdAt: NOW },
    });
  });

  test("without an overlap ends at once", () => {
    expect(rotateAccessToken(LASTING, { ...TO, overlapMs: 0 }, NOW)).toMatchObject({ former: { expiresAt: NOW } });
  });

  test("never holds for longer than it would have anyhow", () => {
    const ending = { ...LASTING, expiresAt: NOW + HOUR_MS };
    expect(rotateAccessToken(ending, TO, NOW)).toMatchObject({ former: { expiresAt: NOW + HOUR_MS } });
    expect(rotateAccessToken(ending, { ...TO, overlapMs: HOUR_MS / 2 }, NOW)).toMatchObject({
      former: { expiresAt: NOW + HOUR_MS / 2 },
    });
  });

  test("leaves its end to the new one, unless another is said", () => {
    const ending = { ...LASTING, expiresAt: NOW + 90 * DAY_MS };
    expect(rotateAccessToken(ending, TO, NOW)).toMatchObject({ successor: { expiresAt: NOW + 90 * DAY_MS } });
    const said = { ...TO, expiresAt: NOW + 365 * DAY_MS };
    expect(rotateAccessToken(ending, said, NOW)).toMatchObject({ successor: { expiresAt: NOW + 365 * DAY_MS } });
    expect(rotateAccessToken(LASTING, said, NOW)).toMatchObject({ successor: { expiresAt: NOW + 365 * DAY_MS } });
  });

  test("of the trial has a successor of seven days", () => {
    const trial = { ...LASTING, environment: "trial", expiresAt: NOW + HOUR_MS } as const;
    expect(rotateAccessToken(trial, TO, NOW)).toMatchObject({
      former: { expiresAt: NOW + HOUR_MS },
      successor: { environment: "trial", expiresAt: NOW + 7 * DAY_MS },
    });
  });

  test.each([
    ["revoked", { ...LASTING, revokedAt: 5, expiresAt: 6 }],
    ["ended", { ...LASTING, expiresAt: NOW, replacedBy: "tok_other" }],
    ["replaced", { ...LASTING, expiresAt: NOW + 1, replacedBy: "tok_other" }],
  ] as const)("that is %s is not rotated", (kind, token) => {
    expect(rotateAccessToken(token, TO, NOW)).toEqual({ kind, token });
  });
});
