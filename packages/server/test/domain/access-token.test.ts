import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ACCESS_TOKEN_RANDOM_BYTES,
  type AccessToken,
  admitAccessToken,
  formatAccessToken,
  hashSecret,
  isAccessToken,
  rotateAccessToken,
  TRIAL_TOKEN_VALID_MS,
} from "../../src/domain/access-token.ts";
import { NO_TERMS } from "../../src/domain/account.ts";
import { AddressList } from "../../src/domain/address-list.ts";
import { DEFAULT_LIMITS } from "../../src/domain/partner-limits.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { seededRandom } from "../support/random.ts";
import { RUNS } from "./builders.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ISSUED_AT = Date.parse("2026-11-20T09:00:00.500Z");
const TRIAL = formatAccessToken("trial", seededRandom(3)(32));

const anyRandom = fc.uint8Array({ minLength: ACCESS_TOKEN_RANDOM_BYTES, maxLength: ACCESS_TOKEN_RANDOM_BYTES });
const anyEnvironment = fc.constantFrom("trial" as const, "production" as const);

const STORED: AccessToken = {
  id: "t1",
  partner: {
    id: 7,
    name: "wallet",
    status: "active",
    createdAt: ISSUED_AT,
    allowedAddresses: undefined,
    certifiedAt: undefined,
    limits: DEFAULT_LIMITS,
    terms: NO_TERMS,
    legal: {},
  },
  environment: "trial",
  createdAt: ISSUED_AT,
  expiresAt: ISSUED_AT + TRIAL_TOKEN_VALID_MS,
  revokedAt: undefined,
  replacedBy: undefined,
};
const LIMITED = { ...STORED.partner, allowedAddresses: new AddressList(["203.0.113.0/24"]) };
const PEER = { ip: "192.0.2.1" };
const SUSPENDED = { ...LIMITED, status: "suspended" } as const;

describe("an access token", () => {
  test("shows its environment, 43 digits of randomness and 6 of checksum", () => {
    expect(formatAccessToken("trial", new Uint8Array(32))).toMatch(/^topup_trial_0{43}[0-9A-Za-z]{6}$/);
    expect(formatAccessToken("production", new Uint8Array(32))).toMatch(/^topup_live_0{43}[0-9A-Za-z]{6}$/);
    expect(formatAccessToken("production", new Uint8Array(32).fill(255))).toMatch(/^topup_live_[0-9A-Za-z]{49}$/);
  });

  test("that was issued by an earlier release is still recognised", () => {
    const issued = "topup_trial_0El6XFXwsUFD8J2vGxsaboW7rZYnQRBP5d9erwRwd292RSfEl";
    expect(isAccessToken(issued)).toBe(true);
    expect(formatAccessToken("trial", new Uint8Array(32).fill(1))).toBe(issued);
  });

  test("is recognised, whatever its random bytes are, and carries all of them", () => {
    fc.assert(
      fc.property(anyEnvironment, anyRandom, fc.nat({ max: 255 }), (environment, random, bit) => {
        const token = formatAccessToken(environment, random);
        expect(isAccessToken(token)).toBe(true);
        const flipped = random.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        expect(formatAccessToken(environment, flipped)).not.toBe(token);
      }),
      RUNS,
    );
  });

  test("is not recognised with any one character exchanged for any other", () => {
    const recognised = Array.from(TRIAL).flatMap((original, place) =>
      Array.from(`${ALPHABET}_- `)
        .filter((character) => character !== original)
        .map((character) => TRIAL.slice(0, place) + character + TRIAL.slice(place + 1))
        .filter(isAccessToken),
    );
    expect(recognised).toEqual([]);
  });

  test("is not recognised as anything more, less or else", () => {
    const [less, more] = [
      ["", "topup_trial_", TRIAL.slice(0, -1)],
      [`${TRIAL}0`, `${TRIAL}\n`, ` ${TRIAL}`, `Bearer ${TRIAL}`],
    ];
    for (const text of [...less, ...more, TRIAL.replace("trial", "live"), TRIAL.toUpperCase()])
      expect(isAccessToken(text), text).toBe(false);
  });

  test("is kept as its SHA-256", () => {
    expect(hashSecret(TRIAL)).toEqual(createHash("sha256").update(TRIAL).digest());
  });
});

describe("a token on record", () => {
  test("is admitted with its partner and environment", () => {
    expect(admitAccessToken(STORED, ISSUED_AT, PEER)).toEqual({ ok: true, value: STORED });
  });

  test("of the trial ends exactly seven days after its issue", () => {
    const end = ISSUED_AT + 7 * DAY_MS;
    expect(admitAccessToken(STORED, end - 1, PEER)).toMatchObject({ ok: true });
    expect(admitAccessToken(STORED, end, PEER)).toEqual({ ok: false, refusal: "expired_token" });
  });

  test("without an end lasts until it is revoked", () => {
    const lasting = { ...STORED, expiresAt: undefined };
    expect(admitAccessToken(lasting, ISSUED_AT + 10_000 * DAY_MS, PEER)).toMatchObject({ ok: true });
    const revoked = { ...lasting, revokedAt: ISSUED_AT + DAY_MS };
    expect(admitAccessToken(revoked, ISSUED_AT + DAY_MS, PEER)).toEqual({ ok: false, refusal: "revoked_token" });
  });

  test.each([
    ["unknown_token", undefined],
    ["revoked_token", { ...STORED, revokedAt: ISSUED_AT, expiresAt: ISSUED_AT, partner: SUSPENDED }],
    ["expired_token", { ...STORED, expiresAt: ISSUED_AT, partner: SUSPENDED }],
    ["partner_suspended", { ...STORED, partner: SUSPENDED }],
    ["address_not_allowed", { ...STORED, partner: LIMITED }],
  ] as const)("is refused as %s before anything that is less final", (refusal, token) => {
    expect(admitAccessToken(token, ISSUED_AT, PEER)).toEqual({ ok: false, refusal });
  });

  test("of a suspended partner is admitted for txn-status alone, and from where it may call", () => {
    const suspended = { ...STORED, partner: { ...STORED.partner, status: "suspended" } } as const;
    expect(admitAccessToken(suspended, ISSUED_AT, PEER, true)).toMatchObject({ ok: true });
    const limited = { ...STORED, partner: SUSPENDED };
    expect(admitAccessToken(limited, ISSUED_AT, PEER, true)).toEqual({ ok: false, refusal: "address_not_allowed" });
    const ended = { ...suspended, expiresAt: ISSUED_AT };
    expect(admitAccessToken(ended, ISSUED_AT, PEER, true)).toEqual({ ok: false, refusal: "expired_token" });
  });

  test("of a partner with a list is admitted from its addresses, and from nowhere else", () => {
    const limited = { ...STORED, partner: LIMITED };
    for (const ip of ["203.0.113.0", "203.0.113.255", "::ffff:203.0.113.9"])
      expect(admitAccessToken(limited, ISSUED_AT, { ip })).toMatchObject({ ok: true });
    for (const ip of ["203.0.114.0", "2001:db8::1", "", undefined])
      expect(admitAccessToken(limited, ISSUED_AT, { ip })).toEqual({ ok: false, refusal: "address_not_allowed" });
  });

  test("of a partner without a list is admitted without a look at the address", () => {
    const peer = {
      get ip(): string {
        throw new Error("the address was looked at");
      },
    };
    expect(admitAccessToken(STORED, ISSUED_AT, peer)).toMatchObject({ ok: true });
  });
});

const HOUR = 3_600_000;
const LASTING: AccessToken = { ...STORED, environment: "production", expiresAt: undefined };
const TO = { id: "tok_new", overlapMs: DAY_MS, expiresAt: "as_before" } as const;

describe("a rotated token", () => {
  test("holds for the overlap, and names its successor", () => {
    expect(rotateAccessToken(LASTING, TO, ISSUED_AT)).toEqual({
      kind: "rotated",
      former: { ...LASTING, expiresAt: ISSUED_AT + DAY_MS, replacedBy: "tok_new" },
      successor: { ...LASTING, id: "tok_new", createdAt: ISSUED_AT },
    });
  });

  test("without an overlap ends at once", () => {
    expect(rotateAccessToken(LASTING, { ...TO, overlapMs: 0 }, ISSUED_AT)).toMatchObject({
      former: { expiresAt: ISSUED_AT },
    });
  });

  test("never holds for longer than it would have anyhow", () => {
    const ending = { ...LASTING, expiresAt: ISSUED_AT + HOUR };
    expect(rotateAccessToken(ending, TO, ISSUED_AT)).toMatchObject({ former: { expiresAt: ISSUED_AT + HOUR } });
    expect(rotateAccessToken(ending, { ...TO, overlapMs: HOUR / 2 }, ISSUED_AT)).toMatchObject({
      former: { expiresAt: ISSUED_AT + HOUR / 2 },
    });
  });

  test("leaves its end to the new one, unless another is said", () => {
    const ending = { ...LASTING, expiresAt: ISSUED_AT + 90 * DAY_MS };
    expect(rotateAccessToken(ending, TO, ISSUED_AT)).toMatchObject({
      successor: { expiresAt: ISSUED_AT + 90 * DAY_MS },
    });
    const said = { ...TO, expiresAt: ISSUED_AT + 365 * DAY_MS };
    expect(rotateAccessToken(ending, said, ISSUED_AT)).toMatchObject({
      successor: { expiresAt: ISSUED_AT + 365 * DAY_MS },
    });
    expect(rotateAccessToken(LASTING, said, ISSUED_AT)).toMatchObject({
      successor: { expiresAt: ISSUED_AT + 365 * DAY_MS },
    });
  });

  test("of the trial has a successor of seven days", () => {
    const trial = { ...LASTING, environment: "trial", expiresAt: ISSUED_AT + HOUR } as const;
    expect(rotateAccessToken(trial, TO, ISSUED_AT)).toMatchObject({
      former: { expiresAt: ISSUED_AT + HOUR },
      successor: { environment: "trial", expiresAt: ISSUED_AT + 7 * DAY_MS },
    });
  });

  test.each([
    ["revoked", { ...LASTING, revokedAt: 5, expiresAt: 6 }],
    ["ended", { ...LASTING, expiresAt: ISSUED_AT, replacedBy: "tok_other" }],
    ["replaced", { ...LASTING, expiresAt: ISSUED_AT + 1, replacedBy: "tok_other" }],
  ] as const)("that is %s is not rotated", (kind, token) => {
    expect(rotateAccessToken(token, TO, ISSUED_AT)).toEqual({ kind, token });
  });
});
