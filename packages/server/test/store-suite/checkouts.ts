import { expect, test } from "vitest";
import { CHECKOUT_GRACE_MS, CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import type { Conclusion } from "../../src/store/store.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { endOf, expectRecorded, FIBER, openProvider, RAM_NET, SITA_NET } from "./provider.ts";

const EXPIRED = { kind: "refused", refusal: "checkout_expired" };

export function testCheckouts(makeDatabase: MakeDatabase): void {
  test("a checkout is good up to and including its last millisecond, and has expired a millisecond later", async () => {
    const opened = await openProvider(makeDatabase);
    const [good, late] = [opened.command(SITA_NET, "NET-1M"), opened.command(SITA_NET, "NET-1M")];
    opened.now += CHECKOUT_VALID_MS;
    expect(expectRecorded(await opened.store.settleTopUp(good)).at).toBe(opened.now);
    const waiting = opened.store.settleTopUp(late);
    opened.now += 1;
    expect(await waiting).toEqual({ ...EXPIRED, retired: { retiredAt: opened.now } });
    expect(await opened.store.findTransaction(late.checkoutId)).toBeUndefined();
  });

  test("a checkout that was concluded unused is never used, though its time is not over", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    expect(await opened.store.concludeCheckout(command.checkoutId)).toBeUndefined();
    expect(await opened.store.settleTopUp(command)).toMatchObject(EXPIRED);
    expect(await (await opened.another()).settleTopUp(command)).toMatchObject(EXPIRED);
    await opened.store.close();
    const later = await opened.another();
    expect(await later.settleTopUp(command)).toMatchObject(EXPIRED);
    expect(await later.concludeCheckout(command.checkoutId)).toBeUndefined();
    expect(await countRows(opened, "top_up")).toBe(0);
    expectRecorded(await later.settleTopUp(opened.command(SITA_NET, "NET-1M")));
  });

  test("a top-up that was refused as expired is never recorded, though the clock is set back", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    opened.now += CHECKOUT_VALID_MS + 1;
    expect(await opened.store.settleTopUp(command)).toMatchObject(EXPIRED);
    opened.now -= CHECKOUT_VALID_MS;
    expect(await opened.store.settleTopUp(command)).toMatchObject(EXPIRED);
    expect(await (await opened.another()).settleTopUp(command)).toMatchObject(EXPIRED);
  });

  test("the outcome of a checkout is its top-up, when it was retired, or nothing so far", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, command } = opened;
    const [concluded, expired, open] = [1, 2, 3].map(() => command(SITA_NET, "NET-1M").checkoutId);
    const late = command(SITA_NET, "NET-1M");
    const transaction = await opened.topUp(SITA_NET, "NET-1M");
    const concludedAt = opened.now;
    await store.concludeCheckout(concluded as string);
    opened.now += CHECKOUT_VALID_MS + CHECKOUT_GRACE_MS + 1;
    const expiredAt = opened.now;
    await store.settleTopUp(late);
    for (const asked of [store, await opened.another()]) {
      expect(await asked.findOutcome(transaction.checkoutId)).toEqual(transaction);
      expect(await asked.findOutcome(concluded as string)).toEqual({ retiredAt: concludedAt });
      expect(await asked.findOutcome(late.checkoutId)).toEqual({ retiredAt: expiredAt });
      for (const none of [open as string, expired as string, "x".repeat(64), "none"])
        expect(await asked.findOutcome(none)).toBeUndefined();
    }
  });

  test("concluding a checkout that was used gives its transaction, and takes nothing from it", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    const transaction = expectRecorded(await opened.store.settleTopUp(command));
    opened.now += 1000 * CHECKOUT_VALID_MS;
    expect(await opened.store.concludeCheckout(command.checkoutId)).toEqual(transaction);
    expect(await opened.store.settleTopUp(command)).toEqual({ kind: "replayed", transaction });
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

  test("a conclusive answer waits for a top-up that another store is recording", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    const answers: Promise<Conclusion>[] = [];
    let readings = 0;
    let askAt = Number.POSITIVE_INFINITY;
    const clock = () => {
      readings += 1;
      if (readings === askAt) answers.push(opened.store.concludeCheckout(command.checkoutId));
      return opened.now;
    };
    const recording = await opened.another({ clock });
    readings = 0;
    expectRecorded(await recording.settleTopUp(opened.command(RAM_NET, "NET-1M")));
    // The clock is last read inside the transaction: then the question comes while the top-up is being recorded.
    askAt = readings * 2;
    const transaction = expectRecorded(await recording.settleTopUp(command));
    expect(await Promise.all(answers)).toEqual([transaction]);
  });
}
