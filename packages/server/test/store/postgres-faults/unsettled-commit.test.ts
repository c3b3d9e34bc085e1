import { describe, expect, test } from "vitest";
import { CHECKOUT_GRACE_MS, CHECKOUT_VALID_MS } from "../../../src/domain/checkout.ts";
import { showStatement } from "../../../src/office/accounts/statement.ts";
import { exportTransactions } from "../../../src/office/transactions/operations.ts";
import { StoreContended } from "../../../src/store/errors.ts";
import { RAM_NET, SITA_NET } from "../../store-suite/provider.ts";
import { run } from "../../support/desk.ts";
import { openFaultyProvider, sleep } from "./faulty-provider.ts";

/** Acts like a batch whose commit waits for a standby. */
const RECORDING = "BEGIN; SELECT pg_advisory_xact_lock_shared(7461005)";

describe.concurrent("while a commit is under way", () => {
  test("no checkout is concluded whose top-up it may have recorded", async ({ onTestFinished }) => {
    const opened = await openFaultyProvider({ onTestFinished });
    const { store, command, otherSession } = opened;
    const unused = command(SITA_NET, "NET-1M");
    opened.now += CHECKOUT_VALID_MS + CHECKOUT_GRACE_MS + 1;
    const recorded = command(RAM_NET, "NET-1M");
    const other = await otherSession();
    await other.query(RECORDING);
    const [concluding, settling] = await Promise.allSettled([
      store.concludeCheckout(unused.checkoutId),
      store.settleTopUp(recorded),
    ]);
    expect(concluding).toMatchObject({ status: "rejected", reason: expect.any(StoreContended) });
    expect(settling).toMatchObject({ status: "fulfilled", value: { kind: "recorded" } });
    expect(await store.findOutcome(unused.checkoutId)).toBeUndefined();
    await other.query("ROLLBACK");
    expect(await store.concludeCheckout(recorded.checkoutId)).toMatchObject({
      txnId: expect.stringContaining(recorded.txnDigits),
    });
    expect(await store.concludeCheckout(unused.checkoutId)).toBeUndefined();
    expect(await store.findOutcome(unused.checkoutId)).toEqual({ retiredAt: opened.now });
  });

  test("an export waits for earlier decisions, and delays no top-up", async ({ onTestFinished }) => {
    const opened = await openFaultyProvider({ onTestFinished });
    const { desk, topUp, otherSession } = opened;
    const { checkoutId } = await topUp(SITA_NET, "NET-1M");
    const other = await otherSession();
    await other.query(`${RECORDING}; SET LOCAL session_replication_role = replica;
      UPDATE top_up SET udf1 = 'seen' WHERE checkout_id = '${checkoutId}'`);
    opened.now += 3_600_000;
    const exporting = run(desk(), exportTransactions, { settled: true }).then((pages) => pages.next());
    await sleep(300);
    await topUp(RAM_NET, "NET-1M");
    await other.query("COMMIT");
    const { value } = await exporting;
    expect(value).toMatchObject([{ checkoutId, udf1: "seen" }]);
  });

  test("a statement waits for earlier decisions, as a settlement does", async ({ onTestFinished }) => {
    const opened = await openFaultyProvider({ onTestFinished });
    const { desk, topUp, otherSession } = opened;
    await topUp(SITA_NET, "NET-1M");
    const other = await otherSession();
    await other.query(`${RECORDING}; UPDATE sales_day SET top_ups = top_ups + 1`);
    const month = new Date(opened.now).toISOString().slice(0, 7);
    const asking = run(desk(), showStatement, { name: "wallet", environment: "production", month });
    await sleep(300);
    await other.query("COMMIT");
    expect((await asking).lines).toContainEqual(expect.objectContaining({ kind: "top_up", count: 2 }));
  });

  test("an export gives up after ten seconds, and says what to do", async ({ onTestFinished }) => {
    const { store, otherSession } = await openFaultyProvider({ onTestFinished });
    const other = await otherSession();
    await other.query(RECORDING);
    await expect(store.engine.awaitCommits()).rejects.toThrow(/under way for 10 seconds: see in pg_stat_activity/);
    await other.query("ROLLBACK");
    await store.engine.awaitCommits();
  });

  test("a correction is one too, from its first look on", async ({ onTestFinished }) => {
    const { store, topUp, reverse, otherSession } = await openFaultyProvider({ onTestFinished });
    const { checkoutId } = await topUp(SITA_NET, "NET-1M");
    const other = await otherSession();
    await other.query("BEGIN; LOCK TABLE reversal IN SHARE MODE");
    let isDone = false;
    const correcting = reverse(checkoutId).finally(() => {
      isDone = true;
    });
    await sleep(500);
    const waiting = store.engine.awaitCommits().then(() => isDone);
    await sleep(300);
    await other.query("ROLLBACK");
    expect(await correcting).toMatchObject({ status: "reversed" });
    expect(await waiting).toBe(true);
  });
});
