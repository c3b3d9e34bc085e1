import fc from "fast-check";
import { expect, test } from "vitest";
import type { TopUpsInFile } from "../../src/domain/restatement.ts";
import type { Transaction } from "../../src/domain/top-up.ts";
import { firstTransactionId } from "../../src/domain/transaction-id.ts";
import { findWrong } from "../store-suite/database.ts";
import {
  type OpenedProvider,
  openProvider,
  RAM_NET,
  SITA,
  SITA_NET,
  SITA_TV,
  statedCustomer,
} from "../store-suite/provider.ts";
import { by } from "../support/by.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";

const DAY = 86_400_000;
const CONNECTIONS = [SITA_NET, SITA_TV, RAM_NET] as const;
const BOUQUETS = [
  ["NET-1M", "NET-3M"],
  ["TV-1M", "TV-3M"],
  ["NET-1M", "NET-3M"],
] as const;

const anyStep = fc.record({
  kind: fc.constantFrom("top_up" as const, "import" as const, "reverse" as const, "history" as const),
  pause: fc.nat({ max: 40 }),
  which: fc.nat({ max: 2 }),
  longer: fc.boolean(),
  topUps: fc.constantFrom<TopUpsInFile>("included", "apart", "unsaid"),
});

type Step = typeof anyStep extends fc.Arbitrary<infer Value> ? Value : never;

/** A customer whose subscription the provider's records have end in so many days. */
function statedSita(now: number, days: number) {
  const day = (at: number) => new Date(at).toISOString().slice(0, 19).replace("T", " ");
  const subscriptions = [{ code: "NET-1M", startdate: day(now - 10 * DAY), enddate: day(now + days * DAY) }];
  const internet = [{ username: "sita", status: "active", subscriptions }];
  return statedCustomer({ ...SITA, connections: { ...SITA.connections, internet } });
}

async function apply(opened: OpenedProvider, steps: readonly Step[], takesHistory: boolean): Promise<void> {
  const { store } = opened;
  const made: string[] = [];
  for (const { kind, pause, which, longer, topUps } of steps) {
    opened.now += pause * DAY;
    const [key, bouquet] = [CONNECTIONS[which], BOUQUETS[which]?.[longer ? 1 : 0]] as [typeof SITA_NET, string];
    // Drawn in both worlds, so that what comes after is the same.
    const command = opened.command(key, bouquet);
    const because = { ...by(opened.now), reason: "paid twice" };
    if (kind === "top_up") {
      await store.settleTopUp(command);
      made.push(command.checkoutId);
    }
    if (kind === "import")
      await store.importCustomers("production", [statedSita(opened.now, longer ? 60 : 20)], by(opened.now), topUps);
    if (kind === "reverse" && made.length > 0)
      await store.corrections.reverse(made[which % made.length] as string, because);
    if (kind === "history" && takesHistory) {
      const { checkout: _, ...rest } = command;
      const at = opened.now - which * DAY;
      const txnId = firstTransactionId(at) + command.txnId.slice(firstTransactionId(at).length);
      const transaction: Transaction = { ...rest, txnId, at, status: "success", imported: true };
      await store.history.import("production", [{ transaction, reversal: undefined }], by(opened.now));
      if (longer) await store.corrections.reverse(command.checkoutId, because);
    }
  }
}

const subscriptionsOf = ({ store }: OpenedProvider) =>
  Promise.all(CONNECTIONS.map(async (key) => (await store.findConnection(key))?.connection));

test("history leaves every subscription as it would be without it, whatever comes before and after", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 2, maxLength: 12 }), async (steps) => {
      const [taking, other] = [await openProvider(makeSqliteDatabase), await openProvider(makeSqliteDatabase)];
      await apply(taking, steps, true);
      await apply(other, steps, false);
      expect(await subscriptionsOf(taking)).toEqual(await subscriptionsOf(other));
      expect(await findWrong(taking.store)).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
