import { Type } from "typebox";
import type { HeldBack } from "../../domain/customer-import.ts";
import { GOODWILL_READINGS } from "../../domain/ledger.ts";
import { PLAN_STATES } from "../../domain/plan-view.ts";
import {
  CodeSchema,
  EnvironmentSchema,
  InstantSchema,
  oneOf,
  orNull,
  pageOf,
  RunSchema,
  ServiceSchema,
  WallTimeSchema,
} from "../common.ts";
import { ChainSchema } from "../steps/chains.ts";
import { TransactionSchema } from "../transactions/schemas.ts";

/* Customers, their connections, subscriptions and ledgers. */

export const CuidSchema = Type.String({ ...CodeSchema, description: "The customer id." });

const STATUSES = ["active", "inactive"] as const;

export const GoodwillReadingSchema = oneOf(
  GOODWILL_READINGS,
  "`held`: the records hold goodwill; `lacking`: they do not.",
);

/** A subscription that an import held back. */
export const HELD_BACK_FIELDS = {
  service: ServiceSchema,
  reqId: Type.String(),
  plan: Type.String(),
  bouquetId: Type.String(),
  keptEnd: orNull(WallTimeSchema),
  statedEnd: orNull(
    Type.String({ description: "End by the file, with later top-ups; null if the file does not list the plan." }),
  ),
  txnId: orNull(Type.String({ description: "Newest top-up; null if goodwill alone keeps the end." })),
  rowEnd: orNull(
    Type.String({ description: "End in the row, if reversals after its `asOf` were subtracted from it." }),
  ),
  goodwillDays: orNull(
    Type.Integer({
      description: "Days of goodwill, if goodwill alone keeps the end and the records are said to hold it.",
    }),
  ),
  goodwill: orNull(
    Type.Object(
      { days: Type.Integer(), at: WallTimeSchema, lackingEnd: orNull(WallTimeSchema) },
      {
        description:
          "Goodwill given in topupd. Say whether the records hold it: the end is `statedEnd` if they do, `lackingEnd` if not.",
      },
    ),
  ),
};

export function heldBackFields(held: HeldBack) {
  const { service, reqId, plan, bouquetCode: bouquetId, keptEnd, statedEnd, rowEnd, txnId, goodwillDays = null } = held;
  const goodwill = held.goodwill && { ...held.goodwill, lackingEnd: held.goodwill.lackingEnd ?? null };
  const ends = { keptEnd: keptEnd ?? null, statedEnd: statedEnd ?? null, rowEnd: rowEnd ?? null };
  return { service, reqId, plan, bouquetId, ...ends, txnId: txnId ?? null, goodwillDays, goodwill: goodwill ?? null };
}

const ConnectionStatusSchema = oneOf(
  ["active", "inactive", "blocked"],
  "Status that partners see; `blocked` if staff or the provider's records block the connection.",
);

const ProfileFields = {
  environment: EnvironmentSchema,
  cuid: Type.String(),
  firstName: Type.String(),
  lastName: Type.String(),
  mobile: orNull(Type.String()),
  status: oneOf(STATUSES),
  area: orNull(Type.String()),
};

export const CustomerMatchSchema = Type.Object(
  {
    ...ProfileFields,
    code: orNull(
      Type.String({
        description: "The mobile number, cuid or connection that fits the search; null if the name or area fits.",
      }),
    ),
    connections: Type.Array(
      Type.Object({
        service: ServiceSchema,
        reqId: Type.String(),
        status: ConnectionStatusSchema,
        end: orNull(Type.String({ description: "Latest end of its subscriptions without add-ons." })),
        ended: Type.Boolean({ description: "Whether this end has passed." }),
      }),
    ),
  },
  { title: "CustomerMatch" },
);

export const CustomerMatchesSchema = Type.Object(
  {
    ...pageOf(CustomerMatchSchema).properties,
    transactions: Type.Array(TransactionSchema, {
      description: "Top-ups that the search names, newest first; the later pages have none.",
    }),
  },
  { title: "CustomerMatches" },
);

const PlanStateSchema = oneOf(
  PLAN_STATES,
  "`blocked`: it would run, but the connection is blocked. `waiting`: it has not begun. `reversed`: a reversal left nothing of it.",
);
const DaysLeftSchema = Type.Integer({ description: "Days from today to the day of the end; negative if it is past." });

const PlanSchema = Type.Object(
  {
    plan: Type.String(),
    state: PlanStateSchema,
    run: orNull(
      Type.Object(
        { ...RunSchema.properties, addOn: Type.Boolean(), daysLeft: DaysLeftSchema },
        { description: "The subscription, or the last run if nothing is left of it; null if that never began." },
      ),
    ),
    lastGoodwill: orNull(Type.Integer({ description: "Entry of the last goodwill that is not reversed." })),
  },
  { title: "Plan", description: "A plan that a connection has or had." },
);

const ConnectionSchema = Type.Object(
  {
    service: ServiceSchema,
    reqId: Type.String(),
    status: ConnectionStatusSchema,
    blockedByStaff: orNull(
      Type.Object(
        { at: InstantSchema, author: Type.String(), reason: Type.String() },
        { description: "Null if staff have not blocked the connection." },
      ),
    ),
    blockedByRecords: Type.Boolean({ description: "Whether the provider's own records block the connection." }),
    segment: orNull(Type.String()),
    plans: Type.Array(PlanSchema, { description: "The one that runs longest first." }),
    chain: orNull(ChainSchema),
  },
  { title: "Connection" },
);

export const NoteSchema = Type.Object(
  { seq: Type.Integer(), wall: WallTimeSchema, author: Type.String(), note: Type.String() },
  { title: "Note" },
);

export const CustomerSchema = Type.Object(
  {
    ...ProfileFields,
    asOf: orNull(InstantSchema),
    notes: Type.Array(NoteSchema, { description: "Notes by staff, newest first." }),
    connections: Type.Array(ConnectionSchema),
  },
  { title: "Customer" },
);

export const LedgerEntrySchema = Type.Object(
  {
    seq: Type.Integer(),
    kind: oneOf(["top_up", "goodwill", "reversal", "import"]),
    at: InstantSchema,
    wall: WallTimeSchema,
    before: orNull(RunSchema),
    after: orNull(RunSchema),
    counted: orNull(
      Type.Object(
        {
          from: WallTimeSchema,
          months: Type.Integer(),
          days: Type.Integer(),
          to: WallTimeSchema,
          goodwillDays: Type.Integer(),
        },
        {
          description:
            "Calculation of the end after the entry: `to`, or a second before it. `goodwillDays` are the days that are goodwill.",
        },
      ),
    ),
    period: orNull(Type.Object({ months: Type.Integer(), days: Type.Integer() })),
    bouquetId: orNull(Type.String()),
    bouquetName: orNull(Type.String()),
    txnId: orNull(Type.String()),
    partner: orNull(Type.String()),
    amount: orNull(Type.String()),
    reverses: orNull(Type.Integer()),
    reversedBy: orNull(Type.Integer()),
    author: orNull(Type.String()),
    reason: orNull(Type.String()),
    asOf: orNull(WallTimeSchema),
    stated: orNull(RunSchema),
    goodwill: orNull(GoodwillReadingSchema),
    isOpening: Type.Boolean(),
  },
  { title: "LedgerEntry" },
);

export const LedgersSchema = Type.Object({
  plans: Type.Array(
    Type.Object(
      {
        service: ServiceSchema,
        reqId: Type.String(),
        plan: Type.String(),
        state: PlanStateSchema,
        run: orNull(RunSchema),
        entries: Type.Array(LedgerEntrySchema),
      },
      { title: "PlanLedger" },
    ),
  ),
});

export const CustomerWrittenSchema = Type.Object(
  {
    cuid: Type.String(),
    outcome: oneOf(["added", "changed", "unchanged"]),
    stale: Type.Boolean({ description: "Whether a newer row was imported before, so that this row changes nothing." }),
    changes: Type.Array(Type.Object({ field: Type.String(), from: orNull(Type.String()), to: orNull(Type.String()) })),
    heldBack: Type.Array(Type.Object(HELD_BACK_FIELDS)),
    endsRunning: Type.Integer({ description: "Running subscriptions that end." }),
  },
  { title: "CustomerWritten" },
);

export const ListedConnectionSchema = Type.Object(
  {
    cuid: Type.String(),
    firstName: Type.String(),
    lastName: Type.String(),
    area: orNull(Type.String()),
    service: orNull(ServiceSchema),
    reqId: orNull(Type.String({ description: "Null if the customer has no connection." })),
    plan: orNull(Type.String({ description: "Null if the connection has no subscription." })),
    bouquetId: orNull(Type.String()),
    bouquetName: orNull(Type.String()),
    end: orNull(WallTimeSchema),
    daysLeft: orNull(DaysLeftSchema),
    segment: orNull(Type.String()),
    state: oneOf([...PLAN_STATES, "no_subscription"]),
  },
  { title: "ListedConnection" },
);

export const AreasSchema = Type.Object({
  items: Type.Array(Type.Object({ area: Type.String(), customers: Type.Integer() })),
});

export const RefusedCallSchema = Type.Object(
  {
    at: InstantSchema,
    partner: Type.String(),
    operation: Type.String(),
    reason: Type.String(),
    detail: orNull(Type.String({ description: "The limit that refused the call." })),
    code: orNull(Type.String()),
    requestId: Type.String(),
  },
  { title: "RefusedCall", description: "A refused call of a partner." },
);

/** A row of a customers file. The reader of rows checks its fields, so problems read as in an import. */
export const CUSTOMER_ROW = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: "object",
  additionalProperties: true,
  description:
    "A row of a customers file (see docs/settings.md) with the `asOf` of its records, and `goodwill` if it is needed.",
  examples: [
    {
      cuid: "204117",
      first_name: "Maya",
      last_name: "Rai",
      mobile: "9841000000",
      status: "active",
      asOf: "2026-11-23T02:00:00Z",
      connections: {
        internet: [
          {
            username: "maya.rai",
            status: "active",
            subscriptions: [{ code: "NET-1M", startdate: "2026-11-10 10:00:00", enddate: "2026-12-10 10:00:00" }],
          },
        ],
      },
    },
  ],
});
