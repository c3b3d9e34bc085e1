import { Type } from "typebox";
import { setBlocked } from "../../services/staff/connections.ts";
import { type CorrectionRefusal, refusalWords } from "../../services/staff/correction-words.ts";
import {
  grantGoodwill,
  MOST_GOODWILL_DAYS,
  reverseGoodwill,
  type SubscriptionChange,
} from "../../services/staff/subscriptions.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";
import { ENVIRONMENT_QUERY, environmentOf, PREVIEW_QUERY, ReasonSchema, ServiceSchema } from "../schemas/common.ts";
import { BlockEffectSchema, CodeSchema, CorrectionEffectSchema, PlanSchema, runOf } from "../schemas/customers.ts";
import { CUSTOMER } from "./customers.ts";

/* What staff set right by hand for one customer. */

const TAG = "Corrections";
const QUERY = Type.Object({ ...ENVIRONMENT_QUERY, ...PREVIEW_QUERY });
const CONNECTION = { service: ServiceSchema, reqId: CodeSchema };
const WHICH_PLAN = { plan: Type.Optional(PlanSchema) };

export const correctionRoutes = [
  route({
    ...{ method: "POST", path: "/customers/:cuid/goodwill", tag: TAG, permission: "correct" },
    summary: "Give a subscription days for nothing",
    params: CUSTOMER,
    query: QUERY,
    body: Type.Object({
      ...{ ...CONNECTION, ...WHICH_PLAN },
      days: Type.Integer({ minimum: 1, maximum: MOST_GOODWILL_DAYS }),
      reason: ReasonSchema,
    }),
    answer: CorrectionEffectSchema,
    problems: ["not_found", "conflict"],
    async handle(ports, { identity, params, query, body }) {
      const of = { environment: await environmentOf(ports, query), cuid: params.cuid, preview: query.preview };
      const answer = await grantGoodwill(ports, identity, { ...body, plan: body.plan, ...of });
      if (answer.kind !== "granted") throw refused(answer, body.plan);
      return effectData(answer);
    },
  }),
  route({
    ...{ method: "POST", path: "/customers/:cuid/goodwill-reversal", tag: TAG, permission: "correct" },
    summary: "Reverse the goodwill that was given last",
    params: CUSTOMER,
    query: QUERY,
    body: Type.Object({
      ...{ ...CONNECTION, ...WHICH_PLAN },
      seq: Type.Optional(
        Type.Integer({ minimum: 1, description: "The ledger's entry that is meant: another one is not reversed." }),
      ),
      reason: ReasonSchema,
    }),
    answer: CorrectionEffectSchema,
    problems: ["not_found", "conflict"],
    async handle(ports, { identity, params, query, body }) {
      const of = { environment: await environmentOf(ports, query), cuid: params.cuid, preview: query.preview };
      const answer = await reverseGoodwill(ports, identity, { ...body, plan: body.plan, ...of });
      if (answer.kind !== "reversed") throw refused(answer, body.plan);
      return effectData(answer);
    },
  }),
  route({
    ...{ method: "POST", path: "/customers/:cuid/block", tag: TAG, permission: "correct" },
    summary: "Block a connection until staff unblock it, or unblock it",
    params: CUSTOMER,
    query: QUERY,
    body: Type.Object({ ...CONNECTION, blocked: Type.Boolean(), reason: ReasonSchema }),
    answer: BlockEffectSchema,
    problems: ["not_found", "conflict"],
    async handle(ports, { identity, params, query, body }) {
      const of = { environment: await environmentOf(ports, query), cuid: params.cuid, preview: query.preview };
      const answer = await setBlocked(ports, identity, { ...body, ...of });
      if (answer.kind !== "done") throw refused(answer);
      const { cuid, service, reqId } = answer.connection;
      return { cuid, service, reqId, blocked: body.blocked, changed: answer.changed };
    },
  }),
];

function refused(refusal: CorrectionRefusal, plan?: string): Problem {
  return new Problem(
    refusal.kind === "no_connection" ? "not_found" : "conflict",
    sentence(refusalWords(refusal, plan)),
  );
}

/** As a page shows it by itself. */
export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function effectData({ connection, plan, before, after }: SubscriptionChange) {
  const { cuid, service, reqId } = connection;
  return { cuid, service, reqId, plan, before: runOf(before), after: runOf(after) };
}
