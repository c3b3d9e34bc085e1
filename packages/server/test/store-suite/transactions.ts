import { expect, onTestFinished, test } from "vitest";
import type { Conclusion } from "../../src/store/store.ts";
import { seededRandom } from "../support/random.ts";
import type { MakeDatabase } from "./database.ts";
import { expectRecorded, openProvider, RAM_NET, SITA_NET, SITA_TV } from "./provider.ts";

export function testTransactions(makeDatabase: MakeDatabase): void {
  test("a checkout that was never used has no transaction", async () => {
    const opened = await openProvider(makeDatabase);
    const { checkoutId } = opened.command(SITA_NET, "NET-1M");
    expect(await opened.store.findTransaction(checkoutId)).toBeUndefined();
    expect(await opened.store.concludeCheckout(checkoutId)).toBeUndefined();
  });

  test("each checkout finds its own transaction, either way", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const first = command(SITA_NET, "NET-1M", { udf1: "1" });
    const second = command(SITA_TV, "TV-3M", { udf2: "2" });
    const transactions = [
      expectRecorded(await store.settleTopUp(first)),
      expectRecorded(await store.settleTopUp(second)),
    ];
    expect(await store.findTransaction(first.checkoutId)).toEqual(transactions[0]);
    expect(await store.concludeCheckout(first.checkoutId)).toEqual(transactions[0]);
    expect(await store.concludeCheckout(second.checkoutId)).toEqual(transactions[1]);
  });

  test("a checkoutId is compared exactly", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const { checkoutId } = expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
    for (const other of [checkoutId.toLowerCase(), checkoutId.slice(0, -1), `${checkoutId} `, "%", ""]) {
      expect(await store.findTransaction(other)).toBeUndefined();
    }
  });

  test("a reversed top-up is found as reversed", async () => {
    const { store, command, database } = await openProvider(makeDatabase);
    const recorded = expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
    await database.tamper("UPDATE top_up SET status = 'reversed'");
    expect(await store.findTransaction(recorded.checkoutId)).toEqual({ ...recorded, status: "reversed" });
  });

  test("a conclusive answer waits for a top-up that another store is recording", async () => {
    const opened = await openProvider(makeDatabase);
    const asking = await opened.another();
    const command = opened.command(SITA_NET, "NET-1M");
    const answers: Promise<Conclusion>[] = [];
    let readings = 0;
    let askAt = Number.POSITIVE_INFINITY;
    const clock = () => {
      readings += 1;
      if (readings === askAt) answers.push(asking.concludeCheckout(command.checkoutId));
      return opened.now;
    };
    const recording = await opened.database.open({ clock, random: seededRandom(9) });
    onTestFinished(() => recording.close());
    readings = 0;
    expectRecorded(await recording.settleTopUp(opened.command(RAM_NET, "NET-1M")));
    // The clock is last read inside the transaction: then the question comes while the top-up is being recorded.
    askAt = readings * 2;
    const transaction = expectRecorded(await recording.settleTopUp(command));
    expect(answers).toHaveLength(1);
    expect(await answers[0]).toEqual(transaction);
  });
}
