import type { NewEvent, RecordedEvent } from "../domain/event.ts";
import type { EventRow } from "./tables.ts";

export const EVENT_COLUMNS = [
  ...(["seq", "kind", "at", "environment", "cuid", "service", "req_id", "partner_id", "state"] as const),
] satisfies readonly (keyof EventRow)[];

/** An event as it is written; the store numbers it. */
export function eventRow({ kind, at, key, state, topUp }: NewEvent): Omit<EventRow, "seq"> {
  const { environment, cuid, service, reqId: req_id } = key;
  const { txnId, checkoutId, bouquetCode, amount } = topUp ?? {};
  const json = JSON.stringify({ ...state, txnId, checkoutId, bouquetCode, amount: amount && Number(amount) });
  return { kind, at, environment, cuid, service, req_id, partner_id: topUp?.partnerId ?? null, state: json };
}

/** @param row beside the name of its partner. */
export function toRecordedEvent(row: EventRow & { readonly partner: string | null }): RecordedEvent {
  const { seq, kind, at, environment, cuid, service, req_id: reqId, partner_id: partnerId, partner } = row;
  const { blocked, subscriptions, txnId, checkoutId, bouquetCode, amount } = JSON.parse(row.state);
  const isTopUp = partnerId !== null;
  const topUp = isTopUp ? { txnId, checkoutId, partnerId, bouquetCode, amount: BigInt(amount) } : undefined;
  const key = { environment, cuid, service, reqId };
  return { seq, kind, at, key, state: { blocked, subscriptions }, topUp, partner: partner ?? undefined };
}
