import type { Transaction } from "../domain/top-up.ts";
import type { Caller, Ports } from "./ports.ts";

/**
 * A top-up of the caller's on record, whose checkoutId does not open: another topupd has sealed it, for the number that
 * the partner had there; or a secret that sealed it is gone, or was followed by another by a clock that was wrong. That it
 * is on record as this partner's says as much as the seal would. Nothing can be recorded by it, and others' are as
 * unknown as made-up ones.
 */
export async function findOwnRecord(
  { store }: Pick<Ports, "store">,
  { partnerId, environment }: Pick<Caller, "partnerId" | "environment">,
  checkoutId: string,
): Promise<Transaction | undefined> {
  const recorded = await store.findTransaction(checkoutId);
  const isTheirs = recorded?.partnerId === partnerId && recorded.environment === environment;
  return isTheirs ? recorded : undefined;
}
