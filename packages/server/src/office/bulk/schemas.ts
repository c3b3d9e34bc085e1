import { Type } from "typebox";
import type { BulkRunRow } from "../../store/tables.ts";
import {
  BULK_ACTIONS,
  ENVIRONMENT,
  EnvironmentSchema,
  InstantSchema,
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
  action: oneOf(BULK_ACTIONS, "What is done with each connection."),
  file: fileOf(
    "The list, one line for each: a set-top box number or username; `cuid service reqId`; a mobile number or cuid, for all connections of the customer; or `segment NAME`.",
  ),
  days: Type.Optional(DaysSchema),
  plan: Type.Optional(PlanSchema),
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
    problems: Type.Integer({ description: "Number of lines and connections that are left out." }),
    done: Type.Integer({ description: "Number of connections that were corrected, or left out since the preview." }),
    problem: orNull(Type.String()),
    secondPerson: Type.Boolean({ description: "Whether the start needs a second person." }),
  } satisfies Partial<Record<keyof BulkRunRow | "secondPerson", unknown>>,
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
  outcome: oneOf(["open", "corrected", "left_out"]),
  problem: orNull(Type.String({ description: "Why the line or connection is left out." })),
};

export const ExportedBulkLineSchema = Type.Object(LINE, { title: "ExportedBulkLine" });

export const BulkLineSchema = Type.Object(
  {
    ...LINE,
    customer: CustomerNameSchema,
    plan: orNull(Type.String({ description: "Plan of the goodwill, in a preview." })),
    before: orNull(RunSchema),
    after: orNull(RunSchema),
    repeated: Type.Boolean({ description: "Whether the connection already got goodwill in the last day." }),
  },
  { title: "BulkLine" },
);

export const SegmentsSchema = Type.Object({
  items: Type.Array(Type.Object({ segment: Type.String(), connections: Type.Integer() })),
});
