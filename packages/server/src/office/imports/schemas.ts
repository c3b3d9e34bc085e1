import { Type } from "typebox";
import type { CustomerFileRow, Environment } from "../../domain/customer.ts";
import {
  AmountSchema,
  EnvironmentSchema,
  FieldChangeSchema,
  InstantSchema,
  oneOf,
  orNull,
  pageOf,
  WallTimeSchema,
} from "../common.ts";
import { GoodwillReadingSchema, HELD_BACK_FIELDS } from "../customers/schemas.ts";
import { fileOf } from "../fields.ts";
import { CustomerNameSchema } from "../transactions/schemas.ts";
import { WORK_STATES } from "../work.ts";
import { LARGE_CHANGES } from "./file.ts";

/** Input of every import. The first file of a new database is for production, too. */
export const IMPORT = {
  file: fileOf("The file to import: CSV if it ends in .csv, else NDJSON."),
  environment: Type.Optional(
    Type.Unsafe<Environment>({ ...EnvironmentSchema, description: "Environment of the file (default: production)." }),
  ),
  skipInvalid: Type.Optional(Type.Boolean({ description: "Takes the good lines although others are bad." })),
};

export const RejectedLineSchema = Type.Object(
  { line: Type.Integer(), problems: Type.Array(Type.Object({ field: Type.String(), problem: Type.String() })) },
  { title: "RejectedLine" },
);

export const LargeChangeSchema = Type.Object(
  { what: oneOf(LARGE_CHANGES), count: Type.Integer(), of: Type.Integer() },
  { title: "LargeChange" },
);

/** Input of customers files. */
export const CUSTOMERS_FILE = {
  ...IMPORT,
  asOf: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        "Time up to which the records hold every top-up and reversal; required once a top-up or goodwill exists.",
    }),
  ),
  goodwill: Type.Optional(GoodwillReadingSchema),
  oldRecords: Type.Optional(Type.Boolean({ description: "Records of more than 35 days ago are meant." })),
  toleranceDays: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31,
      description: "The later end is kept if records end less than so many days earlier; 1 unless given.",
    }),
  ),
};

export const ImportRunSchema = Type.Object(
  {
    id: Type.Integer(),
    kind: oneOf(["customers", "catalogue"]),
    environment: EnvironmentSchema,
    author: Type.String(),
    file: Type.String({ description: "Name of the file." }),
    asOf: orNull(Type.String()),
    startedAt: InstantSchema,
    endedAt: orNull(InstantSchema),
    outcome: oneOf(["running", "done", "refused", "failed"]),
    report: orNull(
      Type.Record(Type.String(), Type.Union([Type.Integer(), Type.Boolean()]), {
        description: "Counts; null if the import was refused, since nothing changed.",
      }),
    ),
    problem: orNull(Type.String({ description: "Reason of a refusal or failure." })),
  },
  { title: "ImportRun" },
);

/** Reasons for which subscriptions are held back. `reversed`: neither book has the end. */
const HELD_BACK_KINDS = ["top_up", "goodwill", "goodwill_unclear", "reversed"] as const;
export type HeldBackKind = (typeof HELD_BACK_KINDS)[number];

const HeldBackKindSchema = oneOf(
  HELD_BACK_KINDS,
  "What keeps the end: a top-up, goodwill, goodwill that the records may hold, or a top-up that was reversed later.",
);

export const HELD_BACK_FILTER = { kind: Type.Optional(HeldBackKindSchema) };

const HELD_BACK_LINE = { line: Type.Integer(), cuid: Type.String(), ...HELD_BACK_FIELDS };

export const HeldBackSchema = Type.Object(
  {
    id: Type.Integer(),
    ...HELD_BACK_LINE,
    kind: HeldBackKindSchema,
    customer: CustomerNameSchema,
    topUp: orNull(
      Type.Object(
        { partner: Type.String(), amount: AmountSchema, txnDate: WallTimeSchema },
        { description: "The top-up of `txnId`." },
      ),
    ),
    endsRunning: Type.Boolean({ description: "Whether the file, if applied, ends a running subscription." }),
  },
  { title: "HeldBack" },
);

const { goodwill: _, ...HELD_BACK_CELLS } = HELD_BACK_FIELDS;

export const ExportedHeldBackSchema = Type.Object({
  ...{ line: Type.Integer(), cuid: Type.String(), customerName: orNull(Type.String()), kind: HeldBackKindSchema },
  ...HELD_BACK_CELLS,
  lackingEnd: orNull(WallTimeSchema),
  partner: orNull(Type.String()),
  amount: orNull(AmountSchema),
  endsRunning: Type.Boolean(),
});

const AdviceSchema = orNull(
  Type.String({
    description: "Advice if the `asOf` is probably wrong: over 5 % of running subscriptions are held back.",
  }),
);

export const HeldBackListSchema = pageOf(HeldBackSchema, {
  count: Type.Integer({ description: "Number of all rows of the filter." }),
  first: orNull(Type.Integer({ description: "Id of the first of them." })),
  totals: Type.Array(Type.Object({ kind: HeldBackKindSchema, count: Type.Integer() }), {
    description: "Number of rows of each kind, without the filter.",
  }),
  advice: AdviceSchema,
});

export const HeldBackDecisionSchema = Type.Object(
  {
    customers: Type.Integer({ description: "Number of customers that are, or would be, decided on." }),
    subscriptions: Type.Integer({ description: "Number of the held-back subscriptions of these customers." }),
    endsRunning: Type.Integer({ description: "Number of running subscriptions that end if the file is applied." }),
    goodwillUnclear: Type.Integer({ description: "Number of subscriptions that need `goodwill` to be applied." }),
    failures: Type.Array(Type.Object({ cuid: Type.String(), problem: Type.String() }), {
      description: "Customers for whom nothing was decided.",
    }),
  },
  { title: "HeldBackDecision" },
);

export const UploadSchema = Type.Object(
  {
    id: Type.String(),
    environment: EnvironmentSchema,
    file: Type.String({ description: "Name of the file." }),
    asOf: orNull(Type.String()),
    author: Type.String(),
    state: oneOf(WORK_STATES),
    lines: Type.Integer({ description: "Lines read so far in the running step." }),
    allLines: Type.Integer({ description: "Lines of the file; 0 before the end of the check." }),
    allChanges: Type.Integer({ description: "Number of customers to add or change; 0 before the end of the check." }),
    report: orNull(
      Type.Record(Type.String(), Type.Integer(), { description: "Counts of changes: planned, then done." }),
    ),
    changes: Type.Array(
      Type.Object({
        line: Type.Integer(),
        cuid: Type.String(),
        kind: oneOf(["added", "changed"]),
        changes: Type.Array(FieldChangeSchema),
      }),
      { description: "The first thousand; the same limit applies to problems, heldBack and warnings." },
    ),
    problems: Type.Array(RejectedLineSchema),
    heldBack: Type.Array(Type.Object(HELD_BACK_LINE)),
    warnings: Type.Array(Type.Object({ line: Type.Integer(), cuid: Type.String(), problem: Type.String() }), {
      description: "Values that are probably not meant, such as a mobile number NULL.",
    }),
    largeChanges: Type.Array(LargeChangeSchema),
    advice: AdviceSchema,
    problem: orNull(Type.String({ description: "Reason of a refusal or failure." })),
  },
  { title: "Upload" },
);

/** A row of an exported customers file. */
export const CustomerRowSchema = Type.Object({
  cuid: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  mobile: Type.Optional(Type.String()),
  status: Type.String(),
  area: Type.Optional(Type.String()),
  asOf: Type.String(),
  connections: Type.Unsafe<CustomerFileRow["connections"]>({ type: "object" }),
});
