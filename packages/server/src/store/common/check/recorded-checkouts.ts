import type { Service } from "../../../domain/bouquet.ts";
import { isCheckoutFor, isSealLost } from "../../../domain/checkout.ts";
import { CHECKOUT_KEY_BYTES, type CheckoutSecret } from "../../../domain/checkout-secret.ts";
import type { Environment } from "../../../domain/customer.ts";
import type { CheckEvent } from "../../store.ts";
import { found } from "./found.ts";

/** Every top-up, for {@link checkRecordedCheckouts}. */
export const RECORDED_CHECKOUTS =
  "SELECT checkout_id, partner_id, environment, cuid, service, req_id, imported FROM top_up";

interface RecordedRow {
  readonly checkout_id: string;
  readonly partner_id: number;
  readonly environment: Environment;
  readonly cuid: string;
  readonly service: Service;
  readonly req_id: string;
  readonly imported: number | boolean;
}

/**
 * Holds each top-up against its checkoutId, and that against the secrets: one whose seal does not open says that a secret
 * is not what it was. What is on record is answered all the same; a checkoutId that was not used yet is unknown. Those of
 * another topupd were sealed with secrets of its own, and have no grant that would tell whose they are.
 * @param rows as {@link RECORDED_CHECKOUTS} finds them.
 * @param secrets newest first.
 */
export async function* checkRecordedCheckouts(
  rows: AsyncIterable<unknown> | Iterable<unknown>,
  secrets: readonly CheckoutSecret[],
): AsyncGenerator<CheckEvent> {
  if (secrets.length === 0) yield { kind: "wrong", what: "there is no checkout secret" };
  const broken = secrets.filter(({ key }) => key.byteLength !== CHECKOUT_KEY_BYTES);
  let [recorded, lost, elsewhere] = [0, 0, 0];
  for await (const row of rows as AsyncIterable<RecordedRow>) {
    if (row.imported) {
      if (!isCheckoutFor(row.checkout_id, { ...row, reqId: row.req_id })) elsewhere += 1;
      continue;
    }
    recorded += 1;
    if (isSealLost(secrets, { partnerId: row.partner_id, environment: row.environment }, row.checkout_id)) lost += 1;
  }
  yield found(elsewhere, "top-ups of another topupd whose checkoutId was issued for another connection");
  yield found(broken.length, "checkout secrets that are not whole");
  if (lost > 0)
    yield {
      kind: "wrong",
      what: `${lost} top-ups whose checkoutId no secret opens: a checkout secret was lost or altered, and checkoutIds that it sealed and that were not used yet are unknown`,
    };
  else yield { kind: "checked", what: "checkoutIds of top-ups open with the secret that sealed them", count: recorded };
}
