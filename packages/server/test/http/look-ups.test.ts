import { expect, test } from "vitest";
import { type CountedLookUp, DEFAULT_LIMITS, NO_LIMIT } from "../../src/domain/partner-limits.ts";
import { limitLookUps } from "../../src/partner/look-ups.ts";
import type { Caller } from "../../src/partner/ports.ts";
import type { Store } from "../../src/store/store.ts";

const CUID = "1000001";
const WALLET = {
  ...{ partnerId: 1, partnerName: "wallet", environment: "production", tokenId: "tok" },
  limits: DEFAULT_LIMITS,
} as const satisfies Caller;

/** The limit of look-ups where the wallet has topped up one customer in production, and no stranger is answered. */
function scene(waitMs = 1) {
  const asked: string[] = [];
  const counted: CountedLookUp[] = [];
  const hasToppedUp: Store["hasToppedUp"] = async (partnerId, environment, cuid) => {
    asked.push(`${partnerId} ${environment} ${cuid}`);
    return partnerId === 1 && environment === "production" && cuid === CUID;
  };
  const countLookUp = async (lookUp: CountedLookUp) => {
    counted.push(lookUp);
    return waitMs;
  };
  const limit = limitLookUps({ store: { hasToppedUp } as Partial<Store> as Store, countLookUp });
  return { limit, asked, counted };
}

test("a customer is a stranger to all partners and environments but the one that topped it up", async () => {
  const { limit, asked, counted } = scene();
  const refused = { ok: false, refusal: "rate_limited" };
  for (let time = 0; time < 2; time += 1) {
    expect(await limit(WALLET, CUID)).toBeUndefined();
    expect(await limit({ ...WALLET, partnerId: 2 }, CUID)).toMatchObject(refused);
    expect(await limit({ ...WALLET, environment: "trial" }, CUID)).toMatchObject(refused);
    expect(await limit(WALLET, "1000002")).toMatchObject(refused);
  }
  expect(counted).toHaveLength(6);
  // The store is asked again for strangers only.
  expect(asked.filter((each) => each === `1 production ${CUID}`)).toHaveLength(1);
});

test("a wait of less than a second is told as a second", async () => {
  for (const [waitMs, seconds] of [
    [1, 1],
    [1_000, 1],
    [1_001, 2],
  ] as const) {
    const detail = { retryAfterSeconds: seconds, policy: { name: "look-ups", quota: 600, windowMs: 3_600_000 } };
    expect(await scene(waitMs).limit(WALLET, "1000002")).toMatchObject({ detail });
  }
  expect(await scene(0).limit(WALLET, "1000002")).toBeUndefined();
});

test("a partner without a limit is not counted, and one below it is", async () => {
  const { limit, counted } = scene();
  expect(await limit({ ...WALLET, limits: { ...DEFAULT_LIMITS, newLookUps: NO_LIMIT } }, "1000002")).toBeUndefined();
  expect(counted).toEqual([]);
  await limit({ ...WALLET, limits: { ...DEFAULT_LIMITS, newLookUps: NO_LIMIT - 1 } }, "1000002");
  expect(counted).toMatchObject([{ key: "1000002", limit: NO_LIMIT - 1 }]);
});
