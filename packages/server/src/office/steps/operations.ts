import { Type } from "typebox";
import { isBlocked } from "../../domain/customer.ts";
import { customerResent } from "../../domain/customer-audit.ts";
import { eventOf } from "../../domain/event.ts";
import { Refused } from "../../domain/refused.ts";
import { findConnectionsWithHeads } from "../../store/customers.ts";
import { hasTarget } from "../../store/events.ts";
import { CodeSchema, ENVIRONMENT, environmentOf, onePage, pageOf } from "../common.ts";
import { decide } from "../decide.ts";
import { type Operation, operation } from "../operation.ts";
import { count } from "../text.ts";
import { LateServiceSchema, lateServices } from "./chains.ts";

/* Where is it: what targets have done with the changes of connections. */

/** Late services in the list. Their number is that of all. */
const MOST_SHOWN = 50;

export const listLateServices = operation({
  http: "GET /late-services",
  tag: "Targets and events",
  permission: "read",
  summary: "List paid connections with a step that failed or is late at a target that is not paused: the first 50",
  input: Type.Object(ENVIRONMENT),
  answer: pageOf(LateServiceSchema, {
    total: Type.Integer({ description: "Number of all such connections." }),
    isCut: Type.Boolean({ description: "Whether the number may be larger: not all connections were looked at." }),
  }),
  async run(office, input) {
    const { services, isCut } = await lateServices(office, await environmentOf(office, input));
    return { ...onePage(services.slice(0, MOST_SHOWN)), total: services.length, isCut };
  },
});

export const resendCustomer = operation({
  http: "POST /customers/:cuid/resend",
  tag: "Customers",
  permission: "correct",
  refuses: ["not_found", "conflict"],
  summary: "Send all targets the present state of a customer's connections again",
  input: Type.Object({ cuid: Type.String({ ...CodeSchema, description: "The customer id." }), ...ENVIRONMENT }),
  answer: Type.Object({ sent: Type.Integer({ description: "Number of events." }) }),
  cli: [
    {
      words: "customer resend",
      arguments: ["cuid"],
      show: ({ sent }: { readonly sent: number }) => ({ out: `${count(sent, "event")} will be sent.\n` }),
      examples: ["topupd customer resend 204117"],
    },
  ],
  async run(office, { cuid, ...asked }) {
    const environment = await environmentOf(office, asked);
    return decide(office, [{ environment, cuid }], async (tx) => {
      const connections = await findConnectionsWithHeads(tx, environment, [cuid]);
      if (connections.length === 0)
        throw new Refused("not_found", `no ${environment} customer with a connection has the cuid ${cuid}`);
      if (!(await hasTarget(tx))) throw new Refused("conflict", "there is no target yet: add one first");
      const events = connections.flatMap((connection) => {
        const { service, reqId, ledgers } = connection;
        const hadAny = ledgers.length > 0;
        if (!hadAny && !isBlocked(connection)) return [];
        const kind = hadAny ? "subscription.changed" : "connection.blocked";
        const event = eventOf(kind, office.by.at, { environment, cuid, service, reqId }, connection);
        return [{ ...event, repeated: true }];
      });
      const answer = { sent: events.length };
      if (events.length === 0) return { answer };
      return {
        answer,
        change: { async write() {}, audit: [customerResent(cuid, environment, events.length)], events },
      };
    });
  },
});

export const operations: readonly Operation[] = [listLateServices, resendCustomer];
