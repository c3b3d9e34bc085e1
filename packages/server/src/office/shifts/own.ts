import { Refused } from "../../domain/refused.ts";
import type { SellerKey } from "../../domain/sale.ts";
import type { Db } from "../../store/engine.ts";
import type { Office } from "../office.ts";
import { sellerOf } from "../staff/sellers.ts";

/** The seller who asks. @throws Refused */
export async function sellerKey(office: Office, db?: Db): Promise<SellerKey> {
  const { name, token } = await sellerOf(office, db);
  return { seller: name, partnerId: token.partner.id, environment: token.environment };
}

/** @throws Refused */
export function noShift(): never {
  throw new Refused("conflict", "you have no open shift: open one first");
}
