import { Type } from "typebox";
import { ACCOUNT_ENTRY } from "../../domain/alert.ts";
import {
  type DueKind,
  eventId,
  eventMessage,
  type RecordedEvent,
  seqOfEventId,
  TEST_SEQ,
  testEvent,
} from "../../domain/event.ts";
import { toldChange } from "../../domain/news.ts";
import { Refused } from "../../domain/refused.ts";
import { type PartnersFact, readPartnersId } from "../../domain/subject.ts";
import { DeliveryFailed, type Identified, type OpenExchange, type Target } from "../../domain/target.ts";
import { type Instant, isoTime } from "../../domain/wall-time.ts";
import { findEntry } from "../../store/account-entries.ts";
import { logAttempts, ownDeliveries } from "../../store/delivery-log.ts";
import { change } from "../../store/due.ts";
import type { Db } from "../../store/engine.ts";
import { eventsOf, placeOf } from "../../store/events.ts";
import { readOwnTopUpsOf } from "../../store/own-pages.ts";
import { onePage, pageOf } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { operation } from "../operation.ts";
import { permissionsNow } from "../rights.ts";
import { deliveryData, deliveryLines, ownDeliveryData, testedLines } from "./presenter.ts";
import { DeliverySchema, NAME, TestedSchema } from "./schemas.ts";
import { lastDeliveries, lastOfConnection, partnerNameOf, targetNamed } from "./sql.ts";

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
    if (target.partner !== undefined) {
      const partner = await partnerNameOf(db, target.partner);
      const { environment } = target.partner;
      const attempts = await ownDeliveries(db, target.id);
      return onePage(attempts.map((attempt) => ownDeliveryData(attempt, partner, environment)));
    }
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
    const { at } = office.by;
    const sent = await send(office, target, testMessage(target, office));
    await decide(office, "reference", async (tx) => {
      const { id } = await targetNamed(tx, name);
      const logged = { ...sent, at, seq: TEST_SEQ, attempt: 1 };
      return { answer: undefined, change: { write: () => logAttempts(tx, id, [logged]), audit: [] } };
    });
    const { status = null, durationMs, problem = null, answer = null } = sent;
    return { status, durationMs, problem, answer };
  },
});

/** That of a partner says nothing of the provider's. */
function testMessage({ partner }: Target, { by: { at }, store: { provider } }: Office): Identified {
  if (partner === undefined) return eventMessage(testEvent(at), provider.zone, provider.currencyExponent);
  const message = { id: `test_${at}`, type: "test", timestamp: isoTime(at), data: {} };
  return message;
}

async function send({ targets, clock }: Office, target: Target, message: Identified) {
  const poster = targets.createPoster(target);
  const [begun, exchange]: [number, OpenExchange] = [clock(), {}];
  let problem: string | undefined;
  try {
    await poster.post(message, new AbortController().signal, exchange);
  } catch (error) {
    if (!(error instanceof DeliveryFailed)) throw error;
    problem = error.message;
  } finally {
    await poster.close();
  }
  const { request, status, answer } = exchange;
  return { request, status, answer, problem, durationMs: clock() - begun };
}

/** Makes a fact of a partner due again at its webhook, also if the webhook has it. @throws Refused */
export async function resendFact(tx: Db, { id: targetId, name, partner }: Target, id: string, at: Instant) {
  const about = partner && readPartnersId(id, partner);
  const kind = about === undefined ? undefined : await kindOf(tx, about);
  if (about === undefined || kind === undefined)
    throw new Refused("not_found", `${name} has no fact ${id}: see its deliveries`);
  return () => change(tx, toldChange({ about, kind, at }, [{ id: targetId, partner }]));
}

/** @returns undefined if the account has no such fact. */
async function kindOf(db: Db, fact: PartnersFact): Promise<DueKind | undefined> {
  switch (fact.kind) {
    case "topup":
    case "reversal": {
      const [topUp] = await readOwnTopUpsOf(db, fact, [fact.txnId]);
      if (fact.kind === "topup") return topUp && "topup.recorded";
      return topUp?.reversed && "topup.reversed";
    }
    case "entry":
      return (await findEntry(db, fact, fact.reference)) && ACCOUNT_ENTRY;
    case "low":
      return "account.low";
  }
}

/** Reads an event that a target had, and that may be sent to it again without breaking the order. @throws Refused */
export async function eventToResend(tx: Db, target: Target, id: string): Promise<RecordedEvent> {
  const { name, config } = target;
  if (config.kind === "feed") throw new Refused("conflict", `${name} is a feed: it reads its events itself`);
  const [event] = await eventsOf(tx, [seqOfEventId(id) ?? 0]);
  if (event === undefined || eventId(event) !== id)
    throw new Refused("not_found", `the event ${id} does not exist, or was deleted: see the deliveries of ${name}`);
  if (event.seq > (await placeOf(tx, target.id)))
    throw new Refused("conflict", `${id} was not sent yet, and comes in order`);
  const last = eventId(await lastOfConnection(tx, event));
  if (!target.billing && last !== id)
    throw new Refused("conflict", `a later event of this connection replaces ${id}: send ${last} again`);
  return event;
}
