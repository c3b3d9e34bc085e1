import { expect, test, vi } from "vitest";
import { deposit, openAccountDesk } from "../store-suite/account-desk.ts";
import { SITA_NET } from "../store-suite/provider.ts";
import { refusal } from "../support/desk.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";

/** An account desk, and a way to work while another process is in the middle of its transaction. */
async function openWaiting() {
  const opened = await openAccountDesk(makePostgresDatabase);
  const other = await opened.another();
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  /** Begins `work` inside the transaction, and ends it once `work` waits for a lock. */
  const during = async <Result>(
    hold: Parameters<typeof other.engine.transact<void>>[0],
    work: () => Promise<Result>,
  ): Promise<{ readonly began: Promise<Result>; readonly hasWaited: boolean }> => {
    let began: Promise<Result> | undefined;
    let isDone = false;
    await other.engine.transact(async (tx) => {
      await hold(tx);
      began = work();
      began.catch(() => {}).finally(() => (isDone = true));
      await vi.waitFor(async () => expect(isDone || (await opened.database.read(waiting)).length > 0).toBe(true), {
        timeout: 10_000,
      });
    });
    return { began: began as Promise<Result>, hasWaited: !isDone };
  };
  return Object.assign(opened, { other, during });
}

test("an account becomes guarded only after the transactions that record", async () => {
  const opened = await openWaiting();
  const { other, during } = opened;
  for (const work of [
    () => opened.account({ creditLimit: "0" }),
    () => opened.limit({ dayTopUps: "5" }),
  ] as (() => Promise<object>)[]) {
    const { began, hasWaited } = await during((tx) => other.engine.lockCustomers(tx, [SITA_NET]), work);
    expect(hasWaited).toBe(true);
    await began;
    await opened.account({ creditLimit: "none" });
  }
});

test("a withdrawal sees what a batch is just charging", async () => {
  const { account, enter, other, during, show } = await openWaiting();
  await enter(deposit("1000", "bank 1"));
  await account({ creditLimit: "0" });
  const charge = (tx: Parameters<Parameters<typeof during>[0]>[0]) =>
    tx.updateTable("account").set({ balance: 30_000 }).execute();
  const withdraw = () => enter({ kind: "withdrawal", amount: "500", reference: "V-1" });
  const { began } = await during(async (tx) => void (await charge(tx)), withdraw);
  expect(await refusal(began)).toMatchObject({ code: "conflict", words: expect.stringContaining("only 300.00") });
  expect(await show(other)).toMatchObject({ balance: "300.00" });
});

test("a batch sees what another batch is just charging", async () => {
  const { account, buy, enter, other, during, show } = await openWaiting();
  await enter(deposit("1130", "bank 1"));
  await account({ creditLimit: "0" });
  const { began, hasWaited } = await during(
    async (tx) => void (await tx.updateTable("account").set({ balance: 30_000 }).execute()),
    () => buy(),
  );
  expect(hasWaited).toBe(true);
  expect((await began)[0]).toBe("insufficient_balance");
  expect(await show(other)).toMatchObject({ balance: "300.00" });
});
