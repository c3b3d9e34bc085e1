import { type Static, Type } from "typebox";
import type { BulkOrder } from "../../../domain/bulk-correction.ts";
import type { Environment } from "../../../domain/customer.ts";
import { ENVIRONMENT, environmentOf, oneOf, orNull, ReasonSchema, ServiceSchema } from "../../../office/common.ts";
import { Refused } from "../../../office/refused.ts";
import { CodeSchema, PlanSchema, RunSchema, runOf } from "../../../office/runs.ts";
import type { BulkRun } from "../../../services/staff/bulk.ts";
import { type BulkRequest, MOST_BULK_CONNECTIONS, planBulk } from "../../../services/staff/bulk-plan.ts";
import { MOST_GOODWILL_DAYS } from "../../../services/staff/subscriptions.ts";
import type { BulkEffect } from "../../../store/changes.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";

/* One correction of many connections: of an outage, or a district that is switched off. */

const TAG = "Bulk corrections";
const ACTIONS = ["goodwill", "block", "unblock"] as const;
/** Of effects, and of problems, that a preview shows one by one. */
const MOST_SHOWN = 1_000;
const LINE_MAX_LENGTH = 200;
/** As many lines as can be, each of the length that lines have. */
const BODY_MAX_BYTES = 4 * 1024 * 1024;

const BulkRequestSchema = Type.Object({
  action: oneOf(ACTIONS),
  connections: Type.Optional(
    Type.Array(Type.String({ maxLength: LINE_MAX_LENGTH, pattern: "^[\\t\\P{Cc}]*$" }), {
      maxItems: MOST_BULK_CONNECTIONS,
      description: "One text each: `reqId`, or `cuid service reqId`.",
    }),
  ),
  segment: Type.Optional(CodeSchema),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_GOODWILL_DAYS, description: "Of goodwill." })),
  plan: Type.Optional(PlanSchema),
  reason: ReasonSchema,
  skipRepeated: Type.Optional(
    Type.Boolean({
      description: "Leaves out whom staff gave goodwill in the last day: to go on where one was cut off.",
    }),
  ),
});

export const BulkPreviewSchema = Type.Object(
  {
    effects: Type.Array(
      Type.Object({
        ...{ cuid: Type.String(), service: ServiceSchema, reqId: Type.String(), plan: orNull(Type.String()) },
        ...{ before: orNull(RunSchema), after: orNull(RunSchema) },
        repeated: Type.Boolean({ description: "Whether staff gave it goodwill in the last day already." }),
      }),
      { description: `The first ${MOST_SHOWN}.` },
    ),
    count: Type.Integer({ description: "How many there are." }),
    problems: Type.Array(Type.Object({ line: Type.String(), problem: Type.String() }), {
      description: `The first ${MOST_SHOWN}.`,
    }),
    problemCount: Type.Integer({ description: "How many there are." }),
  },
  { title: "BulkPreview" },
);

export const BulkRunSchema = Type.Object(
  {
    ...{ id: Type.String(), action: oneOf(ACTIONS), author: Type.String() },
    state: oneOf(["running", "done", "failed"]),
    ...{ done: Type.Integer(), count: Type.Integer() },
    failed: Type.Array(Type.Object({ connection: Type.String(), problem: Type.String() })),
    problem: orNull(Type.String()),
  },
  { title: "BulkRun" },
);

export const bulkRoutes = [
  route({
    ...{ method: "GET", path: "/segments", tag: TAG, permission: "read" },
    summary: "List segments, and how many connections each has",
    query: Type.Object(ENVIRONMENT),
    answer: Type.Object({
      items: Type.Array(Type.Object({ segment: Type.String(), connections: Type.Integer() })),
    }),
    async handle(ports, { query }) {
      return { items: [...(await ports.store.search.listSegments(await environmentOf(ports, query)))] };
    },
  }),
  route({
    ...{ method: "POST", path: "/bulk/preview", tag: TAG, permission: "correct", changesNothing: true },
    mostBytes: BODY_MAX_BYTES,
    summary: "Tell what a bulk correction would do",
    query: Type.Object(ENVIRONMENT),
    body: BulkRequestSchema,
    answer: BulkPreviewSchema,
    async handle(ports, { identity, query, body }) {
      const plan = await planBulk(ports, identity, requestOf(body, await environmentOf(ports, query)));
      if (plan === "too_many") throw tooMany();
      const effects = plan.effects.slice(0, MOST_SHOWN).map(effectData);
      const problems = plan.problems.slice(0, MOST_SHOWN);
      return { effects, count: plan.effects.length, problems, problemCount: plan.problems.length };
    },
  }),
  route({
    ...{ method: "POST", path: "/bulk", tag: TAG, permission: "correct", status: 202, mostBytes: BODY_MAX_BYTES },
    summary: "Begin a bulk correction: what is clear of it is done, and goes on after the answer",
    query: Type.Object(ENVIRONMENT),
    body: BulkRequestSchema,
    answer: BulkRunSchema,
    problems: ["conflict"],
    async handle(ports, { identity, query, body }) {
      const request = requestOf(body, await environmentOf(ports, query));
      const started = await ports.bulkRuns.start(identity, request);
      switch (started.kind) {
        case "started":
          return runData(started.run);
        case "busy":
          throw new Problem("conflict", "Another bulk correction is under way: wait until it is done.");
        case "too_many":
          throw tooMany();
        case "nothing_to_do":
          throw new Problem("conflict", "There is nothing to do: a preview tells why.");
      }
    },
  }),
  route({
    ...{ method: "GET", path: "/bulk/:id", tag: TAG, permission: "correct" },
    summary: "Tell how far a bulk correction is",
    params: Type.Object({ id: Type.String() }),
    answer: BulkRunSchema,
    problems: ["not_found"],
    async handle(ports, { params }) {
      const run = ports.bulkRuns.find(params.id);
      if (run === undefined) throw new Problem("not_found");
      return runData(run);
    },
  }),
];

function requestOf(body: Static<typeof BulkRequestSchema>, environment: Environment): BulkRequest {
  const { connections: lines = [], segment, reason, skipRepeated = false } = body;
  if (lines.length === 0 && segment === undefined) throw Refused.field("connections", "or a segment is required");
  return { environment, order: orderOf(body), reason, lines, segment, skipRepeated };
}

function orderOf({ action, days, plan }: Static<typeof BulkRequestSchema>): BulkOrder {
  if (action !== "goodwill") return { action };
  if (days === undefined) throw Refused.field("days", "is required");
  return { action, days, plan };
}

function tooMany(): Refused {
  return Refused.field("segment", `has, with what is listed beside it, more than ${MOST_BULK_CONNECTIONS} connections`);
}

function effectData({ connection: { cuid, service, reqId }, outcome, repeated }: BulkEffect) {
  const { plan, before, entry } = outcome.kind === "granted" ? outcome.correction : {};
  const runs = { before: runOf(before), after: runOf(entry?.after) };
  return { cuid, service, reqId, plan: plan ?? null, ...runs, repeated };
}

function runData({ failed, problem, ...run }: BulkRun) {
  const each = failed.map(({ line, problem: why }) => ({ connection: line, problem: why }));
  return { ...run, failed: each, problem: problem ?? null };
}
