import { expect } from "vitest";
import { portionsOf } from "../../src/domain/portions.ts";
import { firstTransactionId } from "../../src/domain/transaction.ts";
import { transactionOfRow } from "../../src/store/rows.ts";
import { BatchSales } from "../../src/store/sales.ts";
import type { TopUpRow } from "../../src/store/tables.ts";
import { expectInContract } from "./contract.ts";
import { PREFIX, prepareTopUp, type TestService } from "./service.ts";

export const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" } as const;

export type ReportName = "partner/account" | "partner/account/entries" | "partner/top-ups" | "partner/webhook";
type Query = Readonly<Record<string, string>> | string;

/** Asks for a report, by default with the trial token. An answer that is not in the contract is an error. */
export async function ask(service: TestService, name: ReportName, query: Query = "", token = service.trialToken) {
  const text = typeof query === "string" ? query : `?${new URLSearchParams(query).toString()}`;
  const response = await service.inject({
    method: "GET",
    url: `${PREFIX}/v1.0.1/${name}${text}`,
    headers: { authorization: `Bearer ${token}` },
  });
  const { statusCode: status, headers } = response;
  expectInContract("v1.0.1", name, status, response.json(), headers);
  return { status, headers, json: response.json() };
}

// biome-ignore lint/suspicious/noExplicitAny: items are whatever the test expects of them
type Item = any;

/** All items of a list, and its number of pages. */
export async function askAll(service: TestService, name: ReportName, query: Query, token?: string) {
  const items: Item[] = [];
  let pages = 0;
  for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
    const { status, json } = await ask(service, name, cursor === undefined ? query : { cursor }, token);
    expect(status).toBe(200);
    items.push(...json.body.items);
    cursor = json.body.next;
  }
  return { items, pages };
}

export async function topUp(service: TestService, token = service.trialToken, more: object = {}) {
  const request = { ...(await prepareTopUp(service, FIBER, "TRIAL-NET-1M", { token })), ...more };
  const { json } = await service.call("subscription-package-topup", request, { token });
  return json.body.result as { txnId: string; orderId: string; txnDate: string };
}

/** Writes trial top-ups of a partner straight into the table, a millisecond apart from each other. */
export async function fill(
  { store }: TestService,
  partnerId: number,
  from: number,
  count: number,
  udf1: string | null = null,
): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, index): TopUpRow => {
    const at = from + index;
    const txnId = `${firstTransactionId(at)}${String(partnerId).padStart(8, "0")}${String(index).padStart(8, "0")}`;
    return {
      ...{ checkoutId: `filled-${txnId}`, txnId, partnerId, environment: "trial", ...FIBER },
      ...{ bouquetCode: "TRIAL-NET-1M", amount: 113_000, commission: 1_000, at, status: "success" },
      ...{ txnDate: store.provider.zone.wallTime(at), udf1, udf2: null },
    };
  });
  await store.engine.transact(async (tx) => {
    for (const some of portionsOf(rows, 2_000)) await tx.insertInto("topUp").values(some).execute();
    const sales = new BatchSales();
    for (const row of rows) sales.add(transactionOfRow(row));
    await store.engine.addSales(tx, sales.rows);
  });
  return rows.map(({ txnId }) => txnId);
}
