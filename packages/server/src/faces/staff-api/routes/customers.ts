import { Type } from "typebox";
import { sharedWords } from "../../../domain/customer-audit.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { Refused } from "../../../domain/refused.ts";
import { ENVIRONMENT, environmentOf, PREVIEW } from "../../../office/common.ts";
import { CUSTOMER_ROW, CuidSchema, CustomerWrittenSchema, heldBackFields } from "../../../office/customers/schemas.ts";
import { importCustomer } from "../../../office/imports/customers.ts";
import { officeOf } from "../../../office/office.ts";
import { serviceDesk } from "../ports.ts";
import { route } from "../route.ts";

/** Written by hand, since the body is a whole row, which the reader of rows checks. */
export const customerRoutes = [
  route({
    method: "PUT",
    path: "/customers/:cuid",
    tag: "Customers",
    permission: "administer",
    summary: "Write a customer: a row of a customers file, with its asOf",
    params: Type.Object({ cuid: CuidSchema }),
    query: Type.Object({
      ...ENVIRONMENT,
      ...PREVIEW,
      allowShorter: Type.Optional(Type.Boolean({ description: "Lets the row shorten paid time." })),
    }),
    body: CUSTOMER_ROW,
    answer: CustomerWrittenSchema,
    problems: ["conflict"],
    async handle(ports, { identity, params, query, body }) {
      const environment = await environmentOf(ports, query);
      if (body["cuid"] !== params.cuid) throw Refused.field("cuid", "must be the one in the path");
      const { allowShorter = false, preview = false } = query;
      const office = officeOf(serviceDesk(ports, identity), { preview });
      const effect = await importCustomer(office, { environment, row: body as JsonObject, allowShorter });
      const { cuid, kind, isStale: stale, changes, heldBack, endsRunning, shared } = effect;
      if (kind === "refused")
        throw new Refused("conflict", shared ? `connection ${shared.reqId} ${sharedWords(shared)}` : "");
      return {
        cuid,
        outcome: kind,
        stale,
        changes: changes.map(({ field, from, to }) => ({ field, from: from ?? null, to: to ?? null })),
        heldBack: heldBack.map(heldBackFields),
        endsRunning,
      };
    },
  }),
];
