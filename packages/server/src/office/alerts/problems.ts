import { ENVIRONMENTS } from "../../domain/customer.ts";
import { LOOK_UPS } from "../../domain/partner-limits.ts";
import { MAILED_PROBLEMS, type Problem } from "../../domain/problem.ts";
import { isBehind, LATE_MS } from "../../domain/target.ts";
import { DAY_MS, type Day, dayAt, type Instant } from "../../domain/wall-time.ts";
import { readBalance } from "../../store/accounts.ts";
import type { Db } from "../../store/engine.ts";
import type { Ports } from "../../store/ports.ts";
import { openSessions } from "../../store/sessions-due.ts";
import type { Store } from "../../store/store.ts";
import { countHeldBack } from "../imports/runs.ts";
import { lastCare } from "../maintenance/backups.ts";
import { tokenState } from "../partners/presenter.ts";
import { refusedToday } from "../partners/refused.ts";
import { partnerNamesOf, readLastUses, readTokens } from "../partners/sql.ts";
import { countWaiting } from "../second-person.ts";
import { lateServices } from "../steps/chains.ts";
import { statusesOf } from "../targets/presenter.ts";

/** A token needs attention if it ends within this time and was used within the same time before. */
const ENDING_WITHIN_MS = 14 * DAY_MS;
const BACKUP_EVERY_MS = 2 * DAY_MS;
const HOURLY_BACKUP_WITHIN_MS = DAY_MS / 12;
const CHECK_EVERY_MS = 7 * DAY_MS;
const MIB = 1024 * 1024;
const LEAST_FREE_MIB = 2 * 1024;
const MOST_LOG_MIB = 1024;

export interface ProblemPorts extends Pick<Ports, "store" | "clock"> {
  /** Whether a timer makes a backup every hour. */
  readonly backsUpHourly?: boolean | undefined;
}

/** All problems that the database and its disk show now, most urgent first. */
export async function readProblems({ store, clock, backsUpHourly }: ProblemPorts): Promise<Problem[]> {
  const { db } = store.engine;
  const now = clock();
  const problems = [
    ...(await ofDisk(store)),
    ...(await ofReports(store, now)),
    ...(await ofTargets(db, now)),
    ...(await problemsOfDay(store, dayAt(now, store.provider.zone))),
    ...(await ofBalances(store)),
    ...(await ofTokens(db, now)),
    ...(await ofCare(store, now, backsUpHourly === true ? HOURLY_BACKUP_WITHIN_MS : BACKUP_EVERY_MS)),
  ];
  for (const environment of ENVIRONMENTS) {
    const { services, isCut } = await lateServices({ store, clock }, environment);
    const late = services.length;
    if (late > 0) problems.push({ kind: "service_late", environment, count: late, isCut });
    const heldBack = await countHeldBack(db, environment);
    if (heldBack > 0) problems.push({ kind: "held_back", environment, count: heldBack });
    const waiting = await countWaiting(db, environment, now);
    if (waiting > 0) problems.push({ kind: "second_person", environment, count: waiting });
  }
  return problems.sort((a, b) => MAILED_PROBLEMS.indexOf(a.kind) - MAILED_PROBLEMS.indexOf(b.kind));
}

/** Refusals of partners on a day. */
export async function problemsOfDay(store: Pick<Store, "engine">, day: Day): Promise<Problem[]> {
  const { db } = store.engine;
  const names = await partnerNamesOf(store);
  const of = (partnerId: number) => ({ subject: names.get(partnerId) ?? String(partnerId), endsAt: day.end });
  const refused = (await refusedToday(db, day)).map(({ partnerId, environment, limit, count, amount, firstAt: at }) => {
    const problem = { environment, ...of(partnerId), limit, count, amount, at };
    return limit === undefined
      ? ({ ...problem, kind: "balance_refused" } as const)
      : ({ ...problem, kind: "limit_reached", event: { kind: "limit.reached", partnerId } } as const);
  });
  const lookUps = (await lookUpsRefused(db, day)).map(({ partnerId, environment, count, at }) => {
    const event = { kind: "look_ups.refused", partnerId } as const;
    const times = { count: Number(count), at: Number(at) };
    return { kind: "look_ups_refused", environment, ...of(partnerId), ...times, event } as const;
  });
  return [...refused, ...lookUps];
}

function lookUpsRefused(db: Db, { start, end }: Day) {
  return db
    .selectFrom("refusedCall")
    .select((eb) => ["partnerId", "environment", eb.fn.countAll().as("count"), eb.fn.min("at").as("at")])
    .where("detail", "=", LOOK_UPS)
    .where("at", ">=", start)
    .where("at", "<", end)
    .groupBy(["partnerId", "environment"])
    .orderBy("at")
    .execute();
}

async function ofDisk(store: Pick<Store, "space">): Promise<Problem[]> {
  const { free = Infinity, log = 0 } = await store.space();
  return [
    ...(free < LEAST_FREE_MIB * MIB ? [{ kind: "disk_low", count: Math.floor(free / MIB) } as const] : []),
    ...(log > MOST_LOG_MIB * MIB ? [{ kind: "log_large", count: Math.floor(log / MIB) } as const] : []),
  ];
}

/** Its time is unknown if the standby cannot be asked. */
async function ofReports(store: Pick<Store, "reportsBehindMs">, now: Instant): Promise<Problem[]> {
  const behind = await store.reportsBehindMs().catch(() => Number.POSITIVE_INFINITY);
  if (behind === undefined || behind <= LATE_MS) return [];
  return [{ kind: "reports_behind", at: Number.isFinite(behind) ? now - behind : undefined }];
}

async function ofTargets(db: Db, now: Instant): Promise<Problem[]> {
  const found: Problem[] = [];
  for (const { target, progress } of await statusesOf(db)) {
    const { behind: count, setAside, oldestDueAt: at } = progress;
    const subject = target.name;
    const isLate = !target.paused && isBehind(target, progress, now);
    const behind = target.config.kind === "feed" ? "feed_behind" : "target_behind";
    const open = await openSessions(db, target.id, now);
    const users = open.reduce((sum, each) => sum + each.count, 0);
    const since = Math.min(...open.map((each) => each.since));
    found.push(
      ...(isLate ? [{ kind: behind, subject, count, at } as const] : []),
      ...(users > 0 ? [{ kind: "sessions_open", subject, count: users, at: since } as const] : []),
      ...(target.paused ? [{ kind: "target_paused", subject, count } as const] : []),
      ...(setAside > 0 ? [{ kind: "failed_deliveries", subject, count: setAside } as const] : []),
    );
  }
  return found;
}

async function ofBalances(store: Pick<Store, "engine">): Promise<Problem[]> {
  const { db } = store.engine;
  const names = await partnerNamesOf(store);
  const bounds = db.selectFrom("account").select(["partnerId", "environment", "alertBelow", "creditLimit"]);
  const low: Problem[] = [];
  for (const { alertBelow, creditLimit: limit, ...key } of await bounds.where("alertBelow", "is not", null).execute()) {
    const { partnerId, environment } = key;
    const [amount, below] = [await readBalance(db, key), BigInt(alertBelow ?? 0)];
    const event = { kind: "account.low", partnerId, below } as const;
    const creditLimit = limit === null ? undefined : BigInt(limit);
    const subject = names.get(partnerId) ?? String(partnerId);
    if (amount < below) low.push({ kind: "account_low", environment, subject, amount, creditLimit, event });
  }
  return low;
}

/** Trial tokens end every week. */
async function ofTokens(db: Db, now: Instant): Promise<Problem[]> {
  const uses = await readLastUses(db);
  return (await readTokens(db)).flatMap((token): Problem[] => {
    const { id, expiresAt: at, partner } = token;
    const isInUse = tokenState(token, now) === "valid" && (uses.get(id) ?? 0) >= now - ENDING_WITHIN_MS;
    const isEnding = token.environment === "production" && at !== undefined && at < now + ENDING_WITHIN_MS;
    return isInUse && isEnding ? [{ kind: "token_ending", subject: partner.name, at }] : [];
  });
}

/** Missing backups and checks. A database without a production catalogue needs none. */
async function ofCare(
  store: Pick<Store, "engine" | "currentCatalogue">,
  now: Instant,
  backupEveryMs: number,
): Promise<Problem[]> {
  if ((await store.currentCatalogue("production", now)) === undefined) return [];
  const { db } = store.engine;
  const [backup, check] = [await lastCare(db, "backupTaken"), await lastCare(db, "checkPassed")];
  const isDue = ({ at = 0, fault }: typeof backup, everyMs: number) => fault !== undefined || at < now - everyMs;
  return [
    ...(isDue(backup, backupEveryMs) ? [{ kind: "no_backup", ...backup } as const] : []),
    ...(isDue(check, CHECK_EVERY_MS) ? [{ kind: "no_check", ...check } as const] : []),
  ];
}
