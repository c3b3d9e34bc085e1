import { Refused } from "../../domain/refused.ts";
import type { Ports } from "../../store/ports.ts";
import { reverse } from "../corrections/reversal.ts";
import { officeOf } from "../office.ts";
import { findTransaction } from "../transactions/sql.ts";

/** Most top-ups that one call reverses. */
const AT_ONCE = 50;
const PROVIDER = { actor: { name: "practice" }, limits: undefined } as const;
const BECAUSE = { reason: "The practice customer's top-up is reversed on purpose." };

/** Reverses top-ups of the practice customer that are due. Several processes may do this at once. */
export async function reversePractised(ports: Ports): Promise<void> {
  const { engine } = ports.store;
  const due = engine.db.selectFrom("practiceCheckout").select("checkoutId").where("reverseAt", "<=", ports.clock());
  for (const { checkoutId } of await due.limit(AT_ONCE).execute()) {
    const topUp = await findTransaction(engine.db, checkoutId);
    if (topUp !== undefined) await reverse(officeOf({ ...ports, ...PROVIDER }, BECAUSE), topUp).catch(unlessRefused);
    await engine.transact((tx) =>
      tx.updateTable("practiceCheckout").set({ reverseAt: null }).where("checkoutId", "=", checkoutId).execute(),
    );
  }
}

/** Another process, or staff, has reversed the top-up. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Refused)) throw error;
}
