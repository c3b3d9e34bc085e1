import { describe, expect, test } from "vitest";
import { type CheckoutHolder, isSealLost, issueCheckout } from "../../src/domain/checkout.ts";
import type { CheckoutSecret } from "../../src/domain/checkout-secret.ts";
import { seededRandom } from "../support/random.ts";
import { at } from "./builders.ts";

const random = seededRandom(4);
const T = at("2026-11-20T09:00:00Z");
const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const HOLDER: CheckoutHolder = { partnerId: 7, environment: "production" };
const FIBER = { environment: "production", cuid: "7001", service: "internet", reqId: "fiber1" } as const;

function sealed(secret: CheckoutSecret, issuedAt: number): string {
  return issueCheckout(secret, HOLDER, FIBER, { revision: 1, issuedAt, nonce: random(16) });
}

/** Newest first, one a day, the oldest of `count` at T. */
function secretsOf(count: number): CheckoutSecret[] {
  const secret = (_: unknown, id: number) => ({ id, key: random(32), createdAt: T + id * DAY });
  return Array.from({ length: count }, secret).toReversed();
}

const altered = (secrets: readonly CheckoutSecret[], id: number, key = random(32)) =>
  secrets.map((secret) => (secret.id === id ? { ...secret, key } : secret));
const withId = (secrets: readonly CheckoutSecret[], id: number) =>
  secrets.find((secret) => secret.id === id) as CheckoutSecret;

describe("of a top-up on record, while there is room for one more secret", () => {
  const secrets = secretsOf(15);

  test("the seal opens, whatever the clocks were when it was made", () => {
    for (const issuedAt of [T - DAY, T + 3 * DAY, T + 3 * DAY + 5 * MINUTE, T + 30 * DAY])
      expect(isSealLost(secrets, HOLDER, sealed(withId(secrets, 3), issuedAt))).toBe(false);
  });

  test.each([-DAY, 0, 5 * MINUTE, 30 * DAY])("the seal of a secret that was altered is lost (%i ms after)", (after) => {
    const checkoutId = sealed(withId(secrets, 3), T + 3 * DAY + after);
    expect(isSealLost(altered(secrets, 3), HOLDER, checkoutId)).toBe(true);
  });

  test("the seal of a secret that is gone is lost", () => {
    const checkoutId = sealed(withId(secrets, 3), T + 3 * DAY);
    expect(isSealLost([], HOLDER, checkoutId)).toBe(true);
    expect(
      isSealLost(
        secrets.filter(({ id }) => id !== 3),
        HOLDER,
        checkoutId,
      ),
    ).toBe(true);
  });

  test.each([0, 31, 33, 65])("the seal of a secret with a key of %i bytes is lost", (bytes) => {
    const checkoutId = sealed(withId(secrets, 3), T + 3 * DAY);
    expect(isSealLost(altered(secrets, 3, random(bytes)), HOLDER, checkoutId)).toBe(true);
  });

  test("the seal is another partner's, or of another environment: it is lost", () => {
    const checkoutId = sealed(withId(secrets, 3), T + 3 * DAY);
    expect(isSealLost(secrets, { ...HOLDER, partnerId: 8 }, checkoutId)).toBe(true);
    expect(isSealLost(secrets, { ...HOLDER, environment: "trial" }, checkoutId)).toBe(true);
  });

  test("a text that is no checkoutId has no seal", () => {
    for (const text of ["", "checkout1", "A".repeat(63)]) expect(isSealLost(secrets, HOLDER, text)).toBe(true);
  });
});

describe("of a top-up on record, once sixteen secrets are kept", () => {
  const secrets = secretsOf(16);
  const CREATED = T + 3 * DAY;
  /** Had the number before, and was given up. */
  const former: CheckoutSecret = { id: 3, key: random(32), createdAt: T - 100 * DAY };

  test.each([
    ["before the secret was made that has the number now", CREATED - DAY],
    ["minutes later, by a clock that was ahead", CREATED + 10 * MINUTE - 1],
    ["after another had taken over, by a clock that was ahead", CREATED + DAY + 2 * MINUTE],
  ])("a seal that was made %s proves nothing", (_, issuedAt) => {
    expect(isSealLost(secrets, HOLDER, sealed(former, issuedAt))).toBe(false);
  });

  test.each([CREATED + 10 * MINUTE, CREATED + DAY])(
    "a seal that only its secret can have made is lost without it",
    (issuedAt) => {
      const checkoutId = sealed(withId(secrets, 3), issuedAt);
      expect(isSealLost(secrets, HOLDER, checkoutId)).toBe(false);
      expect(isSealLost(altered(secrets, 3), HOLDER, checkoutId)).toBe(true);
      expect(isSealLost(altered(secrets, 3, random(31)), HOLDER, checkoutId)).toBe(true);
    },
  );
});
