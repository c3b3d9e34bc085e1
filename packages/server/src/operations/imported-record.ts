import type { Transaction } from "../domain/top-up.ts";
import type { Caller, Ports } from "./ports.ts";

/**
 * A top-up of the caller's that another topupd has recorded, and that was imported. Its checkoutId is sealed with a
 * secret of that one, and for the number that the partner had there: neither opens here. That it is on record as this
 * partner's says as much as the seal would; nothing can be recorded by it, and others' are as unknown as made-up ones.
 */
export async function findImported(
  { store }: Pick<Ports, "store">,
  { partnerId, environment }: Pick<Caller, "partnerId" | "environment">,
  checkoutId: string,
): Promise<Transaction | undefined> {
  const recorded = await store.findTransaction(checkoutId);
  const isTheirs = recorded?.partnerId === partnerId && recorded.environment === environment;
  return isTheirs && recorded.imported === true ? recorded : undefined;
}
