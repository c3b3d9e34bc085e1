import { describe, expect, test } from "vitest";
import {
  type CheckoutHolder,
  type CheckoutSecret,
  issueCheckout,
  openCheckout,
  rotation,
  sealingSecret,
} from "../../src/domain/checkout.ts";
import { seededRandom } from "../support/random.ts";

const random = seededRandom(3);
const T = Date.parse("2026-11-20T09:00:00Z");
const MINUTE = 60_000;
const HOLDER: CheckoutHolder = { partnerId: 7, environment: "production" };
const FIBER = { environment: "production", cuid: "7001", service: "internet", reqId: "fiber1" } as const;

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
