import { Type } from "typebox";
import { isoTime } from "../../../domain/wall-time.ts";
import { ENVIRONMENT, environmentOf, limitOf, numberCursor, PAGE, pageOf } from "../../../office/common.ts";
import { AttemptSchema } from "../../../office/customers/schemas.ts";
import { Refused } from "../../../office/refused.ts";
import { CodeSchema } from "../../../office/runs.ts";
import { type AttemptsAnswer, listAttempts, listAttemptsOfCustomer } from "../../../services/staff/search-customers.ts";
import { partnerNamesOf } from "../../../services/staff/showing.ts";
import type { AdminPorts } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";
import { CUSTOMER } from "./customers.ts";

/* Calls of partners that were refused, of the last 30 days. */

const TAG = "Attempts";

export const attemptRoutes = [
  route({
    ...{ method: "GET", path: "/attempts", tag: TAG, permission: "read" },
    summary: "List refused calls of partners",
    query: Type.Object({
      ...ENVIRONMENT,
      partner: Type.Optional(Type.String({ maxLength: 200, pattern: "^\\P{Cc}*$" })),
      reason: Type.Optional(CodeSchema),
      ...PAGE,
    }),
    answer: pageOf(AttemptSchema),
    async handle(ports, { query }) {
      const environment = await environmentOf(ports, query);
      const partnerId = await partnerIdOf(ports, query.partner);
      const filter = { environment, partnerId, reason: query.reason };
      const page = { before: numberCursor(query), limit: limitOf(query) };
      return pageData(ports, await listAttempts(ports, { ...filter, ...page }));
    },
  }),
  route({
    ...{ method: "GET", path: "/customers/:cuid/attempts", tag: TAG, permission: "read" },
    summary: "List refused calls that named a customer",
    params: CUSTOMER,
    query: Type.Object({ ...ENVIRONMENT, ...PAGE }),
    answer: pageOf(AttemptSchema),
    problems: ["not_found"],
    async handle(ports, { params, query }) {
      const environment = await environmentOf(ports, query);
      const request = { environment, cuid: params.cuid, before: numberCursor(query), limit: limitOf(query) };
      const answer = await listAttemptsOfCustomer(ports, request);
      if (answer === undefined) throw new Problem("not_found");
      return pageData(ports, answer);
    },
  }),
];

/** @throws Problem where there is none of this name. */
export async function partnerIdOf({ store }: AdminPorts, name: string | undefined): Promise<number | undefined> {
  const partner = name === undefined ? undefined : await store.partners.find(name);
  if (name !== undefined && partner === undefined) throw Refused.field("partner", "is not the name of a partner");
  return partner?.id;
}

async function pageData({ store }: AdminPorts, { attempts, cursor }: AttemptsAnswer) {
  const names = await partnerNamesOf(store);
  return {
    items: attempts.map(({ at, partnerId, operation, reason, code, requestId }) => {
      const partner = names.get(partnerId) ?? String(partnerId);
      return { at: isoTime(at), partner, operation, reason, code: code ?? null, requestId };
    }),
    cursor: cursor === undefined ? null : String(cursor),
  };
}
