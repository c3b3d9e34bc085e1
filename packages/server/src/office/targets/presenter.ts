import type { Static } from "typebox";
import type { Environment } from "../../domain/customer.ts";
import { eventId, type RecordedEvent } from "../../domain/event.ts";
import { SETTLED_AFTER_MS } from "../../domain/ledger-import.ts";
import { differenceText, type RadiusDifference } from "../../domain/radius.ts";
import { type PartnersFact, partnersIdOf, readSubject } from "../../domain/subject.ts";
import { addressOf, type LoggedAttempt, type Target, type TargetProgress, targetState } from "../../domain/target.ts";
import { type Instant, isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import type { OwnDelivery } from "../../store/delivery-log.ts";
import type { Db } from "../../store/engine.ts";
import { listTargets } from "../../store/events.ts";
import type { openSessions } from "../../store/sessions-due.ts";
import type { DueRow } from "../../store/tables.ts";
import type { Shown } from "../operation.ts";
import { count, fieldLines, printable, table } from "../text.ts";
import type {
  AddedTargetSchema,
  DeliverySchema,
  FailedDeliverySchema,
  RotatedSecretSchema,
  TargetDetailSchema,
  TargetKeySchema,
  TargetSchema,
  TestedSchema,
} from "./schemas.ts";
import { type Delivery, type FailedDelivery, readProgress } from "./sql.ts";

export interface TargetStatus {
  readonly target: Target;
  readonly progress: TargetProgress;
}

export async function statusesOf(db: Db): Promise<TargetStatus[]> {
  const statuses: TargetStatus[] = [];
  for (const target of await listTargets(db)) statuses.push({ target, progress: await readProgress(db, target) });
  return statuses;
}

/** The provider's own targets. */
export async function statusesOfSystems(db: Db): Promise<TargetStatus[]> {
  return (await statusesOf(db)).filter(({ target }) => target.partner === undefined);
}

/** A target without its secrets. */
export function targetData({ target, progress }: TargetStatus, now: Instant) {
  const { id, name, config, billing, paused, createdAt } = target;
  const { behind, failing, setAside, oldestAt } = progress;
  const service = config.kind === "radius" ? config.service : null;
  const state = targetState(target, progress, now);
  const shown = { id, name, kind: config.kind, service, address: addressOf(config) ?? null, billing, paused, state };
  return { ...shown, createdAt: isoTime(createdAt), behind, failing, setAside, oldestAt: isoTimeOrNull(oldestAt) };
}

type OpenSessions = Awaited<ReturnType<typeof openSessions>>;

export function detailData({ target, progress }: TargetStatus, open: OpenSessions, now: Instant) {
  const { config, secrets } = target;
  const radius = config.kind === "radius" ? config : undefined;
  const { timeZone = null, groups = null, defaultGroup = null, expiredGroup = null, sessions } = radius ?? {};
  return {
    ...targetData({ target, progress }, now),
    formerSecretUntil: isoTimeOrNull(secrets[1]?.until),
    timeZone,
    groups: groups === null ? null : { ...groups },
    ...{ defaultGroup, expiredGroup, devices: sessions === undefined ? null : Object.keys(sessions.devices) },
    openSessions: open.map(({ problem, count }) => ({ problem, users: count })),
    acknowledgedUntil: isoTimeOrNull(acknowledgedUntil(target, progress, now)),
  };
}

/** A batch is recorded up to 30 s after its decision, so an event can be 30 s older than one recorded before it. */
const OLDEST_IN_A_BATCH_MS = 31_000;

/**
 * Time up to which a billing target has every top-up and reversal since it was added; undefined if that is not known. Other
 * targets do not get every event.
 */
function acknowledgedUntil(
  { billing, createdAt }: Target,
  { oldestAt }: TargetProgress,
  now: Instant,
): Instant | undefined {
  const until = Math.min(now - SETTLED_AFTER_MS, (oldestAt ?? now) - OLDEST_IN_A_BATCH_MS);
  return billing && until >= createdAt ? until : undefined;
}

function eventData(event: RecordedEvent) {
  const [id, kind] = [eventId(event), event.kind];
  if ("alert" in event) {
    const { environment } = event.alert;
    return { id, kind, environment, cuid: null, service: null, reqId: null, partner: event.partner ?? null };
  }
  const { environment, cuid, service, reqId } = event.key;
  return { id, kind, environment, cuid, service, reqId, partner: null };
}

/** @param isFull whether the body and the answer are shown. */
export function deliveryData(delivery: Delivery, isFull: boolean) {
  return attemptData(delivery, eventData(delivery.event), isFull);
}

/** An attempt at the webhook of a partner. @param partner its name. */
export function ownDeliveryData({ id, type, ...delivery }: OwnDelivery, partner: string, environment: Environment) {
  return attemptData(delivery, factData({ id, kind: type, partner, environment }), true);
}

function attemptData<About>(delivery: LoggedAttempt, about: About, isFull: boolean) {
  const { at, attempt, status = null, request = null, answer = null, problem = null, durationMs } = delivery;
  const texts = isFull ? { request, answer } : { request: null, answer: null };
  return { at: isoTime(at), ...about, attempt, status, durationMs, problem, ...texts };
}

function factData(fact: {
  readonly id: string;
  readonly kind: string;
  readonly partner: string;
  readonly environment: Environment;
}) {
  return { ...fact, cuid: null, service: null, reqId: null };
}

export function failedData({ event, attempts, failedAt, nextAt, setAside, problem }: FailedDelivery) {
  return {
    ...eventData(event),
    attempts,
    failedAt: isoTimeOrNull(failedAt),
    nextAt: isoTime(nextAt),
    setAside,
    problem: problem ?? null,
  };
}

/** A fact that the webhook of a partner did not take. @param partner its name. */
export function failedFactData({ subject, kind, attempts, nextAt, state, problem }: DueRow, partner: string) {
  const fact = readSubject(subject) as PartnersFact;
  const { environment } = fact;
  return {
    ...factData({ id: partnersIdOf(fact), kind, partner, environment }),
    ...{ attempts, failedAt: null, nextAt: isoTime(nextAt), setAside: state === "aside", problem },
  };
}

export const TARGET_COLUMNS = [
  ...["name", "kind", "service", "address", "billing", "state", "behind", "failing", "setAside", "oldestAt"],
];

export const SHOWN_ONCE = "This is the only time that the secret is shown.";

export function addedLines({ target, secret }: Static<typeof AddedTargetSchema>): Shown {
  const { name, kind, billing } = target;
  const exported = billing ? "take topupd export transactions, made a minute from now" : "take topupd export customers";
  const before = kind === "radius" ? `run topupd target reconcile ${name}` : exported;
  const once = secret === null ? "" : `${SHOWN_ONCE} `;
  const note = `${once}${name} gets the events from now on; for what was before, ${before}.\n`;
  return { out: secret === null ? "" : `${secret}\n`, note };
}

export function changedLines({ name }: Static<typeof TargetSchema>): Shown {
  const note = `${name} has the new settings. Its users get them now by topupd target reconcile ${name}, or at their next event.\n`;
  return { out: "", note };
}

export function rotatedLines({ secret, formerUntil }: Static<typeof RotatedSecretSchema>): Shown {
  return { out: `${secret}\n`, note: `${SHOWN_ONCE} The previous secret signs as well until ${formerUntil}.\n` };
}

export function stateFields({ state, behind, failing, setAside, oldestAt }: Static<typeof TargetSchema>) {
  return [
    ["state", state.replaceAll("_", " ")],
    ["behind", count(behind, "event")],
    ["failing", count(failing, "event")],
    ["set aside", count(setAside, "event")],
    ["oldest", oldestAt ?? undefined],
  ] as const;
}

export function keyLines({ key }: Static<typeof TargetKeySchema>): Shown {
  return { out: `${key}\n`, note: "This is the only time that the key is shown. A previous key works no more.\n" };
}

export function detailLines(shown: Static<typeof TargetDetailSchema>): Shown {
  const { name, kind, service, address, billing, timeZone, groups, acknowledgedUntil: until } = shown;
  const { defaultGroup, expiredGroup, devices, openSessions } = shown;
  const out = fieldLines([
    ["name", name],
    ["kind", billing ? `${kind}, of your billing` : kind],
    ["service", service ?? undefined],
    ["address", address ?? undefined],
    ["time zone", timeZone ?? undefined],
    ...Object.entries(groups ?? {}).map(([plan, group]) => ["group", `${plan} ${group}`] as const),
    ["other plans", defaultGroup ?? undefined],
    ["expired", expiredGroup ?? undefined],
    ["devices", devices?.join(", ")],
    ...stateFields(shown),
    ...openSessions.map(({ problem, users }) => {
      return [
        "open sessions",
        `${count(users, "user")}: ${problem ?? "no device was asked: topupd's log may say why"}`,
      ] as const;
    }),
    ["acknowledged", billing ? (until === null ? "not yet" : `until ${until}`) : undefined],
  ]);
  return { out };
}

/** Most failed deliveries in one list. */
export const MOST_FAILED = 1_000;

export function failedLines({ items }: { readonly items: readonly Static<typeof FailedDeliverySchema>[] }): Shown {
  const rows = items.map(({ id: event, kind, attempts, setAside, nextAt, problem, ...of }) => {
    return { event, kind, about: subjectOf(of), attempts, next: setAside ? "set aside" : nextAt, problem };
  });
  const out = table(["event", "kind", "about", "attempts", "next", "problem"], rows);
  return items.length < MOST_FAILED
    ? { out }
    : { out, note: `These are the oldest ${MOST_FAILED}; there may be more.\n` };
}

export function deliveryLines({ items }: { readonly items: readonly Static<typeof DeliverySchema>[] }): Shown {
  const rows = items.map((item) => ({ ...item, event: item.id, about: subjectOf(item), ms: item.durationMs }));
  return { out: table(["at", "event", "kind", "about", "attempt", "status", "ms", "problem"], rows) };
}

type About = Pick<Static<typeof FailedDeliverySchema>, "environment" | "cuid" | "service" | "reqId" | "partner">;

/** The connection, or the partner of an alert. */
function subjectOf({ environment, cuid, service, reqId, partner }: About): string {
  return `${partner ?? `${cuid} ${service} ${reqId}`}${environment === "trial" ? " (trial)" : ""}`;
}

export function testedLines({ status, durationMs, problem, answer }: Static<typeof TestedSchema>): Shown {
  const out =
    status === null ? "" : `status ${status} after ${durationMs} ms\n${answer ? `${printable(answer)}\n` : ""}`;
  return { out, wrong: problem === null ? undefined : `the target did not accept the test event: ${problem}` };
}

/** One difference of a user of RADIUS, as JSON. */
export function differenceData({ username, kind, found, wanted }: RadiusDifference) {
  return { username, kind, found: found.map(({ value }) => value), wanted: wanted ?? null };
}

export function differenceLine(difference: RadiusDifference): string {
  return `${printable(differenceText(difference))}\n`;
}
