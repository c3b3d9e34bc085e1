import { expect, test } from "vitest";
import { StoreContended } from "../../src/store/errors.ts";
import type { RecordedLedger } from "../../src/store/search.ts";
import { findWrong, type MakeDatabase } from "./database.ts";
import {
  endOf,
  expectRecorded,
  GITA_NET,
  HARI_TV,
  openProvider,
  RAM_NET,
  RAM_TV,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

const FIBER = "Fiber 100 Mbps";

/*
 * Top-ups that are asked for in one turn are settled together, in the order in which they came.
 */
export function testBatches(makeDatabase: MakeDatabase): void {
  test("top-ups of one connection that come together see each other's effects, in order", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const outcomes = await Promise.all(
      ["NET-1M", "NET-3M", "NET-1M"].map((code) => store.settleTopUp(command(SITA_NET, code))),
    );
    const asked = outcomes.map((outcome) => expectRecorded(outcome).checkoutId);
    expect((await store.search.findLedgers(SITA_NET)).flatMap(checkoutsOf)).toEqual(asked);
    const found = await store.findConnection(SITA_NET);
    expect(found?.connection?.subscriptions).toMatchObject([{ bouquet: { code: "NET-1M" } }]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-05-10 09:00:00");
  });

  test("an add-on that comes right after its base is bought, and one right before it is not", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const early = command(RAM_TV, "KIDS-1M");
    const late = command(RAM_TV, "KIDS-1M");
    const outcomes = await Promise.all([early, command(RAM_TV, "TV-1M"), late].map((each) => store.settleTopUp(each)));
    expect(outcomes[0]).toEqual({ kind: "refused", refusal: "bouquet_unavailable" });
    expectRecorded(outcomes[1]);
    expectRecorded(outcomes[2]);
  });

  test("one that is refused does not touch the others", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const commands = [
      command(SITA_NET, "NET-1M"),
      command(HARI_TV, "TV-1M"),
      command(RAM_NET, "NET-1M"),
      command(GITA_NET, "NET-1M"),
      command(SITA_NET, "NET-1M", { amount: 1n }),
      command(SITA_TV, "TV-1M"),
    ];
    const outcomes = await Promise.all(commands.map((each) => store.settleTopUp(each)));
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      "recorded",
      "refused",
      "recorded",
      "refused",
      "refused",
      "recorded",
    ]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("one that the database itself refuses fails alone", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const withoutPartner = { partnerId: null as unknown as number };
    const commands = [
      command(SITA_NET, "NET-1M"),
      command(SITA_TV, "TV-1M", withoutPartner),
      command(RAM_NET, "NET-1M"),
      command(SITA_NET, "NET-1M", withoutPartner),
      command(SITA_NET, "NET-1M"),
    ];
    const settled = await Promise.allSettled(commands.map((each) => store.settleTopUp(each)));
    expect(settled.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    const recorded = await Promise.all(commands.map(({ checkoutId }) => store.findTransaction(checkoutId)));
    expect(recorded.map((each) => each !== undefined)).toEqual([true, false, true, false, true]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-02-10 09:00:00");
    expect(await endOf(store, SITA_TV, "Family TV")).toBe("2026-12-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("of two that come together with one checkout and different amounts, the right one is recorded", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const right = command(SITA_NET, "NET-1M");
    const wrong = { ...right, amount: 1n };
    const outcomes = await Promise.all([wrong, right, wrong].map((each) => store.settleTopUp(each)));
    expect(outcomes[0]).toEqual({ kind: "refused", refusal: "amount_mismatch" });
    expectRecorded(outcomes[1]);
    expect(outcomes[2]).toEqual({ kind: "refused", refusal: "checkout_used" });
  });

  test("more than one batch holds are all settled, in order", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const commands = Array.from({ length: 700 }, () => command(SITA_NET, "NET-1M"));
    const outcomes = await Promise.all(commands.map((each) => store.settleTopUp(each)));
    const asked = outcomes.map((outcome) => expectRecorded(outcome).checkoutId);
    expect((await store.search.findLedgers(SITA_NET)).flatMap(checkoutsOf)).toEqual(asked);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2085-04-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("ten thousand may wait, and who comes then is turned away at once", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const sent = command(SITA_NET, "NET-1M");
    const waiting = Array.from({ length: 10_000 }, () => store.settleTopUp(sent));
    const turnedAway = store.settleTopUp(command(SITA_NET, "NET-1M"));
    await expect(turnedAway).rejects.toThrow(new StoreContended("too many top-ups are waiting"));
    const kinds = (await Promise.all(waiting)).map(({ kind }) => kind);
    expect(new Set(kinds.slice(1))).toEqual(new Set(["replayed"]));
    expect(kinds[0]).toBe("recorded");
    expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-02-10 09:00:00");
  });

  test("closing waits for what is being settled", async () => {
    const opened = await openProvider(makeDatabase);
    const commands = Array.from({ length: 20 }, () => opened.command(SITA_NET, "NET-1M"));
    const settled = Promise.all(commands.map((each) => opened.store.settleTopUp(each)));
    await opened.store.close();
    for (const outcome of await settled) expectRecorded(outcome);
    expect(await endOf(await opened.another(), SITA_NET, FIBER)).toBe("2028-08-10 09:00:00");
  });
}

/** Of the top-ups of a ledger, in its order. */
function checkoutsOf({ entries }: RecordedLedger): string[] {
  return entries.flatMap(({ transaction }) => (transaction === undefined ? [] : [transaction.checkoutId]));
}
