import { type Static, Type } from "typebox";
import { codesOf } from "../../domain/customer-import.ts";
import { AS_WRITTEN } from "../../domain/names.ts";
import { Refused } from "../../domain/refused.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { findCustomer } from "../../store/customers.ts";
import {
  CodeSchema,
  DAYS,
  daysOf,
  ENVIRONMENT,
  environmentOf,
  numberCursor,
  PAGE,
  type PageInput,
  pageOf,
  readPage,
} from "../common.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { PARTNER, partnerIdOf } from "../partners/meant.ts";
import { partnerNamesOf } from "../partners/sql.ts";
import { partnerName } from "../transactions/presenter.ts";
import { type RefusedCallFilter, readRefusedCalls } from "./refused-call-rows.ts";
import { CuidSchema, RefusedCallSchema } from "./schemas.ts";

/* Calls of partners that were refused, of the last 30 days. */

const AS = { tag: "Refused calls", permission: "read" } as const;
const RefusedCallsSchema = pageOf(RefusedCallSchema);

export const listRefusedCalls = operation({
  ...AS,
  http: "GET /refused-calls",
  isReport: true,
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
  page: PageInput,
): Promise<Static<typeof RefusedCallsSchema>> {
  const read = (limit: number) => readRefusedCalls(store.engine.db, filter, { before: numberCursor(page), limit });
  const { items, cursor } = await readPage(page, read, ({ id }) => id);
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
