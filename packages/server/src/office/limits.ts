import type { Money } from "../domain/money.ts";
import { ACCESS_ACTIONS, namesOfPerson } from "../domain/one-person.ts";
import { Refused } from "../domain/refused.ts";
import type { Db } from "../store/engine.ts";
import type { Ports } from "../store/ports.ts";
import { roleNow } from "../store/rights.ts";
import type { ApprovalRow, BulkRunRow } from "../store/tables.ts";
import type { Decider } from "./decide.ts";

/** The part of the office that a correction needs. */
export type Corrector = Decider &
  Pick<Ports, "random"> & {
    readonly limits: Limits | undefined;
    /** The request that the author confirms, as the second person. */
    readonly confirms?: ApprovalRow | undefined;
  };

/** Limits of accounts and API keys. The command line has none, because its user controls the database. */
export interface Limits {
  /** Days of goodwill that one account or key of the role support can give in a day. */
  readonly supportGoodwillDays: number;
  /** Connections that it can correct in bulk in a day. */
  readonly supportBulk: number;
  /** A person who corrects more connections in bulk in a day needs a second person. */
  readonly secondPersonBulk: number;
  /** The same for the amount of a person's reversals in a day; undefined if none needs one. */
  readonly secondPersonReversal: Money | undefined;
  /** The same for entries into accounts and raises of credit limits, together. */
  readonly secondPersonMoney: Money | undefined;
}

type Counter = Pick<Corrector, keyof Decider | "limits">;

/** The counts of a day, in connections, days and minor units. */
const DAILY = {
  goodwillDays: { support: "supportGoodwillDays", what: "days of goodwill", alone: undefined },
  bulkConnections: { support: "supportBulk", what: "connections in bulk changes", alone: "secondPersonBulk" },
  reversed: { support: undefined, alone: "secondPersonReversal" },
  entered: { support: undefined, alone: "secondPersonMoney" },
} as const;
type Daily = keyof typeof DAILY;

/** Counts a bulk change: goodwill counts the days of all its connections. @returns as {@link countToday}. @throws Refused */
export async function countBulk(office: Counter, tx: Db, { count, days }: Pick<BulkRunRow, "count" | "days">) {
  const needsAnother = await countToday(office, tx, "bulkConnections", count);
  if (days !== null) await countToday(office, tx, "goodwillDays", count * days);
  return needsAnother;
}

/**
 * Counts work of today: of the author, toward the limit of the role support, and of the person, who may need a second one.
 * Counts of other days stay, so that a wrong clock loses none. The counts of the person stay locked until the end of the
 * transaction, so that parallel work cannot exceed a limit.
 * @returns whether what the person did today needs a second person.
 * @throws Refused
 */
export async function countToday(office: Counter, tx: Db, kind: Daily, count: number | Money): Promise<boolean> {
  const { limits, isPreview } = office;
  const { author } = office.by;
  if (limits === undefined) return false;
  const names = await personBehind(office, tx, kind, author);
  const [day, more] = [today(office), Number(count)];
  if (!isPreview) {
    const none = { day, goodwillDays: 0, bulkConnections: 0, reversed: 0, entered: 0 };
    await tx
      .insertInto("staffDay")
      .values(names.map((name) => ({ ...none, author: name, [kind]: name === author ? more : 0 })))
      .onConflict((on) =>
        on
          .columns(["author", "day"])
          .doUpdateSet((eb) => ({ [kind]: eb(`staffDay.${kind}`, "+", eb.ref(`excluded.${kind}`)) })),
      )
      .execute();
  }
  const planned = isPreview ? more : 0;
  const left = (await supportLeft(office, tx, kind)) - planned;
  if (left < 0) {
    const { support, what } = { what: "", ...DAILY[kind] };
    const own = `${Math.max(0, left + more)} of your ${support && limits[support]} left today`;
    throw new Refused("forbidden", `${what}: ${more} needed, ${own}. Ask an admin to do it`);
  }
  return planned + (await sumToday(office, tx, kind, names)) > mostAlone(limits, kind);
}

/** Whether an author who does so much more today will need a second person. */
export async function willNeedAnother(office: Counter, db: Db, author: string, kind: Daily, more: number) {
  if (office.limits === undefined) return false;
  const names = await personBehind(office, db, kind, author);
  return more + (await sumToday(office, db, kind, names)) > mostAlone(office.limits, kind);
}

/** The rest of the day of an author of the role support, below 0 if it did too much; infinite for others. */
async function supportLeft(office: Counter, db: Db, kind: Daily): Promise<number> {
  const { limits, by } = office;
  const { support } = DAILY[kind];
  if (limits === undefined || by.authority === undefined || support === undefined) return Number.POSITIVE_INFINITY;
  if ((await roleNow(db, by.authority)) !== "support") return Number.POSITIVE_INFINITY;
  return limits[support] - (await sumToday(office, db, kind, [by.author]));
}

/** The rest of the author's day for bulk changes; null without a limit. */
export async function leftToday(office: Counter, db: Db) {
  const { limits, by } = office;
  const shown = (left: number) => (Number.isFinite(left) ? Math.max(0, left) : null);
  const names = await personBehind(office, db, "bulkConnections", by.author);
  const most = limits === undefined ? Number.POSITIVE_INFINITY : mostAlone(limits, "bulkConnections");
  return {
    connections: shown(await supportLeft(office, db, "bulkConnections")),
    goodwillDays: shown(await supportLeft(office, db, "goodwillDays")),
    alone: shown(most - (await sumToday(office, db, "bulkConnections", names))),
  };
}

function mostAlone(limits: Limits, kind: Daily): number {
  const { alone } = DAILY[kind];
  return Number((alone && limits[alone]) ?? Number.POSITIVE_INFINITY);
}

function today({ store, by }: Counter): string {
  return store.provider.zone.wallTime(by.at).slice(0, 10);
}

async function sumToday(office: Counter, db: Db, kind: Daily, names: readonly string[]): Promise<number> {
  const sum = db.selectFrom("staffDay").select((eb) => eb.fn.sum<number | string | null>(kind).as("sum"));
  const counted = sum.where("author", "in", names).where("day", "=", today(office));
  return Number((await counted.executeTakeFirst())?.sum ?? 0);
}

/** All names of the person behind an author, if their work counts together. */
async function personBehind({ limits, by }: Counter, db: Db, kind: Daily, author: string): Promise<readonly string[]> {
  const isAlone = limits === undefined || mostAlone(limits, kind) === Number.POSITIVE_INFINITY;
  return isAlone ? [author] : readPerson(db, author, by.at);
}

/** @see namesOfPerson */
export async function readPerson(db: Db, author: string, now: number): Promise<readonly string[]> {
  const entries = db.selectFrom("auditEntry").select(["action", "author", "byStaff", "subject", "at"]);
  const changes = await entries.where("action", "in", ACCESS_ACTIONS).orderBy("seq").execute();
  return namesOfPerson(
    changes.map(({ byStaff, ...change }) => ({ ...change, byStaff: byStaff === 1 })),
    author,
    now,
  );
}
