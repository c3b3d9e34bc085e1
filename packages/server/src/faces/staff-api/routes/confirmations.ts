import { Type } from "typebox";
import { oneOf } from "../../../office/common.ts";
import { confirmEvent } from "../../../office/steps/confirm.ts";
import { route } from "../route.ts";

const ConfirmationSchema = Type.Object({
  eventId: Type.String({ maxLength: 64, description: "Id of the event, from the header `webhook-id`." }),
  state: oneOf(["done", "failed"]),
  detail: Type.Optional(Type.String({ maxLength: 200, description: "Text for staff, such as `box 4711 authorised`." })),
});

const ConfirmedSchema = Type.Object(
  {
    state: oneOf(
      ["done", "failed", "replaced"],
      "`replaced`: a later event of the connection was sent already, so that nothing changes.",
    ),
  },
  { title: "Confirmed" },
);

export const confirmationRoutes = [
  route({
    method: "POST",
    path: "/confirmations",
    tag: "Targets and events",
    permission: "target",
    summary: "Confirm an event, and with it the earlier ones of its connection; repeating it changes nothing",
    body: ConfirmationSchema,
    answer: ConfirmedSchema,
    problems: ["not_found"],
    handle: (ports, { receiver, body }) => confirmEvent(ports, receiver, body, ports.stepEnded),
  }),
];
