import { type Static, Type } from "typebox";
import { codesOf } from "../../domain/customer-import.ts";
import { AS_WRITTEN } from "../../domain/names.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { findCustomer } from "../../store/customers.ts";
import {
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
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { Refused } from "../refused.ts";
import { CodeSchema } from "../runs.ts";
import { partnerName, partnerNamesOf } from "../transactions/presenter.ts";
import { type RefusedCallFilter, readRefusedCalls } from "./refused-calls-sql.ts";
import { CuidSchema, RefusedCallSchema } from "./schemas.ts";

/* Calls of partners that were refused, of the last 30 days. */

const AS = { tag: "Refused calls", permission: "read" } as const;
const RefusedCallsSchema = pageOf(RefusedCallSchema);

export const listRefusedCalls = operation({
  ...{ ...AS, http: "GET /refused-calls", summary: "List refused calls of partners" },
  input: Type.Object({
    ...{ ...ENVIRONMENT, ...PARTNER },
    reason: Type.Optional(Type.String({ ...CodeSchema, description: "Only those refused for this reason." })),
    ...PAGE,
  }),
  answer: RefusedCallsSchema,
  async run(office, input) {
    const [environment, partnerId] = [await environmentOf(office, input), await partnerIdOf(office, input)];
    return refusedCallsOf(office, { environment, partnerId, reason: input.reason }, input);
  },
});

export const listRefusedCallsOfCustomer = operation({
  ...{ ...AS, http: "GET /customers/:cuid/refused-calls", summary: "List refused calls that named a customer" },
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
  const attempts = items.map((attempt) => {
    const { at, operation: called, reason, code, requestId } = attempt;
    return {
      at: isoTime(at),
      partner: partnerName(attempt, { partnerNames }),
      operation: called,
      reason,
      code: code ?? null,
      requestId,
    };
  });
  return { items: attempts, cursor };
}

export const operations: readonly Operation[] = [listRefusedCalls, listRefusedCallsOfCustomer];
