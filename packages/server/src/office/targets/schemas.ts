import { Type } from "typebox";
import { SERVICES } from "../../domain/bouquet.ts";
import { EVENT_KINDS } from "../../domain/event.ts";
import { TARGET_KINDS, TARGET_STATES } from "../../domain/target.ts";
import {
  AmountSchema,
  EnvironmentSchema,
  InstantSchema,
  oneOf,
  orNull,
  ServiceSchema,
  WallTimeSchema,
} from "../common.ts";

export const NAME = { name: Type.String({ description: "Name of the target." }) };

export const TargetSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    kind: oneOf(TARGET_KINDS),
    service: orNull(oneOf(SERVICES, "The only service of a RADIUS target; null for other kinds.")),
    address: orNull(Type.String({ description: "Address without password and query; null for a feed." })),
    billing: Type.Boolean({ description: "Whether it is the provider's billing." }),
    paused: Type.Boolean(),
    state: oneOf(
      TARGET_STATES,
      "`behind`: it has lacked an event for over five minutes. `gone`: paused, because it answered 410 Gone.",
    ),
    createdAt: InstantSchema,
    behind: Type.Integer({ description: "Number of events that it lacks: not sent yet, failing or set aside." }),
    failing: Type.Integer(),
    setAside: Type.Integer(),
    oldestAt: orNull(InstantSchema),
  },
  { title: "Target" },
);

export const TargetDetailSchema = Type.Object(
  {
    ...TargetSchema.properties,
    formerSecretUntil: orNull(
      Type.String({ description: "Time until which a webhook's previous secret signs; null if there is none." }),
    ),
    timeZone: orNull(Type.String({ description: "Time zone of the RADIUS server." })),
    groups: orNull(Type.Record(Type.String(), Type.String(), { description: "RADIUS groups by plan." })),
    defaultGroup: orNull(Type.String({ description: "RADIUS group of all other plans." })),
    expiredGroup: orNull(Type.String({ description: "RADIUS group of users whose plans ended." })),
    devices: orNull(Type.Array(Type.String(), { description: "Devices that are asked to end sessions." })),
    openSessions: Type.Array(
      Type.Object({
        problem: orNull(Type.String({ description: "Null if no device was asked yet." })),
        users: Type.Integer(),
      }),
      { description: "Why sessions did not end within a minute of a change." },
    ),
    acknowledgedUntil: orNull(
      Type.String({
        description:
          "Time up to which billing has every top-up and reversal since it was added; null if unknown, and for other targets.",
      }),
    ),
  },
  { title: "TargetDetail" },
);

const WebhookSchema = Type.Object(
  { url: Type.String({ description: "URL that receives the events." }) },
  { additionalProperties: false, description: "Settings of a webhook." },
);

const DeviceSchema = Type.Object(
  {
    address: Type.Optional(Type.String({ description: "Where it takes requests (default: its `nasipaddress`)." })),
    port: Type.Optional(Type.Integer({ description: "Default: 3799." })),
    secret: Type.String({ description: "Secret that it shares with topupd." }),
    identify: Type.Optional(Type.Array(Type.String(), { description: "Attributes of a session that name it." })),
    attributes: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "Other attributes." })),
    timestamp: Type.Optional(Type.Boolean({ description: "Whether Event-Timestamp is sent." })),
  },
  { description: "A device that holds sessions." },
);

export const RadiusSchema = Type.Object(
  {
    database: Type.String({
      description:
        "postgres:// or mysql://, then USER:PASSWORD@HOST:PORT/DATABASE; for TLS, then ?sslmode=verify-full or no-verify.",
    }),
    service: Type.Optional(oneOf(SERVICES, "The only service of this target (default: internet).")),
    timeZone: Type.Optional(
      Type.String({ description: "Time zone of the RADIUS server (default: the provider's time zone)." }),
    ),
    groups: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "RADIUS groups by plan." })),
    defaultGroup: Type.Optional(Type.String({ description: "RADIUS group of all other plans." })),
    expiredGroup: Type.Optional(
      Type.String({ description: "RADIUS group of users whose plans ended. Without it, they cannot log in." }),
    ),
    sessions: Type.Optional(
      Type.Object(
        {
          waitSeconds: Type.Optional(Type.Integer({ description: "Wait before sessions end (default: 0)." })),
          devices: Type.Record(Type.String(), DeviceSchema, { description: "Devices by `nasipaddress` or range." }),
        },
        { description: "Sessions end when a change alters what a user may do. Without it, they are left alone." },
      ),
    ),
  },
  { description: "Settings of a RADIUS target." },
);

export const AddTargetSchema = Type.Object({
  /** One word, for shell commands, metrics and logs. */
  name: Type.String({
    pattern: "^[A-Za-z0-9][\\w.-]{0,63}$",
    "x-problem": "must have 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first",
    description: "Up to 64 letters, digits, dots, dashes and underscores.",
  }),
  billing: Type.Optional(
    Type.Boolean({ description: "Whether a webhook or feed is the provider's billing, which gets every event." }),
  ),
  webhook: Type.Optional(WebhookSchema),
  radius: Type.Optional(RadiusSchema),
});

export const AddedTargetSchema = Type.Object(
  { target: TargetSchema, secret: orNull(Type.String({ description: "Secret of a webhook; shown only once." })) },
  { title: "AddedTarget" },
);

export const RotatedSecretSchema = Type.Object(
  {
    secret: Type.String({ description: "Shown only once." }),
    formerUntil: Type.String({ description: "Time until which the previous secret also signs." }),
  },
  { title: "RotatedSecret" },
);

export const TargetKeySchema = Type.Object(
  { key: Type.String({ description: "Shown only once." }) },
  { title: "TargetKey" },
);

const EVENT = {
  id: Type.String({ description: "Id of the event." }),
  kind: Type.String({ description: "Kind of the event." }),
  environment: EnvironmentSchema,
  cuid: orNull(Type.String({ description: "The connection; null for an alert." })),
  service: orNull(ServiceSchema),
  reqId: orNull(Type.String()),
  partner: orNull(Type.String({ description: "The partner of an alert." })),
};

/** The outcome of an attempt. */
const OUTCOME = {
  status: orNull(Type.Integer({ description: "HTTP status; null for RADIUS, and if there was no answer." })),
  durationMs: Type.Integer(),
  problem: orNull(Type.String({ description: "Why the attempt failed; null if it did not." })),
  answer: orNull(Type.String({ description: "The first 4,096 bytes of the answer's body." })),
};

export const DeliverySchema = Type.Object(
  {
    ...EVENT,
    at: InstantSchema,
    attempt: Type.Integer({ description: "1 for the first attempt." }),
    ...OUTCOME,
    request: orNull(
      Type.String({
        description:
          "The first 4,096 characters of the sent body; for RADIUS, the changed rows. Null, as `answer`, without the right to change targets.",
      }),
    ),
  },
  { title: "Delivery" },
);

export const TestedSchema = Type.Object(OUTCOME, { title: "TestedTarget" });

export const FailedDeliverySchema = Type.Object(
  {
    ...EVENT,
    attempts: Type.Integer(),
    failedAt: orNull(InstantSchema),
    nextAt: InstantSchema,
    setAside: Type.Boolean({ description: "Whether the event waits until staff resend it." }),
    problem: orNull(Type.String()),
  },
  { title: "FailedDelivery" },
);

/** An event in the form of webhooks. */
export const ToldEventSchema = Type.Object(
  {
    id: Type.String(),
    type: oneOf(EVENT_KINDS),
    timestamp: InstantSchema,
    data: Type.Object({
      environment: EnvironmentSchema,
      cuid: Type.Optional(Type.String()),
      connection: Type.Optional(Type.Object({ service: ServiceSchema, reqId: Type.String(), blocked: Type.Boolean() })),
      subscriptions: Type.Optional(
        Type.Array(
          Type.Object({
            plan: Type.String(),
            bouquetId: Type.String(),
            name: Type.String(),
            addOn: Type.Boolean(),
            start: WallTimeSchema,
            end: WallTimeSchema,
            goodwillDays: Type.Integer({ description: "Days of goodwill of the current run, which `end` includes." }),
            startAt: orNull(InstantSchema),
            endAt: orNull(InstantSchema),
          }),
        ),
      ),
      repeated: Type.Optional(Type.Boolean({ description: "True if staff sent the state again, without a change." })),
      topUp: Type.Optional(
        Type.Object({
          txnId: Type.String(),
          checkoutId: Type.String(),
          partner: Type.String(),
          bouquetId: Type.String(),
          amount: AmountSchema,
          commission: AmountSchema,
        }),
      ),
      partner: Type.Optional(Type.String({ description: "The partner of an alert." })),
      limit: Type.Optional(Type.String({ description: "The limit of `limit.reached`." })),
      balance: Type.Optional(AmountSchema),
      below: Type.Optional(AmountSchema),
    }),
  },
  { title: "ToldEvent" },
);
