import { expect, test } from "vitest";
import type { MakeDatabase } from "./database.ts";
import { expectRecorded, openProvider, RAM_NET, SITA_NET, SITA_TV } from "./provider.ts";

/** What an observer of batches has heard: how many items, and whether they were committed. */
function listener() {
  const heard: [items: number, committed: boolean][] = [];
  let open = 0;
  return {
    heard,
    /** Of those that began, how many have not ended. */
    open: () => open,
    observeBatch: (items: number) => {
      open += 1;
      return (committed: boolean) => {
        open -= 1;
        heard.push([items, committed]);
      };
    },
  };
}

export function testObservedBatches(makeDatabase: MakeDatabase): void {
  test("top-ups that come together are heard of as one batch, and a later one as another", async () => {
    const { heard, open, observeBatch } = listener();
    const { store, command } = await openProvider(makeDatabase, { observeBatch });
    expect(heard).toEqual([]);
    const together = [command(SITA_NET, "NET-1M"), command(SITA_TV, "TV-1M"), command(RAM_NET, "NET-1M")];
    for (const outcome of await Promise.all(together.map((each) => store.settleTopUp(each)))) expectRecorded(outcome);
    expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
    expect([heard, open()]).toEqual([
      [
        [3, true],
        [1, true],
      ],
      0,
    ]);
  });

  test("a batch that one item spoils is heard of as failed, and then each item by itself", async () => {
    const { heard, open, observeBatch } = listener();
    const { store, command } = await openProvider(makeDatabase, { observeBatch });
    const spoilt = command(SITA_TV, "TV-1M", { partnerId: null as unknown as number });
    const commands = [command(SITA_NET, "NET-1M"), spoilt, command(RAM_NET, "NET-1M")];
    await Promise.allSettled(commands.map((each) => store.settleTopUp(each)));
    expect([heard, open()]).toEqual([
      [
        [3, false],
        [1, true],
        [1, false],
        [1, true],
      ],
      0,
    ]);
  });
}
