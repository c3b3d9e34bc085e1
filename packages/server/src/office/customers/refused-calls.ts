import { type Static, Type } from "typebox";
import type { Environment } from "../../domain/customer.ts";
import { codesOf } from "../../domain/customer-import.ts";
import { AS_WRITTEN } from "../../domain/names.ts";
import { type Instant, isoTime } from "../../domain/wall-time.ts";
import { findCustomer } from "../../store/customers.ts";
import type { RefusedCall } from "../../store/store.ts";
import {
  CodeSchema,
  DAYS,
  daysOf,
  ENVIRONMENT,
  environmentOf,
  limitOf,
  numberCursor,
  PAGE,
  PARTNER,
  pageOf,
  pageUpTo,
  partnerIdOf,
} from "../common.ts";
import type { Db, Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { partnerNamesOf } from "../partners/sql.ts";
import { Refused } from "../refused.ts";
import { partnerName } from "../transactions/presenter.ts";
import { CuidSchema, RefusedCallSchema } from "./schemas.ts";

/* Calls of partners that were refused, of the last 30 days. */

const AS = { tag: "Refused calls", permission: "read" } as const;
const RefusedCallsSchema = pageOf(RefusedCallSchema);

export const listRefusedCalls = operation({
  ...AS,
  http: "GET /refused-calls",
  summary: "List refused calls of partners",
  input: Type.Object({
    ...ENVIRONMENT,
    ...PARTNER,
    ...DAYS,
    reason: Type.Optional(
      Type.String({ ...CodeSchema, description: "Reason of the refusal; empty means all reasons." }),
    ),
    ...PAGE,
  }),
  answer: RefusedCallsSchema,
  async run(office, input) {
    const [environment, partnerId] = [await environmentOf(office, input), await partnerIdOf(office, input)];
    return refusedCallsOf(office, { environment, partnerId, reason: input.reason, ...daysOf(office, input) }, input);
  },
});

export const listRefusedCallsOfCustomer = operation({
  ...AS,
  http: "GET /customers/:cuid/refused-calls",
  summary: "List refused calls that named a customer",
  refuses: ["not_found"],
  input: Type.Object({ cuid: CuidSchema, ...ENVIRONMENT, ...PAGE }),
  answer: RefusedCallsSchema,
  async run(office, input) {
    const { engine, provider } = office.store;
    const environment = await environmentOf(office, input);
    const customer = await findCustomer(engine.db, environment, input.cuid);
    if (customer === undefined) throw new Refused("not_found", `no ${environment} customer has the cuid ${input.cuid}`);
    const codes = codesOf(customer, customer.connections, provider.normaliseMobile ?? AS_WRITTEN);
    return refusedCallsOf(office, { environment, codes }, input);
  },
});

async function refusedCallsOf(
  { store }: Office,
  filter: RefusedCallFilter,
  page: { readonly cursor?: string | undefined; readonly limit?: number | undefined },
): Promise<Static<typeof RefusedCallsSchema>> {
  const limit = limitOf(page);
  const found = await readRefusedCalls(store.engine.db, filter, { before: numberCursor(page), limit: limit + 1 });
  const { items, cursor } = pageUpTo(limit, found, ({ id }) => String(id));
  const partnerNames = await partnerNamesOf(store);
  const calls = items.map((call) => {
    const { at, operation: called, reason, detail = null, code = null, requestId } = call;
    return {
      at: isoTime(at),
      partner: partnerName(call, { partnerNames }),
      operation: called,
      reason,
      detail,
      code,
      requestId,
    };
  });
  return { items: calls, cursor };
}

export const operations: readonly Operation[] = [listRefusedCalls, listRefusedCallsOfCustomer];

export interface RefusedCallFilter {
  readonly environment: Environment;
  /** Customer ids and codes: the call named one of them. */
  readonly codes?: readonly string[] | undefined;
  readonly partnerId?: number | undefined;
  readonly reason?: string | undefined;
  readonly from?: Instant | undefined;
  readonly until?: Instant | undefined;
}

/** Lists refused calls, newest first, with their numbers. @param page.before of the last call of the previous page. */
export async function readRefusedCalls(
  db: Db,
  filter: RefusedCallFilter,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<(RefusedCall & { readonly id: number })[]> {
  if (filter.codes?.length === 0) return [];
  const query = filtered(db, filter).selectAll().orderBy("id", "desc").limit(limit);
  const rows = await (before === undefined ? query : query.where("id", "<", before)).execute();
  return rows.map((row) => ({ ...row, detail: row.detail ?? undefined, code: row.code ?? undefined }));
}

/** Counts refused calls by their reasons, most first. */
export async function countRefusedCalls(
  db: Db,
  filter: RefusedCallFilter,
): Promise<{ readonly reason: string; readonly count: number }[]> {
  const rows = await filtered(db, filter)
    .select((eb) => ["reason", eb.fn.countAll().as("count")])
    .groupBy("reason")
    .orderBy("count", "desc")
    .orderBy("reason")
    .execute();
  return rows.map(({ reason, count }) => ({ reason, count: Number(count) }));
}

function filtered(db: Db, { environment, codes, partnerId, reason, from, until }: RefusedCallFilter) {
  let query = db.selectFrom("refusedCall").where("environment", "=", environment);
  if (codes !== undefined) query = query.where("code", "in", codes);
  if (partnerId !== undefined) query = query.where("partnerId", "=", partnerId);
  if (reason !== undefined) query = query.where("reason", "=", reason);
  if (from !== undefined) query = query.where("at", ">=", from);
  if (until !== undefined) query = query.where("at", "<", until);
  return query;
}
