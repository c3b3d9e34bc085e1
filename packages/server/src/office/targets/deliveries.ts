import { Type } from "typebox";
import { eventId, type RecordedEvent, seqOfEventId, testEvent } from "../../domain/event.ts";
import { Refused } from "../../domain/refused.ts";
import { DeliveryFailed, getsAll, type OpenExchange, type Target } from "../../domain/target.ts";
import { logAttempts } from "../../store/delivery-log.ts";
import type { Db } from "../../store/engine.ts";
import { eventsOf, placeOf } from "../../store/events.ts";
import { onePage, pageOf } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { operation } from "../operation.ts";
import { permissionsNow } from "../rights.ts";
import { deliveryData, deliveryLines, testedLines } from "./presenter.ts";
import { DeliverySchema, NAME, TestedSchema } from "./schemas.ts";
import { lastDeliveries, lastOfConnection, targetNamed } from "./sql.ts";

const TAG = "Targets and events";

export const listDeliveries = operation({
  http: "GET /targets/:name/deliveries",
  tag: TAG,
  permission: "read",
  refuses: ["not_found"],
  summary: "List the last 50 attempts at a target, newest first; they are kept for 7 days",
  input: Type.Object(NAME),
  answer: pageOf(DeliverySchema),
  cli: [
    {
      words: "target deliveries",
      arguments: ["name"],
      show: deliveryLines,
      examples: ["topupd target deliveries tv", "topupd target deliveries tv --json"],
    },
  ],
  async run(office, { name }) {
    const { db } = office.store.engine;
    const target = await targetNamed(db, name);
    const isFull = (await permissionsNow(office, db)).includes("administer");
    return onePage((await lastDeliveries(db, target)).map((delivery) => deliveryData(delivery, isFull)));
  },
});

/** Sends at once, beside the queue: a test event has no number and no place in it. */
export const testTarget = operation({
  http: "POST /targets/:name/test",
  tag: TAG,
  permission: "administer",
  refuses: ["not_found", "conflict"],
  summary: "Send a webhook a test event now, once, also while it is paused",
  input: Type.Object(NAME),
  answer: TestedSchema,
  cli: [{ words: "target test", arguments: ["name"], show: testedLines, examples: ["topupd target test tv"] }],
  async run(office, { name }) {
    const target = await targetNamed(office.store.engine.db, name);
    if (target.config.kind !== "webhook")
      throw new Refused("conflict", `${name} is no webhook, and gets no test event`);
    const event = testEvent(office.by.at);
    const sent = await send(office, target, event);
    await decide(office, "reference", async (tx) => {
      const { id } = await targetNamed(tx, name);
      const logged = { ...sent, at: event.at, seq: event.seq, attempt: 1 };
      return { answer: undefined, change: { write: () => logAttempts(tx, id, [logged]), audit: [] } };
    });
    const { status = null, durationMs, problem = null, answer = null } = sent;
    return { status, durationMs, problem, answer };
  },
});

async function send({ targets, store, clock }: Office, target: Target, event: RecordedEvent) {
  const sender = targets.createSender(target, store);
  const [begun, exchange]: [number, OpenExchange] = [clock(), {}];
  let problem: string | undefined;
  try {
    await sender.send(event, new AbortController().signal, exchange);
  } catch (error) {
    if (!(error instanceof DeliveryFailed)) throw error;
    problem = error.message;
  } finally {
    await sender.close();
  }
  return { ...exchange, problem, durationMs: clock() - begun };
}

/** Reads an event that a target had, and that may be sent to it again without breaking the order. @throws Refused */
export async function eventToResend(tx: Db, target: Target, id: string): Promise<RecordedEvent> {
  const { name, config } = target;
  if (config.kind === "feed") throw new Refused("conflict", `${name} is a feed: it reads its events itself`);
  const [event] = await eventsOf(tx, [seqOfEventId(id) ?? 0], target.partner);
  if (event === undefined || eventId(event) !== id)
    throw new Refused("not_found", `the event ${id} does not exist, or was deleted: see the deliveries of ${name}`);
  if (event.seq > (await placeOf(tx, target.id)))
    throw new Refused("conflict", `${id} was not sent yet, and comes in order`);
  const last = eventId(await lastOfConnection(tx, event));
  if (!getsAll(target) && last !== id)
    throw new Refused("conflict", `a later event of this connection replaces ${id}: send ${last} again`);
  return event;
}
