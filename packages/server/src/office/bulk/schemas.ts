import { Type } from "typebox";
import type { BulkRunRow } from "../../store/tables.ts";
import {
  BULK_ACTIONS,
  ENVIRONMENT,
  EnvironmentSchema,
  InstantSchema,
  LIST_ACTIONS,
  oneOf,
  orNull,
  PlanSchema,
  ReasonSchema,
  RunSchema,
  ServiceSchema,
} from "../common.ts";
import { DaysSchema } from "../corrections/schemas.ts";
import { fileOf } from "../fields.ts";
import { CustomerNameSchema } from "../transactions/schemas.ts";
import { WORK_STATES } from "../work.ts";

const STATES = [...WORK_STATES, "waiting", "paused", "cancelled"] as const;

export const BulkRequestSchema = Type.Object({
  ...ENVIRONMENT,
  action: oneOf(LIST_ACTIONS, "What is done with each connection."),
  file: fileOf(
    "The list, one line for each: a set-top box number or username; `cuid service reqId`; a mobile number or cuid, for all connections of the customer; `segment NAME` or `area NAME`.",
  ),
  days: Type.Optional(DaysSchema),
  plan: Type.Optional(PlanSchema),
  runningAt: Type.Optional(
    Type.String({
      description:
        "Give goodwill to plans that ran at this time or day of the provider's clock, also if they have ended since.",
      examples: ["2026-11-20 14:45:00", "2026-11-20"],
    }),
  ),
  reason: ReasonSchema,
});

export const BulkIdSchema = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "Id of a bulk change.",
});

export const BulkRunSchema = Type.Object(
  {
    id: Type.Integer(),
    environment: EnvironmentSchema,
    action: oneOf(BULK_ACTIONS),
    days: orNull(Type.Integer()),
    plan: orNull(Type.String()),
    runningAt: orNull(
      Type.String({ description: "Time or day at which the plans must have run; null: they must run when corrected." }),
    ),
    reverses: orNull(Type.Integer({ description: "Id of the bulk change whose goodwill is reversed." })),
    reason: Type.String(),
    author: Type.String(),
    state: oneOf(
      STATES,
      "checking: the list is read; checked: the preview is complete; waiting: for a second person; refused, failed: problem says why.",
    ),
    createdAt: InstantSchema,
    startedAt: orNull(InstantSchema),
    changedAt: Type.String({ ...InstantSchema, description: "Time of the last progress, or of the end." }),
    lines: Type.Integer({ description: "Number of lines that were read." }),
    count: Type.Integer({ description: "Number of connections to correct." }),
    repeated: Type.Integer({ description: "Those among them that already got goodwill in the last day." }),
    startsAgain: Type.Integer({ description: "Those among them whose plan has ended, and starts again." }),
    duplicates: Type.Integer({ description: "How often the list names a connection again; it is corrected once." }),
    problems: Type.Integer({ description: "Number of lines and connections that are left out." }),
    done: Type.Integer({ description: "Number of connections that were corrected, or left out since the preview." }),
    problem: orNull(Type.String()),
    secondPerson: Type.Boolean({ description: "Whether the start needs a second person." }),
    reversible: Type.Boolean({ description: "Whether all of its goodwill can be reversed." }),
  } satisfies Partial<Record<keyof BulkRunRow | "secondPerson" | "reversible", unknown>>,
  { title: "BulkRun" },
);

const LINE = {
  line: Type.Integer({ description: "Line of the list, counted from 1." }),
  text: Type.String(),
  whole: orNull(
    Type.Integer({ description: "Number of connections that the line means, if it names a customer or a segment." }),
  ),
  cuid: orNull(Type.String()),
  service: orNull(ServiceSchema),
  reqId: orNull(Type.String()),
  plan: orNull(Type.String({ description: "Plan of the goodwill." })),
  entry: orNull(Type.Integer({ description: "Number of the goodwill entry that was made, or that is reversed." })),
  outcome: oneOf(["open", "corrected", "left_out"]),
  problem: orNull(Type.String({ description: "Why the line or connection is left out." })),
};

export const ExportedBulkLineSchema = Type.Object(LINE, { title: "ExportedBulkLine" });

export const BulkLineSchema = Type.Object(
  {
    ...LINE,
    customer: CustomerNameSchema,
    before: orNull(RunSchema),
    after: orNull(RunSchema),
    repeated: Type.Boolean({ description: "Whether the connection already got goodwill in the last day." }),
    startsAgain: Type.Boolean({ description: "Whether the plan has ended, and starts again." }),
  },
  { title: "BulkLine" },
);

export const SegmentsSchema = Type.Object({
  items: Type.Array(Type.Object({ segment: Type.String(), connections: Type.Integer() })),
});

export const PlansSchema = Type.Object({
  items: Type.Array(
    Type.Object({
      plan: Type.String(),
      running: Type.Integer({ description: "Number of connections where it runs." }),
    }),
  ),
});

const left = (description: string) => orNull(Type.Integer({ description: `${description}; null: no limit.` }));

export const BulkLimitsSchema = Type.Object({
  connections: left("Connections that you can still correct in bulk today"),
  goodwillDays: left("Days of goodwill that you can still give today"),
  alone: left("Connections that you can still correct in bulk today without a second person"),
});
