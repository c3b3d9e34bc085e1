import fc from "fast-check";
import type { StaffEntryKind } from "../../src/domain/account.ts";
import { CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { RAM_NET, SITA_IPTV, SITA_NET, SITA_TV } from "./provider.ts";

/* Random events of a partner's account. */

/** The first two have the same price. */
export const SALES = [
  [SITA_NET, "NET-1M"],
  [RAM_NET, "NET-1M"],
  [SITA_NET, "NET-3M"],
  [SITA_TV, "TV-1M"],
  [SITA_IPTV, "ITV-1M"],
] as const;

const [sale, some] = [fc.nat({ max: SALES.length - 1 }), fc.nat({ max: 99 })];

function stepOf<Name extends string, Fields extends object>(
  name: Name,
  weight: number,
  fields: { readonly [Field in keyof Fields]: fc.Arbitrary<Fields[Field]> },
) {
  const arbitrary = fc.record({ step: fc.constant(name), ...fields });
  return { weight, arbitrary: arbitrary as fc.Arbitrary<{ readonly step: Name } & Fields> };
}

const enter = stepOf("enter", 3, {
  kind: fc.constantFrom<StaffEntryKind>("deposit", "deposit", "withdrawal", "adjustment"),
  amount: fc.integer({ min: 1, max: 600_000 }),
  isNegative: fc.boolean(),
  reference: fc.nat({ max: 3 }),
});
/** Money for so many equal top-ups, less a minor unit or exactly. */
const fit = stepOf("fit", 4, { sale, count: fc.integer({ min: 1, max: 5 }), lacking: fc.constantFrom(0n, 0n, 1n) });
const limit = stepOf("limit", 4, { sale, limit: fc.constantFrom(0n, undefined, 0n, undefined, 400_000n) });
const commission = stepOf("commission", 2, { percent: fc.constantFrom(250, 0, 3_333, 10_000) });

const step = fc.oneof(
  enter,
  fit,
  limit,
  commission,
  stepOf("drain", 2, { beyond: fc.constantFrom(0n, 1n) }),
  stepOf("repeat", 2, { of: some, isTwice: fc.boolean() }),
  stepOf("topUp", 8, { sales: fc.array(sale, { minLength: 1, maxLength: 6 }) }),
  stepOf("race", 4, { count: fc.integer({ min: 2, max: 9 }), isWithdrawing: fc.boolean(), delay: fc.nat({ max: 5 }) }),
  stepOf("replay", 2, { of: some }),
  stepOf("again", 4, { of: some }),
  stepOf("reverse", 4, { of: some, isTwice: fc.boolean(), sale }),
  stepOf("dayLimit", 1, { dayTopUps: fc.constantFrom(undefined, undefined, 4) }),
  stepOf("wait", 8, {
    ms: fc.constantFrom(CHECKOUT_VALID_MS - 1_000, DAY_MS / 2, DAY_MS, DAY_MS),
  }),
);

/** Most begin with a prepaid account that has money. */
export const steps = fc
  .tuple(commission.arbitrary, limit.arbitrary, fit.arbitrary, fc.array(step, { minLength: 25, maxLength: 40 }))
  .map(([first, second, third, rest]): Step[] => [first, second, third, ...rest]);

export type Step =
  | (typeof step extends fc.Arbitrary<infer Value> ? Value : never)
  | (typeof fit.arbitrary extends fc.Arbitrary<infer Value> ? Value : never);
