import { describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../../src/store/errors.ts";
import { countRows, findWrong } from "../../store-suite/database.ts";
import { endOf, RAM_NET, RAM_TV, SITA_NET, SITA_TV } from "../../store-suite/provider.ts";
import { again, openFaultyProvider, sleep } from "./faulty-provider.ts";

const PURCHASES = [
  [SITA_NET, "NET-1M"],
  [SITA_TV, "TV-1M"],
  [RAM_NET, "NET-3M"],
  [SITA_NET, "NET-1M"],
  [RAM_TV, "TV-3M"],
] as const;

const CASES = [1, 5].flatMap((count) => [
  { count, fault: "unanswered", what: "committed and lost its answer", isRecorded: true } as const,
  { count, fault: "lost", what: "never committed", isRecorded: false } as const,
]);

describe.concurrent("a connection that dies at COMMIT", () => {
  test.for(CASES)(
    "of a batch of $count that $what is unavailable, truthful to look up and safe to repeat",
    async ({ count, fault, isRecorded }, { onTestFinished }) => {
      const opened = await openFaultyProvider({ onTestFinished });
      const { store, proxy } = opened;
      const commands = PURCHASES.slice(0, count).map(([connection, code]) => opened.command(connection, code));
      const commits = proxy.commits;
      proxy.commitFault = fault;
      const failed = await Promise.allSettled(commands.map((command) => store.settleTopUp(command)));
      for (const outcome of failed)
        expect(outcome).toMatchObject({
          status: "rejected",
          reason: { name: StoreUnavailable.name, message: expect.stringContaining("may have been done") },
        });

      const found = await Promise.all(commands.map(({ checkoutId }) => store.findTransaction(checkoutId)));
      expect(found.map((each) => each !== undefined)).toEqual(commands.map(() => isRecorded));
      await sleep(300);
      expect(proxy.commits - commits).toBe(1);
      expect(await countRows(opened, "top_up")).toBe(isRecorded ? count : 0);

      const repeated = await Promise.all(commands.map((command) => store.settleTopUp(again(command))));
      expect(repeated.map(({ kind }) => kind)).toEqual(commands.map(() => (isRecorded ? "replayed" : "recorded")));
      if (isRecorded)
        expect(repeated.map((outcome) => outcome.kind === "replayed" && outcome.transaction)).toEqual(found);
      expect(await countRows(opened, "top_up")).toBe(count);
      expect(await endOf(store, SITA_NET, "Fiber 100 Mbps")).toBe(
        count === 1 ? "2027-01-10 09:00:00" : "2027-02-10 09:00:00",
      );
      expect(await findWrong(store)).toEqual([]);
    },
  );

  test("gives its true outcome when the checkout is concluded", async ({ onTestFinished }) => {
    const { store, proxy, command } = await openFaultyProvider({ onTestFinished });
    const [recorded, lost] = [command(SITA_NET, "NET-1M"), command(RAM_NET, "NET-1M")];
    proxy.commitFault = "unanswered";
    await expect(store.settleTopUp(recorded)).rejects.toThrow(StoreUnavailable);
    proxy.commitFault = "lost";
    await expect(store.settleTopUp(lost)).rejects.toThrow(StoreUnavailable);
    expect(await store.concludeCheckout(recorded.checkoutId)).toMatchObject({
      txnId: expect.stringContaining(recorded.txnDigits),
    });
    expect(await store.concludeCheckout(lost.checkoutId)).toBeUndefined();
    expect(await store.settleTopUp(lost)).toMatchObject({ kind: "refused" });
  });
});
