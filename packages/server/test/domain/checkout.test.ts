import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CHECKOUT_VALID_MS,
  type CheckoutHolder,
  type CheckoutSecret,
  hmacSha256,
  isCheckoutDead,
  isCheckoutExpired,
  isCheckoutFor,
  issueCheckout,
  openCheckout,
  rotation,
  sealingSecret,
} from "../../src/domain/checkout.ts";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import { isTooLateToRecord, RECORDING_DEADLINE_MS } from "../../src/domain/top-up.ts";
import { seededRandom } from "../support/random.ts";
import { RUNS } from "./builders.ts";

const random = seededRandom(1);
const SECRET: CheckoutSecret = { id: 3, key: random(32), createdAt: 0 };
const HOLDER: CheckoutHolder = { partnerId: 7, environment: "production" };
const FIBER: ConnectionKey = { environment: "production", cuid: "7001", service: "internet", reqId: "fiber1" };
const QUOTE = { revision: 12, issuedAt: Date.parse("2026-11-20T09:00:00.123Z"), nonce: random(16) };

function issued(connection = FIBER) {
  const checkout = openCheckout([SECRET], HOLDER, issueCheckout(SECRET, HOLDER, connection, QUOTE));
  if (checkout === undefined) throw new Error("the checkout does not open");
  return checkout;
}

describe("a checkoutId", () => {
  test("is 64 characters that need no escape in a URL", () => {
    expect(issueCheckout(SECRET, HOLDER, FIBER, QUOTE)).toMatch(/^[A-Za-z0-9_-]{64}$/);
  });

  test("opens again for whom it was issued to, and says what was quoted", () => {
    expect(issued()).toMatchObject({ issuedAt: QUOTE.issuedAt, revision: 12 });
  });

  test("that was issued by an earlier release still opens, because a replay is answered for ever", () => {
    const secret = { id: 3, key: new Uint8Array(32).fill(1), createdAt: 0 };
    const checkoutId = "EwGh-C8egAAADNlDF7gJKYLbNLQCAgICAgICAgICAgICAgICNVDpvr1Cit-sveyD";
    const checkout = openCheckout([secret], HOLDER, checkoutId);
    expect(checkout).toMatchObject({ issuedAt: Date.parse("2026-11-20T09:00:00Z"), revision: 12 });
    expect(isCheckoutFor(checkoutId, FIBER)).toBe(true);
  });

  test("shows neither customer nor connection", () => {
    const read = (nonce: Uint8Array) =>
      Buffer.from(issueCheckout(SECRET, HOLDER, FIBER, { ...QUOTE, nonce }), "base64url");
    const [one, other] = [read(random(16)), read(random(16))];
    expect(one.toString("latin1")).not.toMatch(/7001|fiber1/);
    // The digest of the connection differs between checkouts.
    expect(one.subarray(14, 20)).not.toEqual(other.subarray(14, 20));
  });

  test("opens with a secret that seals no more, while another seals", () => {
    const next: CheckoutSecret = { id: 4, key: random(32), createdAt: QUOTE.issuedAt };
    const old = issueCheckout(SECRET, HOLDER, FIBER, QUOTE);
    expect(openCheckout([next, SECRET], HOLDER, old)).toMatchObject({ issuedAt: QUOTE.issuedAt });
    expect(openCheckout([next], HOLDER, old)).toBeUndefined();
  });

  test("opens and fits its own connection, whatever it was issued for", () => {
    const anyBytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    const anySecret = fc.record({ id: fc.integer({ min: 0, max: 15 }), key: anyBytes(32), createdAt: fc.constant(0) });
    const anyEnvironment = fc.constantFrom("trial" as const, "production" as const);
    const anyHolder = fc.record({ partnerId: fc.integer({ min: 1 }), environment: anyEnvironment });
    const anyId = fc.string({ unit: "grapheme", minLength: 1, maxLength: 64 });
    const anyConnection = fc.record({
      environment: anyEnvironment,
      cuid: anyId,
      service: fc.constantFrom("tv" as const, "internet" as const, "iptv" as const),
      reqId: anyId,
    });
    const anyQuote = fc.record({
      revision: fc.integer({ min: 0, max: 2 ** 24 - 1 }),
      issuedAt: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
      nonce: anyBytes(16),
    });
    fc.assert(
      fc.property(anySecret, anyHolder, anyConnection, anyQuote, (secret, holder, connection, quote) => {
        const checkoutId = issueCheckout(secret, holder, connection, quote);
        expect(checkoutId).toHaveLength(64);
        const checkout = openCheckout([secret], holder, checkoutId);
        expect(checkout).toMatchObject({ issuedAt: quote.issuedAt, revision: quote.revision });
        expect(isCheckoutFor(checkoutId, connection)).toBe(true);
      }),
      RUNS,
    );
  });
});

describe("a checkout", () => {
  test.each([
    ["environment", { environment: "trial" }],
    ["customer", { cuid: "7002" }],
    ["customer of a longer id", { cuid: "70010" }],
    ["customer with a leading zero", { cuid: "07001" }],
    ["service", { service: "iptv" }],
    ["connection", { reqId: "fiber2" }],
    ["connection in other letters", { reqId: "Fiber1" }],
  ] as const)("is not for another %s", (_what, change) => {
    expect(isCheckoutFor(issueCheckout(SECRET, HOLDER, FIBER, QUOTE), { ...FIBER, ...change })).toBe(false);
  });

  test("can be used up to and including 300.000 s after its issue", () => {
    expect(isCheckoutExpired(issued(), QUOTE.issuedAt)).toBe(false);
    expect(isCheckoutExpired(issued(), QUOTE.issuedAt + 300_000)).toBe(false);
    expect(isCheckoutExpired(issued(), QUOTE.issuedAt + 300_001)).toBe(true);
  });

  test("is dead only after another 60 s", () => {
    expect(isCheckoutDead(issued(), QUOTE.issuedAt + 300_001)).toBe(false);
    expect(isCheckoutDead(issued(), QUOTE.issuedAt + 360_000)).toBe(false);
    expect(isCheckoutDead(issued(), QUOTE.issuedAt + 360_001)).toBe(true);
  });

  test("is dead only when a top-up that was decided at its last moment is long too late to be recorded", () => {
    const lastDecision = QUOTE.issuedAt + CHECKOUT_VALID_MS;
    const twice = lastDecision + 2 * RECORDING_DEADLINE_MS;
    expect(isTooLateToRecord(lastDecision, lastDecision + RECORDING_DEADLINE_MS)).toBe(false);
    expect(isTooLateToRecord(lastDecision, lastDecision + RECORDING_DEADLINE_MS + 1)).toBe(true);
    expect(isCheckoutDead(issued(), twice)).toBe(false);
  });
});

// All sixteen secrets exist, so that an altered secret id names another one.
const SECRETS: CheckoutSecret[] = Array.from({ length: 16 }, (_, id) => ({
  id,
  key: random(32),
  createdAt: Number.MAX_SAFE_INTEGER - id,
}));
const SEALING = SECRETS[5] as CheckoutSecret;
const CHECKOUT_ID = issueCheckout(SEALING, HOLDER, FIBER, QUOTE);

function opens(checkoutId: string, holder = HOLDER, secrets = SECRETS): boolean {
  return openCheckout(secrets, holder, checkoutId) !== undefined;
}

describe("a checkoutId does not open", () => {
  test("with any one of its 384 bits altered", () => {
    expect(opens(CHECKOUT_ID)).toBe(true);
    const opened: number[] = [];
    for (let bit = 0; bit < 384; bit += 1) {
      const bytes = Buffer.from(CHECKOUT_ID, "base64url");
      bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      if (opens(bytes.toString("base64url"))) opened.push(bit);
    }
    expect(opened).toEqual([]);
  });

  test("when it is shorter, longer or another text", () => {
    const more = [`${CHECKOUT_ID}A`, `${CHECKOUT_ID}=`, `${CHECKOUT_ID} `, `${CHECKOUT_ID}\n`, ` ${CHECKOUT_ID}`];
    const others = ["", CHECKOUT_ID.slice(0, -1), CHECKOUT_ID.toLowerCase(), "A", "_", "é"].map((text) =>
      text.length === 1 ? text.repeat(64) : text,
    );
    expect([...more, ...others].filter((text) => opens(text))).toEqual([]);
  });

  test("in the alphabet that is not for URLs, though it stands for the same bytes", () => {
    const inUrls = issueCheckout(SEALING, HOLDER, FIBER, { ...QUOTE, nonce: new Uint8Array(16).fill(255) });
    const inOther = inUrls.replaceAll("-", "+").replaceAll("_", "/");
    expect(inOther).not.toBe(inUrls);
    expect([opens(inUrls), opens(inOther)]).toEqual([true, false]);
  });

  test("for another partner, or in the other environment", () => {
    expect(opens(CHECKOUT_ID, { ...HOLDER, partnerId: 8 })).toBe(false);
    expect(opens(CHECKOUT_ID, { ...HOLDER, partnerId: 70 })).toBe(false);
    expect(opens(CHECKOUT_ID, { ...HOLDER, environment: "trial" })).toBe(false);
  });

  test("with another secret, with none, or with the same key under another id", () => {
    expect(opens(CHECKOUT_ID, HOLDER, [{ id: SEALING.id, key: random(32), createdAt: 0 }])).toBe(false);
    expect(opens(CHECKOUT_ID, HOLDER, [])).toBe(false);
    expect(opens(CHECKOUT_ID, HOLDER, [{ id: SEALING.id + 1, key: SEALING.key, createdAt: 0 }])).toBe(false);
  });
});

const T = Date.parse("2026-11-20T09:00:00Z");
const MINUTE = 60_000;

const FORMER: CheckoutSecret = { id: 3, key: random(32), createdAt: T - 86_400_000 };
const KEY = random(32);
const NEW: CheckoutSecret = { id: 4, key: random(32), createdAt: T };

function sealed(secret: CheckoutSecret, issuedAt: number): string {
  return issueCheckout(secret, HOLDER, FIBER, { revision: 1, issuedAt, nonce: random(16) });
}

/** The added secret, or the refusal. */
function nextSecret(secrets: readonly CheckoutSecret[], key: Uint8Array, now: number) {
  const rotated = rotation(secrets, key, now);
  return rotated === "too_soon" ? rotated : rotated.added;
}

describe("a new checkout secret", () => {
  test("seals nothing until every process knows it", () => {
    expect(sealingSecret([NEW, FORMER], T)).toBe(FORMER);
    expect(sealingSecret([NEW, FORMER], T + 9_999)).toBe(FORMER);
    expect(sealingSecret([NEW, FORMER], T + 10_000)).toBe(NEW);
  });

  test("seals at once where there is no other", () => {
    expect(sealingSecret([NEW], T - 1)).toBe(NEW);
  });

  test("leaves what the former one sealed as good as it was", () => {
    const checkoutId = sealed(FORMER, T + 9_999);
    expect(openCheckout([NEW, FORMER], HOLDER, checkoutId)?.issuedAt).toBe(T + 9_999);
  });

  test("ends what can be made with the former one, whoever has it", () => {
    expect(openCheckout([NEW, FORMER], HOLDER, sealed(FORMER, T + 70_000))).toBeDefined();
    expect(openCheckout([NEW, FORMER], HOLDER, sealed(FORMER, T + 70_001))).toBeUndefined();
    expect(openCheckout([NEW, FORMER], HOLDER, sealed(NEW, T + 70_001))).toBeDefined();
  });

  test("takes the next id, and after the last one the first", () => {
    expect(nextSecret([FORMER], KEY, T)).toEqual({ id: 4, key: KEY, createdAt: T });
    expect(nextSecret([{ ...FORMER, id: 15 }], KEY, T)).toMatchObject({ id: 0 });
  });

  test("counts as the newest, though it comes from a machine whose clock is behind", () => {
    const added = nextSecret([NEW, FORMER], KEY, T - 600_000) as CheckoutSecret;
    expect(added).toMatchObject({ id: 5, createdAt: T + 1 });
    expect(sealingSecret([added, NEW, FORMER], T + 10_001)).toBe(added);
  });

  test("takes the place of the oldest of sixteen, once nothing is in use that it sealed", () => {
    const secrets = Array.from({ length: 16 }, (_, age) => ({ ...NEW, id: (20 - age) % 16, createdAt: T - age }));
    const [oldest, second] = [secrets[15], secrets[14]] as [CheckoutSecret, CheckoutSecret];
    const idle = second.createdAt + 70_000 + 10 * MINUTE;
    expect(nextSecret(secrets, KEY, idle - 1)).toBe("too_soon");
    expect(nextSecret(secrets, KEY, idle)).toMatchObject({ id: oldest.id });
  });
});

test("HMAC-SHA-256 is the runtime's own, for every key and message, and again", () => {
  const input = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), input, input, (key, first, second) => {
      for (const message of [first, second, first]) {
        const digest = Buffer.from(hmacSha256(key, message), "binary").toString("hex");
        expect(digest).toBe(createHmac("sha256", key).update(message).digest("hex"));
      }
    }),
    RUNS,
  );
});

test("HMAC-SHA-256 refuses a key that would have to be hashed first", () => {
  expect(() => hmacSha256(new Uint8Array(65), new Uint8Array(1))).toThrow(RangeError);
});
