import { expect, test } from "vitest";
import { CHECKOUT_GRACE_MS, CHECKOUT_VALID_MS } from "../../../src/domain/checkout.ts";
import { StoreContended } from "../../../src/store/errors.ts";
import { RAM_NET, SITA_NET } from "../../store-suite/provider.ts";
import { openFaultyProvider } from "./faulty-provider.ts";

test("no checkout is concluded while a commit is still under way that may have recorded its top-up", async ({
  onTestFinished,
}) => {
  const opened = await openFaultyProvider({ onTestFinished });
  const { store, command, otherSession } = opened;
  const unused = command(SITA_NET, "NET-1M");
  opened.now += CHECKOUT_VALID_MS + CHECKOUT_GRACE_MS + 1;
  const recorded = command(RAM_NET, "NET-1M");
  const other = await otherSession();
  // As a batch does whose commit waits for a standby.
  await other.query("BEGIN; SELECT pg_advisory_xact_lock_shared(7461005)");
  const [concluding, settling] = await Promise.allSettled([
    store.concludeCheckout(unused.checkoutId),
    store.settleTopUp(recorded),
  ]);
  expect(concluding).toMatchObject({ status: "rejected", reason: expect.any(StoreContended) });
  expect(settling).toMatchObject({ status: "fulfilled", value: { kind: "recorded" } });
  expect(await store.findOutcome(unused.checkoutId)).toBeUndefined();
  await other.query("ROLLBACK");
  expect(await store.concludeCheckout(recorded.checkoutId)).toMatchObject({ txnId: recorded.txnId });
  expect(await store.concludeCheckout(unused.checkoutId)).toBeUndefined();
  expect(await store.findOutcome(unused.checkoutId)).toEqual({ retiredAt: opened.now });
});
