import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { blockConnection } from "../src/office/corrections/operations.ts";
import { reverseTransaction } from "../src/office/corrections/reversal.ts";
import { addTarget } from "../src/office/targets/operations.ts";
import { importRows, publishRows } from "../test/support/catalogue.ts";
import { run } from "../test/support/desk.ts";
import { makeTables } from "../test/support/radius-databases.ts";
import { expectBook } from "./book.ts";
import { Fleet, killAtTimes } from "./fleet.ts";
import { BOUQUETS, customerRow, insist, makeProvider, openDesk, topUpSurely } from "./partner.ts";
import { type Ground, percentile } from "./processes.ts";
import { Choices } from "./random.ts";
import { type Change, Routers, type Session, type User } from "./routers.ts";

export interface SessionsOptions extends Ground {
  readonly seed: number;
  /** Minimum number of changes. */
  readonly changes: number;
  /** Minimum number of kills. */
  readonly kills: number;
  /** An empty database on PostgreSQL, for FreeRADIUS's tables. */
  readonly radius: string;
  readonly users?: number;
}

const WORKERS = 3;
const BASE_PLANS = ["--base-plans", "tv=many,internet=many,iptv=many"];
const [{ code: FIBER }] = BOUQUETS;
/** The plan that ends last gives the group: Max, since fiber is bought for fewer months. */
const MAX = { service: "internet", code: "MAX-12M", name: "Max (YEARLY)", price: 19_000 } as const;
const MOST_BOUGHT = 8;
const GROUPS = { groups: { Fiber: "fiber", Max: "max" }, defaultGroup: "slow", expiredGroup: "garden" };
const BEGAN = "2026-01-10 10:00:00";
const FAR_END = "2040-01-01 00:00:00";
/** Time until imported plans end. */
const END_AFTER_MS = 10_000;
/** Time until a session appears that RADIUS accepted before a change. */
const APPEARS_AFTER_MS = 3_000;
const LONGEST_PAUSE_MS = 5_000;
/** A session is asked for again after a minute if the killed process had noted it, and kill may follow kill. */
const SERVED_WITHIN_MS = 240_000;
/** Time after a kill until another process has caught up. */
const QUIET_AFTER_MS = 40_000;
const OVER: ReadonlySet<string> = new Set(["ended", "none_open"]);
const ROUTERS = ["well", "well", "late", "lossy", "refusing"] as const;
/** One user in so many is only extended, and one in so many has a dead router. */
const [STEADY_EVERY, DEAD_EVERY] = [10, 12];

/**
 * Users are blocked, unblocked, end, pay after their end, get another group and are extended, while routers are late, lose
 * answers, refuse and are silent, and processes are killed. After each altering change, the user's sessions must end, each
 * asked for once. Extensions must end none, and no user may wait for another's router.
 * @throws Error that names the user or the session with a violation.
 */
export async function sessions({ seed, changes, kills, radius, users = 400, ...ground }: SessionsOptions) {
  const choices = new Choices(seed);
  const database = new pg.Pool({ connectionString: radius, max: 8 });
  const query = async (text: string) => (await database.query(text)).rows as Record<string, unknown>[];
  await makeTables("postgresql", query);
  await query("CREATE INDEX ON radacct (username); CREATE INDEX ON radacct (acctsessionid)");
  const token = await makeProvider(ground, users);
  const opened = await openDesk(ground);
  const routers = new Routers(query, new Choices(choices.seed()));
  const fleet = new Fleet(ground, token, WORKERS, BASE_PLANS);
  try {
    await publishRows(opened.store, [...BOUQUETS, MAX], Date.now());
    const campaign = new Campaign(opened, fleet, routers);
    const all = Array.from({ length: users }, (_, index): User => {
      const router = index % DEAD_EVERY === 1 && !isSteady({ index }) ? "dead" : choices.of(ROUTERS);
      return { index, name: `u${index}`, router, change: undefined };
    });
    await campaign.state(all);
    const target = { ...GROUPS, database: radius, timeZone: "UTC", sessions: { devices: await routers.open() } };
    await run(opened.desk, addTarget, { name: "network", radius: target });
    const first = await Promise.all(all.map(async (user) => [await routers.begin(user)]));
    const others = all.filter((user) => !isSteady(user));
    await campaign.state(others, Date.now() + END_AFTER_MS);
    await fleet.start(0);
    const isDone = () => campaign.made >= changes && fleet.kills.length >= kills;
    const living = all.map((user) => campaign.live(user, first[user.index] ?? [], new Choices(choices.seed()), isDone));
    await campaign.untilOver([
      ...living,
      killAtTimes(fleet, { kills, wanted: changes, made: () => campaign.made }, new Choices(choices.seed())),
    ]);
    await campaign.verifyEnd(all);
    await expectBook(ground, fleet.told);
    return campaign.report();
  } finally {
    await fleet.end();
    routers.close();
    await opened.close();
    await database.end();
  }
}

function isSteady({ index }: Pick<User, "index">): boolean {
  return index % STEADY_EVERY === 0;
}

class Campaign {
  altering = 0;
  extensions = 0;
  /** Milliseconds from a payment in the garden to the end of the session there, at routers that are well. */
  readonly paid: number[] = [];
  readonly #opened: Awaited<ReturnType<typeof openDesk>>;
  readonly #fleet: Fleet;
  readonly #routers: Routers;
  #endsAt = 0;
  /** Users of the target whose sessions had to end, as topupd shows them. */
  #due = new Map<string, { readonly state: string; readonly seq: number; readonly problem: string | null }>();

  constructor(opened: Awaited<ReturnType<typeof openDesk>>, fleet: Fleet, routers: Routers) {
    [this.#opened, this.#fleet, this.#routers] = [opened, fleet, routers];
  }

  /** Imports users with a plan, or its new end. @param endsAt undefined: far ahead. */
  async state(users: readonly User[], endsAt?: number): Promise<void> {
    this.#endsAt = endsAt ?? 0;
    const enddate = endsAt === undefined ? FAR_END : this.#opened.store.provider.zone.wallTime(endsAt);
    const rows = users.map(({ index }) => {
      const { connections, ...row } = customerRow(index);
      const subscriptions = [{ code: FIBER, startdate: BEGAN, enddate }];
      return { ...row, connections: { internet: connections.internet.map((each) => ({ ...each, subscriptions })) } };
    });
    await importRows(this.#opened.ports, rows);
  }

  get made(): number {
    return this.altering + this.extensions;
  }

  async untilOver(work: readonly Promise<void>[]): Promise<void> {
    let isOver = false;
    const all = Promise.all(work).finally(() => {
      isOver = true;
    });
    const watch = async () => {
      while (!isOver) {
        await this.#look();
        await sleep(200);
      }
    };
    await Promise.all([all, watch()]);
  }

  async #look(): Promise<void> {
    if (this.#routers.failure !== undefined) throw this.#routers.failure;
    const rows = await this.#opened.store.engine.db.selectFrom("sessionDue").selectAll().execute();
    this.#due = new Map(rows.map((row) => [row.username, row]));
  }

  /** The changes of one user. */
  async live(user: User, first: readonly Session[], own: Choices, isDone: () => boolean): Promise<void> {
    const { index, name } = user;
    const { desk } = this.#opened;
    const set = (blocked: boolean) => {
      isBlocked = blocked;
      const input = { service: "internet", reqId: name, reason: "campaign", blocked } as const;
      return insist(() => run(desk, blockConnection, input));
    };
    const bought: { readonly code: string; readonly id: string }[] = [];
    const buy = async (code: string) => {
      bought.push({ code, id: await topUpSurely(() => own.of(this.#fleet.clients), index, code) });
    };
    const reverse = async (code: string) => {
      while (bought.at(-1)?.code === code) {
        const { id = "" } = bought.pop() ?? {};
        await insist(() => run(desk, reverseTransaction, { id, reason: "campaign" }));
      }
    };
    let isBlocked = false;
    const codeNow = () => bought.at(-1)?.code ?? FIBER;
    const steps: Record<string, () => Promise<unknown>> = {
      "an end by the clock": () => sleep(this.#endsAt - Date.now()),
      "an extension": () => buy(codeNow()),
      "a block": () => set(true),
      "an unblock": () => set(false),
      "an end": () => reverse(codeNow()),
      "another group": () => (codeNow() === MAX.code ? reverse(MAX.code) : buy(MAX.code)),
      "a payment in the garden": () => buy(own.of([FIBER, MAX.code])),
    };
    const next = () => {
      if (isSteady(user)) return "an extension";
      if (user.change === undefined) return "an end by the clock";
      if (isBlocked) return "an unblock";
      if (bought.length === 0) return "a payment in the garden";
      const hasBoth = new Set(bought.map(({ code }) => code)).size === 2;
      const ending = hasBoth ? ["another group"] : ["an end", ...(codeNow() === FIBER ? ["another group"] : [])];
      return own.of(["a block", ...ending, ...(bought.length < MOST_BOUGHT ? ["an extension"] : [])]);
    };
    let open: readonly Session[] = first;
    do {
      await sleep(own.below(LONGEST_PAUSE_MS));
      const what = next();
      const isBeforeAny = open.length === 0;
      const seqBefore = this.#due.get(name)?.seq;
      const change: Change = { what, alters: what !== "an extension", isBeforeAny };
      user.change = change;
      await steps[what]?.();
      const answeredAt = Date.now();
      if (change.alters) this.altering += 1;
      else this.extensions += 1;
      if (user.router === "dead") return;
      if (!change.alters) continue;
      // A log-in that RADIUS accepted before the change may appear after it.
      if (isBeforeAny && own.below(2) === 0) {
        await sleep(APPEARS_AFTER_MS);
        open = [await this.#routers.begin(user)];
      }
      await this.#untilServed(user, seqBefore, open);
      const isQuiet = (this.#fleet.kills.at(-1) ?? 0) + QUIET_AFTER_MS < answeredAt;
      if (what === "a payment in the garden" && user.router === "well" && !isBeforeAny && isQuiet)
        this.paid.push((open[0]?.endedAt ?? 0) - answeredAt);
      const again = Array.from({ length: own.of([0, 1, 1, 1, 1, 1, 2]) }, () => this.#routers.begin(user));
      open = await Promise.all(again);
    } while (!isDone());
  }

  async #untilServed(user: User, seqBefore: number | undefined, open: readonly Session[]): Promise<void> {
    const { name, router, change } = user;
    const deadline = Date.now() + SERVED_WITHIN_MS;
    for (; ; await sleep(50)) {
      const due = this.#due.get(name);
      const isOver = due !== undefined && due.seq !== seqBefore && OVER.has(due.state);
      if (isOver && open.every(({ endedAt }) => endedAt !== undefined)) return;
      if (Date.now() > deadline)
        throw new Error(`${change?.what} of ${name} at a ${router} router is not served: ${JSON.stringify(due)}`);
    }
  }

  /** Sessions that nobody ends are not shown as ended. Once they end, no user is left. */
  async verifyEnd(users: readonly User[]): Promise<void> {
    const isOver = (name: string) => OVER.has(this.#due.get(name)?.state ?? "");
    const dead = users.filter(({ router }) => router === "dead");
    const lie = dead.find(({ name }) => isOver(name));
    if (lie !== undefined)
      throw new Error(`the session of ${lie.name} has not ended: ${JSON.stringify(this.#due.get(lie.name))}`);
    await this.#routers.endAllOf(dead);
    for (const deadline = Date.now() + SERVED_WITHIN_MS; ; await sleep(250)) {
      await this.#look();
      const left = [...this.#due.keys()].find((name) => !isOver(name));
      if (left === undefined) return;
      if (Date.now() > deadline) throw new Error(`${left} is left: ${JSON.stringify(this.#due.get(left))}`);
    }
  }

  report(): string {
    const { ended, packets, repeats, refused } = this.#routers.counts;
    const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(this.paid, share));
    return (
      `${this.altering} altering changes and ${this.extensions} extensions, ${this.#fleet.kills.length} kills: ${ended} sessions ended, ` +
      `none twice for a change, by ${packets} requests (${refused} refused, ${repeats} repeats); of ${this.paid.length} users who ` +
      `paid in the garden, half were out within ${p50} ms, 99 % within ${p99} ms, all within ${most} ms`
    );
  }
}
