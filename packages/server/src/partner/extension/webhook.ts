import { type Static, Type } from "typebox";
import { PARTNER_PROBLEMS, partnerProblem } from "../../domain/target.ts";
import { findWebhook, ownDeliveries } from "../../store/delivery-log.ts";
import { timestamp } from "../versions/v1_0_1.ts";
import { orNull } from "./schemas.ts";
import type { Report } from "./shape.ts";

const Delivery = Type.Object(
  {
    at: timestamp("When the attempt began."),
    id: Type.String({ description: "The webhook-id." }),
    type: Type.String({ description: "The type of the message." }),
    attempt: Type.Integer({ description: "1 for the first attempt." }),
    problem: orNull(
      Type.String({ enum: [...PARTNER_PROBLEMS] }),
      "`refused`: your answer was not accepted. `no answer`: none came, or none in time. `not allowed`: your provider does not allow calls to your address. Null if the attempt did not fail.",
    ),
  },
  { title: "WebhookDelivery", description: "An attempt to deliver a message." },
);

const WebhookBody = Type.Object(
  {
    paused: orNull(
      Type.Boolean(),
      "Whether your provider must resume it, for instance after a 410; null if you have no webhook.",
    ),
    deliveries: Type.Array(Delivery, { description: "The last 50 attempts of 7 days, newest first." }),
  },
  { description: "Your webhook in the environment of the token." },
);

export const WEBHOOK: Report = {
  name: "partner/webhook",
  operationId: "getWebhook",
  summary: "See the last deliveries of your webhook",
  description: "Shows the last attempts to deliver messages to your webhook. An attempt is shown some seconds later.",
  parameters: {},
  body: WebhookBody,
  example: {
    paused: false,
    deliveries: [
      {
        at: "2026-11-20 10:30:01",
        id: "reversed_01M7W2ZDG0PF6EHMJAC5TBSWNM",
        type: "topup.reversed",
        attempt: 1,
        problem: "refused",
      },
    ],
  },
  async run({ store: { engine, provider } }, caller) {
    const webhook = await findWebhook(engine.db, caller);
    const deliveries = webhook === undefined ? [] : await ownDeliveries(engine.db, webhook.id);
    const value: Static<typeof WebhookBody> = {
      paused: webhook?.paused ?? null,
      deliveries: deliveries.map((delivery) => {
        const { id, type, attempt } = delivery;
        const at = provider.zone.wallTime(delivery.at);
        return { at, id, type, attempt, problem: partnerProblem(delivery) ?? null };
      }),
    };
    return { ok: true, value };
  },
};
