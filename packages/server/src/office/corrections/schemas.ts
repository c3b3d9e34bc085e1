import { Type } from "typebox";
import { SERVICES } from "../../domain/bouquet.ts";
import { ENVIRONMENTS } from "../../domain/customer.ts";
import {
  CodeSchema,
  EnvironmentSchema,
  oneOf,
  orNull,
  PlanSchema,
  PREVIEW,
  ReasonSchema,
  RunSchema,
  ServiceSchema,
} from "../common.ts";

/** Names a connection. If several fit, the correction is refused. */
export const CONNECTION = {
  cuid: Type.Optional(
    Type.String({ ...CodeSchema, description: "The customer id, needed if several customers have such a connection." }),
  ),
  environment: Type.Optional(oneOf(ENVIRONMENTS, "Only in this environment.")),
  service: oneOf(SERVICES, "The kind of connection."),
  reqId: Type.String({ ...CodeSchema, description: "The set-top box number or username." }),
};
export const CORRECTION = { ...CONNECTION, reason: ReasonSchema, ...PREVIEW };
export const GOODWILL = { ...CORRECTION, plan: Type.Optional(PlanSchema) };

/** Most days of goodwill at once: more is a mistake. */
export const MOST_GOODWILL_DAYS = 366;
export const DaysSchema = Type.Integer({
  minimum: 1,
  maximum: MOST_GOODWILL_DAYS,
  description: `Number of days, at most ${MOST_GOODWILL_DAYS}.`,
});

const CONNECTION_FIELDS = {
  environment: EnvironmentSchema,
  cuid: Type.String(),
  service: ServiceSchema,
  reqId: Type.String(),
};

export const GoodwillEffectSchema = Type.Object(
  {
    ...CONNECTION_FIELDS,
    plan: Type.String(),
    days: Type.Integer(),
    before: orNull(RunSchema),
    after: orNull(RunSchema),
  },
  { title: "GoodwillEffect" },
);

export const BlockEffectSchema = Type.Object(
  {
    ...CONNECTION_FIELDS,
    blocked: Type.Boolean(),
    changed: Type.Boolean({ description: "False if nothing had to change." }),
  },
  { title: "BlockEffect" },
);

/* Corrections for one customer. The domain decides; operations read, write and answer. */
