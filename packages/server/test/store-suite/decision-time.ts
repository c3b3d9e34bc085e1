import { expect, onTestFinished, test } from "vitest";
import { CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import { RECORDING_DEADLINE_MS } from "../../src/domain/top-up.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import { seededRandom } from "../support/random.ts";
import { countRows, type MakeDatabase } from "./database.ts";
import { expectRecorded, openProvider, SITA_NET } from "./provider.ts";

export function testDecisionTime(makeDatabase: MakeDatabase): void {
  test("a checkout is good up to and including its last millisecond", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    opened.now += CHECKOUT_VALID_MS;
    expect(expectRecorded(await opened.store.settleTopUp(command)).at).toBe(opened.now);
  });

  test("a checkout has expired a millisecond later", async () => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    opened.now += CHECKOUT_VALID_MS + 1;
    expect(await opened.store.settleTopUp(command)).toEqual({
      kind: "refused",
      refusal: "checkout_expired",
      retires: true,
    });
    expect(await opened.store.findTransaction(command.checkoutId)).toBeUndefined();
  });

  test("a checkout that expires while its top-up waits to be settled has expired", async () => {
    const opened = await openProvider(makeDatabase);
    const settled = opened.store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
    opened.now += CHECKOUT_VALID_MS + 1;
    expect(await settled).toEqual({ kind: "refused", refusal: "checkout_expired", retires: true });
  });

  test("the time on a transaction is that of the decision, and not that of the call", async () => {
    const opened = await openProvider(makeDatabase);
    const settled = opened.store.settleTopUp(opened.command(SITA_NET, "NET-1M"));
    opened.now += 1234;
    expect(expectRecorded(await settled).at).toBe(opened.now);
  });

  test("a top-up that took longer to record than the deadline is not recorded at all", async () => {
    const opened = await openProvider(makeDatabase);
    const slow = await storeThatTakes(opened, RECORDING_DEADLINE_MS + 1);
    const commands = [opened.command(SITA_NET, "NET-1M"), opened.command(SITA_NET, "NET-1M")];
    for (const settled of commands.map((command) => slow.settleTopUp(command))) {
      await expect(settled).rejects.toBeInstanceOf(StoreUnavailable);
    }
    expect(await countRows(opened, "top_up")).toBe(0);
    expectRecorded(await opened.store.settleTopUp(commands[0] as (typeof commands)[0]));
  });

  test("a top-up whose txnId has another time than its decision, since the clock was set, is not recorded", async () => {
    const opened = await openProvider(makeDatabase);
    const [command, neighbour] = [opened.command(SITA_NET, "NET-1M"), opened.command(SITA_NET, "NET-1M")];
    opened.now -= 3_600_000;
    await expect(opened.store.settleTopUp(command)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await countRows(opened, "top_up")).toBe(0);
    opened.now += 3_600_000;
    expectRecorded(await opened.store.settleTopUp(neighbour));
  });

  test("a top-up that took just as long as the deadline is recorded", async () => {
    const opened = await openProvider(makeDatabase);
    const slow = await storeThatTakes(opened, RECORDING_DEADLINE_MS);
    expectRecorded(await slow.settleTopUp(opened.command(SITA_NET, "NET-1M")));
  });
}

/** A store for which so much time passes between any two looks at the clock. */
async function storeThatTakes(opened: Awaited<ReturnType<typeof openProvider>>, ms: number) {
  let looks = 0;
  const clock = () => {
    looks += 1;
    return opened.now + (looks - 1) * ms;
  };
  const store = await opened.database.open({ clock, random: seededRandom(9) });
  looks = 0;
  onTestFinished(() => store.close());
  return store;
}
