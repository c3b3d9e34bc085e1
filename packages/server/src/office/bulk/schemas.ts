import { Type } from "typebox";
import {
  CodeSchema,
  ENVIRONMENT,
  oneOf,
  orNull,
  PlanSchema,
  ReasonSchema,
  RunSchema,
  ServiceSchema,
} from "../common.ts";
import { DaysSchema } from "../corrections/operations.ts";

/** Most connections of a bulk correction. */
export const MOST_CONNECTIONS = 20_000;
/** Most effects, and most problems, that an answer lists. */
export const MOST_SHOWN = 1_000;
const LINE_MAX_LENGTH = 200;
const ACTIONS = ["goodwill", "block", "unblock"] as const;

export const BulkRequestSchema = Type.Object({
  ...ENVIRONMENT,
  action: oneOf(ACTIONS, "What is done with each connection."),
  connections: Type.Optional(
    Type.Array(Type.String({ maxLength: LINE_MAX_LENGTH, pattern: "^[\\t\\P{Cc}]*$" }), {
      maxItems: MOST_CONNECTIONS,
      description: "One line for each: `reqId`, or `cuid service reqId`.",
    }),
  ),
  segment: Type.Optional(Type.String({ ...CodeSchema, description: "All connections of this segment." })),
  days: Type.Optional(DaysSchema),
  plan: Type.Optional(PlanSchema),
  reason: ReasonSchema,
  skipRepeated: Type.Optional(
    Type.Boolean({
      description: "Skips connections that got goodwill in the last day, to continue a bulk correction that failed.",
    }),
  ),
});

export const BulkPreviewSchema = Type.Object(
  {
    effects: Type.Array(
      Type.Object({
        cuid: Type.String(),
        service: ServiceSchema,
        reqId: Type.String(),
        plan: orNull(Type.String()),
        before: orNull(RunSchema),
        after: orNull(RunSchema),
        repeated: Type.Boolean({ description: "Whether the connection already got goodwill in the last day." }),
      }),
      { description: `At most ${MOST_SHOWN} are listed.` },
    ),
    count: Type.Integer({ description: "Number of connections that would be corrected." }),
    problems: Type.Array(Type.Object({ line: Type.String(), problem: Type.String() }), {
      description: `At most ${MOST_SHOWN} are listed.`,
    }),
    problemCount: Type.Integer({ description: "Number of problems." }),
  },
  { title: "BulkPreview" },
);

export const BulkRunSchema = Type.Object(
  {
    id: Type.String(),
    action: oneOf(ACTIONS),
    author: Type.String(),
    state: oneOf(["running", "done", "failed", "cancelled"]),
    done: Type.Integer(),
    count: Type.Integer(),
    failed: Type.Array(Type.Object({ connection: Type.String(), problem: Type.String() })),
    problem: orNull(Type.String()),
  },
  { title: "BulkRun" },
);

export const SegmentsSchema = Type.Object({
  items: Type.Array(Type.Object({ segment: Type.String(), connections: Type.Integer() })),
});
