import { expect, test } from "vitest";
import { CHECKOUT_GRACE_MS, CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { endOf, expectRecorded, openProvider, SITA_NET } from "./provider.ts";

const FIBER = "Fiber 100 Mbps";
const EXPIRED = { kind: "refused", refusal: "checkout_expired" };

export function testConcludedCheckouts(makeDatabase: MakeDatabase): void {
  test("a checkout that was concluded unused is never used, though its time is not over", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    expect(await opened.store.concludeCheckout(command.checkoutId)).toBeUndefined();
    expect(await opened.store.settleTopUp(command)).toMatchObject(EXPIRED);
    const other = await opened.another();
    expect(await other.settleTopUp(command)).toMatchObject(EXPIRED);
    await opened.store.close();
    await other.close();
    const later = await opened.another();
    expect(await later.settleTopUp(command)).toMatchObject(EXPIRED);
    expect(await later.concludeCheckout(command.checkoutId)).toBeUndefined();
    expect(await countRows(opened, "top_up")).toBe(0);
    expect(await findWrong(later)).toEqual([]);
  });

  test("a top-up that was refused as expired is never recorded, though the clock is set back", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    opened.now += CHECKOUT_VALID_MS + 1;
    expect(await opened.store.settleTopUp(command)).toMatchObject(EXPIRED);
    opened.now -= CHECKOUT_VALID_MS;
    expect(await opened.store.settleTopUp(command)).toMatchObject(EXPIRED);
    expect(await (await opened.another()).settleTopUp(command)).toMatchObject(EXPIRED);
    expect(await opened.store.concludeCheckout(command.checkoutId)).toBeUndefined();
  });

  test("what became of a checkout is told: its top-up, when it was retired, or nothing so far", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, command } = opened;
    const [used, concluded, expired, open] = [1, 2, 3, 4].map(() => command(SITA_NET, "NET-1M"));
    if (!used || !concluded || !expired || !open) throw new Error("there are four");
    const transaction = expectRecorded(await store.settleTopUp(used));
    const concludedAt = opened.now;
    await store.concludeCheckout(concluded.checkoutId);
    opened.now += CHECKOUT_VALID_MS + 1;
    const expiredAt = opened.now;
    await store.settleTopUp(expired);
    for (const asked of [store, await opened.another()]) {
      expect(await asked.findOutcome(used.checkoutId)).toEqual(transaction);
      expect(await asked.findOutcome(concluded.checkoutId)).toEqual({ retiredAt: concludedAt });
      expect(await asked.findOutcome(expired.checkoutId)).toEqual({ retiredAt: expiredAt });
      for (const none of [open.checkoutId, "x".repeat(64), "none"])
        expect(await asked.findOutcome(none)).toBeUndefined();
    }
    opened.now += CHECKOUT_GRACE_MS + 1;
    const toldAt = opened.now;
    // Together with the same top-up, and once more later: what was told first counts.
    await Promise.all([store.settleTopUp(expired), store.concludeCheckout(expired.checkoutId)]);
    opened.now += 1;
    await store.concludeCheckout(expired.checkoutId);
    expect(await store.findOutcome(expired.checkoutId)).toEqual({ retiredAt: toldAt });
  });

  test("concluding a checkout that was used gives its transaction, and takes nothing from it", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const command = opened.command(SITA_NET, "NET-1M");
    const transaction = expectRecorded(await store.settleTopUp(command));
    opened.now += 1000 * CHECKOUT_VALID_MS;
    expect(await store.concludeCheckout(command.checkoutId)).toEqual(transaction);
    expect(await store.settleTopUp(command)).toEqual({ kind: "replayed", transaction });
    expect(await findWrong(store)).toEqual([]);
  });

  test("concluding one checkout leaves the others usable", async () => {
    const opened = await openProvider(makeDatabase);
    await opened.store.concludeCheckout(opened.command(SITA_NET, "NET-1M").checkoutId);
    expectRecorded(await opened.store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
  });

  test("of a top-up and a conclusion that come together, the first one holds for both", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const used = command(SITA_NET, "NET-1M");
    const unused = command(SITA_NET, "NET-1M");
    const answers = await Promise.all([
      store.settleTopUp(used),
      store.concludeCheckout(used.checkoutId),
      store.concludeCheckout(unused.checkoutId),
      store.settleTopUp(unused),
    ]);
    expect(answers[1]).toEqual(expectRecorded(answers[0]));
    expect(answers[2]).toBeUndefined();
    expect(answers[3]).toMatchObject(EXPIRED);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
  });

  test("two stores that top up and conclude at once never contradict each other", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const commands = Array.from({ length: 20 }, () => opened.command(SITA_NET, "NET-1M"));
    const races = commands.map(async (command, index) => {
      const [first, second] = index % 2 === 0 ? [opened.store, other] : [other, opened.store];
      const [outcome, concluded] = await Promise.all([
        first.settleTopUp(command),
        second.concludeCheckout(command.checkoutId),
      ]);
      expect(outcome.kind === "recorded" ? outcome.transaction : undefined).toEqual(concluded);
      return concluded;
    });
    const recorded = (await Promise.all(races)).filter((transaction) => transaction !== undefined);
    expect(await countRows(opened, "top_up")).toBe(recorded.length);
    expect(await findWrong(other)).toEqual([]);
  });
}
